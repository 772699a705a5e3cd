"""Neighbour lists after rows were appended: only what the new rows change is searched."""

from __future__ import annotations

import numpy as np

from .._values import NeighborGraph, Neighbors
from ..distances import Metric, metric_name
from .search import nearest_among


def lists_of_graph(graph: NeighborGraph, k: int) -> Neighbors:
    """The ``k`` nearest of every row, found again in the union of all lists: in its row, none is nearer.

    ``O(n k log k)`` time. The graph is of that ``k``, with its distances for weights; bridges are longer.
    """
    row = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    order = np.lexsort((graph.indices, graph.weights, row))
    chosen = order[(graph.indptr[:-1, None] + np.arange(k)).ravel()].reshape(-1, k)
    return Neighbors(graph.indices[chosen], graph.weights[chosen], "", exact=True)


def appended_lists(
    X: np.ndarray, known: Neighbors, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> tuple[Neighbors, float]:
    """The lists of all rows, of which the first have the ``known`` lists, and the share of these that change.

    A new row enters a list where it is nearer than the last, ties going to the lower index, as a search of
    all rows would find. ``O(b n m)`` time for b new rows.
    """
    n, k = known.indices.shape
    indices, distances = nearest_among(X[n:], X, k, metric=metric, selves=np.arange(n, len(X)), n_jobs=n_jobs)
    near, gaps = nearest_among(X[:n], X[n:], min(k, len(X) - n), metric=metric, n_jobs=n_jobs)
    both = np.hstack([known.distances, gaps])
    first = np.argsort(both, axis=1, kind="stable")[:, :k]  # known rows come first among equally far ones
    merged = np.take_along_axis(np.hstack([known.indices, near + np.int32(n)]), first, axis=1)
    lists = Neighbors(
        np.concatenate([merged, indices]).astype(np.int32),
        np.concatenate([np.take_along_axis(both, first, axis=1), distances]),
        metric_name(metric),
        exact=True,
    )
    return lists, float((first >= k).any(axis=1).mean())
