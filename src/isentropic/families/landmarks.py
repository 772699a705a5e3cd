"""Landmarks, the rows that stand for all of them: farthest-first traversal (maxmin), or drawn at random."""

from __future__ import annotations

import warnings

import numpy as np

from .._errors import LandmarksClippedWarning, require_one_of
from .._runtime import generator, row_blocks
from ..distances import EUCLIDEAN, Metric, distances_between, distinct_rows
from ..kernels._jit import threads
from ..kernels.nearest import shrink_gaps

_WORTH_THREADS = 1_000_000  # entries of X: below that, waking threads costs more than one landmark's work


def chosen_landmarks(
    X: np.ndarray,
    count: int,
    rule: str = "maxmin",
    *,
    metric: Metric = "euclidean",
    random_state=None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Rows that stand for all: each the farthest from those before it, or drawn at random.

    No two are equal: a place that counts twice would weigh the map. Fewer distinct rows than ``count`` are
    all of them, with a warning. ``O(count n m)`` time. No ``random_state`` means a fixed seed.
    """
    require_one_of("landmark rule", rule, ("maxmin", "random"))
    if rule == "random":
        chosen = _drawn(X, count, metric, random_state)
    else:
        chosen = _spread_out(X, count, metric, n_jobs)
    if len(chosen) < count:
        warnings.warn(
            f"n_landmarks must be at most {len(chosen)} (the distinct rows), got {count}: "
            f"{len(chosen)} are used.",
            LandmarksClippedWarning,
            stacklevel=2,
        )
    return chosen


def _drawn(X: np.ndarray, count: int, metric: Metric, random_state) -> np.ndarray:
    return np.sort(generator(random_state).permutation(_first_of_equals(X, metric))[:count])


def _first_of_equals(X: np.ndarray, metric: Metric) -> np.ndarray:
    if metric == "precomputed":  # the first zero of a row is at the first row like it
        return np.flatnonzero([row.argmin() == i for i, row in enumerate(X)])
    distinct = distinct_rows(X)
    return np.arange(len(X)) if distinct is None else distinct.rows


def _spread_out(X: np.ndarray, count: int, metric: Metric, n_jobs: int | None) -> np.ndarray:
    centre = X.mean(axis=0, keepdims=True) if metric in EUCLIDEAN else X[:1]
    current = int(distances_between(centre, X, metric, n_jobs)[0].argmax())
    gap = np.full(len(X), np.inf)
    landmarks = np.empty(count, np.int64)
    n_jobs = n_jobs if X.size > _WORTH_THREADS else 1
    for block in row_blocks(count, "landmarks", size=1):
        landmarks[block] = current
        if metric in EUCLIDEAN:
            with threads(n_jobs) as workers:
                shrink_gaps(X, current, workers, gap)
        else:
            np.minimum(gap, distances_between(X[current : current + 1], X, metric, n_jobs)[0], out=gap)
        current = int(gap.argmax())
        if gap[current] == 0:  # every row is like one of those chosen
            return landmarks[: block.stop]
    return landmarks
