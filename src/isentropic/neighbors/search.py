"""Nearest neighbours: exact by tree or brute force, or approximate, always in the same order.

Neighbours come nearest first, equally far ones by index, whatever found them.
"""

from __future__ import annotations

import warnings

import numpy as np

from .._errors import NeighborsClippedWarning, require
from .._runtime import row_blocks
from .._values import Knn, Neighbors
from ..kernels._jit import threads
from ..kernels.nearest import listed_members, nearest_in_rows, nearest_refined
from .approximate import approximate_neighbors
from .distances import (
    EUCLIDEAN,
    Metric,
    checked_magnitude,
    distances_between,
    metric_name,
    rows_per_block,
)
from .duplicates import distinct_rows
from .tree import nearest_by_tree

_TREE_FEATURES = 15  # beyond that many features a tree visits most of its leaves


def nearest_neighbors(
    X: np.ndarray, rule: Knn, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """The ``rule.k`` nearest other rows of every row of ``X`` (a distance matrix when precomputed).

    Tree: ``O(n log n)`` for few features. Brute force: ``O(n^2 m)``. Approximate: about ``O(n^1.1 m)``.
    """
    checked_magnitude(X)
    k = clipped_neighbors(rule.k, len(X) - 1)
    if use_approximate(rule, X, metric):
        return approximate_neighbors(X, k, metric=metric, random_state=random_state, n_jobs=n_jobs)
    indices, distances = nearest_among(X, X, k, metric=metric, selves=np.arange(len(X)), n_jobs=n_jobs)
    return Neighbors(indices, distances, metric_name(metric), exact=True)


def clipped_neighbors(k: int, available: int, who: str = "the other rows") -> int:
    """``k``, or as many as there are, with a warning."""
    is_count = isinstance(k, int | np.integer) and not isinstance(k, bool)
    require(is_count and k >= 1, "n_neighbors", "a positive integer", k)
    if k <= available:
        return int(k)
    warnings.warn(
        f"n_neighbors must be at most {available} ({who}), got {k}: {available} are used.",
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
    find = _by_tree if data.shape[1] <= _TREE_FEATURES else _by_products
    distinct = distinct_rows(data)
    if distinct is None:
        return find(queries, data, k, selves, n_jobs)
    # Hundreds of equal rows would tie in every list: search among the distinct ones, then list them all.
    # The k + 1 nearest distinct rows always hold the k nearest others.
    different = data[distinct.rows]
    anyone = np.full(len(queries), -1)
    nearest, _ = find(queries, different, min(k + 1, len(different)), anyone, n_jobs)
    indices, distances = _empty_lists(len(queries), k)
    with threads(n_jobs):
        listed_members(queries, different, nearest, distinct.indptr, distinct.members, selves,
                       indices, distances)  # fmt: skip
    return indices, distances


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
    # So that no square overflows in single precision.
    scale = max((data.max(axis=0) - centre).max(), (centre - data.min(axis=0)).max()) or 1.0
    reduced = np.empty(data.shape, np.float32)
    for start in range(0, len(data), 1024):  # in parts, so that no second table of doubles is held
        reduced[start : start + 1024] = (data[start : start + 1024] - centre) / scale
    norms = np.einsum("ij,ij->i", reduced, reduced, dtype=np.float64)
    for block in row_blocks(len(queries), "neighbours", size=rows_per_block(len(data))):
        centred = (queries[block] - centre) / scale
        # Each query in its own unit, so that one far away takes no precision from the others.
        units = np.abs(centred).max(axis=1, initial=0.0)
        units[units == 0] = 1.0
        products = np.asarray(centred / units[:, None], np.float32) @ reduced.T
        query_norms = np.einsum("ij,ij->i", centred, centred)
        slack = _product_error(data.shape[1], query_norms, norms.max())
        with threads(n_jobs):
            nearest_refined(products, units, queries[block], data, query_norms, norms, slack, selves[block],
                            indices[block], distances[block])  # fmt: skip
    return indices, distances


def _product_error(n_features: int, query_norms: np.ndarray, largest_norm: float) -> np.ndarray:
    """Bound of the error of ``|x|^2 + |y|^2 - 2 x.y`` in single precision, rounding of the data included."""
    unit = np.finfo(np.float32).eps / 2
    return 4.0 * (n_features + 8) * unit * (query_norms + largest_norm)


def _by_tree(queries, data, k, selves, n_jobs):
    """A tree, and brute force for the rows that have too many equally far neighbours for it."""
    indices, distances, unsettled = nearest_by_tree(queries, data, k, selves, n_jobs)
    if len(unsettled):
        settled = _by_rows(queries[unsettled], data, k, "euclidean", selves[unsettled], n_jobs)
        indices[unsettled], distances[unsettled] = settled
    return indices, distances
