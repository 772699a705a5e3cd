"""Graphs of lists that a method keeps: who each row chose as its neighbours, before both sides are joined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from .._values import NeighborGraph, Neighbors, Percentile
from ..distances import Metric
from .components import checked_policy, component_labels, repaired
from .graphs import directed_lists, directed_within, union


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


def percentile_lists(
    X: np.ndarray, rule: Percentile, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> csr_array:
    """The rows within each row's own radius, itself left out: directed, with distances. ``O(n^2 m)`` time."""
    return directed_within(X, rule, metric, n_jobs)


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
