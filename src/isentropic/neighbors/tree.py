"""All rows within a radius by a k-d tree, for few features."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from .._core.runtime import row_blocks, worker_threads
from ..kernels._jit import threads
from ..kernels.distances.euclidean import euclidean_pairs
from .search import require_edge_memory

_MARGIN = 1 + 1e-12  # scipy may round a distance otherwise than we do


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
        require_edge_memory(expected)
    counts, indices, weights = np.empty(len(X), np.int64), [], []
    for block in row_blocks(len(X), "neighbours", size=1024, adapt=True):
        lists = tree.query_ball_point(X[block], reach, workers=workers, return_sorted=True)
        row = np.repeat(np.arange(block.start, block.stop), lengths[block])
        column = np.concatenate([np.asarray(near, np.int32) for near in lists])
        distances = np.empty(len(row))
        with threads(n_jobs):
            euclidean_pairs(X, row, column, distances)
        near = (distances < eps) & (row != column)  # the tree may round otherwise than we do
        counts[block] = np.bincount(row[near] - block.start, minlength=block.stop - block.start)
        indices.append(column[near])
        weights.append(distances[near])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return np.concatenate(weights), np.concatenate(indices), indptr
