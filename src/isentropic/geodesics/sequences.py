"""All geodesic distances of several graphs of the same rows, one graph after the other."""

from __future__ import annotations

import numpy as np

from .._core.runtime import require_memory, row_blocks
from .._core.values import NeighborGraph
from ..kernels._jit import threads
from ..kernels.paths.halved_paths import halved_paths, wave_orders
from ..kernels.paths.paths import LANES
from ..linalg import laid_out
from .shortest_paths import _Numbered

_BLOCKS = 24  # of sources: the more, the more is known from earlier ones; the fewer, the more run at once


class PairSequence:
    """All geodesic distances of one graph after the other, in the memory of one.

    ``rows`` is the order in which the rows stand in the condensed distances: neighbours near each other.
    As paths are as long both ways, each pair is searched from one end only, and the order in which a wave
    passes the rows is found once for all graphs: 0.4 of the time of ``all_pairs`` a graph, and equal to it up
    to rounding, 1e-14.

    ``O(n^2 k)`` time a graph in practice; ``4.2 n^2`` bytes.

    >>> import numpy as np
    >>> from isentropic import Radius, neighbor_graph
    >>> graph = neighbor_graph(np.array([[0.0], [1.0], [3.0]]), Radius(2.5))
    >>> sequence = PairSequence(graph)
    >>> sequence.rows.tolist(), sequence.all_pairs(graph).tolist()
    ([0, 1, 2], [1.0, 3.0, 2.0])
    """

    def __init__(self, like: NeighborGraph, *, n_jobs: int | None = None) -> None:
        n = like.n_rows
        require_memory(17 * n * n // 4, f"All geodesic distances of {n:,} rows", "Take a sample of them.")
        numbered = _Numbered.in_groups(like)
        self.rows, self._n_jobs = numbered.labels, n_jobs
        self._size = LANES * max(1, -(-n // (LANES * _BLOCKS)))
        first = np.arange(0, n, LANES) // self._size * self._size  # node of the block of each group
        self._starts = np.concatenate([[0], np.cumsum(n - first)])
        self._orders = np.empty(self._starts[-1], np.int32)
        self._distances: np.ndarray | None = None
        with threads(n_jobs) as workers:
            wave_orders(numbered.indptr, numbered.indices, numbered.weights, first, self._starts, workers,
                        self._orders)  # fmt: skip

    def all_pairs(self, graph: NeighborGraph, out: np.ndarray | None = None) -> np.ndarray:
        """Condensed distances between :attr:`rows`, which the next call overwrites.

        Of a square array ``out`` what lies right of the diagonal is filled instead.
        """
        n = len(self.rows)
        if out is None:
            self._distances = np.empty(n * (n - 1) // 2) if self._distances is None else self._distances
            out = self._distances
        entries, row_starts = laid_out(out, n)
        numbered = _in_order(_Numbered._permuted(graph, self.rows))
        for block in row_blocks(len(self.rows), "shortest paths", size=self._size):
            inner = _from_node(numbered, block.start)
            with threads(self._n_jobs) as workers:
                halved_paths(*numbered, *inner, block.start, block.stop, self._orders, self._starts, workers,
                             row_starts, entries)  # fmt: skip
        return out


Csr = tuple[np.ndarray, np.ndarray, np.ndarray]


def _in_order(graph: _Numbered) -> Csr:
    """The graph with the neighbours of each node in order."""
    node = np.repeat(np.arange(len(graph.labels)), np.diff(graph.indptr))
    order = np.lexsort((graph.indices, node))
    return graph.indptr, graph.indices[order], graph.weights[order]


def _from_node(graph: Csr, first: int) -> Csr:
    """The graph of the nodes from ``first`` on, numbered from 0."""
    indptr, indices, weights = graph
    start = indptr[first]
    inside = indices[start:] >= first
    counts = np.concatenate([[0], np.cumsum(inside)])[indptr[first:] - start]
    return counts, indices[start:][inside] - np.int32(first), weights[start:][inside]
