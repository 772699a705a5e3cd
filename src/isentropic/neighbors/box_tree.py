"""A tree of boxes over the rows of a table: exact Euclidean neighbours where the table has structure."""

from __future__ import annotations

import numpy as np

from ..kernels._jit import threads
from ..kernels.neighbors.boxes import boxes_of, nearest_by_boxes, split_rows
from ..kernels.neighbors.bridges import nearest_outside, parts_of_nodes

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
        self._points = data[self._order]
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


def worth_comparing(n: int, m: int) -> float:
    """With how many rows a tree may compare a query until matrix products with all n cost less."""
    return n * (15 + 0.04 * m) / (10 + 0.6 * m)  # nanoseconds of either


def is_quick_by_boxes(data: np.ndarray) -> bool:
    """Whether a tree beats matrix products: the rows form groups, or lie along few directions.

    Of few rows it does not try. Where it compares too many rows of a small sample, it would of more, too.
    """
    worth = worth_comparing(*data.shape)
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
    """With how many rows a tree compares a query, and the share of queries with equally far neighbours.

    Judged by two samples. The share of the rows that a query is compared with falls with their number.
    """
    few, _ = _compared_share(data, _SAMPLE // 4)
    more, tied = _compared_share(data, _SAMPLE)
    share = more * min(more / few, 1.0) ** np.emath.logn(4, len(data) / _SAMPLE)
    return float(share * len(data)), tied


def _compared_share(data: np.ndarray, size: int) -> tuple[float, float]:
    """With what share of a sample a row of it is compared, on average, and how often neighbours tie."""
    sample = data[np.linspace(0, len(data) - 1, size).astype(np.int64)]
    selves = np.linspace(0, size - 1, _PROBES).astype(np.int64)
    indices, distances = np.empty((_PROBES, _PROBED), np.int32), np.empty((_PROBES, _PROBED))
    compared = BoxTree(sample).nearest(sample[selves], selves, indices, distances, 1)
    return compared / size, float((np.diff(distances, axis=1) == 0).any(axis=1).mean())
