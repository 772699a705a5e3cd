"""Conformal lengths: edges measured by how far apart the neighbours of their ends are (C-ISOMAP)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._core.values import NeighborGraph
from .entries import Entries


def conformal_graph(graph: NeighborGraph, k: int | None) -> tuple[NeighborGraph, np.ndarray]:
    """Edges ``d_ij / sqrt(M_i M_j)``, and M: the mean of each row's ``k`` shortest edges (None: of all).

    Rows of a dense region come apart as far as those of a sparse one. A row whose neighbours are all equal to
    it has the least M that there is otherwise. ``O(edges log k)`` time.

    >>> import numpy as np
    >>> from isentropic import neighbor_graph
    >>> graph = neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> conformal_graph(graph, 1)[1].tolist()
    [1.0, 1.0, 2.0]
    """
    counts = np.diff(graph.indptr)
    row = np.repeat(np.arange(graph.n_rows), counts)
    order = np.lexsort((graph.weights, row))
    rank = np.arange(len(row)) - graph.indptr[row]
    nearest = np.ones(len(row), bool) if k is None else rank < k
    sums = np.bincount(row[nearest], graph.weights[order][nearest], minlength=graph.n_rows)
    scales = sums / np.maximum(np.minimum(counts, len(row) if k is None else min(k, len(row))), 1)
    scales = _floored(scales)
    roots = np.sqrt(scales)
    return replace(graph, weights=graph.weights / (roots[row] * roots[graph.indices])), scales


def _floored(scales: np.ndarray) -> np.ndarray:
    """Without zeros, by which nothing can be divided."""
    positive = scales[scales > 0]
    return np.where(scales > 0, scales, positive.min() if len(positive) else 1.0)


def conformal_entries(entries: Entries, scales: np.ndarray) -> Entries:
    """New rows enter by edges measured alike: ``scales`` are those of the rows of the graph."""
    there = np.isfinite(entries.distances)
    # one after the other: lists are as long as the longest of the batch, and its zeros must not change a bit
    own = np.cumsum(np.where(there, entries.distances, 0.0), axis=1)[:, -1] / there.sum(axis=1)
    own = np.sqrt(np.where(own > 0, own, scales.min()))
    return entries._replace(distances=entries.distances / (own[:, None] * np.sqrt(scales)[entries.indices]))
