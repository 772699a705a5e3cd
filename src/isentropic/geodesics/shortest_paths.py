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
from .._core.errors import require
from .._core.runtime import require_memory, row_blocks
from .._core.values import NeighborGraph
from ..kernels._jit import threads
from ..kernels.paths.paths import LANES, grouped_order, grouped_paths, single_paths

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
