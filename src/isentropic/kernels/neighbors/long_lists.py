"""Lists of so many neighbours that a row of distances is sorted as a whole: by distance, then by index."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.euclidean import squared_distance
from ..radix import order_row, sorting_space


@kernel
def _sort_row(d, own, keys, spare, low, high, indices, distances):
    """The first of ``d[:-1]``, sorted; False where one is negative, infinite or missing.

    The last entry is nobody's, so that a query that is none of the rows has one to leave out.
    """
    n = len(d) - 1
    d[n] = 0.0
    if own < 0:
        fine = order_row(d, n, keys, spare, low, high) >= 0
    else:
        fine = order_row(d[:n], own, keys[: n - 1], spare[: n - 1], low, high) >= 0
    if fine:
        for s in range(len(indices)):
            indices[s] = keys[s]
            distances[s] = d[keys[s]]
    return fine


@parallel_kernel
def sorted_in_rows(D, selves, n_workers, indices, distances):
    """As ``nearest_in_rows``, in ``O(n)`` a row whatever k is; how many rows were amiss, and are left."""
    n_rows, n = D.shape
    wrong = np.zeros(n_workers, np.int64)
    for worker in rows(n_workers):
        keys, spare, low, high = sorting_space(n + 1)
        d = np.empty(n + 1)
        for i in range(worker, n_rows, n_workers):
            for j in range(n):
                d[j] = abs(D[i, j]) if D[i, j] == 0 else D[i, j]  # of -0.0 the bits are those of a large one
            wrong[worker] += not _sort_row(d, selves[i], keys, spare, low, high, indices[i], distances[i])
    return wrong.sum()


@parallel_kernel
def sorted_euclidean(queries, data, selves, n_workers, indices, distances):
    """The k rows of ``data`` nearest to each query, all of them measured: ``O(n m)`` a query."""
    for worker in rows(n_workers):
        keys, spare, low, high = sorting_space(len(data) + 1)
        d = np.empty(len(data) + 1)
        for i in range(worker, len(queries), n_workers):
            for j in range(len(data)):
                d[j] = squared_distance(queries[i], data[j])
            _sort_row(d, selves[i], keys, spare, low, high, indices[i], distances[i])
            for s in range(indices.shape[1]):
                distances[i, s] = np.sqrt(distances[i, s])
