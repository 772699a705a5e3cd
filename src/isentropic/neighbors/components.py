"""Connected components, and what to do about more than one."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .._errors import DisconnectedGraphError, DisconnectedGraphWarning, require_one_of
from .._runtime import row_blocks
from .._values import Inflate, NeighborGraph
from .distances import Metric, distances_between, rows_per_block

POLICIES = ("bridge", "largest", "raise", "inflate")


def checked_policy(policy) -> str:
    """The name of a policy for a graph in parts."""
    name = "inflate" if isinstance(policy, Inflate) else policy
    require_one_of("on_disconnected", name, POLICIES)
    return name


def component_labels(indptr: np.ndarray, indices: np.ndarray, joins: np.ndarray | None = None) -> np.ndarray:
    """Component of every row, numbered from the largest (the first, if several) to the smallest."""
    n = len(indptr) - 1
    data = np.ones(len(indices), np.int8) if joins is None else joins.astype(np.int8)
    pattern = csr_array((data, indices, indptr), shape=(n, n))
    if joins is not None:
        pattern.eliminate_zeros()
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
    labels = graph.components.copy()
    edges: dict[tuple[int, int], float] = {}
    while labels.any():
        added = _shortest_outward(X, labels, metric, n_jobs)
        edges.update(added)
        labels = _merged(labels, added)
    bridges = np.array(sorted(edges), np.int32).reshape(-1, 2)
    lengths = np.array([edges[pair] for pair in sorted(edges)])
    return _with_edges(graph, bridges, lengths), float(lengths.max())


def _shortest_outward(X, labels, metric, n_jobs) -> dict[tuple[int, int], float]:
    """The shortest edge (i, j) from each part but the largest to any other part; ties by index."""
    rows = np.flatnonzero(labels != np.bincount(labels).argmax())
    best: dict[int, tuple[float, int, int]] = {}
    for block in row_blocks(len(rows), "bridges", size=rows_per_block(len(X))):
        mine = rows[block]
        D = np.array(distances_between(X[mine], X, metric, n_jobs))
        D[labels[mine][:, None] == labels[None, :]] = np.inf
        nearest = D.argmin(axis=1)
        lengths = D[np.arange(len(mine)), nearest]
        for i, j, d in zip(mine.tolist(), nearest.tolist(), lengths.tolist(), strict=True):
            edge = (d, min(i, j), max(i, j))
            part = int(labels[i])
            best[part] = min(best.get(part, edge), edge)
    return {(i, j): d for d, i, j in best.values()}


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
