"""The shortest edges that join the parts of a graph."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .._core.runtime import row_blocks
from ..distances import (
    EUCLIDEAN,
    Metric,
    distances_to,
    distinct_rows,
    has_directions,
    rows_per_block,
    unit_directions,
)
from .box_tree import BoxTree, worth_comparing
from .cells import CellIndex

_FEW = 4096  # rows, whose directions are compared one by one
_ENOUGH = 64  # queries, to judge by them what a tree is worth
_SHARE = 0.1  # of the time of matrix products with all rows: what cells take at most


def shortest_bridges(
    X: np.ndarray, labels: np.ndarray, metric: Metric = "euclidean", n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The minimum spanning edges between the parts, ``(e, 2)``, in order, and their lengths (Boruvka).

    In each round every part but the largest adds its shortest edge outwards, of equal ones the first. What a
    row's nearest outside was before parts were joined is never farther than what it is after: a row is
    searched for again only where that could still be the shortest edge of its part.
    """
    rows = _representatives(X, labels, metric)
    if metric != "precomputed" and len(rows) < len(X):
        X = X[rows]
    labels = labels[rows].astype(np.int64)
    index = OutsideIndex(X, metric)
    near, lengths = np.full(len(rows), -1), np.zeros(len(rows))
    edges: dict[tuple[int, int], float] = {}
    while labels.any():
        added = _round(index, labels, near, lengths, n_jobs)
        edges.update(added)
        labels = _merged(labels, added)
    pairs = sorted(edges)
    found = np.array([edges[pair] for pair in pairs])
    return rows[np.array(pairs)].astype(np.int32), np.sqrt(found) if index.is_squared else found


def _representatives(X: np.ndarray, labels: np.ndarray, metric: Metric) -> np.ndarray:
    """One row for all equal ones, where they are in the same part: an approximate graph may part them."""
    everyone = np.arange(len(X))
    distinct = None if metric == "precomputed" else distinct_rows(X)
    if distinct is None:
        return everyone
    first = np.repeat(distinct.rows, np.diff(distinct.indptr))
    return distinct.rows if (labels[distinct.members] == labels[first]).all() else everyone


def _round(index: OutsideIndex, labels, near, lengths, n_jobs) -> dict[tuple[int, int], float]:
    """The shortest edge (i, j) from each part but the largest to any other part.

    ``near`` and ``lengths`` are brought up to date: of each row the nearest one outside its part, or -1 where
    all that is known is that it is at least so far away.
    """
    shortest = _Shortest(labels)
    is_known = (near >= 0) & (labels[near] != labels)
    known = np.flatnonzero(is_known)
    shortest.offer(known, near[known], lengths[known])
    largest = np.bincount(labels).argmax()
    rows = np.flatnonzero(~is_known & (labels != largest))
    for several in _batches(rows, labels[rows]):
        several = index.arranged(several)
        for block in row_blocks(len(several), "bridges", size=index.rows_at_once, adapt=index.adapts):
            mine = several[block]
            limits = shortest.lengths[labels[mine]]
            mine, limits = mine[lengths[mine] <= limits], limits[lengths[mine] <= limits]
            if len(mine):
                near[mine], lengths[mine] = index.nearest(mine, labels, limits, n_jobs)
                mine = mine[near[mine] >= 0]
                shortest.offer(mine, near[mine], lengths[mine])
    return shortest.edges(but=int(largest))


