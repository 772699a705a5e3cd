"""The shortest edges that join the parts of a graph."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .._core.runtime import one_blas_thread, row_blocks
from ..distances import (
    EUCLIDEAN,
    Metric,
    distances_to,
    distinct_rows,
    has_directions,
    rows_per_block,
    unit_directions,
)
from ..kernels.boxes import closer_outside
from .index import BoxTree, product_error

# ---- Cells of rows near each other: exact nearest rows of other components where a tree gains nothing ----


_LEAST_CELL = 512  # rows
_SHARING = 4  # components of less than this fraction of a cell share cells: there would be too many
_QUERIES = 128  # that share a matrix product
_EPS = float(np.finfo(np.float64).eps)


def worth_comparing(n: int, m: int) -> float:
    """Number of rows that a tree may compare with a query before cells cost less."""
    return n * (15 + 0.04 * m) / (10 + 0.6 * m)


class CellIndex:
    """Finds the nearest row of another component within a limit, in cells of about ``3 sqrt(n)`` rows.

    Two rows are at least as far apart as their projections on any line. On the line through the centres of
    two cells of different clusters few pairs of rows are within the limit, and only these are compared:
    matrix products in single precision name the candidates, exact distances choose among them.
    ``O(n m)`` memory.
    """

    def __init__(self, data: np.ndarray, labels: np.ndarray, places: np.ndarray, *, margin: float = 0.0):
        """``places`` order the rows of a component so that those near each other are next to each other.

        A row counts if its square is longer than the shortest of its component by no more than ``margin``.
        """
        self._margin = margin
        size = max(_LEAST_CELL, int(3 * np.sqrt(len(data))))
        self._data = data
        self._rows, self._starts = _cells(labels, places, size)
        self._cell_of = np.empty(len(data), np.int64)
        self._cell_of[self._rows] = np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))
        self._points = data[self._rows]
        self._centres = np.add.reduceat(self._points, self._starts[:-1]) / np.diff(self._starts)[:, None]
        self._far = float(np.linalg.norm(self._centres, axis=1).max())
        pieces = zip(np.split(self._points, self._starts[1:-1]), self._centres, strict=True)
        self._radii = np.array([np.linalg.norm(piece - centre, axis=1).max() for piece, centre in pieces])

    def arranged(self, rows: np.ndarray) -> np.ndarray:
        """These rows cell by cell."""
        return rows[np.argsort(self._cell_of[rows], kind="stable")]

    def nearest_outside(self, chosen, labels, limits) -> tuple[np.ndarray, np.ndarray]:
        """For the chosen rows the nearest row of another component, and its squared distance.

        -1 and the limit where none is within it. An edge found limits all rows of its component and cell.
        """
        near, lengths = np.full(len(chosen), -1), limits.copy()
        with one_blas_thread():  # each product is too short to wake threads for
            for cell in np.unique(self._cell_of[chosen]):
                mine = np.flatnonzero(self._cell_of[chosen] == cell)
                near[mine], lengths[mine] = self._from_cell(cell, chosen[mine], labels, lengths[mine])
        return near, lengths

    def _from_cell(self, cell, chosen, labels, lengths):
        near, components = np.full(len(chosen), -1), labels[chosen]
        is_one = (components == components[0]).all()
        apart = np.linalg.norm(self._centres - self._centres[cell], axis=1)
        gaps = apart - self._radii - self._radii[cell]
        # What rounding may do to any length along a line.
        slack = 64 * self._data.shape[1] * _EPS * (apart + self._radii + self._radii[cell] + self._far)
        for other in np.argsort(gaps, kind="stable"):
            if gaps[other] > np.sqrt(lengths.max()) + slack[other]:
                continue
            if is_one and (labels[self._members(other)] == components[0]).all():
                continue
            self._compare(cell, other, slack[other], chosen, labels, near, lengths)
            _share_limits(components, self._margin, near, lengths)
        return near, lengths

    def _members(self, cell: int) -> np.ndarray:
        return self._rows[self._starts[cell] : self._starts[cell + 1]]

    def _compare(self, cell, other, slack, chosen, labels, near, lengths) -> None:
        """Bring ``near`` and ``lengths`` up to date with the rows of another cell."""
        centre, points = self._centres[cell], self._points[self._starts[other] : self._starts[other + 1]]
        line = self._centres[other] - centre
        line /= float(np.linalg.norm(line)) or 1.0
        own = self._data[chosen] - centre
        along, reach = points @ line - centre @ line, own @ line + np.sqrt(lengths) + slack
        mine, theirs = np.flatnonzero(reach >= along.min()), np.flatnonzero(along <= reach.max())
        if len(mine) == 0:
            return
        mine, theirs = mine[np.argsort(-reach[mine])], theirs[np.argsort(along[theirs])]
        queries, candidates, *bounds, unit = _estimates(own[mine], points[theirs] - centre)
        rows, along = self._members(other)[theirs], along[theirs]
        for start in range(0, len(mine), _QUERIES):
            few = slice(start, start + _QUERIES)
            count = int(np.searchsorted(along, reach[mine[start]], side="right"))
            products = queries[few] @ candidates[:count].T
            found, squares = near[mine[few]], lengths[mine[few]]
            norms, errors = (bound[few] for bound in bounds)
            closer_outside(products, norms, errors, unit, self._data, chosen[mine[few]], rows, labels,
                           found, squares)  # fmt: skip
            near[mine[few]], lengths[mine[few]] = found, squares


def _cells(labels, places, size) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the order of the cells, and where each begins; much smaller components share cells."""
    counts = np.bincount(labels)
    component = np.where(counts[labels] >= size // _SHARING, labels, -1)
    rows = np.lexsort((places, component))
    ends = np.flatnonzero(np.diff(component[rows])) + 1
    starts = np.concatenate([[0], ends, [len(rows)]])
    pieces = [
        np.linspace(start, stop, -(-(stop - start) // size) + 1)[:-1].astype(np.int64)
        for start, stop in pairwise(starts)
    ]
    return rows, np.concatenate([*pieces, [len(rows)]])


def _share_limits(components: np.ndarray, margin: float, near: np.ndarray, lengths: np.ndarray) -> None:
    """The shortest edge that a component has found, and the margin, bounds its rows; longer ones go."""
    _, component = np.unique(components, return_inverse=True)
    shortest = np.full(component.max() + 1, np.inf)
    np.minimum.at(shortest, component[near >= 0], lengths[near >= 0])
    limits = shortest[component] + margin
    longer = lengths > limits
    near[longer], lengths[longer] = -1, limits[longer]


def _estimates(queries: np.ndarray, candidates: np.ndarray):
    """Both in single precision, so that a product is ``x.y - |y|^2 / 2``; ``|x|^2``, error bounds, unit."""
    unit = max(float(np.abs(queries).max()), float(np.abs(candidates).max())) or 1.0
    m = queries.shape[1]
    x, y = np.ones((len(queries), m + 1), np.float32), np.empty((len(candidates), m + 1), np.float32)
    x[:, :m], y[:, :m] = queries / unit, candidates / unit
    own, norms = (np.einsum("ij,ij->i", z[:, :m], z[:, :m], dtype=np.float64) for z in (x, y))
    y[:, m] = -0.5 * norms
    return x, y, own, product_error(m, own, norms.max()), unit


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
    """One row for all equal ones of the same component: an approximate graph may separate them."""
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
