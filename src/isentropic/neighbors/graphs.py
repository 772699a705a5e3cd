"""Neighbour graphs: who is joined to whom, by whichever rule."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import KDTree

from .._core.errors import is_whole, require, require_number
from .._core.runtime import row_blocks, worker_threads
from .._core.values import Can, Knn, NeighborGraph, NeighborRule, Neighbors, Percentile, Pnn, Radius
from ..distances import Metric, distances_to, measurable_rows, rows_per_block
from ..kernels._jit import threads
from ..kernels.distances.euclidean import euclidean_pairs
from ..kernels.neighbors.unions import joined_rows, joined_sizes
from .components import checked_policy, component_labels, repaired
from .index import has_tree
from .search import require_edge_memory, searched_neighbors

# ---- All rows within a radius by a k-d tree, for few features ------------------------------------


_MARGIN = 1 + 1e-12  # scipy may round a distance otherwise than we do


def within_radius_by_tree(X: np.ndarray, eps: float, n_jobs: int | None):
    """Data, indices and indptr of the directed graph of all other rows nearer than ``eps``.

    ``O(n log n + e)`` time for e edges.
    """
    tree = KDTree(X, balanced_tree=False)
    workers, reach = worker_threads(n_jobs), eps * _MARGIN
    lengths = np.empty(len(X), np.int64)
    for block in row_blocks(len(X), "neighbours", size=1024, adapt=True):
        lengths[block] = tree.query_ball_point(X[block], reach, workers=workers, return_length=True)
        expected = int((lengths[: block.stop] - 1).sum()) * len(X) // block.stop
        require_edge_memory(expected)
    counts, indices, weights = np.empty(len(X), np.int64), [], []
    for block in row_blocks(len(X), "neighbours", size=1024, adapt=True):
        lists = tree.query_ball_point(X[block], reach, workers=workers, return_sorted=True)
        row = np.repeat(np.arange(block.start, block.stop), lengths[block])
        column = np.concatenate([np.asarray(near, np.int32) for near in lists])
        distances = np.empty(len(row))
        with threads(n_jobs):
            euclidean_pairs(X, row, column, distances)
        near = (distances < eps) & (row != column)  # the tree may round otherwise than we do
        counts[block] = np.bincount(row[near] - block.start, minlength=block.stop - block.start)
        indices.append(column[near])
        weights.append(distances[near])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return np.concatenate(weights), np.concatenate(indices), indptr


def distance_graph(
    X: np.ndarray,
    neighbors: int | NeighborRule = 10,
    *,
    metric: Metric = "euclidean",
    on_disconnected="bridge",
    random_state=None,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """The symmetric neighbour graph of the rows of ``X``: each edge weighs the distance between its ends.

    ``neighbors`` is a number of neighbours or one of ``Knn``, ``Radius``, ``Percentile``. Knn costs what the
    search costs, the others ``O(n^2 m)`` time, in blocks.
    """
    rule = as_rule(neighbors)
    must_be = "Knn, Radius or Percentile, whose weights are distances"
    require(not isinstance(rule, Can | Pnn), "neighbors", must_be, rule)
    checked_policy(on_disconnected)
    X = checked_table(X, rule, metric)
    options: dict[str, Any] = {"on_disconnected": on_disconnected, "metric": metric, "n_jobs": n_jobs}
    if isinstance(rule, Radius | Percentile):
        return joined_graph(X, directed_within(X, rule, metric, n_jobs), rule.kind, **options)
    assert isinstance(rule, Knn)
    found = searched_neighbors(X, rule, metric=metric, random_state=random_state, n_jobs=n_jobs)
    return listed_graph(X, found, **options)


def checked_table(X: Any, rule: NeighborRule, metric: Metric, *, fewest: int = 2) -> Any:
    """Rows, or all distances between them, that a graph can be made of."""
    X = measurable_rows(X, metric)
    must_be = f"a table of at least {fewest} rows for a graph of kind {rule.kind}"
    require(len(X) >= fewest, "X", must_be, len(X))
    return X


def as_rule(neighbors: int | NeighborRule) -> NeighborRule:
    """A plain number means that many nearest neighbours."""
    if isinstance(neighbors, Knn | Radius | Percentile | Can | Pnn):
        return neighbors
    must_be = "a number of neighbours, Knn, Radius, Percentile, Can or Pnn"
    require(is_whole(neighbors), "neighbors", must_be, neighbors)
    return Knn(int(neighbors))


def directed_lists(indices: np.ndarray, weights: np.ndarray) -> csr_array:
    """The directed graph of lists of k neighbours each, columns in order."""
    n, k = indices.shape
    indptr = np.arange(0, n * k + 1, k, dtype=np.int64)
    # copies: sorting works in place, and the lists belong to the caller
    graph = csr_array((weights.flatten(), indices.flatten(), indptr), shape=(n, n))
    graph.sort_indices()
    return graph


def directed_within(
    X: np.ndarray, rule: Radius | Percentile, metric: Metric, n_jobs: int | None
) -> csr_array:
    """Edges to all rows within the radius, block by block, so that no n×n array is held."""
    if isinstance(rule, Radius):
        hint = "Give a distance in the units of the data."
        bound = require_number("eps", rule.eps, "a positive radius", above=0, most=math.inf, hint=hint)
    else:
        bound = require_number("p", rule.p, "a percentile in (0, 100]", above=0, most=100)
    if isinstance(rule, Radius) and has_tree(X.shape[1], metric):
        return csr_array(within_radius_by_tree(X, bound, n_jobs), shape=(len(X), len(X)))
    counts, indices, weights, n_edges = [], [], [], 0
    measured = distances_to(X, metric, n_jobs)
    for block in row_blocks(len(X), "neighbours", size=rows_per_block(len(X))):
        D = measured(X[block])
        if isinstance(rule, Radius):
            near = bound > D
        else:
            near = np.percentile(D, bound, axis=1)[:, None] >= D
        near[np.arange(len(D)), np.arange(block.start, block.stop)] = False
        row, column = np.nonzero(near)
        counts.append(np.bincount(row, minlength=len(D)))
        indices.append(column.astype(np.int32))
        weights.append(D[row, column])
        n_edges += len(row)
        # Refused as soon as the rows so far foretell it.
        require_edge_memory(n_edges * len(X) // block.stop)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return csr_array((np.concatenate(weights), np.concatenate(indices), indptr), shape=(len(X), len(X)))


def union(directed: csr_array, *, average: bool, n_jobs: int | None):
    """CSR arrays of the symmetric graph: an edge where either side has one; explicit zeros stay."""
    transposed = directed.T.tocsr()
    transposed.sort_indices()
    both = [
        part
        for graph in (directed, transposed)
        for part in (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data)
    ]
    with threads(n_jobs):
        sizes = joined_sizes(*both)
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        indices, weights = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
        joined_rows(*both, average, indptr, indices, weights)
    return indptr, indices, weights


# ---- lists that a method keeps, before both sides are joined ----------------------------------------


def first_neighbors(found: Neighbors, k: int) -> Neighbors:
    """The ``k`` nearest of longer lists."""
    return replace(found, indices=found.indices[:, :k], distances=found.distances[:, :k])


def listed_graph(
    X: np.ndarray,
    found: Neighbors,
    *,
    metric: Metric = "euclidean",
    on_disconnected="bridge",
    n_jobs: int | None = None,
) -> NeighborGraph:
    """The symmetric graph of neighbour lists that are already known; parts are joined as the policy says."""
    directed = directed_lists(found.indices, found.distances)
    return joined_graph(X, directed, "knn", metric=metric, on_disconnected=on_disconnected, exact=found.exact,
                        recall=found.recall, n_jobs=n_jobs)  # fmt: skip


def joined_graph(
    X: np.ndarray,
    directed: csr_array,
    kind: str,
    *,
    metric: Metric = "euclidean",
    on_disconnected="bridge",
    average: bool = False,
    exact: bool = True,
    recall: float = 1.0,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """The union of both directions of a graph, repaired as the policy says; affinities are averaged."""
    checked_policy(on_disconnected)
    indptr, indices, weights = union(directed, average=average, n_jobs=n_jobs)
    # An affinity of 0 is kept, but joins nothing.
    components = component_labels(indptr, indices, weights > 0 if average else None)
    graph = NeighborGraph(indptr, indices, weights, kind, components, exact=exact, recall=recall)
    return repaired(graph, X, on_disconnected, metric=metric, n_jobs=n_jobs)
