"""Divergences between densities given by their values on a grid, or between probability vectors.

The last axis is the grid, leading axes broadcast. ``step`` is the distance between grid points; 1, the
default, is for probabilities that sum to one. Values are floored at 1e-300 before a logarithm is taken.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._core.arguments import as_numbers
from .._core.errors import require, require_number

SMALLEST_DENSITY = 1e-300


def grid_kl(p: npt.ArrayLike, q: npt.ArrayLike, *, step: float = 1.0):
    """``step sum p log(p/q)``.

    >>> round(grid_kl([0.5, 0.5], [0.25, 0.75]), 4)
    0.1438
    """
    p, q, step = _densities(p, q, step)
    return number_or_array(step * (p * (_log(p) - _log(q))).sum(axis=-1))


def grid_symmetrised_kl(p: npt.ArrayLike, q: npt.ArrayLike, *, step: float = 1.0):
    """``1/2 [ KL(p, q) + KL(q, p) ]``, that is ``step/2 sum (p - q) log(p/q)``.

    >>> round(grid_symmetrised_kl([0.5, 0.5], [0.25, 0.75]), 4)
    0.1373
    """
    p, q, step = _densities(p, q, step)
    return number_or_array(step / 2 * ((p - q) * (_log(p) - _log(q))).sum(axis=-1))


def total_variation(p: npt.ArrayLike, q: npt.ArrayLike, *, step: float = 1.0):
    """``step/2 sum |p - q|``, in [0, 1].

    >>> total_variation([0.5, 0.5], [0.25, 0.75])
    0.25
    """
    p, q, step = _densities(p, q, step)
    return number_or_array(step / 2 * np.abs(p - q).sum(axis=-1))


def grid_hellinger(p: npt.ArrayLike, q: npt.ArrayLike, *, step: float = 1.0):
    """``sqrt( step/2 sum (sqrt(p) - sqrt(q))^2 )``, in [0, 1].

    >>> round(grid_hellinger([1.0, 0.0], [0.0, 1.0]), 4)
    1.0
    """
    p, q, step = _densities(p, q, step)
    return number_or_array(np.sqrt(step / 2 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1)))


def number_or_array(values: np.ndarray) -> float | np.ndarray:
    """A plain number for a single pair."""
    return float(values) if np.ndim(values) == 0 else values


def _log(p: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(p, SMALLEST_DENSITY))


def _densities(p: npt.ArrayLike, q: npt.ArrayLike, step: float) -> tuple[np.ndarray, np.ndarray, float]:
    p, q = as_numbers("p", p, None), as_numbers("q", q, None)
    for name, values in (("p", p), ("q", q)):
        is_density = values.ndim >= 1 and values.min(initial=0.0) >= 0
        require(is_density, name, "densities of at least 0 on a grid", values)
    require(p.shape[-1] == q.shape[-1], "q", f"on the grid of p, {p.shape[-1]} points", q.shape[-1])
    return p, q, require_number("step", step, "a positive distance between grid points", above=0)
