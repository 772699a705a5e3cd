"""Blocks of distances between rows, whatever the metric."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._errors import require
from ..kernels._jit import threads
from ..kernels.nearest import euclidean_rows

Metric = str | Callable[..., float]

EUCLIDEAN = ("euclidean", "l2")
_BLOCK_BYTES = 2**24  # a block of distances stays within 16 MiB


def checked_magnitude(X: np.ndarray) -> None:
    """Refuse numbers whose squares overflow or vanish: distances between them would be infinite or zero."""
    largest = float(np.abs(X).max(initial=0.0))
    hint = "Rescale the features, by scaling='standard' for example."
    require(largest < 1e150, "X", "of magnitude below 1e150", largest, hint)
    vanishes = 0 < largest < 1e-140
    require(not vanishes, "X", "of magnitude above 1e-140, or zero", largest, hint)


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
    from sklearn.metrics import pairwise_distances

    return pairwise_distances(queries, data, metric=metric)
