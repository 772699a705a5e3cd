"""Distances of single pairs of rows, where a metric has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._values import Floats, Integers
from ..kernels._jit import threads
from ..kernels.pairs import euclidean_pairs
from ..neighbors.distances import EUCLIDEAN, Metric

_PAIRED = ("cosine", "cityblock", "manhattan", "l1")  # metrics that scikit-learn has pair by pair


def pair_distances(
    X: Floats, metric: Metric, n_jobs: int | None = None
) -> Callable[[Integers, Integers], Floats] | None:
    """What measures single pairs of rows of ``X``, or None for a metric that has only whole rows."""
    if isinstance(metric, str) and metric == "precomputed":
        return lambda first, second: X[first, second]
    if metric in EUCLIDEAN:
        return lambda first, second: _euclidean(X, first, second, n_jobs)
    if metric in _PAIRED or callable(metric):
        from sklearn.metrics.pairwise import paired_distances

        return lambda first, second: paired_distances(X[first], X[second], metric=metric)
    return None


def _euclidean(X: Floats, first: Integers, second: Integers, n_jobs: int | None) -> Floats:
    out = np.empty(len(first))
    with threads(n_jobs):
        euclidean_pairs(X, first, second, out)
    return out
