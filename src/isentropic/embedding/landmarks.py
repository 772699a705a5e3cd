"""Landmarks by farthest-first traversal (maxmin) or at random, and landmark MDS.

Landmark MDS: classical scaling of the landmarks, by which all other rows are placed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import squareform

from .._core.errors import LandmarksClippedWarning, require_one_of
from .._core.runtime import generator, one_blas_thread, row_blocks
from ..distances import EUCLIDEAN, Metric, distances_between, distinct_rows, rows_per_block
from ..kernels._jit import threads
from ..kernels.distances.condensed import combined_comoments
from ..kernels.nearest import shrink_gaps
from ..linalg import Scaling, classical_scaling, unexplained

_WORTH_THREADS = 1_000_000  # entries of X: below that, waking threads costs more than one landmark's work


def choose_landmarks(
    X: np.ndarray,
    count: int,
    rule: str = "maxmin",
    *,
    metric: Metric = "euclidean",
    random_state=None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Choose landmarks: each the farthest from those before it, or at random.

    No two are equal: a place that counts twice would weigh the map. Fewer distinct rows than ``count`` are
    all of them, with a warning. ``O(count n m)`` time. No ``random_state`` means a fixed seed.
    """
    require_one_of("landmark rule", rule, ("maxmin", "random"))
    if rule == "random":
        chosen = _random_landmarks(X, count, metric, random_state)
    else:
        chosen = _maxmin_landmarks(X, count, metric, n_jobs)
    if len(chosen) < count:
        warnings.warn(
            f"n_landmarks must be at most {len(chosen)} (the distinct rows), got {count}: "
            f"{len(chosen)} are used.",
            LandmarksClippedWarning,
            stacklevel=2,
        )
    return chosen


def landmark_scaling(
    D: np.ndarray,
    landmarks: np.ndarray,
    n_components: int,
    scaled: Callable[..., Scaling] = classical_scaling,
    *,
    n_jobs: int | None,
) -> tuple[Scaling, np.ndarray, float]:
    """Landmark MDS: the scaling of the landmarks, coordinates of all n rows, and the residual variance.

    ``D`` (l, n) are the distances from the landmarks to all rows.
    """
    between = squareform(D[:, landmarks], checks=False)
    scaling = scaled(between, len(landmarks), n_components, n_jobs=n_jobs)
    Z = map_by_landmarks(scaling, D.shape[1], lambda block: D[:, block].T, n_jobs=n_jobs)
    return scaling, Z, _landmark_residual_variance(D, landmarks, Z, n_jobs)


def map_by_landmarks(
    scaling: Scaling, n: int, distances: Callable[[slice], np.ndarray], *, n_jobs: int | None
) -> np.ndarray:
    """Map all n rows (n, d) in blocks by their distances to the landmarks, ``distances(block)``."""
    Z = np.empty((n, scaling.projection.shape[1]))
    for block in row_blocks(n, "placing rows", size=4096):
        Z[block] = scaling.place(distances(block), n_jobs=n_jobs)
    return Z


def _random_landmarks(X: np.ndarray, count: int, metric: Metric, random_state) -> np.ndarray:
    return np.sort(generator(random_state).permutation(_first_of_equals(X, metric))[:count])


def _first_of_equals(X: np.ndarray, metric: Metric) -> np.ndarray:
    if metric == "precomputed":  # the first zero of a row is at the first row like it
        return np.flatnonzero([row.argmin() == i for i, row in enumerate(X)])
    distinct = distinct_rows(X)
    return np.arange(len(X)) if distinct is None else distinct.rows


def _maxmin_landmarks(X: np.ndarray, count: int, metric: Metric, n_jobs: int | None) -> np.ndarray:
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


def _landmark_residual_variance(
    G: np.ndarray, landmarks: np.ndarray, Z: np.ndarray, n_jobs: int | None
) -> float:
    """``1 - corr(G, D_Z)^2`` over the pairs of a landmark and any row, itself included."""
    moments = np.empty((len(landmarks), 6))
    for block in row_blocks(len(landmarks), "residual variance", size=rows_per_block(len(Z))):
        mapped = distances_between(Z[landmarks[block]], Z, "euclidean", n_jobs)
        with one_blas_thread():  # several would add up in another order, and take the cores from the kernels
            for i, (g, d) in enumerate(zip(G[block], mapped, strict=True), start=block.start):
                a, b = g - g.mean(), d - d.mean()
                moments[i] = len(g), g.mean(), d.mean(), a @ a, b @ b, a @ b
    return unexplained(*combined_comoments(moments))
