"""Cells of rows near each other: exact nearest rows of other components where a tree gains nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .._core.runtime import one_blas_thread
from ..kernels.neighbors.bridges import closer_outside
from .index import product_error

_LEAST_CELL = 512  # rows
_SHARING = 4  # components of less than this fraction of a cell share cells: there would be too many
_QUERIES = 128  # that share a matrix product
_EPS = float(np.finfo(np.float64).eps)


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
