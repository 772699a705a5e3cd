"""Exact neighbours by a k-d tree, for few features. Equally far neighbours go by index, as everywhere."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from .._runtime import row_blocks, worker_threads
from ..kernels._jit import threads
from ..kernels.nearest import measured_lists, measured_pairs
from .room import require_room

_ROUNDS = 3  # each asks the tree for four times as many candidates, where the last of them were tied
_MARGIN = 1 + 1e-12  # scipy may round a distance otherwise than we do


def nearest_by_tree(tree, queries, data, k, selves, n_jobs):
    """Neighbour lists, and the queries whose lists are still open: more are tied than the tree was asked for.

    ``O((n + b) log n)`` time where few distances are tied.
    """
    indices, distances = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
    unsettled = np.arange(len(queries))
    for round_ in range(_ROUNDS):
        asked = min(4**round_ * (k + 2), len(data))  # one more for the row itself, one more to see a tie
        tied = [
            _settle(tree, queries, data, selves, unsettled[block], asked, indices, distances, n_jobs)
            for block in row_blocks(len(unsettled), "neighbours", size=1024, adapt=True)
        ]
        unsettled = np.concatenate(tied) if tied else unsettled
    return indices, distances, unsettled


def _settle(tree, queries, data, selves, chosen, asked, indices, distances, n_jobs):
    """Fill the lists of the chosen queries; returns those whose last neighbour may have an equal."""
    farthest, candidates = tree.query(queries[chosen], k=asked, workers=worker_threads(n_jobs))
    # scipy drops the axis of a single neighbour
    farthest, candidates = farthest.reshape(-1, asked)[:, -1], candidates.reshape(-1, asked)
    found, lengths = indices[chosen], distances[chosen]
    with threads(n_jobs):
        measured_lists(queries[chosen], data, candidates, selves[chosen], found, lengths)
    indices[chosen], distances[chosen] = found, lengths
    if asked == tree.n:
        return chosen[:0]
    return chosen[farthest <= lengths[:, -1] * _MARGIN]


def within_radius_by_tree(X: np.ndarray, eps: float, n_jobs: int | None):
    """Data, indices and indptr of the directed graph of all other rows nearer than ``eps``.

    ``O(n log n + e)`` time for e edges.
    """
    tree = KDTree(X, balanced_tree=False)
    workers, reach = worker_threads(n_jobs), eps * _MARGIN
    lengths = np.empty(len(X), np.int64)
    for block in row_blocks(len(X), "neighbours", size=1024, adapt=True):
        lengths[block] = tree.query_ball_point(X[block], reach, workers=workers, return_length=True)
        expected = int((lengths[: block.stop] - 1).sum()) * len(X) // block.stop
        require_room(expected)
    counts, indices, weights = np.empty(len(X), np.int64), [], []
    for block in row_blocks(len(X), "neighbours", size=1024, adapt=True):
        lists = tree.query_ball_point(X[block], reach, workers=workers, return_sorted=True)
        row = np.repeat(np.arange(block.start, block.stop), lengths[block])
        column = np.concatenate([np.asarray(near, np.int32) for near in lists])
        distances = np.empty(len(row))
        with threads(n_jobs):
            measured_pairs(X, row, column, distances)
        near = (distances < eps) & (row != column)  # the tree may round otherwise than we do
        counts[block] = np.bincount(row[near] - block.start, minlength=block.stop - block.start)
        indices.append(column[near])
        weights.append(distances[near])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return np.concatenate(weights), np.concatenate(indices), indptr
