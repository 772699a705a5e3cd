"""The k nearest of many candidates, by distance, then by index."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.euclidean import squared_distance


@kernel
def _insert(distances, indices, size, distance, index):
    """Put a candidate into a list sorted by (distance, index); the last falls out when it is full."""
    k = len(distances)
    place = min(size, k)
    while place > 0:
        before = distances[place - 1]
        if before < distance or (before == distance and indices[place - 1] < index):
            break
        if place < k:
            distances[place] = before
            indices[place] = indices[place - 1]
        place -= 1
    if place < k:
        distances[place] = distance
        indices[place] = index
    return min(size + 1, k)


@parallel_kernel
def nearest_in_rows(D, selves, indices, distances):
    """The k least entries of every row of ``D``; entry ``selves[i]`` of row i does not count (-1: all do)."""
    n_rows, n = D.shape
    k = indices.shape[1]
    for i in rows(n_rows):
        size = 0
        for j in range(n):
            if j != selves[i] and (size < k or D[i, j] < distances[i, k - 1]):
                size = _insert(distances[i], indices[i], size, D[i, j], j)


@parallel_kernel
def nearest_refined(
    products, units, queries, data, query_norms, data_norms, slack, selves, indices, distances
):
    """Exact Euclidean neighbours from inner products, ``units[i] products[i, j] = queries_i . data_j``.

    ``|x|^2 + |y|^2 - 2 x.y`` is within ``slack[i]`` of the squared distance. So only candidates within
    twice the slack of the k-th least estimate can be neighbours, and just those are measured exactly: the
    lists are the same whatever the order in which the library added up the products.
    """
    n_rows, n = products.shape
    k = indices.shape[1]
    for i in rows(n_rows):
        estimates = np.empty(k)
        ids = np.empty(k, indices.dtype)
        size = 0
        row = products[i]
        for j in range(n):
            row[j] = query_norms[i] + data_norms[j] - 2.0 * units[i] * row[j]
            if (size < k or row[j] < estimates[k - 1]) and j != selves[i]:
                size = _insert(estimates, ids, size, row[j], j)
        limit = estimates[k - 1] + 2.0 * slack[i]
        size = 0
        for j in range(n):
            if row[j] <= limit and j != selves[i]:
                exact = squared_distance(queries[i], data[j])
                if size < k or exact < distances[i, k - 1]:
                    size = _insert(distances[i], indices[i], size, exact, j)
        for s in range(k):
            distances[i, s] = np.sqrt(distances[i, s])


@parallel_kernel
def measured_lists(queries, data, candidates, selves, indices, distances):
    """The k nearest among the candidates of each row (negative: none), by exact Euclidean distance.

    Returns how many each row found. A candidate may be listed once only.
    """
    found = np.zeros(len(candidates), np.int64)
    for i in rows(len(candidates)):
        size = 0
        for c in range(candidates.shape[1]):
            j = candidates[i, c]
            if j >= 0 and j != selves[i]:
                size = _insert(distances[i], indices[i], size, squared_distance(queries[i], data[j]), j)
        for s in range(size):
            distances[i, s] = np.sqrt(distances[i, s])
        found[i] = size
    return found


@parallel_kernel
def listed_members(queries, distinct, nearest, indptr, members, selves, indices, distances):
    """Neighbour lists of rows from lists of distinct rows, each of which stands for all members like it."""
    k = indices.shape[1]
    for i in rows(len(nearest)):
        size = 0
        for c in range(nearest.shape[1]):
            group = nearest[i, c]
            distance = squared_distance(queries[i], distinct[group])
            for e in range(indptr[group], min(indptr[group + 1], indptr[group] + k + 1)):
                if members[e] != selves[i]:
                    size = _insert(distances[i], indices[i], size, distance, members[e])
        for s in range(k):
            distances[i, s] = np.sqrt(distances[i, s])


@parallel_kernel
def expanded_lists(nearest, lengths, indptr, members, selves, indices, distances):
    """As :func:`listed_members` from the distances of the distinct rows, of any metric."""
    for i in rows(len(nearest)):
        size = 0
        for c in range(nearest.shape[1]):
            group = nearest[i, c]
            for e in range(indptr[group], min(indptr[group + 1], indptr[group] + indices.shape[1] + 1)):
                if members[e] != selves[i]:
                    size = _insert(distances[i], indices[i], size, lengths[i, c], members[e])


@parallel_kernel
def shrink_gaps(data, landmark, n_workers, gap):
    """Bring ``gap``, each row's least squared distance to the landmarks so far, up to date with one more."""
    n = len(data)
    for worker in rows(n_workers):
        for i in range(worker * n // n_workers, (worker + 1) * n // n_workers):
            gap[i] = min(gap[i], squared_distance(data[i], data[landmark]))


@kernel
def _entry_distances(query, data, entries, stamp, mark, beam_distances, beam_indices):
    size = 0
    for e in range(len(entries)):
        j = entries[e]
        stamp[j] = mark
        distance = squared_distance(query, data[j])
        if size < len(beam_distances) or distance < beam_distances[-1]:
            size = _insert(beam_distances, beam_indices, size, distance, j)
    return size


@kernel
def _first_unexpanded(beam_indices, size, expanded, mark):
    for s in range(size):
        if expanded[beam_indices[s]] != mark:
            return s
    return -1


@parallel_kernel
def searched_lists(queries, data, indptr, neighbors, entries, beam, n_workers, indices, distances):
    """Approximate neighbours of new rows: best-first search over a graph of the data.

    From the nearest entry points, the nearest row not yet expanded is expanded, until the ``beam``
    nearest rows found are all expanded. No chance is involved, and a query sees no other query.
    """
    k = indices.shape[1]
    for worker in rows(n_workers):
        stamp = np.full(len(data), -1)
        expanded = np.full(len(data), -1)
        beam_distances = np.empty(beam)
        beam_indices = np.empty(beam, np.int64)
        for i in range(worker, len(queries), n_workers):
            size = _entry_distances(queries[i], data, entries, stamp, i, beam_distances, beam_indices)
            at = 0
            while at >= 0:
                u = beam_indices[at]
                expanded[u] = i
                for e in range(indptr[u], indptr[u + 1]):
                    v = neighbors[e]
                    if stamp[v] == i:
                        continue
                    stamp[v] = i
                    distance = squared_distance(queries[i], data[v])
                    if size < beam or distance < beam_distances[beam - 1]:
                        size = _insert(beam_distances, beam_indices, size, distance, v)
                at = _first_unexpanded(beam_indices, size, expanded, i)
            for s in range(k):
                indices[i, s] = beam_indices[s]
                distances[i, s] = np.sqrt(beam_distances[s])
