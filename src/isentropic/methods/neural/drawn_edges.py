"""Edges of a neighbour graph, drawn by their weights: what batches of a network are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True)
class DrawnEdges:
    """Edges of a symmetric graph, each once, and the sums of their weights: for systematic sampling.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> W = csr_array([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    >>> edges = DrawnEdges.of(W, np.ones(3, bool), both=True)
    >>> np.sort(edges.drawn(4, np.random.RandomState(0)), axis=1).tolist()
    [[0, 0, 0, 1], [1, 1, 1, 2]]
    """

    first: np.ndarray  # (e,) int32: the lower number of both ends
    second: np.ndarray  # (e,) int32
    sums: np.ndarray  # (e,) of the weights up to each edge

    @classmethod
    def of(cls, graph: csr_array, some: np.ndarray, *, both: bool) -> DrawnEdges:
        """Those with both ends among ``some`` rows (a mask), or with at least one."""
        own = np.repeat(np.arange(graph.shape[0], dtype=np.int32), np.diff(graph.indptr))
        fits = np.logical_and if both else np.logical_or
        kept = np.flatnonzero(fits(some[own], some[graph.indices]) & (own < graph.indices) & (graph.data > 0))
        return cls(own[kept], graph.indices[kept].astype(np.int32), np.cumsum(graph.data[kept]))

    def __len__(self) -> int:
        return len(self.first)

    def drawn(self, count: int, random: np.random.RandomState) -> np.ndarray:
        """Both ends of ``count`` edges, (2, count), in mixed order; heavy edges come more than once.

        At equal steps along the sums, from a drawn start: every row has its share to within one edge.
        ``O(count log e)``.
        """
        at = (np.arange(count) + random.uniform()) * (self.sums[-1] / count)
        edges = np.minimum(np.searchsorted(self.sums, at, side="right"), len(self) - 1)
        return np.stack([self.first[edges], self.second[edges]])[:, random.permutation(count)]


def matching(n_pairs: int) -> csr_array:
    """The graph of ``2 n`` rows in which row i and row n + i are neighbours, with weights of sum 1.

    >>> (4 * matching(2).toarray()).tolist()
    [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    n = 2 * n_pairs
    others = np.roll(np.arange(n, dtype=np.int32), n_pairs)
    return csr_array((np.full(n, 1.0 / n), others, np.arange(n + 1, dtype=np.int32)), shape=(n, n))
