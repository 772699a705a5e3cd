"""Nearest neighbours where the edges of a graph have other distances than the rest of the pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._core.runtime import row_blocks
from .._core.values import NeighborGraph, Neighbors
from ..kernels._jit import threads
from ..kernels.neighbors.replaced_lists import replaced_lists
from .index import RowIndex

_ROWS = 1024


def replaced_neighbors(
    found: Neighbors, graph: NeighborGraph, k: int, index: RowIndex, *, n_jobs: int | None = None
) -> Neighbors:
    """The ``k`` nearest of every row, where edges of a graph are as long as they weigh, not as they were.

    ``found`` lists some more rows than k: where edges that became long leave less than k that are certain to
    be the nearest, longer lists are searched for. ``O(n (k + e))`` memory for e edges a row.
    """
    n = graph.n_rows
    indices, lengths = np.empty((n, k), np.int32), np.empty((n, k))
    certain = np.empty(n, np.bool_)
    for block in row_blocks(n, "neighbours", size=_ROWS, adapt=True):
        certain[block] = _fill(found.indices[block], found.distances[block], graph, np.arange(n)[block],
                               indices[block], lengths[block], n_jobs)  # fmt: skip
    listed = found.indices.shape[1]
    degrees = np.diff(graph.indptr)
    open_rows = np.flatnonzero(~certain) if listed < n - 1 else np.empty(0, np.int64)
    for block in row_blocks(len(open_rows), "neighbours", size=_ROWS):
        rows = open_rows[block]
        longer = min(k + int(degrees[rows].max()), n - 1)  # so many hold k rows that are no edges
        near, distances = index.nearest(index.data[rows], longer, selves=rows, n_jobs=n_jobs)
        some, far = np.empty((len(rows), k), np.int32), np.empty((len(rows), k))
        _fill(near, distances, graph, rows, some, far, n_jobs)
        indices[rows], lengths[rows] = some, far
    return replace(found, indices=indices, distances=lengths)


def replaced_among(
    near: np.ndarray, distances: np.ndarray, values: np.ndarray, k: int, n: int, *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` nearest of new rows, whose first e neighbours (b, e) have other distances, ``values``.

    ``near`` and ``distances`` list k + e rows of n, or all.
    """
    b, e = values.shape
    found, lengths = np.empty((b, k), np.int32), np.empty((b, k))
    edges = np.ascontiguousarray(near[:, :e], np.int32).ravel()
    with threads(n_jobs) as n_workers:
        starts = np.arange(0, b * e + 1, e)
        replaced_lists(near, distances, starts, edges, values.ravel(), n, n_workers, found, lengths)
    return found, lengths


def _fill(near, distances, graph: NeighborGraph, rows, indices, lengths, n_jobs) -> np.ndarray:
    """Lists of some rows of the graph, into arrays; which of them are certain."""
    starts, counts = graph.indptr[rows], np.diff(graph.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    entries = np.repeat(starts - indptr[:-1], counts) + np.arange(indptr[-1])
    with threads(n_jobs) as n_workers:
        return replaced_lists(
            near, distances, indptr, graph.indices[entries], graph.weights[entries], graph.n_rows, n_workers,
            indices, lengths,
        )  # fmt: skip
