"""Conformal lengths: edges measured by how far apart the neighbours of their ends are (C-ISOMAP)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._core.errors import DisconnectedGraphWarning, warn
from .._core.runtime import row_blocks
from .._core.values import Knn, NeighborGraph, NeighborRule, Percentile, Radius
from ..distances import EUCLIDEAN, distances_between, rows_per_block
from .approximate import search_graph
from .index import RowIndex

# ---- Where new rows enter the neighbour graph of fitted rows -------------------------------------


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
    """Without zeros, by which nothing can be divided."""
    positive = scales[scales > 0]
    return np.where(scales > 0, scales, positive.min() if len(positive) else 1.0)


def conformal_entries(entries: Entries, scales: np.ndarray) -> Entries:
    """New rows enter by edges measured alike: ``scales`` are those of the rows of the graph."""
    there = np.isfinite(entries.distances)
    # one after the other: lists are as long as the longest of the batch, and its zeros must not change a bit
    own = np.cumsum(np.where(there, entries.distances, 0.0), axis=1)[:, -1] / there.sum(axis=1)
    own = np.sqrt(np.where(own > 0, own, scales.min()))
    return entries._replace(distances=entries.distances / (own[:, None] * np.sqrt(scales)[entries.indices]))
