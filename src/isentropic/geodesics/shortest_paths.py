"""Geodesic distances: lengths of the shortest paths over a neighbour graph.

Rows without a path between them are at infinite distance. Results are equal to the last bit for any
number of threads, any batch and any grouping of the sources.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from .._core.arguments import as_numbers, as_positions, require_graph
from .._core.errors import require, require_count
from .._core.runtime import one_blas_thread, require_memory, row_blocks
from .._core.values import Knn, NeighborGraph, Neighbors
from ..distances import Metric, distances_between, measurable_rows
from ..kernels._jit import threads
from ..kernels.paths import LANES, grouped_order, grouped_paths, nearest_by_paths, single_paths
from ..neighbors import searched_neighbors

_BLOCK = 4 * LANES  # sources in the first call; the next ones take as many as fit a quarter of a second


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A graph renumbered so that rows near each other have near numbers."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    labels: np.ndarray  # number -> row
    numbers: np.ndarray  # row -> number

    @classmethod
    def in_groups(cls, graph: NeighborGraph) -> _Numbered:
        """Groups of near rows that each fill the lanes of the kernel."""
        return cls._permuted(graph, grouped_order(graph.indptr, graph.indices))

    @classmethod
    def in_bands(cls, graph: NeighborGraph) -> _Numbered:
        """Reverse Cuthill-McKee: a wave over the graph stays within a part of memory."""
        n = graph.n_rows
        pattern = csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n))
        return cls._permuted(graph, reverse_cuthill_mckee(pattern, symmetric_mode=True).astype(np.int64))

    @classmethod
    def _permuted(cls, graph: NeighborGraph, labels: np.ndarray) -> _Numbered:
        numbers = np.empty(len(labels), np.int64)
        numbers[labels] = np.arange(len(labels))
        indptr = np.concatenate([[0], np.cumsum(np.diff(graph.indptr)[labels])])
        # Where the entries of each renumbered row stand in the graph.
        entries = np.repeat(graph.indptr[labels] - indptr[:-1], np.diff(indptr)) + np.arange(indptr[-1])
        indices = numbers[graph.indices[entries]].astype(np.int32)
        return cls(indptr, indices, graph.weights[entries], labels, numbers)

    def fill(self, out: np.ndarray, sources: _Seeds, n_jobs: int | None, *, near: bool) -> None:
        """Rows of distances, one a source."""
        n = len(self.labels)
        at = np.arange(len(sources.indptr) - 1) * n
        self._find(sources, at, np.zeros_like(at), n_jobs, near, out.reshape(-1))

    def fill_triangle(self, out: np.ndarray, nodes: np.ndarray, n_jobs: int | None) -> None:
        """Rows of the condensed matrix of all distances: of each, what lies right of the diagonal."""
        n, rows = len(self.labels), self.labels[nodes]
        at = rows * n - rows * (rows + 1) // 2 - rows - 1
        self._find(_Seeds.at(nodes), at, rows + 1, n_jobs, True, out)

    def _find(
        self, sources: _Seeds, at, columns_from, n_jobs: int | None, near: bool, out: np.ndarray
    ) -> None:
        find = grouped_paths if near else single_paths
        with threads(n_jobs) as workers:
            find(self.indptr, self.indices, self.weights, sources.indptr, sources.nodes, sources.starts,
                 self.numbers, at, columns_from, workers, out)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Seeds:
    """Sources in CSR form: the nodes where each starts, and the distance it starts with."""

    indptr: np.ndarray
    nodes: np.ndarray
    starts: np.ndarray

    @classmethod
    def at(cls, nodes: np.ndarray) -> _Seeds:
        return cls(np.arange(len(nodes) + 1), nodes.astype(np.int32), np.zeros(len(nodes)))


def all_pairs(graph: NeighborGraph, *, n_jobs: int | None = None) -> np.ndarray:
    """All geodesic distances, condensed as by ``scipy.spatial.distance.pdist``.

    ``O(n^2 (k + log n))`` time; ``4 n^2`` bytes, estimated before they are taken.

    >>> import numpy as np
    >>> from isentropic import Radius, geodesics, neighbor_graph
    >>> graph = neighbor_graph(np.array([[0.0], [1.0], [3.0]]), Radius(2.5))
    >>> geodesics.all_pairs(graph).tolist()
    [1.0, 3.0, 2.0]
    """
    n = require_graph(graph, distances=True).n_rows
    require_memory(4 * n * n, f"All geodesic distances of {n:,} rows", "Give n_landmarks, such as 500.")
    numbered = _Numbered.in_groups(graph)
    out = np.empty(n * (n - 1) // 2)
    for block in row_blocks(n, "shortest paths", size=_BLOCK, adapt=True):
        numbered.fill_triangle(out, np.arange(block.start, block.stop), n_jobs)
    return out


def from_rows(graph: NeighborGraph, sources: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
    """Geodesic distances from some rows to all, ``(len(sources), n)``: a wave from each source by itself.

    ``O(s n (k + log n))`` time, ``8 s n`` bytes.
    """
    n = require_graph(graph, distances=True).n_rows
    sources = as_positions("sources", sources, n)
    require_memory(
        8 * len(sources) * n, f"Geodesics from {len(sources):,} of {n:,} rows", "Give fewer landmarks."
    )
    numbered = _Numbered.in_bands(graph)
    out = np.empty((len(sources), n))
    size = max(8, 2_000_000 // n)
    for block in row_blocks(len(sources), "shortest paths", size=size, adapt=True):
        seeds = _Seeds.at(numbered.numbers[sources[block]])
        numbered.fill(out[block], seeds, n_jobs, near=False)
    return out


def from_neighbors(
    graph: NeighborGraph, indices: np.ndarray, distances: np.ndarray, *, n_jobs: int | None = None
) -> np.ndarray:
    """Geodesic distances from new rows to all, ``(b, n)``: each enters the graph through its neighbours.

    ``indices`` and ``distances`` are the ``(b, k)`` neighbour lists of the new rows.
    """
    require_graph(graph, distances=True)
    indices = as_positions("indices", indices, graph.n_rows, ndim=2)
    distances = as_numbers("distances", distances, infinite=True, least=0)
    require(indices.shape == distances.shape, "distances", f"of shape {indices.shape}", distances.shape)
    require(indices.shape[1] > 0, "indices", "lists of at least one neighbour", indices.shape)
    numbered = _Numbered.in_groups(graph)
    out = np.empty((len(indices), graph.n_rows))
    near = np.argsort(numbered.numbers[indices[:, 0]], kind="stable")  # neighbours share a group
    for block in row_blocks(len(indices), "shortest paths", size=_BLOCK, adapt=True):
        mine = near[block]
        k = indices.shape[1]
        seeds = _Seeds(
            np.arange(0, len(mine) * k + 1, k),
            numbered.numbers[indices[mine]].ravel().astype(np.int32),
            distances[mine].ravel(),
        )
        found = np.empty((len(mine), graph.n_rows))
        numbered.fill(found, seeds, n_jobs, near=True)
        out[mine] = found
    return out


# ---- Neighbour lists by geodesic distance, without the distances to all other rows ---------------


_NEAREST_BLOCK = 256  # sources in the first call; the next ones take as many as fit a quarter of a second


def nearest_in_graph(
    graph: NeighborGraph, k: int, extras: np.ndarray | None = None, *, n_jobs: int | None = None
) -> Neighbors:
    """The ``k`` nearest rows of every row of a connected graph by shortest paths, with early termination.

    ``extras`` holds a number of at least 0 for every edge, which is added to the distance between its two
    ends and to no path over it. Dijkstra's algorithm from each row ends where no other row can be nearer:
    about ``O(k e log k)`` time a row, e the edges of a row; ``O(n k)`` memory.

    >>> import numpy as np
    >>> from isentropic import Radius, neighbor_graph
    >>> graph = neighbor_graph(np.array([[0.0], [1.0], [3.0], [6.0]]), Radius(3.5))
    >>> found = nearest_in_graph(graph, 2)
    >>> found.indices.tolist(), found.distances.tolist()
    ([[1, 2], [0, 2], [1, 0], [2, 1]], [[1.0, 3.0], [1.0, 2.0], [2.0, 3.0], [3.0, 5.0]])
    """
    require_graph(graph, distances=True)
    k = require_count("k", k, most=graph.n_rows - 1)
    if extras is None:
        extras = np.zeros(len(graph.weights))
    extras = as_numbers("extras", extras, 1, least=0)
    fits = len(extras) == len(graph.weights)
    require(fits, "extras", f"a number for each of {len(graph.weights)} edges", len(extras))
    selves = np.arange(graph.n_rows)
    indices, distances = _nearest_lists(
        graph, graph.indptr, graph.indices, graph.weights, extras, selves, k, n_jobs
    )
    return Neighbors(indices, distances, "geodesic", exact=graph.exact, recall=graph.recall)


def nearest_by_entries(
    graph: NeighborGraph,
    entries: np.ndarray,
    distances: np.ndarray,
    extras: np.ndarray,
    k: int,
    *,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` rows of a connected graph nearest to new rows, which enter it by their neighbours, (b, e).

    ``extras`` are added to the distances from a new row to those neighbours, and to no path over them.
    """
    b, e = entries.shape
    starts = np.arange(0, b * e + 1, e)
    nobody = np.full(b, -1)
    seeds = entries.ravel().astype(np.int32)
    return _nearest_lists(graph, starts, seeds, distances.ravel(), extras.ravel(), nobody, k, n_jobs)


