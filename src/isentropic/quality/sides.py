"""Distances of single pairs of rows, where a metric has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from .._values import Floats, Integers
from ..kernels._jit import threads
from ..kernels.pairs import euclidean_pairs
from ..neighbors.directions import DIRECTIONS, Directions
from ..neighbors.distances import CITY_BLOCK, EUCLIDEAN, Metric, sound_distances


def pair_distances(
    X: Floats, metric: Metric, n_jobs: int | None = None
) -> Callable[[Integers, Integers], Floats] | None:
    """What measures single pairs of rows of ``X``, or None for a metric that has only whole rows."""
    if isinstance(metric, str) and metric == "precomputed":
        return lambda first, second: X[first, second]
    if metric in EUCLIDEAN:
        return lambda first, second: _euclidean(X, first, second, n_jobs)
    if isinstance(metric, str) and metric in DIRECTIONS:
        directions = cache(lambda: Directions.of(X, metric, n_jobs))  # once a pair is asked for
        return lambda first, second: sound_distances(directions().pairs(first, second), metric)
    if metric in CITY_BLOCK:
        return lambda first, second: _city_block(X, first, second)
    if callable(metric):
        from sklearn.metrics.pairwise import paired_distances

        return lambda first, second: paired_distances(X[first], X[second], metric=metric)
    return None


def _city_block(X: Floats, first: Integers, second: Integers) -> Floats:
    total = np.zeros(len(first))
    for column in X.T:  # one feature after the other, as the library adds up a whole row of distances
        total += np.abs(column[first] - column[second])
    return total


def _euclidean(X: Floats, first: Integers, second: Integers, n_jobs: int | None) -> Floats:
    out = np.empty(len(first))
    with threads(n_jobs):
        euclidean_pairs(X, first, second, out)
    return out
