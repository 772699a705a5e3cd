"""Approximate neighbours: pynndescent for the rows of a table, a search of its graph for new rows."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.utils import check_random_state

from .._runtime import row_blocks
from .._values import NeighborGraph, Neighbors
from ..kernels._jit import all_threads, threads, threadsafe
from ..kernels.nearest import measured_lists, nearest_in_rows, searched_lists
from .distances import EUCLIDEAN, Metric, distances_between, metric_name

_RECALL_ROWS = 200
_ENTRY_POINTS = 256


def approximate_neighbors(
    X: np.ndarray, k: int, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """Nearest neighbours by nearest-neighbour descent, with the recall found on sampled rows.

    The descent depends on the number of threads, so it always runs on all of them: any ``n_jobs``
    gives the same lists on the same machine. No ``random_state`` means a fixed seed.
    """
    from pynndescent import NNDescent

    random = check_random_state(0 if random_state is None else random_state)
    asked = min(max(k + 1, 16), len(X))
    with threadsafe(), all_threads(), warnings.catch_warnings():
        # Rows for which the descent finds too few are filled in below, so its warning is not ours.
        warnings.filterwarnings("ignore", "Failed to correctly find n_neighbors", UserWarning)
        index = NNDescent(X, metric=metric, n_neighbors=asked, random_state=random.randint(2**31 - 1))
        candidates, _ = index.neighbor_graph
    indices, distances = _measured(X, candidates.astype(np.int64), k, metric, n_jobs)
    sample = np.sort(random.permutation(len(X))[:_RECALL_ROWS])
    recall = _recall(X, distances, sample, metric, n_jobs)
    return Neighbors(indices, distances, metric_name(metric), exact=False, recall=recall)


def _measured(X, candidates, k, metric, n_jobs):
    """Candidates in exact order; rows for which the descent found too few get theirs by brute force."""
    indices, distances = np.empty((len(X), k), np.int32), np.empty((len(X), k))
    selves = np.arange(len(X))
    if metric in EUCLIDEAN:
        with threads(n_jobs):
            found = measured_lists(X, X, candidates, selves, indices, distances)
    else:
        found = _measured_one_by_one(X, candidates, k, metric, indices, distances)
    short = np.flatnonzero(found < k)
    if len(short):
        D = distances_between(X[short], X, metric, n_jobs)
        short_indices, short_distances = indices[short], distances[short]
        with threads(n_jobs):
            nearest_in_rows(D, selves[short], short_indices, short_distances)
        indices[short], distances[short] = short_indices, short_distances
    return indices, distances


def _measured_one_by_one(X, candidates, k, metric, indices, distances):
    """The library holds its distances in single precision; other metrics than ours go row by row."""
    from sklearn.metrics import DistanceMetric

    exact = DistanceMetric.get_metric(metric) if isinstance(metric, str) and metric != "cosine" else None
    found = np.zeros(len(X), np.int64)
    for block in row_blocks(len(X), "neighbours", size=1024):
        for i in range(block.start, block.stop):
            others = candidates[i][(candidates[i] >= 0) & (candidates[i] != i)]
            if len(others) == 0:
                continue
            row = X[i : i + 1]
            d = exact.pairwise(row, X[others]) if exact else distances_between(row, X[others], metric, 1)
            order = np.lexsort((others, d[0]))[:k]
            indices[i, : len(order)], distances[i, : len(order)] = others[order], d[0][order]
            found[i] = len(order)
    return found


def _recall(X, found, sample, metric, n_jobs):
    """Share of the sampled rows' neighbours that are as near as the true ones."""
    k = found.shape[1]
    indices, distances = np.empty((len(sample), k), np.int32), np.empty((len(sample), k))
    D = distances_between(X[sample], X, metric, n_jobs)
    with threads(n_jobs):
        nearest_in_rows(D, sample, indices, distances)
    # A margin, since a library may round a distance otherwise in a longer row.
    return float((found[sample] <= distances[:, -1:] * (1 + 1e-12)).mean())


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
