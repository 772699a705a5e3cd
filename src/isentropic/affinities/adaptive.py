"""Adaptive neighbours: affinities that each row shares out by its own distances (CAN, PNN)."""

from __future__ import annotations

import math

import numpy as np

from .._core.arguments import require_neighbors
from .._core.errors import require, require_number
from .._core.values import Can, Knn, NeighborGraph, NeighborRule, Neighbors, Pnn
from ..distances import Metric
from ..neighbors import (
    as_rule,
    checked_policy,
    checked_table,
    clipped_neighbors,
    directed_lists,
    distance_graph,
    joined_graph,
    searched_neighbors,
)


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
    Edges weigh distances, with the last two affinities.
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
    if not isinstance(rule, Can | Pnn):
        return distance_graph(X, rule, metric=metric, on_disconnected=on_disconnected,
                              random_state=random_state, n_jobs=n_jobs)  # fmt: skip
    checked_policy(on_disconnected)
    if isinstance(rule, Pnn) and rule.t is not None:
        require_number("t", rule.t, "a positive number or None", above=0, most=math.inf)
    X = checked_table(X, rule, metric, fewest=3)
    # The next neighbour after the k-th sets the scale of the weights.
    search = Knn(clipped_neighbors(rule.k, len(X) - 2, "the other rows but one") + 1)
    found = searched_neighbors(X, search, metric=metric, random_state=random_state, n_jobs=n_jobs)
    weights = can_weights(found) if isinstance(rule, Can) else pnn_weights(found, rule.t)
    return joined_graph(X, directed_lists(found.indices[:, :-1], weights), rule.kind, metric=metric,
                        on_disconnected=on_disconnected, average=True, exact=found.exact,
                        recall=found.recall, n_jobs=n_jobs)  # fmt: skip


def can_weights(found: Neighbors) -> np.ndarray:
    """``(d_{k+1} - d_j) / (k d_{k+1} - sum d_l)`` over the k nearest, d squared; equally far ones share 1."""
    squared = _of_two(found).distances ** 2
    nearest, after = squared[:, :-1], squared[:, -1:]
    total = (after - nearest).sum(axis=1, keepdims=True)
    return _ratio(after - nearest, total, otherwise=1 / nearest.shape[1])


def pnn_weights(found: Neighbors, t: float | None = None) -> np.ndarray:
    """``(d_{k+1} - d_j) / (d_{k+1} - d_1)`` over the k nearest, d squared; equally far ones all weigh 1.

    With ``t`` it is ``(h_j - h_{k+1}) / (h_1 - h_{k+1})`` for the heat ``h = exp(-d / t)``, which for a large
    t is the same; written so that no heat vanishes.
    """
    squared = _of_two(found).distances ** 2
    nearest, after = squared[:, :-1], squared[:, -1:]
    if t is not None:
        t = require_number("t", t, "a positive number or None", above=0, most=math.inf)
    if t is not None and t < math.inf:
        first = nearest[:, :1]
        left, most = (np.abs(np.expm1((near - after) / t)) for near in (nearest, first))
        falls = _ratio(left, most, otherwise=1.0)
        return np.exp((first - nearest) / t) * falls
    return _ratio(after - nearest, after - nearest[:, :1], otherwise=1.0)


def _of_two(found: Neighbors) -> Neighbors:
    """Lists of at least two neighbours: the last one sets the scale of the weights."""
    k = require_neighbors(found, "found").indices.shape[1]
    require(k >= 2, "found", "lists of at least two neighbours", k)
    return found


def _ratio(numerator: np.ndarray, denominator: np.ndarray, otherwise: float) -> np.ndarray:
    out = np.full(numerator.shape, otherwise)
    return np.divide(numerator, denominator, out=out, where=np.broadcast_to(denominator > 0, out.shape))
