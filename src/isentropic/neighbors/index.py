"""Rows prepared once for any number of exact searches among them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from .._core.errors import require
from .._core.runtime import row_blocks
from ..distances import EUCLIDEAN, Distinct, Metric, distances_to, distinct_rows, rows_per_block
from ..kernels._jit import threads
from ..kernels.neighbors.long_lists import sorted_euclidean, sorted_in_rows
from ..kernels.neighbors.nearest import listed_members, nearest_in_rows, nearest_refined
from .box_tree import BoxTree, is_better_by_boxes, is_quick_by_boxes

_TREE_FEATURES = 15  # beyond that many features a tree visits most of its leaves
_LONG, _LONG_SHARE = 128, 1 / 8  # of a list, and of all rows: beyond both it is faster to sort all rows


def is_long(k: int, n_rows: int) -> bool:
    """Whether lists of ``k`` of so many rows are those of all distances, sorted."""
    return k > max(_LONG, _LONG_SHARE * n_rows)


def has_tree(n_features: int, metric: Metric) -> bool:
    """Whether a table of so many features is searched by a tree, whatever its rows are."""
    return metric in EUCLIDEAN and n_features <= _TREE_FEATURES


def has_boxes(data: np.ndarray, metric: Metric) -> bool:
    """Whether the neighbours in a table are found by a tree."""
    return has_tree(data.shape[1], metric) or (metric in EUCLIDEAN and is_quick_by_boxes(data))


def prefers_boxes(data: np.ndarray, metric: Metric) -> bool:
    """Whether an exact search by a tree is to be taken where an approximate one is at hand."""
    if metric not in EUCLIDEAN:
        return False
    distinct = distinct_rows(data)  # equal rows are searched once
    different = data if distinct is None else data[distinct.rows]
    return is_better_by_boxes(different, by_features=has_tree(data.shape[1], metric))


class RowIndex:
    """Finds the rows of ``data`` nearest to others, exactly: nearest first, equally far ones by index.

    A tree for few features and for tables that it can part, ``O(log n)`` a query; else, and for long lists,
    matrix products or whole rows of distances, ``O(n m)``. What a search prepares is kept for the next one.
    """

    def __init__(self, data: np.ndarray, metric: Metric = "euclidean"):
        self.data, self.metric = data, metric

    def nearest(
        self, queries: np.ndarray, k: int, *, selves: np.ndarray | None = None, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` rows nearest to each query; row ``selves[i]`` is no neighbour of query i."""
        there = len(self.data) - (selves is not None)
        # A model from a file may ask for more, and kernels would follow lists that were never filled.
        require(k <= there, "The number of neighbours", f"at most {there}", k, "Fit the model again.")
        selves = np.full(len(queries), -1) if selves is None else selves
        if self.metric not in EUCLIDEAN:
            return self._by_rows(queries, k, selves, n_jobs)
        if is_long(k, len(self.data)):
            return _by_sorting(queries, self.data, k, selves, n_jobs)
        if self._distinct is None:
            return self._search(queries, k, selves, n_jobs)
        # Hundreds of equal rows would tie in every list: search among the distinct ones, then list them
        # all. The k + 1 nearest distinct rows always hold the k nearest others.
        anyone = np.full(len(queries), -1)
        nearest, _ = self._search(queries, min(k + 1, len(self._different)), anyone, n_jobs)
        return members_of(queries, self._different, nearest, self._distinct, selves, k, n_jobs)

    @cached_property
    def _distinct(self) -> Distinct | None:
        return distinct_rows(self.data)

    @cached_property
    def _different(self) -> np.ndarray:
        return self.data if self._distinct is None else self.data[self._distinct.rows]

    def _by_rows(self, queries, k, selves, n_jobs):
        """Whole rows of distances, in blocks."""
        indices, distances = _empty_lists(len(queries), k)
        measured = distances_to(self.data, self.metric, n_jobs)
        for block in row_blocks(len(queries), "neighbours", size=rows_per_block(len(self.data))):
            D = np.ascontiguousarray(measured(queries[block]))
            lists_in_rows(D, selves[block], indices[block], distances[block], n_jobs)
        return indices, distances

    def _search(self, queries, k, selves, n_jobs):
        find = self._by_boxes if self._boxes is not None else self._by_products
        return find(queries, k, selves, n_jobs)

    @cached_property
    def _boxes(self) -> BoxTree | None:
        return BoxTree(self._different) if has_boxes(self._different, self.metric) else None

    def _by_boxes(self, queries, k, selves, n_jobs):
        indices, distances = _empty_lists(len(queries), k)
        for block in row_blocks(len(queries), "neighbours", size=1024, adapt=True):
            self._boxes.nearest(queries[block], selves[block], indices[block], distances[block], n_jobs)
        return indices, distances

    @cached_property
    def _products(self) -> Products:
        return Products(self._different)

    def _by_products(self, queries, k, selves, n_jobs):
        """Matrix products in single precision name the candidates, exact distances choose among them."""
        indices, distances = _empty_lists(len(queries), k)
        for block, *estimates in self._products.blocks(queries):
            with threads(n_jobs):
                nearest_refined(*estimates, selves[block], indices[block], distances[block])
        return indices, distances


