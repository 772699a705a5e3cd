"""Neighbor lists after rows were appended or replaced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._core.runtime import row_blocks
from .._core.values import NeighborGraph, Neighbors
from ..distances import EUCLIDEAN, Metric, distances_between, metric_name
from ..kernels._jit import threads
from ..kernels.nearest import replaced_lists
from .index import RowIndex, lists_in_rows
from .search import nearest_among

# ---- Neighbour lists after rows were appended: only what the new rows change is searched ---------


_FEW, _FEW_FEATURES = 4_000_000, 100_000_000  # distances, and differences: all are taken, without an index


def lists_of_graph(
    X: np.ndarray, graph: NeighborGraph, k: int, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Neighbors:
    """The ``k`` nearest of every row of ``X``, found again in the union of all lists: none is nearer.

    ``O(n k log k)`` time. The graph is of that ``k``, with its distances for weights; bridges are longer.
    """
    row = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    order = np.lexsort((graph.indices, graph.weights, row))
    # One more than k, to see whether it is as far; the last of a list of k is listed twice.
    more = np.minimum(np.arange(k + 1), np.diff(graph.indptr)[:, None] - 1)
    chosen = order[graph.indptr[:-1, None] + more]
    distances = graph.weights[chosen]
    distances[np.diff(graph.indptr) == k, k] = np.inf
    return _first(X, graph.indices[chosen], distances, k, metric, n_jobs)


def appended_lists(
    X: np.ndarray, known: Neighbors, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Neighbors:
    """The lists of all rows, of which the first have the ``known`` lists.

    A new row enters a list where it is nearer than the last, ties going to the lower index, as a search of
    all rows would find. ``O(b n m)`` time for b new rows.
    """
    n, k = known.indices.shape
    indices, distances, near, gaps = _new_lists(X, n, k, metric, n_jobs)
    both = np.hstack([known.distances, gaps])
    order = np.argsort(both, axis=1, kind="stable")  # known rows come first among equally far ones
    merged = np.take_along_axis(np.hstack([known.indices, near + np.int32(n)]), order, axis=1)
    missing = k + 1 - distances.shape[1]
    return _first(
        X,
        np.concatenate([merged[:, : k + 1], np.pad(indices, ((0, 0), (0, missing)))]),
        np.concatenate(
            [
                np.take_along_axis(both, order, axis=1)[:, : k + 1],
                np.pad(distances, ((0, 0), (0, missing)), constant_values=np.inf),
            ]
        ),
        k,
        metric,
        n_jobs,
    )


def _new_lists(X: np.ndarray, n: int, k: int, metric: Metric, n_jobs: int | None):
    """Lists of the rows from ``n`` on among all, and of the rows before among these: k, or one more."""
    selves, b = np.arange(n, len(X)), len(X) - n
    if b * len(X) > _FEW or b * X.size > _FEW_FEATURES:
        nearest = nearest_among(X[n:], X, k, metric=metric, selves=selves, n_jobs=n_jobs)
        return *nearest, *nearest_among(X[:n], X[n:], min(k + 1, b), metric=metric, n_jobs=n_jobs)
    D = distances_between(X[n:], X, metric, n_jobs)
    nearest = _lists_of(D, selves, min(k + 1, len(X) - 1), n_jobs)
    return *nearest, *_lists_of(np.ascontiguousarray(D[:, :n].T), np.full(n, -1), min(k + 1, b), n_jobs)


def _lists_of(D: np.ndarray, selves: np.ndarray, k: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    indices, distances = np.empty((len(D), k), np.int32), np.empty((len(D), k))
    lists_in_rows(D, selves, indices, distances, n_jobs)
    return indices, distances


def _first(
    X: np.ndarray, indices: np.ndarray, distances: np.ndarray, k: int, metric: Metric, n_jobs: int | None
) -> Neighbors:
    """The first ``k`` of lists of one more.

    A search tells by squares who is nearer, of which two may have one root: where the last of a list is as
    far as the next, it is asked.
    """
    last, lists, lengths = distances[:, k - 1], indices[:, :k].astype(np.int32), distances[:, :k].copy()
    doubtful = np.flatnonzero((distances[:, k] == last) & (last > 0))
    if metric in EUCLIDEAN and len(doubtful):
        lists[doubtful], lengths[doubtful] = nearest_among(
            X[doubtful], X, k, metric=metric, selves=doubtful, n_jobs=n_jobs
        )
    return Neighbors(lists, lengths, metric_name(metric), exact=True)


# ---- Nearest neighbours where the edges of a graph have other distances than the rest of the pairs ----


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
