"""Neighbour graphs of every kind, from one call."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_array

from .._errors import is_whole, require, require_number
from .._runtime import row_blocks
from .._values import Can, Knn, NeighborGraph, NeighborRule, Neighbors, Percentile, Pnn, Radius
from ..distances import (
    Metric,
    checked_distance_matrix,
    checked_magnitude,
    checked_metric,
    distances_between,
    rows_per_block,
)
from ..kernels._jit import threads
from ..kernels.unions import joined_rows, joined_sizes
from .components import checked_policy, component_labels, repaired
from .index import has_tree
from .search import clipped_neighbors, nearest_neighbors, require_edge_memory
from .tree import within_radius_by_tree


def neighbor_graph(
    X: np.ndarray,
    neighbors: int | NeighborRule = 10,
    *,
    metric: Metric = "euclidean",
    on_disconnected="bridge",
    random_state=None,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """The symmetric neighbour graph of the rows of ``X``, with its connected components.

    ``neighbors`` is a number of neighbours or one of ``Knn``, ``Radius``, ``Percentile``, ``Can``, ``Pnn``.
    A graph in several parts is never silent. ``on_disconnected``: ``"bridge"`` adds the shortest edges
    that join the parts, ``"raise"`` refuses, ``"largest"`` and ``"inflate"`` leave the parts to the method.

    Knn, Can, Pnn cost what the neighbour search costs; Radius and Percentile ``O(n^2 m)`` time, in blocks.

    >>> import numpy as np
    >>> from isentropic import Radius, neighbor_graph
    >>> line = np.arange(5.0)[:, None]
    >>> graph = neighbor_graph(line, Radius(1.5))
    >>> graph.indices.tolist(), graph.n_components
    ([1, 0, 2, 1, 3, 2, 4, 3], 1)
    """
    rule = as_rule(neighbors)
    checked_policy(on_disconnected)
    X = check_array(X, dtype=np.float64, order="C")
    checked_metric(metric)
    checked_magnitude(X, metric=metric)
    if metric == "precomputed":
        checked_distance_matrix(X)
    fewest = 3 if isinstance(rule, Can | Pnn) else 2
    must_be = f"a table of at least {fewest} rows for a graph of kind {rule.kind}"
    require(len(X) >= fewest, "X", must_be, len(X))
    directed, exact, recall = _directed(X, rule, metric, random_state, n_jobs)
    is_affinity = isinstance(rule, Can | Pnn)
    indptr, indices, weights = union(directed, average=is_affinity, n_jobs=n_jobs)
    # An affinity of 0 is kept, but joins nothing.
    joins = weights > 0 if is_affinity else None
    components = component_labels(indptr, indices, joins)
    graph = NeighborGraph(indptr, indices, weights, rule.kind, components, exact=exact, recall=recall)
    return repaired(graph, X, on_disconnected, metric=metric, n_jobs=n_jobs)


def as_rule(neighbors: int | NeighborRule) -> NeighborRule:
    """A plain number means that many nearest neighbours."""
    if isinstance(neighbors, Knn | Radius | Percentile | Can | Pnn):
        return neighbors
    must_be = "a number of neighbours, Knn, Radius, Percentile, Can or Pnn"
    require(is_whole(neighbors), "neighbors", must_be, neighbors)
    return Knn(int(neighbors))


def _directed(X, rule, metric, random_state, n_jobs) -> tuple[csr_array, bool, float]:
    """The directed graph of a rule, before symmetrisation; whether it is exact; its recall."""
    if isinstance(rule, Radius | Percentile):
        return directed_within(X, rule, metric, n_jobs), True, 1.0
    search = rule
    if isinstance(rule, Can | Pnn):
        # The next neighbour after the k-th sets the scale of the weights.
        search = Knn(clipped_neighbors(rule.k, len(X) - 2, "the other rows but one") + 1)
    found = nearest_neighbors(X, search, metric=metric, random_state=random_state, n_jobs=n_jobs)
    if isinstance(rule, Knn):
        return directed_lists(found.indices, found.distances), found.exact, found.recall
    weigh = can_weights if isinstance(rule, Can) else pnn_weights
    return directed_lists(found.indices[:, :-1], weigh(found)), found.exact, found.recall


def can_weights(found: Neighbors) -> np.ndarray:
    """``(d_{k+1} - d_j) / (k d_{k+1} - sum d_l)`` over the k nearest, d squared; equally far ones share 1."""
    squared = found.distances**2
    nearest, after = squared[:, :-1], squared[:, -1:]
    total = (after - nearest).sum(axis=1, keepdims=True)
    return _ratio(after - nearest, total, otherwise=1 / nearest.shape[1])


def pnn_weights(found: Neighbors) -> np.ndarray:
    """``(d_{k+1} - d_j) / (d_{k+1} - d_1)`` over the k nearest, d squared; equally far ones all weigh 1."""
    squared = found.distances**2
    nearest, after = squared[:, :-1], squared[:, -1:]
    return _ratio(after - nearest, after - nearest[:, :1], otherwise=1.0)


def _ratio(numerator: np.ndarray, denominator: np.ndarray, otherwise: float) -> np.ndarray:
    out = np.full(numerator.shape, otherwise)
    return np.divide(numerator, denominator, out=out, where=np.broadcast_to(denominator > 0, out.shape))


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
        require_number("eps", rule.eps, "a positive radius", above=0, most=math.inf, hint=hint)
    else:
        require_number("p", rule.p, "a percentile in (0, 100]", above=0, most=100)
    if isinstance(rule, Radius) and has_tree(X.shape[1], metric):
        return csr_array(within_radius_by_tree(X, rule.eps, n_jobs), shape=(len(X), len(X)))
    counts, indices, weights, n_edges = [], [], [], 0
    for block in row_blocks(len(X), "neighbours", size=rows_per_block(len(X))):
        D = distances_between(X[block], X, metric, n_jobs)
        if isinstance(rule, Radius):
            near = rule.eps > D
        else:
            near = np.percentile(D, rule.p, axis=1)[:, None] >= D
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
    X: np.ndarray, found: Neighbors, *, on_disconnected="bridge", n_jobs: int | None = None
) -> NeighborGraph:
    """The symmetric graph of neighbour lists that are already known; parts are joined as the policy says."""
    directed = directed_lists(found.indices, found.distances)
    return joined_graph(X, directed, "knn", on_disconnected=on_disconnected, exact=found.exact,
                        recall=found.recall, n_jobs=n_jobs)  # fmt: skip


def joined_graph(
    X: np.ndarray,
    directed: csr_array,
    kind: str,
    *,
    on_disconnected="bridge",
    exact: bool = True,
    recall: float = 1.0,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """The union of both directions of a graph of distances, repaired as the policy says."""
    checked_policy(on_disconnected)
    indptr, indices, weights = union(directed, average=False, n_jobs=n_jobs)
    components = component_labels(indptr, indices)
    graph = NeighborGraph(indptr, indices, weights, kind, components, exact=exact, recall=recall)
    return repaired(graph, X, on_disconnected, n_jobs=n_jobs)
