"""Where new rows enter the neighbour graph of fitted rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.errors import DisconnectedGraphWarning, warn
from .._core.runtime import row_blocks
from .._core.values import Knn, NeighborGraph, NeighborRule, Percentile, Radius
from ..distances import EUCLIDEAN, distances_between, rows_per_block
from .approximate import search_graph
from .index import RowIndex


class Entries(NamedTuple):
    """Where new rows enter a graph: lists of the same length, filled up with row 0 at infinite distance."""

    indices: np.ndarray  # (b, k) rows of the graph
    distances: np.ndarray  # (b, k) weights of the edges to them
    isolated: int = 0  # new rows that the rule gives no neighbour: each enters by its nearest row


def entry_lists(
    queries: np.ndarray,
    fitted: RowIndex,
    graph: NeighborGraph,
    rule: NeighborRule,
    *,
    n_jobs: int | None = None,
) -> Entries:
    """Neighbours of new rows among the fitted ones, by the rule of their graph; each row by itself.

    Lists within a radius may be as long as there are fitted rows: ask for blocks of new rows.
    """
    if isinstance(rule, Radius | Percentile):
        return _entries_in_radius(queries, fitted.data, rule, fitted.metric, n_jobs)
    k = min(rule.k, len(fitted.data))
    if isinstance(rule, Knn) and not graph.exact and fitted.metric in EUCLIDEAN:
        return Entries(*search_graph(queries, fitted.data, graph, k, n_jobs=n_jobs))
    return Entries(*fitted.nearest(queries, k, n_jobs=n_jobs))


def warn_of_isolated(isolated: int, n_rows: int) -> None:
    """Say how many new rows have no neighbour by the rule of the graph."""
    if isolated:
        warn(
            f"{isolated} of {n_rows} new rows have no neighbour within the radius: each enters by its "
            "nearest fitted row. Take a larger radius, or look at whether they belong here.",
            DisconnectedGraphWarning,
        )


def _entries_in_radius(queries, data, rule, metric, n_jobs) -> Entries:
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
    return Entries(*_filled(lists), isolated)


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
