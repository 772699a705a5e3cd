"""Blocks of distances between rows, whatever the metric: a pair has the same bits in any block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._core.errors import require
from .._core.sparse_rows import SparseRows
from ..kernels._jit import threads
from ..kernels.distances.euclidean import euclidean_rows
from .cosine_distances import DIRECTIONS, between_directions
from .gower import GowerRows, is_gower
from .metrics import CITY_BLOCK, EUCLIDEAN, LARGEST, Metric, metric_name
from .sparse import SparseDirections

_BY_SCIPY = ("braycurtis", "canberra", "chebyshev", "hamming", "minkowski", "sqeuclidean", *CITY_BLOCK)
_BLOCK_BYTES = 2**24  # a block of distances stays within 16 MiB


def rows_per_block(n_columns: int) -> int:
    """How many rows of ``n_columns`` doubles make a block."""
    return max(1, _BLOCK_BYTES // (8 * max(n_columns, 1)))


def distances_between(
    queries: np.ndarray, data: np.ndarray, metric: Metric, n_jobs: int | None
) -> np.ndarray:
    """Distances of every query to every row of ``data``; a query of ``"precomputed"`` is such a row.

    By Gower's metric the rows are in the units of one table (:func:`~isentropic.distances.in_units`).
    """
    if isinstance(data, SparseRows):
        return SparseDirections.of(data, n_jobs).of_new(queries)
    if metric == "precomputed":
        return queries
    if metric in EUCLIDEAN:
        out = np.empty((len(queries), len(data)))
        with threads(n_jobs):
            euclidean_rows(queries, data, out)
        return out
    if is_gower(metric):
        return GowerRows.of(data, metric, n_jobs).of_new(queries)
    if isinstance(metric, str) and metric in DIRECTIONS:
        return sound_distances(between_directions(queries, data, metric, n_jobs), metric)
    return sound_distances(_by_library(queries, data, metric), metric)


def distances_to(data: np.ndarray, metric: Metric, n_jobs: int | None) -> Callable[[np.ndarray], np.ndarray]:
    """What gives :func:`distances_between` queries and ``data``, prepared once for many of them."""
    if isinstance(data, SparseRows):
        return SparseDirections.of(data, n_jobs).of_new
    if is_gower(metric):
        return GowerRows.of(data, metric, n_jobs).of_new
    return lambda queries: distances_between(queries, data, metric, n_jobs)


def _by_library(queries: np.ndarray, data: np.ndarray, metric: Metric) -> np.ndarray:
    """Metrics that a library measures one pair after the other, so that no batch changes a bit."""
    if isinstance(metric, str) and metric in _BY_SCIPY:
        from scipy.spatial.distance import cdist

        return cdist(queries, data, "cityblock" if metric in CITY_BLOCK else metric)
    from sklearn.metrics import pairwise_distances
    from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

    of_flags = isinstance(metric, str) and metric in PAIRWISE_BOOLEAN_FUNCTIONS
    if of_flags and all(np.isin(X, (0, 1)).all() for X in (queries, data)):
        queries, data = queries.astype(bool), data.astype(bool)  # nothing is lost, nothing to warn of
    return pairwise_distances(queries, data, metric=metric)


def sound_distances(D: np.ndarray, metric: Metric) -> np.ndarray:
    """Distances that can be added up and squared: finite, none below 0 but by rounding."""
    least, largest = float(D.min(initial=0.0)), float(D.max(initial=0.0))  # NaN if any is
    sound = largest < LARGEST and least >= -1e-9 * max(largest, 1.0)
    hint = "A row may have no such distance (one without variance no correlation): drop it, or take another."
    got = least if np.isnan(least) or least < 0 else largest
    what, must_be = f"metric {metric_name(metric)!r}", "finite and at least 0 between all rows"
    if LARGEST <= largest < np.inf:
        must_be, hint = f"below {LARGEST:.0e} between all rows".replace("+", ""), "Scale it, or the data."
    require(sound, what, must_be, got, hint)
    return np.maximum(D, 0.0, out=D) if least < 0 else D