class Products:
    """Rows prepared for matrix products in single precision, which estimate distances within a bound."""

    def __init__(self, data: np.ndarray):
        self._data, self._centre = data, data.mean(axis=0)
        # So that no square overflows in single precision.
        spread = max((data.max(axis=0) - self._centre).max(), (self._centre - data.min(axis=0)).max())
        self._scale = spread or 1.0
        self._reduced = np.empty(data.shape, np.float32)
        for start in range(0, len(data), 1024):  # in parts, so that no second table of doubles is held
            part = slice(start, start + 1024)
            self._reduced[part] = (data[part] - self._centre) / self._scale
        self._norms = np.einsum("ij,ij->i", self._reduced, self._reduced, dtype=np.float64)

    def blocks(self, queries: np.ndarray) -> Iterator[tuple]:
        """Blocks of queries, each with what the kernels take that refine the estimates."""
        largest = self._norms.max()
        for block in row_blocks(len(queries), "neighbours", size=rows_per_block(len(self._data))):
            centred = (queries[block] - self._centre) / self._scale
            # Each query in its own unit, so that one far away takes no precision from the others.
            units = np.abs(centred).max(axis=1, initial=0.0)
            units[units == 0] = 1.0
            products = np.asarray(centred / units[:, None], np.float32) @ self._reduced.T
            query_norms = np.einsum("ij,ij->i", centred, centred)
            slack = product_error(centred.shape[1], query_norms, largest)
            yield block, products, units, queries[block], self._data, query_norms, self._norms, slack


def members_of(queries, different, nearest, distinct: Distinct, selves, k: int, n_jobs):
    """Lists of ``k`` rows from lists of distinct ones, each of which stands for all rows like it."""
    indices, distances = _empty_lists(len(queries), k)
    with threads(n_jobs):
        listed_members(queries, different, nearest, distinct.indptr, distinct.members, selves,
                       indices, distances)  # fmt: skip
    return indices, distances


def _empty_lists(n_rows: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((n_rows, k), np.int32), np.empty((n_rows, k))


def lists_in_rows(D: np.ndarray, selves, indices, distances, n_jobs: int | None) -> None:
    """The nearest of every row of distances ``D`` into ``indices`` and ``distances``, without ``selves``."""
    with threads(n_jobs) as n_workers:
        if not is_long(indices.shape[1], D.shape[1]) or sorted_in_rows(
            D, selves, n_workers, indices, distances
        ):
            nearest_in_rows(D, selves, indices, distances)  # which takes infinite distances, too


def _by_sorting(queries, data, k, selves, n_jobs):
    """Every row measured and sorted, for long lists."""
    indices, distances = _empty_lists(len(queries), k)
    for block in row_blocks(len(queries), "neighbours", size=rows_per_block(len(data))):
        with threads(n_jobs) as n_workers:
            sorted_euclidean(queries[block], data, selves[block], n_workers, indices[block], distances[block])
    return indices, distances


def product_error(n_features: int, query_norms: np.ndarray, largest_norm: float) -> np.ndarray:
    """Bound of the error of ``|x|^2 + |y|^2 - 2 x.y`` in single precision, rounding of the data included."""
    unit = np.finfo(np.float32).eps / 2
    return 4.0 * (n_features + 8) * unit * (query_norms + largest_norm)
