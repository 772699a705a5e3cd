"""Neighbour lists in which the distances of some pairs are replaced by others."""

from __future__ import annotations

import numpy as np

from .._jit import parallel_kernel, rows
from .nearest import _insert


@parallel_kernel
def replaced_lists(near, distances, indptr, indices, values, n, n_workers, found, lengths):
    """The k nearest of each row, where the edges of a graph have values in place of their distances.

    ``near`` and ``distances`` list the nearest rows as they were, at least ``k`` of those that are no edges,
    or all there are. Nearest first, equally far ones by index. Returns whether the last one found is no
    farther than the last one that was listed: then no row outside of the lists can be nearer.
    """
    k = found.shape[1]
    certain = np.empty(len(near), np.bool_)
    for worker in rows(n_workers):
        edge_of = np.full(n, -1, np.int64)
        for i in range(worker, len(near), n_workers):
            size = 0
            for e in range(indptr[i], indptr[i + 1]):
                edge_of[indices[e]] = i
                if size < k or values[e] <= lengths[i, k - 1]:
                    size = _insert(lengths[i], found[i], size, values[e], indices[e])
            for c in range(near.shape[1]):
                j, distance = near[i, c], distances[i, c]
                if edge_of[j] != i and (size < k or distance <= lengths[i, k - 1]):
                    size = _insert(lengths[i], found[i], size, distance, j)
            certain[i] = size == k and lengths[i, k - 1] <= distances[i, -1]
    return certain
