"""Nearest neighbours: exact by tree or brute force, or approximate, always in the same order.

Neighbours come nearest first, equally far ones by index, whatever found them.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial import KDTree

from .._errors import NeighborsClippedWarning, require
from .._runtime import row_blocks, worker_threads
from .._values import Knn, Neighbors
from ..kernels._jit import threads
from ..kernels.nearest import measured_lists, nearest_in_rows, nearest_refined
from .approximate import approximate_neighbors
from .distances import EUCLIDEAN, Metric, distances_between, metric_name, rows_per_block

_TREE_FEATURES = 15  # beyond that many features a tree visits most of its leaves


def nearest_neighbors(
    X: np.ndarray, rule: Knn, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """The ``rule.k`` nearest other rows of every row of ``X`` (a distance matrix when precomputed).

    Tree: ``O(n log n)`` for few features. Brute force: ``O(n^2 m)``. Approximate: about ``O(n^1.1 m)``.
    """
    k = clipped_neighbors(rule.k, len(X) - 1)
    if use_approximate(rule, X, metric):
        return approximate_neighbors(X, k, metric=metric, random_state=random_state, n_jobs=n_jobs)
    indices, distances = nearest_among(X, X, k, metric=metric, selves=np.arange(len(X)), n_jobs=n_jobs)
    return Neighbors(indices, distances, metric_name(metric), exact=True)


def clipped_neighbors(k: int, available: int) -> int:
    """``k``, or as many as there are, with a warning."""
    is_count = isinstance(k, int | np.integer) and not isinstance(k, bool)
    require(is_count and k >= 1, "n_neighbors", "a positive integer", k)
    if k <= available:
        return int(k)
    warnings.warn(
        f"n_neighbors must be at most {available} (the other rows), got {k}: {available} are used.",
        NeighborsClippedWarning,
        stacklevel=2,
    )
    return available


def use_approximate(rule: Knn, X: np.ndarray, metric: Metric) -> bool:
    """Whether ``rule`` searches these rows approximately."""
    asked = rule.approximate
    require(asked in (True, False, "auto"), "approximate", "True, False or 'auto'", asked)
    if asked != "auto":
        fits = not (asked and metric == "precomputed")
        require(fits, "approximate", "False when the distances are precomputed", asked)
        return bool(asked)
    has_tree = metric in EUCLIDEAN and X.shape[1] <= _TREE_FEATURES
    return len(X) > rule.exact_below and not has_tree and metric != "precomputed"


def nearest_among(
    queries: np.ndarray,
    data: np.ndarray,
    k: int,
    *,
    metric: Metric = "euclidean",
    selves: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` rows of ``data`` nearest to each query, exactly; ``selves[i]`` is no neighbour of query i."""
    selves = np.full(len(queries), -1) if selves is None else selves
    if metric not in EUCLIDEAN:
        return _by_rows(queries, data, k, metric, selves, n_jobs)
    if data.shape[1] <= _TREE_FEATURES:
        return _by_tree(queries, data, k, selves, n_jobs)
    return _by_products(queries, data, k, selves, n_jobs)


def _empty_lists(n_rows: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((n_rows, k), np.int32), np.empty((n_rows, k))


def _by_rows(queries, data, k, metric, selves, n_jobs):
    """Whole rows of distances, in blocks."""
    indices, distances = _empty_lists(len(queries), k)
    for block in row_blocks(len(queries), "neighbours", size=rows_per_block(len(data))):
        D = distances_between(queries[block], data, metric, n_jobs)
        with threads(n_jobs):
            nearest_in_rows(np.ascontiguousarray(D), selves[block], indices[block], distances[block])
    return indices, distances


def _by_products(queries, data, k, selves, n_jobs):
    """Matrix products in single precision name the candidates, exact distances choose among them."""
    indices, distances = _empty_lists(len(queries), k)
    centre = data.mean(axis=0)
    scale = max(np.abs(data - centre).max(), np.abs(queries - centre).max()) or 1.0
    # Scaled, so that no square overflows in single precision.
    reduced = np.asarray((data - centre) / scale, np.float32)
    norms = np.einsum("ij,ij->i", reduced, reduced, dtype=np.float64)
    for block in row_blocks(len(queries), "neighbours", size=rows_per_block(len(data)), adapt=True):
        part = np.asarray((queries[block] - centre) / scale, np.float32)
        part_norms = np.einsum("ij,ij->i", part, part, dtype=np.float64)
        slack = _product_error(data.shape[1], part_norms, norms.max())
        with threads(n_jobs):
            nearest_refined(part @ reduced.T, queries[block], data, part_norms, norms, slack, selves[block],
                            indices[block], distances[block])  # fmt: skip
    return indices, distances


def _product_error(n_features: int, query_norms: np.ndarray, largest_norm: float) -> np.ndarray:
    """Bound of the error of ``|x|^2 + |y|^2 - 2 x.y`` in single precision, rounding of the data included."""
    unit = np.finfo(np.float32).eps / 2
    return 4.0 * (n_features + 8) * unit * (query_norms + largest_norm)


def _by_tree(queries, data, k, selves, n_jobs):
    """A k-d tree names the candidates; rows whose k-th neighbour is tied are settled by brute force."""
    indices, distances = _empty_lists(len(queries), k)
    tree = KDTree(data, balanced_tree=False)
    asked = min(k + 2, len(data))  # one more for the row itself, one more to see a tie
    for block in row_blocks(len(queries), "neighbours", size=1024, adapt=True):
        candidate_distances, candidates = tree.query(queries[block], k=asked, workers=worker_threads(n_jobs))
        candidates = candidates.reshape(-1, asked)  # scipy drops the axis of a single neighbour
        with threads(n_jobs):
            measured_lists(queries[block], data, candidates, selves[block], indices[block], distances[block])
        if asked < len(data):
            farthest = candidate_distances.reshape(-1, asked)[:, -1]
            # A margin, since scipy may round a distance otherwise than we do.
            tied = np.flatnonzero(farthest <= distances[block][:, -1] * (1 + 1e-12))
            tied += block.start
            if len(tied):
                settled = _by_rows(queries[tied], data, k, "euclidean", selves[tied], n_jobs)
                indices[tied], distances[tied] = settled
    return indices, distances
