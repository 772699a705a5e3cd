"""Blocks of distances between rows, whatever the metric."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._errors import InvalidInputError, require, require_one_of
from ..kernels._jit import threads
from ..kernels.nearest import euclidean_rows
from .directions import DIRECTIONS, between_directions

Metric = str | Callable[..., float]

EUCLIDEAN = ("euclidean", "l2")
LARGEST = 1e150  # number whose square, and sums of such, are finite
CITY_BLOCK = ("cityblock", "l1", "manhattan")
BY_DIFFERENCES = (*EUCLIDEAN, "sqeuclidean", *CITY_BLOCK, "chebyshev", "minkowski")  # of two rows
_BY_SCIPY = ("braycurtis", "canberra", "chebyshev", "hamming", "minkowski", "sqeuclidean", *CITY_BLOCK)
_BLOCK_BYTES = 2**24  # a block of distances stays within 16 MiB


# Offered by the libraries, but no distances of rows as they are: these need parameters or coordinates of
# a certain kind, or put equal rows apart.
_NOT_OFFERED = ("haversine", "mahalanobis", "nan_euclidean", "pyfunc", "russellrao", "seuclidean")


def checked_magnitude(X: np.ndarray, *, metric: Metric = "euclidean", fitting: bool = True) -> None:
    """Refuse numbers whose squares overflow or vanish: distances between them would be infinite or zero.

    Methods square a distance: one that is a square already leaves half of the range. A new row may be small:
    it is compared with rows that are not.
    """
    largest = float(max(X.max(initial=0.0), -X.min(initial=0.0)))
    least, most = (1e-70, 1e75) if metric == "sqeuclidean" else (1e-140, LARGEST)
    hint = "Rescale the features, by scaling='standard' for example."
    require(largest < most, "X", f"of magnitude below {most:.0e}".replace("+", ""), largest, hint)
    vanishes = fitting and 0 < largest < least
    require(not vanishes, "X", f"of magnitude above {least:.3g}, or zero", largest, hint)


def checked_metric(metric: Metric) -> None:
    """Refuse a name that is no metric; a function is taken as one."""
    if not callable(metric) and metric not in EUCLIDEAN:
        require_one_of("metric", metric, metric_names(), hint="Or give a function of two rows.")


def metric_names() -> list[str]:
    """Every metric that has a name."""
    from sklearn.metrics.pairwise import distance_metrics
    from sklearn.neighbors import VALID_METRICS

    known = {*distance_metrics(), *VALID_METRICS["brute"], "precomputed"}
    return sorted(known.difference(_NOT_OFFERED))


def checked_distance_matrix(D: np.ndarray) -> None:
    """Refuse what is no square, symmetric matrix of distances with a zero diagonal."""
    n_rows, n_columns = D.shape
    name, hint = "A precomputed X", "Give the distances of every row to every row."
    require(n_rows == n_columns, name, "a square matrix of distances", D.shape, hint)
    checked_distance_rows(D)
    require(not D.diagonal().any(), name, "zero on its diagonal", float(np.abs(D.diagonal()).max()), hint)
    # In parts, so that no second matrix is held.
    parts = (slice(start, start + 256) for start in range(0, n_rows, 256))
    asymmetry = max(float(np.abs(D[part] - D[:, part].T).max()) for part in parts)
    require(asymmetry <= 1e-8 * D.max(), name, "symmetric", f"differences up to {asymmetry:.3g}",
            "Use (D + D.T) / 2 if they are rounding errors.")  # fmt: skip


def checked_distance_rows(D: np.ndarray) -> None:
    """Refuse negative distances among given ones."""
    if D.min(initial=0.0) < 0:
        raise InvalidInputError(
            f"Negative values in data: distances must be at least 0, got {D.min():.4g}. "
            "Give the distances to every fitted row."
        )


def metric_name(metric: Metric) -> str:
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")


def rows_per_block(n_columns: int) -> int:
    """How many rows of ``n_columns`` doubles make a block."""
    return max(1, _BLOCK_BYTES // (8 * max(n_columns, 1)))


def distances_between(
    queries: np.ndarray, data: np.ndarray, metric: Metric, n_jobs: int | None
) -> np.ndarray:
    """Distances of every query to every row of ``data``; a query of ``"precomputed"`` is such a row."""
    if metric == "precomputed":
        return queries
    if metric in EUCLIDEAN:
        out = np.empty((len(queries), len(data)))
        with threads(n_jobs):
            euclidean_rows(queries, data, out)
        return out
    if isinstance(metric, str) and metric in DIRECTIONS:
        return sound_distances(between_directions(queries, data, metric, n_jobs), metric)
    return sound_distances(_by_library(queries, data, metric), metric)


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
    require(sound, f"metric {metric_name(metric)!r}", "finite and at least 0 between all rows", got, hint)
    return np.maximum(D, 0.0, out=D) if least < 0 else D
