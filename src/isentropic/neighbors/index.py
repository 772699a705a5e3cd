"""Rows prepared once for any number of exact searches among them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from .._core.errors import require
from .._core.runtime import one_blas_thread, row_blocks
from ..distances import EUCLIDEAN, Distinct, Metric, as_doubles, distances_to, distinct_rows, rows_per_block
from ..kernels._jit import share, threads
from ..kernels.boxes import boxes_of, nearest_by_boxes, nearest_outside, parts_of_nodes, split_rows
from ..kernels.nearest import (
    first_limits,
    listed_members,
    nearest_candidates,
    nearest_in_rows,
    nearest_refined,
    offer_estimates,
    sorted_euclidean,
    sorted_in_rows,
)

# --------------------------------------------------------------------------------------------------
# A tree of boxes over the rows of a table: exact Euclidean neighbours where the table has structure.


_LEAF = 16  # rows
_SAMPLE = 4096  # rows
_PROBES, _PROBED = 64, 10  # rows of a sample that look for neighbours, and for how many
# Rows that a query may be compared with until a descent, which is not exact, is the better way: it takes the
# time of 600 to 900 of them. Where rows tie by the dozen, only an exact search tells who comes first.
_AFFORDABLE, _AFFORDABLE_OF_LEVELS = 1000, 10_000
_TIED = 0.5  # of the probes, in a table of levels


class BoxTree:
    """Boxes within boxes: those too far away are passed by. ``O(n m)`` memory, ``O(n m log n)`` to make."""

    def __init__(self, data: np.ndarray):
        self._order, *self._nodes, self._depth = split_rows(data, _LEAF)
        self._points = as_doubles(data[self._order])
        self._boxes = boxes_of(self._points, *self._nodes)
        self.places = np.empty(len(data), np.int64)
        self.places[self._order] = np.arange(len(data))
        # What rounding may add to the distance of a box, as a share of it.
        self._slack = 4 * (data.shape[1] + 8) * np.finfo(np.float64).eps

    def nearest(self, queries, selves, indices, distances, n_jobs) -> float:
        """Fill the lists of the queries; returns with how many rows one was compared, on average."""
        with threads(n_jobs):
            measured = nearest_by_boxes(self._points, self._order, *self._nodes, *self._boxes, self._depth,
                                        queries, selves, self._slack, indices, distances)  # fmt: skip
        return float(measured.mean())

    def nearest_outside(self, chosen, labels, limits, n_jobs) -> tuple[np.ndarray, np.ndarray, float]:
        """For the chosen rows the nearest row of another part and its squared distance; comparisons as above.

        -1 and the limit where none is within it. A box whose rows are all of the own part is passed by.
        """
        found, squares = np.empty(len(chosen), np.int64), np.empty(len(chosen))
        places = self.places[chosen]
        turns = np.argsort(places)  # rows next to each other visit the same boxes
        labels = labels[self._order]
        parts = parts_of_nodes(labels, *self._nodes)
        with threads(n_jobs):
            measured = nearest_outside(
                self._points, self._order, *self._nodes, *self._boxes, self._depth, labels, parts,
                places[turns], limits[turns], self._slack, found, squares,
            )  # fmt: skip
        near, lengths = np.empty_like(found), np.empty_like(squares)
        near[turns], lengths[turns] = np.where(found < 0, -1, self._order[found]), squares
        return near, lengths, float(measured.mean())


def _worth_comparing(n: int, m: int) -> float:
    """Number of rows that a tree may compare with a query before matrix products with all n cost less."""
    return n * (1.5 + 0.017 * m) / (10 + 0.6 * m)  # nanoseconds of either


def is_quick_by_boxes(data: np.ndarray) -> bool:
    """Whether a tree beats matrix products: the rows form groups, or lie along few directions.

    Of few rows it does not try. Where it compares too many rows of a small sample, it would of more, too.
    """
    worth = _worth_comparing(*data.shape)
    if len(data) <= _SAMPLE or _compared_share(data, _SAMPLE // 4)[0] * (_SAMPLE // 4) > worth:
        return False
    return _compared(data)[0] <= worth


def is_better_by_boxes(data: np.ndarray, *, by_features: bool) -> bool:
    """Whether a tree, which is exact, is so quick in a table that a descent is not worth its errors.

    Of few rows, ``by_features``: whether they have few.
    """
    if len(data) <= _SAMPLE:
        return by_features
    compared, tied = _compared(data)
    return compared <= (_AFFORDABLE_OF_LEVELS if tied > _TIED else _AFFORDABLE)


def _compared(data: np.ndarray) -> tuple[float, float]:
    """Number of rows that a tree compares with a query, and share of queries with tied neighbours.

    Judged by two samples. The share of the rows that a query is compared with falls with their number.
    """
    few, _ = _compared_share(data, _SAMPLE // 4)
    more, tied = _compared_share(data, _SAMPLE)
    share = more * min(more / few, 1.0) ** np.emath.logn(4, len(data) / _SAMPLE)
    return float(share * len(data)), tied


def _compared_share(data: np.ndarray, size: int) -> tuple[float, float]:
    """Mean share of a sample that a row of it is compared with, and how often neighbours tie."""
    sample = as_doubles(data[np.linspace(0, len(data) - 1, size).astype(np.int64)])
    selves = np.linspace(0, size - 1, _PROBES).astype(np.int64)
    indices, distances = np.empty((_PROBES, _PROBED), np.int32), np.empty((_PROBES, _PROBED))
    compared = BoxTree(sample).nearest(sample[selves], selves, indices, distances, 1)
    return compared / size, float((np.diff(distances, axis=1) == 0).any(axis=1).mean())


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

    Rows, and queries, of single precision are measured in double, as the same numbers would be.
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
            return _by_sorting(as_doubles(queries), self.data, k, selves, n_jobs)
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
            rows = as_doubles(queries[block])
            self._boxes.nearest(rows, selves[block], indices[block], distances[block], n_jobs)
        return indices, distances

    @cached_property
    def _products(self) -> Products:
        return Products(self._different)

    def _by_products(self, queries, k, selves, n_jobs):
        return self._products.nearest(queries, k, selves, n_jobs)


_QUERIES, _PART, _LEAST_PART = 2048, 256, 32  # queries in a block, and in a product
_FIRST, _TILE = 8192, 1024  # rows in the first product, and in others
_SPARE = 64  # candidates beyond the wanted ones
_FAR = 1e30  # squared, of a query, in units of the data


class Products:
    """Rows prepared for matrix products in single precision, which estimate distances within a bound."""

    def __init__(self, data: np.ndarray):
        self._data, self._centre = data, data.mean(axis=0, dtype=np.float64)
        # So that no square overflows in single precision.
        spread = max((data.max(axis=0) - self._centre).max(), (self._centre - data.min(axis=0)).max())
        self._scale = spread or 1.0
        self._reduced = np.empty(data.shape, np.float32)
        for start in range(0, len(data), 1024):  # in parts, so that no second table of doubles is held
            part = slice(start, start + 1024)
            self._reduced[part] = (data[part] - self._centre) / self._scale
        self._norms = np.einsum("ij,ij->i", self._reduced, self._reduced, dtype=np.float64)
        self._single_norms, self._largest = self._norms.astype(np.float32), self._norms.max()

    def nearest(self, queries, k: int, selves, n_jobs) -> tuple[np.ndarray, np.ndarray]:
        """Estimates name the candidates for the ``k`` nearest rows, exact distances choose among them."""
        found = _empty_lists(len(queries), k)
        with one_blas_thread():  # others would wait for the next product by spinning
            for block in row_blocks(len(queries), "neighbours", size=_QUERIES):
                with threads(n_jobs) as n_workers:
                    size = max(_LEAST_PART, min(_PART, -(-(block.stop - block.start) // n_workers)))
                    parts = list(_parts(block, size))

                    def search(i: int, parts=parts) -> None:
                        part, rows = parts[i], as_doubles(queries[parts[i]])
                        self._search(rows, selves[part], *(lists[part] for lists in found))

                    share(search, len(parts))
        return found

    def _search(self, queries, selves, indices, distances) -> None:
        """In tiles of the data, so that the products of a tile are looked through while they are at hand."""
        n, k = len(self._data), indices.shape[1]
        reduced, units, norms = self._in_units(queries)
        slack = product_error(queries.shape[1], np.minimum(norms, _FAR), self._largest)
        room = (len(queries), k + _SPARE)
        estimates, ids = np.empty(room, np.float32), np.empty(room, np.int64)
        sizes, limits = np.zeros(len(queries), np.int64), np.full(len(queries), np.float32(np.inf))
        sizes[norms > _FAR] = -1  # estimates may be no numbers
        doubled, factors = (
            (2.0 * slack).astype(np.float32),
            (2.0 * np.minimum(units, _FAR)).astype(np.float32),
        )
        first = min(n, _FIRST)
        products = np.empty((len(queries), first), np.float32)
        for tile in (slice(0, first), *_parts(slice(first, n), _TILE)):
            here = products[:, : tile.stop - tile.start]
            np.matmul(reduced, self._reduced[tile].T, out=here)
            if tile.start == 0:
                first_limits(here, factors, self._single_norms[tile], doubled, k, limits)
            offer_estimates(here, factors, self._single_norms[tile], doubled, tile.start,
                            selves, k, limits, estimates, ids, sizes)  # fmt: skip
        nearest_candidates(queries, self._data, doubled, estimates, ids, sizes,
                           indices, distances)  # fmt: skip
        self._search_all(queries, selves, np.flatnonzero(sizes < 0), indices, distances)

    def _search_all(self, queries, selves, chosen, indices, distances) -> None:
        """Queries that are about as far from many rows as from the k nearest: all estimates are held."""
        for part in _parts(slice(0, len(chosen)), rows_per_block(len(self._data))):
            rows = chosen[part]
            reduced, units, norms = self._in_units(queries[rows])
            slack = product_error(queries.shape[1], norms, self._largest)
            lists = _empty_lists(len(rows), indices.shape[1])
            nearest_refined(reduced @ self._reduced.T, units, queries[rows], self._data, norms, self._norms,
                            slack, selves[rows], *lists)  # fmt: skip
            indices[rows], distances[rows] = lists

    def _in_units(self, queries) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Queries in single precision, each in its own unit, so that none takes precision from the others."""
        centred = (queries - self._centre) / self._scale
        units = np.abs(centred).max(axis=1, initial=0.0)
        units[units == 0] = 1.0
        reduced = np.asarray(centred / units[:, None], np.float32)
        return reduced, units, np.einsum("ij,ij->i", centred, centred)


def _parts(block: slice, size: int) -> Iterator[slice]:
    for start in range(block.start, block.stop, size):
        yield slice(start, min(start + size, block.stop))


def members_of(queries, different, nearest, distinct: Distinct, selves, k: int, n_jobs):
    """Lists of ``k`` rows from lists of distinct ones, each of which represents all rows equal to it."""
    indices, distances = _empty_lists(len(queries), k)
    queries = as_doubles(queries)
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