def _nearest_lists(
    graph, seed_ptr, seeds, starts, extras, selves, k, n_jobs
) -> tuple[np.ndarray, np.ndarray]:
    found, lengths = np.empty((len(selves), k), np.int32), np.empty((len(selves), k))
    for block in row_blocks(len(selves), "shortest paths", size=_NEAREST_BLOCK, adapt=True):
        with threads(n_jobs) as n_workers:
            nearest_by_paths(
                graph.indptr, graph.indices, graph.weights, seed_ptr[block.start : block.stop + 1], seeds,
                starts, extras, selves[block], n_workers, found[block], lengths[block],
            )  # fmt: skip
    return found, lengths


# ---- The boundary of a sampled surface: rows whose neighbours all lie to one side ----------------


_NEIGHBORS = 20
_EMPTY_ANGLE = np.radians(110.0)
_DIRECTIONS, _LEAST_SHARE = 64, 0.1  # of the half spaces tried in three or more dimensions
_AT_ONCE = 256  # patches


def boundary_rows(
    X: np.ndarray, n_dimensions: int, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> np.ndarray:
    """Which rows are at the edge of a surface of so many dimensions; a matrix of distances if precomputed.

    The 20 nearest rows are laid out around each by classical scaling, as the local principal plane. In two
    dimensions a row is at the edge if an angle of 110 degrees is empty; in one, if a side is; in more, if
    one of 64 fixed half spaces (Tukey's depth) holds less than a tenth of them. ``O(n (k^3 + k^2 m))``
    beyond the search.

    >>> import numpy as np
    >>> from isentropic.geodesics import boundary_rows
    >>> grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    >>> np.flatnonzero(~boundary_rows(grid, 2)[:27]).tolist()
    [10, 11, 12, 13, 14, 15, 16, 19, 20, 21, 22, 23, 24, 25]
    """
    X = measurable_rows(X, metric)
    n, n_dimensions = len(X), require_count("n_dimensions", n_dimensions)
    require(n >= 2, "X", "a table of at least 2 rows", n)
    near = searched_neighbors(X, Knn(min(_NEIGHBORS, n - 1)), metric=metric, n_jobs=n_jobs).indices
    at_edge = np.empty(n, bool)
    for block in row_blocks(n, "boundary", size=_AT_ONCE):
        patches = np.column_stack([np.arange(block.start, block.stop), near[block]])
        around = _around_first(_distances_within(X, patches, metric), n_dimensions)
        at_edge[block] = _to_one_side(around)
    return at_edge


def _distances_within(X: np.ndarray, patches: np.ndarray, metric: Metric) -> np.ndarray:
    """Distances between the rows of each patch: (b, k + 1, k + 1)."""
    if metric == "precomputed":
        return X[patches[:, :, None], patches[:, None, :]]
    return np.stack([distances_between(X[rows], X[rows], metric, 1) for rows in patches])


def _around_first(D: np.ndarray, n_dimensions: int) -> np.ndarray:
    """Coordinates of each patch by classical scaling, seen from its first row: (b, k, d)."""
    largest = D.max(axis=(1, 2), keepdims=True)
    squares = np.divide(D, largest, out=np.zeros_like(D), where=largest > 0) ** 2
    gram = squares - squares.mean(axis=1, keepdims=True) - squares.mean(axis=2, keepdims=True)
    gram = -0.5 * (gram + squares.mean(axis=(1, 2), keepdims=True))
    with one_blas_thread():
        values, vectors = np.linalg.eigh(gram)
    leading = slice(-1, -1 - min(n_dimensions, D.shape[1]), -1)
    Z = vectors[:, :, leading] * np.sqrt(np.maximum(values[:, None, leading], 0.0))
    return Z[:, 1:] - Z[:, :1]


def _to_one_side(around: np.ndarray) -> np.ndarray:
    """Whether those around a row leave a side of it empty; those in its own place do not count."""
    apart = np.abs(around).max(axis=2) > 1e-9
    some = apart.any(axis=1)
    d = around.shape[2]
    if d == 2:
        return some & (_largest_gap(around, apart) >= _EMPTY_ANGLE)
    directions = np.array([[1.0], [-1.0]])
    if d > 2:
        directions = np.random.default_rng(0).normal(size=(_DIRECTIONS, d))
    counts = ((around @ directions.T > 0) & apart[:, :, None]).sum(axis=1).min(axis=1)
    return some & (counts <= _LEAST_SHARE * apart.sum(axis=1) if d > 2 else counts == 0)


def _largest_gap(around: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """The largest angle between directions next to each other, of those that are some."""
    angles = np.arctan2(around[:, :, 1], around[:, :, 0])
    first = np.take_along_axis(angles, apart.argmax(axis=1)[:, None], axis=1)
    ordered = np.sort(np.where(apart, angles, first), axis=1)  # a direction twice leaves no gap
    gaps = np.diff(ordered, axis=1).max(axis=1, initial=0.0)
    return np.maximum(gaps, 2 * np.pi - (ordered[:, -1] - ordered[:, 0]))
