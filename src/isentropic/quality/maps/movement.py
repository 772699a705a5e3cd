"""How far rows moved between two maps, once one is turned onto the other (orthogonal Procrustes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.arguments import as_numbers
from ..._core.errors import require
from ..._core.values import Floats, Integers
from ...linalg import aligned, procrustes_correlation, unit_exponent
from ...tables.row_names import Names, matched_names, row_names


@dataclass(frozen=True, slots=True, eq=False)
class Movement:
    """What became of the rows that two maps share; shares are of the width of the first map."""

    rows_before: Integers  # (s,) of the first map
    rows: Integers  # (s,) of the second map, the same rows
    distances: Floats  # (s,) from the old to the new place, in the units of the maps
    width: float  # of the first map, along its widest coordinate
    correlation: float  # of Procrustes: 1 where the maps differ by motion, mirroring and size only
    aligned: Floats  # (n, d): the second map, all its rows, turned and moved onto the first

    @property
    def shares(self) -> Floats:
        """How far each of the shared rows moved, as a share of the width."""
        return self.distances / self.width if self.width else np.zeros_like(self.distances)

    @property
    def median(self) -> float:
        """Half of the shared rows moved less than this share of the width."""
        return float(np.median(self.shares))

    @property
    def worst(self) -> float:
        """The farthest that a row moved, as a share of the width."""
        return float(self.shares.max())


def aligned_distance(previous: Any, current: Any) -> Movement:
    """How far each row moved from one map to the next, after the second is turned and moved onto the first.

    ``|z_i R + t - z'_i|`` with the rotation or mirroring R and the shift t of the least sum of squares over
    the rows that both maps have; sizes are kept. ``O(n d^2)`` time.

    Parameters
    ----------
    previous, current : fitted estimator, DataFrame or array (n, d)
        Rows are matched by name where both have names: the index of a DataFrame, or of the one that an
        estimator was fitted to. Else both have the same rows in the same order.

    Returns
    -------
    Movement
        For each row, and ``median`` and ``worst`` as shares of the width of the first map.

    Examples
    --------
    >>> import pandas as pd
    >>> before = pd.DataFrame([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]], index=["a", "b", "c"])
    >>> after = pd.DataFrame([[7.0, 1.0], [5.0, 1.0], [5.0, 5.0]], index=["c", "a", "b"])
    >>> moved = aligned_distance(before, after)  # turned by a quarter, and moved
    >>> moved.rows.tolist(), round(moved.worst, 9)
    ([1, 2, 0], 0.0)
    """
    (before, old_names), (after, new_names) = _map_of(previous, "previous"), _map_of(current, "current")
    must_be = f"a map of as many dimensions as the first, {before.shape[1]}"
    require(after.shape[1] == before.shape[1], "current", must_be, after.shape[1])
    rows_before, rows = _shared(old_names, new_names, len(before), len(after))
    # One unit for both, in which nothing that is squared overflows or vanishes.
    exponent = unit_exponent(float(max(np.abs(before).max(), np.abs(after).max())))
    before, after = np.ldexp(before, -exponent), np.ldexp(after, -exponent)
    turned = aligned(after, before[rows_before], rows)
    distances = np.linalg.norm(turned[rows] - before[rows_before], axis=1)
    width = float(np.ptp(before, axis=0).max())
    hint = "Its rows are all at one place, so that nothing is a share of its width."
    require(width > 0 or not distances.any(), "previous", "a map wider than a point", width, hint)
    correlation = procrustes_correlation(after[rows], before[rows_before])
    with np.errstate(over="ignore"):
        found = [np.ldexp(values, exponent) for values in (distances, width, turned)]
    finite = all(bool(np.isfinite(values).all()) for values in found)
    require(finite, "current", "a map at distances below 1.8e308", "others", "Scale both maps.")
    return Movement(rows_before, rows, found[0], float(found[1]), correlation, found[2])


def _map_of(given: Any, name: str) -> tuple[Floats, Names | None]:
    """Coordinates, and the names of their rows if there are any."""
    Z = getattr(given, "embedding_", given)
    names = getattr(given, "training_row_names", None) if Z is not given else row_names(given)
    must_be = "a fitted estimator, a DataFrame of coordinates or an array (n, d)"
    require(not isinstance(Z, str), name, must_be, given)
    Z = as_numbers(name, Z, None)
    require(Z.ndim == 2 and Z.size > 0, name, must_be, Z.shape if Z.ndim else given)
    return Z.copy(), names


def _shared(
    old_names: Names | None, new_names: Names | None, n_before: int, n_after: int
) -> tuple[Integers, Integers]:
    """The rows that both maps have, of the first and of the second, in the order of the first."""
    if old_names is None or new_names is None:
        must_be = f"a map of the same {n_before} rows, or one with row names"
        hint = "Give DataFrames whose index names the rows."
        require(n_before == n_after, "current", must_be, f"{n_after} rows", hint)
        return np.arange(n_before), np.arange(n_before)
    found = matched_names(old_names, new_names, "names of rows")
    hint = f"The first map has rows such as {old_names[0]!r}, the second {new_names[0]!r}."
    require(bool((found >= 0).any()), "current", "a map that has rows of the first", "none of them", hint)
    rows_before = np.flatnonzero(found >= 0)
    return rows_before, found[rows_before]
