"""Approximate neighbours: descent for the rows of a table, a search of its graph for new rows."""

from __future__ import annotations

import warnings

import numpy as np

from .._core.errors import LowRecallWarning
from .._core.runtime import generator, row_blocks
from .._core.values import NeighborGraph, Neighbors
from ..distances import (
    EUCLIDEAN,
    Metric,
    distances_between,
    distinct_rows,
    is_gower,
    metric_name,
    pair_distances,
)
from ..kernels._jit import threads
from ..kernels.neighbors.nearest import expanded_lists, measured_lists, searched_lists
from .index import RowIndex, members_of
from .nn_descent import descended

_RECALL_ROWS = 200
_FEW = 500  # so many distinct rows are searched exactly
_ENTRY_POINTS = 256
_GOOD_RECALL = 0.9


def approximate_neighbors(
    X: np.ndarray, k: int, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """Nearest neighbours by nearest-neighbour descent, with the recall found on sampled rows.

    The lists are the same for any ``n_jobs``. No ``random_state`` means a fixed seed.
    """
    random = generator(random_state)
    seed = random.randint(2**31 - 1)
    distinct = distinct_rows(X) if metric in EUCLIDEAN or is_gower(metric) else None
    if distinct is None:
        indices, distances = _descended(X, k, metric, seed, n_jobs)
    else:
        # Equal rows would fill each other's lists, and leave every group of them on its own.
        indices, distances = _among_distinct(X, distinct, k, metric, seed, n_jobs)
    sample = np.sort(random.permutation(len(X))[:_RECALL_ROWS])
    recall = _recall(X, distances, sample, metric, n_jobs)
    if recall < _GOOD_RECALL:
        warnings.warn(
            f"The approximate search found {recall:.0%} of the true neighbours of {len(sample)} rows: "
            "the map shows other neighbours than the data have. Take more neighbours, fewer features (PCA), "
            "or neighbors=Knn(k, approximate=False).",
            LowRecallWarning,
            stacklevel=3,
        )
    return Neighbors(indices, distances, metric_name(metric), exact=False, recall=recall)


def _descended(X, k, metric, seed, n_jobs):
    return _measured(X, descended(X, k, metric, seed, n_jobs), k, metric, n_jobs)


def _among_distinct(X, distinct, k, metric, seed, n_jobs):
    different = X[distinct.rows]
    fewer = min(k, len(different) - 1)
    if len(different) <= _FEW:
        selves = np.arange(len(different))
        nearest, lengths = RowIndex(different, metric).nearest(different, fewer, selves=selves, n_jobs=n_jobs)
    else:
        nearest, lengths = _descended(different, fewer, metric, seed, n_jobs)
    group = np.empty(len(X), np.int64)
    group[distinct.members] = np.repeat(np.arange(len(different)), np.diff(distinct.indptr))
    nearest = np.column_stack([np.arange(len(different)), nearest])  # a row's own like come first
    selves = np.arange(len(X))
    if metric in EUCLIDEAN:
        return members_of(X, different, nearest[group], distinct, selves, k, n_jobs)
    lengths = np.column_stack([np.zeros(len(different)), lengths])
    indices, distances = np.empty((len(X), k), np.int32), np.empty((len(X), k))
    with threads(n_jobs):
        expanded_lists(nearest[group], lengths[group], distinct.indptr, distinct.members, selves,
                       indices, distances)  # fmt: skip
    return indices, distances


def _measured(X, candidates, k, metric, n_jobs):
    """Candidates in exact order; rows for which the descent found too few get theirs by brute force."""
    indices, distances = np.empty((len(X), k), np.int32), np.empty((len(X), k))
    selves = np.arange(len(X))
    if metric in EUCLIDEAN:
        with threads(n_jobs):
            found = measured_lists(X, X, candidates, selves, indices, distances)
    elif is_gower(metric):
        found = _measured_by_pairs(X, candidates, k, metric, indices, distances, n_jobs)
    else:
        found = _measured_one_by_one(X, candidates, k, metric, indices, distances)
    short = np.flatnonzero(found < k)
    if len(short):
        found_exactly = RowIndex(X, metric).nearest(X[short], k, selves=short, n_jobs=n_jobs)
        indices[short], distances[short] = found_exactly
    return indices, distances


def _measured_by_pairs(X, candidates, k, metric, indices, distances, n_jobs):
    """As below, for a metric that measures single pairs at no loss."""
    measure = pair_distances(X, metric, n_jobs)
    for block in row_blocks(len(X), "neighbours", size=8192):
        others = np.sort(candidates[block], axis=1)  # of equally far ones, the first by index is the nearer
        owners = np.arange(block.start, block.stop)[:, None]
        there = (others >= 0) & (others != owners)
        d = np.full(others.shape, np.inf)
        d[there] = measure(np.broadcast_to(owners, others.shape)[there], others[there])
        order = np.argsort(d, axis=1, kind="stable")[:, :k]
        indices[block], distances[block] = (np.take_along_axis(part, order, axis=1) for part in (others, d))
    return np.isfinite(distances).sum(axis=1)


def _measured_one_by_one(X, candidates, k, metric, indices, distances):
    """The descent holds its distances in single precision; other metrics than ours go row by row."""
    found = np.zeros(len(X), np.int64)
    for block in row_blocks(len(X), "neighbours", size=1024):
        for i in range(block.start, block.stop):
            others = candidates[i][(candidates[i] >= 0) & (candidates[i] != i)]
            if len(others) == 0:
                continue
            d = distances_between(X[i : i + 1], X[others], metric, 1)
            order = np.lexsort((others, d[0]))[:k]
            indices[i, : len(order)], distances[i, : len(order)] = others[order], d[0][order]
            found[i] = len(order)
    return found


def _recall(X, found, sample, metric, n_jobs):
    """Share of the sampled rows' neighbours that are as near as the true ones."""
    _, true = RowIndex(X, metric).nearest(X[sample], found.shape[1], selves=sample, n_jobs=n_jobs)
    return float((found[sample] <= true[:, -1:]).mean())


def search_graph(
    queries: np.ndarray, data: np.ndarray, graph: NeighborGraph, k: int, *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate Euclidean neighbours of new rows among ``data``, by walking its neighbour graph."""
    indices, distances = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
    entries = np.unique(np.linspace(0, len(data) - 1, _ENTRY_POINTS).astype(np.int64))
    beam = min(max(4 * k, 64), len(data))
    for block in row_blocks(len(queries), "neighbours", size=1024, adapt=True):
        with threads(n_jobs) as workers:
            searched_lists(queries[block], data, graph.indptr, graph.indices, entries, beam, workers,
                           indices[block], distances[block])  # fmt: skip
    return indices, distances
