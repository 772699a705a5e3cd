"""Kendall's tau of a map: how well the order of its distances follows that of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._core.errors import UndefinedMeasureError
from ..quality import kendall_tau
from .row_distances import Distances

_QUICK_PAIRS = 2**18  # that a search compares degrees by, always the same ones, where there are more


@dataclass(frozen=True, slots=True)
class Tau:
    """Kendall's tau-b, NaN where distances do not vary; its 95% interval where pairs were drawn."""

    value: float
    interval: tuple[float, float] | None


def distance_tau(
    distances: Distances, condensed: np.ndarray | None, Z: np.ndarray, *, seed: int, quick: bool = False
) -> Tau:
    """Tau of the distances between rows, ``condensed`` where all are at hand, and between the rows of ``Z``.

    In the middle of a search (``quick``) of at most 2^18 pairs.
    """
    n = len(Z)
    given, metric = (distances.X, distances.metric) if condensed is None else (condensed, "precomputed")
    n_pairs = _QUICK_PAIRS if quick and n * (n - 1) // 2 > _QUICK_PAIRS else "auto"
    return _tau(given, Z, metric=metric, n_pairs=n_pairs, random_state=seed, n_jobs=distances.n_jobs)


def table_tau(X: np.ndarray, Z: np.ndarray, *, n_jobs: int | None = None) -> Tau:
    """Tau of the Euclidean distances of a table and of its map."""
    return _tau(X, Z, random_state=0, n_jobs=n_jobs)


def _tau(given: np.ndarray, Z: np.ndarray, **settings) -> Tau:
    if len(Z) < 3:  # a single distance has no order
        return Tau(math.nan, None)
    try:
        found = kendall_tau(given, Z, **settings)
    except UndefinedMeasureError:  # distances that are all equal have none either
        return Tau(math.nan, None)
    if found.low is None or found.high is None:
        return Tau(found.value, None)
    return Tau(found.value, (found.low, found.high))