def _batches(rows: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    """Some rows, to judge a search by; one of each part, so that the others have a limit; and the others."""
    some = np.linspace(0, len(rows) - 1, min(_ENOUGH, len(rows))).astype(np.int64)
    first = np.setdiff1d(np.unique(labels, return_index=True)[1], some)
    return [rows[some], rows[first], np.delete(rows, np.union1d(some, first))]


class _Shortest:
    """The shortest edge out of every part among those offered; of equally long ones the first, (i, j)."""

    def __init__(self, labels: np.ndarray):
        self._labels = labels
        self.lengths = np.full(labels.max() + 1, np.inf)
        self._kept = np.empty((3, 0), np.int64)  # part, i, j; of equally long edges all

    def offer(self, i: np.ndarray, j: np.ndarray, lengths: np.ndarray) -> None:
        parts = np.concatenate([self._labels[i], self._labels[j]])
        offered = np.tile([np.minimum(i, j), np.maximum(i, j)], 2)
        before = self.lengths.copy()
        np.minimum.at(self.lengths, parts, np.tile(lengths, 2))
        still = self.lengths[self._kept[0]] == before[self._kept[0]]
        shortest = np.tile(lengths, 2) == self.lengths[parts]
        self._kept = np.hstack([self._kept[:, still], np.vstack([parts, offered])[:, shortest]])

    def edges(self, *, but: int) -> dict[tuple[int, int], float]:
        """``{(i, j): length}`` of all parts but one."""
        part, i, j = self._kept[:, np.lexsort(self._kept[::-1])]
        parts, first = np.unique(part, return_index=True)
        first = first[parts != but]
        lengths = self.lengths[part[first]].tolist()
        return dict(zip(zip(i[first].tolist(), j[first].tolist(), strict=True), lengths, strict=True))


def _merged(labels: np.ndarray, edges) -> np.ndarray:
    """Part labels after the parts at both ends of every edge have become one."""
    ends = labels[np.array(list(edges))]
    count = labels.max() + 1
    links = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    return connected_components(links, directed=False)[1][labels].astype(np.int64)


# ---- the nearest row of another part -----------------------------------------------------------


class OutsideIndex:
    """Finds the row of another part nearest to a row, equally far ones by index. ``O(n m)`` memory.

    Lengths are squared distances for the Euclidean metric, which spares roots that may tie, else distances.
    """

    def __init__(self, data: np.ndarray, metric: Metric = "euclidean"):
        self.metric = metric
        self.is_squared = metric in EUCLIDEAN
        self._data = data
        self._tree = BoxTree(data) if self.is_squared else None
        self._cells: CellIndex | None = None
        self._measured: Callable[[np.ndarray], np.ndarray] | None = None
        self._by_angle = has_directions(data, metric) and len(data) > _FEW
        self.adapts = self.is_squared or self._by_angle
        self.rows_at_once = 256 if self.adapts else rows_per_block(len(data))

    def arranged(self, rows: np.ndarray) -> np.ndarray:
        """Rows in the order in which a search of one after the other has the least to do."""
        return rows if self._cells is None else self._cells.arranged(rows)

    def nearest(self, chosen, labels, limits, n_jobs) -> tuple[np.ndarray, np.ndarray]:
        """For the chosen rows, the nearest row of another part and the length of that edge.

        -1 and the limit where none is within it, or is within the length of another edge found of its part.
        A search that is no faster for a limit may ignore it.
        """
        if self._by_angle:
            return self._by_directions(chosen, labels, limits, n_jobs)
        if not self.is_squared:
            return self._by_rows(chosen, labels, n_jobs)
        if self._cells is not None:
            return self._cells.nearest_outside(chosen, labels, limits)
        assert self._tree is not None
        near, lengths, compared = self._tree.nearest_outside(chosen, labels, limits, n_jobs)
        if len(chosen) >= _ENOUGH and compared > _SHARE * worth_comparing(*self._data.shape):
            self._cells, self._tree = CellIndex(self._data, labels, self._tree.places), None
        return near, lengths

    def _by_directions(self, chosen, labels, limits, n_jobs):
        """Cells of rows of length 1 name the rows that may have the shortest edge, which are measured."""
        # Half the squared distance of two such rows is their distance, but for this much of rounding.
        error = 32 * (self._data.shape[1] + 8) * float(np.finfo(np.float64).eps)
        if self._cells is None:
            units = unit_directions(self._data, str(self.metric), n_jobs)
            self._cells = CellIndex(units, labels, BoxTree(units).places, margin=4 * error)
        near, squares = self._cells.nearest_outside(chosen, labels, 2 * (limits + error))
        lengths, found = np.maximum(squares / 2 - error, 0.0), np.flatnonzero(near >= 0)
        size = rows_per_block(len(self._data))
        for few in np.split(found, range(size, len(found), size)):
            near[few], lengths[few] = self._by_rows(chosen[few], labels, n_jobs)
        return near, lengths

    def _by_rows(self, chosen, labels, n_jobs):
        if self._measured is None:
            self._measured = distances_to(self._data, self.metric, n_jobs)
        D = self._measured(self._data[chosen])
        D = np.where(labels[chosen][:, None] == labels, np.inf, D)  # a copy: these may be rows of the caller
        near = D.argmin(axis=1)
        return near, D[np.arange(len(D)), near]
