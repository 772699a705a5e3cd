"""Neighbour graphs: who is joined to whom, by whichever rule."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from .._core.errors import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    is_whole,
    require,
    require_number,
    require_one_of,
    warn,
)
from .._core.runtime import row_blocks, worker_threads
from .._core.values import Can, Inflate, Knn, NeighborGraph, NeighborRule, Neighbors, Percentile, Pnn, Radius
from ..distances import EUCLIDEAN, Metric, distances_between, distances_to, measurable_rows, rows_per_block
from ..kernels._jit import threads
from ..kernels.distances.euclidean import euclidean_pairs
from ..kernels.nearest import joined_rows, joined_sizes, turned_entries
from .connecting_edges import shortest_bridges
from .index import RowIndex, has_tree
from .search import require_edge_memory, search_graph, searched_neighbors

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
    rule = _measured_rule(neighbors)
    checked_policy(on_disconnected)
    X = checked_table(X, rule, metric)
    return graph_of_rows(
        X, rule, metric=metric, on_disconnected=on_disconnected, random_state=random_state, n_jobs=n_jobs
    )


def graph_of_rows(
    X: Any,
    neighbors: int | NeighborRule,
    *,
    metric: Metric = "euclidean",
    on_disconnected="bridge",
    random_state=None,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """:func:`distance_graph` for checked rows in the units of the metric."""
    rule = _measured_rule(neighbors)
    checked_policy(on_disconnected)
    options: dict[str, Any] = {"on_disconnected": on_disconnected, "metric": metric, "n_jobs": n_jobs}
    if isinstance(rule, Radius | Percentile):
        return joined_graph(X, directed_within(X, rule, metric, n_jobs), rule.kind, **options)
    found = searched_neighbors(X, rule, metric=metric, random_state=random_state, n_jobs=n_jobs)
    return graph_of_lists(X, found, **options)


def _measured_rule(neighbors: int | NeighborRule) -> Knn | Radius | Percentile:
    rule = as_rule(neighbors)
    must_be = "Knn, Radius or Percentile, whose weights are distances"
    require(not isinstance(rule, Can | Pnn), "neighbors", must_be, rule)
    assert isinstance(rule, Knn | Radius | Percentile)
    return rule


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
    # scipy holds indices as wide as these
    indptr = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 2**31 else np.int64)
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
    """CSR arrays of the symmetric graph: an edge where either side has one; explicit zeros stay.

    The other direction is held as the row and the place of each entry: 8 bytes beside 12 of the edge.
    """
    indptr, indices = directed.indptr.astype(np.int64), directed.indices.astype(np.int32, copy=False)
    wide = np.int32 if len(indices) < 2**31 else np.int64
    starts, sources, places = (
        np.empty(size, kind)
        for size, kind in ((len(indptr), np.int64), (len(indices), np.int32), (len(indices), wide))
    )
    turned_entries(indptr, indices, starts, sources, places)
    both = (indptr, indices, directed.data, starts, sources, places)
    with threads(n_jobs):
        ends = np.concatenate([[0], np.cumsum(joined_sizes(*both))])
        joined, weights = np.empty(ends[-1], np.int32), np.empty(ends[-1])
        joined_rows(*both, average, ends, joined, weights)
    return ends, joined, weights


# ---- lists that a method keeps, before both sides are joined ----------------------------------------


def first_neighbors(found: Neighbors, k: int) -> Neighbors:
    """The ``k`` nearest of longer lists."""
    return replace(found, indices=found.indices[:, :k], distances=found.distances[:, :k])


def graph_of_lists(
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
    return apply_disconnected_policy(graph, X, on_disconnected, metric=metric, n_jobs=n_jobs)


# ---- Connected components, and what to do about more than one ------------------------------------


POLICIES = ("bridge", "largest", "raise", "inflate")


def checked_policy(policy) -> str:
    """The name of a policy for disconnected components."""
    name = policy
    if isinstance(policy, Inflate):
        name = "inflate"
        must_be = "a multiple of the largest distance, from 0 on"
        require_number("factor", policy.factor, must_be, least=0, most=math.inf)
    require_one_of("on_disconnected", name, POLICIES)
    return name


def component_labels(indptr: np.ndarray, indices: np.ndarray, joins: np.ndarray | None = None) -> np.ndarray:
    """Component of every row, numbered from the largest (the first, if several) to the smallest."""
    n = len(indptr) - 1
    data = np.ones(len(indices), np.int8) if joins is None else joins.astype(np.int8)
    pattern = csr_array((data, indices, indptr), shape=(n, n), copy=joins is not None)
    if joins is not None:
        pattern.eliminate_zeros()  # in place, hence the copy
    count, labels = connected_components(pattern, directed=False)
    sizes = np.bincount(labels, minlength=count)
    rank = np.empty(count, np.int32)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(count, dtype=np.int32)
    return rank[labels]


def subgraph(graph: NeighborGraph, rows: np.ndarray) -> NeighborGraph:
    """The graph of some rows that make up a whole component."""
    number = np.full(graph.n_rows, -1, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    inside = np.repeat(number >= 0, np.diff(graph.indptr))
    indptr = np.concatenate([[0], np.cumsum(np.diff(graph.indptr)[rows])])
    return replace(graph, indptr=indptr, indices=number[graph.indices[inside]], weights=graph.weights[inside],
                   components=np.zeros(len(rows), np.int32))  # fmt: skip


def apply_disconnected_policy(
    graph: NeighborGraph, X: np.ndarray, policy, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> NeighborGraph:
    """Apply the policy for disconnected components; a connected graph is returned unchanged."""
    name = checked_policy(policy)
    if graph.n_components <= 1:
        return graph
    if name == "raise":
        raise DisconnectedGraphError(
            f"The neighbour graph must be connected, got {_parts(graph.components)}. Take more neighbours, "
            "or on_disconnected='bridge', 'largest' or 'inflate'."
        )
    if name == "bridge" and graph.is_distance:
        pairs, lengths = shortest_bridges(X, graph.components, metric, n_jobs)
        graph = _with_edges(graph, pairs, lengths)
        many = f"{len(pairs)} shortest edges join them (the longest: {lengths.max():.4g})"
        what = many if len(pairs) > 1 else f"the shortest edge between them joins them ({lengths.max():.4g})"
    elif name == "largest":
        others = int((graph.components > 0).sum())
        what = f"the largest is fitted, the other {others} rows are placed as new ones"
    elif name == "inflate":
        what = "distances between parts are inflated, as in the published programs"
    else:
        what = "affinities are not bridged: each part is on its own"
    hint = "More neighbours, or a larger radius, would join the parts by the data."
    warn(f"The neighbour graph is in {_parts(graph.components)}: {what}. {hint}", DisconnectedGraphWarning)
    return graph


_UNKNOWN = "how the parts lie to each other in the map means nothing"


def warn_of_components(components: np.ndarray, what: str = _UNKNOWN) -> None:
    """Warn that the relative position of disconnected components on a map is arbitrary."""
    if components.max() > 0:
        hint = "Take more neighbours" + (", or map each part by itself" if what == _UNKNOWN else "")
        warn(f"The neighbour graph is in {_parts(components)}: {what}. {hint}.", DisconnectedGraphWarning)


def _parts(components: np.ndarray) -> str:
    sizes = np.bincount(components)
    listed = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
    return f"{len(sizes)} parts of {listed} rows"


def _with_edges(graph: NeighborGraph, pairs: np.ndarray, lengths: np.ndarray) -> NeighborGraph:
    n = graph.n_rows
    row = np.concatenate([np.repeat(np.arange(n), np.diff(graph.indptr)), pairs[:, 0], pairs[:, 1]])
    column = np.concatenate([graph.indices, pairs[:, 1], pairs[:, 0]])
    weights = np.concatenate([graph.weights, lengths, lengths])
    order = np.lexsort((column, row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    indices = column[order].astype(np.int32)
    return replace(graph, indptr=indptr, indices=indices, weights=weights[order], bridges=pairs)


# ---- Where new rows enter the neighbour graph of fitted rows -------------------------------------


# ---- Where new rows enter the neighbour graph of fitted rows -------------------------------------


class QueryEdges(NamedTuple):
    """Edges of new rows to a graph: lists of one length, padded with row 0 at infinite distance."""

    indices: np.ndarray  # (b, k) rows of the graph
    distances: np.ndarray  # (b, k) weights of the edges to them
    isolated: int = 0  # new rows that the rule gives no neighbour: each enters by its nearest row


def query_edges(
    queries: np.ndarray,
    fitted: RowIndex,
    graph: NeighborGraph,
    rule: NeighborRule,
    *,
    n_jobs: int | None = None,
) -> QueryEdges:
    """Neighbours of new rows among the fitted ones, by the rule of their graph, row by row.

    Lists within a radius may be as long as there are fitted rows: ask for blocks of new rows.
    """
    if isinstance(rule, Radius | Percentile):
        return _entries_in_radius(queries, fitted.data, rule, fitted.metric, n_jobs)
    k = min(rule.k, len(fitted.data))
    if isinstance(rule, Knn) and not graph.exact and fitted.metric in EUCLIDEAN:
        return QueryEdges(*search_graph(queries, fitted.data, graph, k, n_jobs=n_jobs))
    return QueryEdges(*fitted.nearest(queries, k, n_jobs=n_jobs))


def warn_of_isolated(isolated: int, n_rows: int) -> None:
    """Warn of new rows that have no neighbour by the rule of the graph."""
    if isolated:
        warn(
            f"{isolated} of {n_rows} new rows have no neighbour within the radius: each enters by its "
            "nearest fitted row. Take a larger radius, or look at whether they belong here.",
            DisconnectedGraphWarning,
        )


def _entries_in_radius(queries, data, rule, metric, n_jobs) -> QueryEdges:
    lists: list[tuple[np.ndarray, np.ndarray]] = []
    isolated = 0
    for block in row_blocks(len(queries), "neighbours", size=rows_per_block(len(data))):
        D = distances_between(queries[block], data, metric, n_jobs)
        for row in D:
            within = row < rule.eps if isinstance(rule, Radius) else row <= _own_radius(row, rule.p)
            near = np.flatnonzero(within)
            if len(near) == 0:
                isolated += 1
                near = np.array([row.argmin()])
            lists.append((near, row[near]))
    return QueryEdges(*_filled(lists), isolated)


def _own_radius(row: np.ndarray, p: float) -> float:
    """The percentile of a row's distances, its own zero included as for a fitted row."""
    return float(np.percentile(np.append(row, 0.0), p))


def _filled(lists: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    width = max((len(near) for near, _ in lists), default=1)
    indices = np.zeros((len(lists), width), np.int32)
    distances = np.full((len(lists), width), np.inf)
    for i, (near, d) in enumerate(lists):
        indices[i, : len(near)], distances[i, : len(near)] = near, d
    return indices, distances


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
    """Scales with zeros replaced by the least positive one, so that they can divide."""
    positive = scales[scales > 0]
    return np.where(scales > 0, scales, positive.min() if len(positive) else 1.0)


def conformal_query_edges(entries: QueryEdges, scales: np.ndarray) -> QueryEdges:
    """New rows enter by edges measured alike: ``scales`` are those of the rows of the graph."""
    there = np.isfinite(entries.distances)
    # one after the other: lists are as long as the longest of the batch, and its zeros must not change a bit
    own = np.cumsum(np.where(there, entries.distances, 0.0), axis=1)[:, -1] / there.sum(axis=1)
    own = np.sqrt(np.where(own > 0, own, scales.min()))
    return entries._replace(distances=entries.distances / (own[:, None] * np.sqrt(scales)[entries.indices]))
