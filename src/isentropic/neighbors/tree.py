"""Exact neighbours by a k-d tree, for few features. Equally far neighbours go by index, as everywhere."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from .._runtime import row_blocks, worker_threads
from ..kernels._jit import threads
from ..kernels.nearest import measured_lists

_ROUNDS = 3  # each asks the tree for four times as many candidates, where the last of them were tied
_MARGIN = 1 + 1e-12  # scipy may round a distance otherwise than we do


def nearest_by_tree(queries, data, k, selves, n_jobs):
    """Neighbour lists, and the queries whose lists are still open: more are tied than the tree was asked for.

    ``O((n + b) log n)`` time where few distances are tied.
    """
    tree = KDTree(data, balanced_tree=False)
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
