"""Where new rows enter the neighbour graph of fitted rows."""

from __future__ import annotations

import warnings

import numpy as np

from .._errors import DisconnectedGraphWarning
from .._runtime import row_blocks
from .._values import Knn, NeighborGraph, NeighborRule, Percentile, Radius
from .approximate import search_graph
from .distances import EUCLIDEAN, Metric, distances_between, rows_per_block
from .search import nearest_among


def entry_lists(
    queries: np.ndarray,
    data: np.ndarray,
    graph: NeighborGraph,
    rule: NeighborRule,
    *,
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of new rows among ``data`` by the rule of its graph: (b, k) indices and distances.

    Shorter lists are filled with index 0 at infinite distance. Every row is looked at by itself.
    """
    if isinstance(rule, Radius | Percentile):
        return _entries_in_radius(queries, data, rule, metric, n_jobs)
    k = min(rule.k, len(data))
    if isinstance(rule, Knn) and not graph.exact and metric in EUCLIDEAN:
        return search_graph(queries, data, graph, k, n_jobs=n_jobs)
    return nearest_among(queries, data, k, metric=metric, n_jobs=n_jobs)


def _entries_in_radius(queries, data, rule, metric, n_jobs):
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
    if isolated:
        warnings.warn(
            f"{isolated} of {len(queries)} new rows have no neighbour within the radius: each enters by its "
            "nearest fitted row. Take a larger radius, or look at whether they belong here.",
            DisconnectedGraphWarning,
            stacklevel=2,
        )
    return _filled(lists)


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
