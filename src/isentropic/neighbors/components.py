"""Connected components, and what to do about more than one."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .._errors import DisconnectedGraphError, DisconnectedGraphWarning, require, require_one_of
from .._runtime import row_blocks
from .._values import Inflate, NeighborGraph
from .distances import Metric, rows_per_block
from .duplicates import distinct_rows
from .index import RowIndex

_SMALL_PART = 1024  # rows; the neighbours of all rows of such parts are searched together
_FIRST_LOOK = 8  # neighbours of each, in the first search
_LOOKED_AT = 2**21  # neighbours in one block of rows

POLICIES = ("bridge", "largest", "raise", "inflate")


def checked_policy(policy) -> str:
    """The name of a policy for a graph in parts."""
    name = policy
    if isinstance(policy, Inflate):
        name = "inflate"
        is_factor = isinstance(policy.factor, Real) and policy.factor > 0
        require(is_factor, "factor", "a positive multiple of the largest distance", policy.factor)
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


def repaired(
    graph: NeighborGraph, X: np.ndarray, policy, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> NeighborGraph:
    """Apply the policy for a graph in several parts; a connected graph comes back as it is."""
    name = checked_policy(policy)
    if graph.n_components <= 1:
        return graph
    if name == "raise":
        raise DisconnectedGraphError(
            f"The neighbour graph must be connected, got {_parts(graph)}. Take more neighbours, or "
            "on_disconnected='bridge', 'largest' or 'inflate'."
        )
    if name == "bridge" and graph.is_distance:
        graph, longest = _bridged(graph, X, metric, n_jobs)
        what = f"{len(graph.bridges)} shortest edges join them (the longest: {longest:.4g})"
    elif name == "largest":
        others = int((graph.components > 0).sum())
        what = f"the largest is fitted, the other {others} rows are placed as new ones"
    elif name == "inflate":
        what = "distances between parts are inflated, as in the published programs"
    else:
        what = "affinities are not bridged: each part is on its own"
    hint = "More neighbours, or a larger radius, would join the parts by the data."
    warnings.warn(f"The neighbour graph is in {_parts(graph)}: {what}. {hint}",
                  DisconnectedGraphWarning, stacklevel=3)  # fmt: skip
    return graph


def _parts(graph: NeighborGraph) -> str:
    sizes = np.bincount(graph.components)
    listed = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
    return f"{len(sizes)} parts of {listed} rows"


def _bridged(graph, X, metric, n_jobs) -> tuple[NeighborGraph, float]:
    """Add the minimum spanning edges between the parts (Boruvka).

    In each round every part but the largest adds its shortest edge outwards.
    """
    rows = _representatives(X, graph.components, metric)
    if metric != "precomputed":
        X = X[rows] if len(rows) < len(X) else X
    labels = graph.components[rows]
    edges: dict[tuple[int, int], float] = {}
    while labels.any():
        added = _shortest_outward(X, labels, metric, n_jobs)
        edges.update(added)
        labels = _merged(labels, added)
    pairs = sorted(edges)
    bridges = rows[np.array(pairs)].astype(np.int32)
    lengths = np.array([edges[pair] for pair in pairs])
    return _with_edges(graph, bridges, lengths), float(lengths.max())


def _representatives(X: np.ndarray, labels: np.ndarray, metric: Metric) -> np.ndarray:
    """One row for all equal ones, where they are in the same part: an approximate graph may part them."""
    everyone = np.arange(len(X))
    distinct = None if metric == "precomputed" else distinct_rows(X)
    if distinct is None:
        return everyone
    first = np.repeat(distinct.rows, np.diff(distinct.indptr))
    return distinct.rows if (labels[distinct.members] == labels[first]).all() else everyone


def _shortest_outward(X, labels, metric, n_jobs) -> dict[tuple[int, int], float]:
    """The shortest edge (i, j) from each part but the largest to any other part; ties by index."""
    sizes = np.bincount(labels)
    largest = sizes.argmax()
    small = np.flatnonzero((sizes[labels] <= _SMALL_PART) & (labels != largest))
    found = list(_nearest_outside_small(X, labels, small, metric, n_jobs))
    large = np.flatnonzero(sizes > _SMALL_PART)
    found += [_nearest_outside_part(X, labels == part, metric, n_jobs) for part in large if part != largest]
    rows, nearest, distances = (np.concatenate(column).tolist() for column in zip(*found, strict=True))
    best: dict[int, tuple[float, int, int]] = {}
    for i, j, d in zip(rows, nearest, distances, strict=True):
        edge = (d, min(i, j), max(i, j))
        part = int(labels[i])
        best[part] = min(best.get(part, edge), edge)
    return {(i, j): d for d, i, j in best.values()}


def _nearest_outside_small(X, labels, rows, metric, n_jobs):
    """Rows of small parts and the nearest row outside the part of each, where it may be the part's nearest.

    More and more neighbours are looked at, by those rows only that could still have a nearer one outside.
    """
    index = RowIndex(X, metric)
    shortest = np.full(labels.max() + 1, np.inf)  # edge out of each part, so far
    k = min(_FIRST_LOOK, len(labels) - 1)
    while len(rows):
        unsettled = []
        for block in row_blocks(len(rows), "bridges", size=_LOOKED_AT // k):
            mine = rows[block]
            indices, distances = index.nearest(X[mine], k, selves=mine, n_jobs=n_jobs)
            outside = labels[indices] != labels[mine][:, None]
            first, settled = outside.argmax(axis=1), outside.any(axis=1)
            ends = np.flatnonzero(settled)
            lengths = distances[ends, first[ends]]
            np.minimum.at(shortest, labels[mine[ends]], lengths)
            yield mine[ends], indices[ends, first[ends]], lengths
            unsettled.append(mine[~settled & (distances[:, -1] <= shortest[labels[mine]])])
        rows = np.concatenate(unsettled)
        k = min(4 * k, len(labels) - 1)


def _nearest_outside_part(X, inside, metric, n_jobs):
    """For every row of one part the nearest row outside it."""
    rows, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    nearest, distances = np.empty(len(rows), np.int64), np.empty(len(rows))
    given = metric == "precomputed"
    index = RowIndex(others[:, None] if given else X[others], metric)
    for block in row_blocks(len(rows), "bridges", size=max(1024, rows_per_block(len(X)))):
        queries = X[np.ix_(rows[block], others)] if given else X[rows[block]]
        found, lengths = index.nearest(queries, 1, n_jobs=n_jobs)
        nearest[block], distances[block] = others[found[:, 0]], lengths[:, 0]
    return rows, nearest, distances


def _merged(labels: np.ndarray, edges) -> np.ndarray:
    """Part labels after the parts at both ends of every edge have become one."""
    ends = labels[np.array(list(edges))]
    count = labels.max() + 1
    links = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    return connected_components(links, directed=False)[1][labels]


def _with_edges(graph: NeighborGraph, pairs: np.ndarray, lengths: np.ndarray) -> NeighborGraph:
    n = graph.n_rows
    row = np.concatenate([np.repeat(np.arange(n), np.diff(graph.indptr)), pairs[:, 0], pairs[:, 1]])
    column = np.concatenate([graph.indices, pairs[:, 1], pairs[:, 0]])
    weights = np.concatenate([graph.weights, lengths, lengths])
    order = np.lexsort((column, row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    indices = column[order].astype(np.int32)
    return replace(graph, indptr=indptr, indices=indices, weights=weights[order], bridges=pairs)
