"""Connected components, and what to do about more than one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .._core.errors import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    require_number,
    require_one_of,
    warn,
)
from .._core.values import Inflate, NeighborGraph
from ..distances import Metric
from .connecting_edges import shortest_bridges

POLICIES = ("bridge", "largest", "raise", "inflate")


def checked_policy(policy) -> str:
    """The name of a policy for a graph in parts."""
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


def repaired(
    graph: NeighborGraph, X: np.ndarray, policy, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> NeighborGraph:
    """Apply the policy for a graph in several parts; a connected graph comes back as it is."""
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


def warn_of_parts(components: np.ndarray, what: str = _UNKNOWN) -> None:
    """Say that a map of a graph in parts does not know how they lie to each other."""
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
