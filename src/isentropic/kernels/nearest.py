"""The k nearest of many candidates, by distance, then by index."""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .distances.euclidean import squared_distance
from .sorting import order_row, sorting_space


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


# ---- Candidates from estimates that come tile by tile: those that may be among the k nearest, unsorted ----


_AT_ONCE = 64  # estimates that are looked through together: few are near enough


@kernel
def _least_first(estimates, ids, size, k):
    """Bring the k least of ``size`` estimates, and what they belong to, to the front; returns the k-th."""
    low, high = 0, size - 1
    while low < high:
        pivot = estimates[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while estimates[i] < pivot:
                i += 1
            while estimates[j] > pivot:
                j -= 1
            if i <= j:
                estimates[i], estimates[j] = estimates[j], estimates[i]
                ids[i], ids[j] = ids[j], ids[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return estimates[k - 1]


@kernel
def _up_to(limit, estimates, ids, size):
    """Remove the estimates beyond a limit; returns how many are left."""
    left = 0
    for s in range(size):
        if estimates[s] <= limit:
            estimates[left], ids[left] = estimates[s], ids[s]
            left += 1
    return left


@kernel
def _any_within(limit, factor, products, norms):
    count = np.int32(0)
    for j in range(len(products)):
        count += np.int32(norms[j] - factor * products[j] <= limit)
    return count > 0


@parallel_kernel
def first_limits(products, factors, norms, doubled, k, limits):
    """Limits of the estimates of the k nearest, from those of :func:`offer_estimates` to the first rows.

    These are dealt out to a few hundred lanes. There are k + 1 rows, one of which may be the query itself, up
    to the (k + 1)-th of what is least in each lane. No limit is set where there are fewer rows than lanes.
    """
    n_rows, n = products.shape
    n_lanes = _AT_ONCE * (2 * k // _AT_ONCE + 1)
    for i in rows(n_rows if n >= n_lanes else 0):
        factor, least, numbers = factors[i], np.full(n_lanes, np.float32(np.inf)), np.arange(n_lanes)
        for start in range(0, n, n_lanes):
            row, squares = products[i, start : start + n_lanes], norms[start : start + n_lanes]
            for j in range(len(row)):
                estimate = squares[j] - factor * row[j]
                least[j] = estimate if estimate < least[j] else least[j]
        limits[i] = _least_first(least, numbers, n_lanes, k + 1) + doubled[i]


@parallel_kernel
def offer_estimates(products, factors, norms, doubled, first, selves, k, limits, estimates, ids, sizes):
    """Add rows ``first`` and on to the candidates of each query, where they may be among its k nearest.

    ``norms[j] - factors[i] products[i, j]`` is within half of ``doubled[i]`` of the squared distance, but for
    what all rows have in common. A query has at most ``estimates.shape[1]`` candidates within ``limits``:
    those that are farther than the k-th by more than the errors of both are removed when the list is full.
    ``sizes[i]`` becomes -1 where that removes few, for rows that are about equally far away. Estimates are
    no NaN.
    """
    n_rows, n = products.shape
    capacity = estimates.shape[1]
    for i in rows(n_rows):
        row, factor, limit, size = products[i], factors[i], limits[i], sizes[i]
        near, names, own = estimates[i], ids[i], selves[i] - first
        for start in range(0, n, _AT_ONCE):
            stop = min(start + _AT_ONCE, n)
            if size < 0 or not _any_within(limit, factor, row[start:stop], norms[start:stop]):
                continue
            for j in range(start, stop):
                estimate = norms[j] - factor * row[j]
                if estimate <= limit and j != own and size >= 0:
                    near[size], names[size] = estimate, first + j
                    size += 1
                    if size == capacity:
                        limit = _least_first(near, names, size, k) + doubled[i]
                        size = _up_to(limit, near, names, size)
                        size = size if 4 * (size - k) < 3 * (capacity - k) else -1
        limits[i], sizes[i] = limit, size


@parallel_kernel
def nearest_candidates(queries, data, doubled, estimates, ids, sizes, indices, distances):
    """The k nearest among the candidates of :func:`offer_estimates`, by exact Euclidean distance.

    Those beyond twice the slack of the k-th least estimate cannot be among them. Queries of size -1 are left.
    """
    k = indices.shape[1]
    for i in rows(len(queries)):
        limit, size = doubled[i], 0
        if sizes[i] >= 0:
            limit = _least_first(estimates[i], ids[i], sizes[i], k) + doubled[i]
        for s in range(sizes[i]):
            if estimates[i, s] <= limit:
                j = ids[i, s]
                exact = squared_distance(queries[i], data[j])
                if size < k or exact <= distances[i, k - 1]:
                    size = _insert(distances[i], indices[i], size, exact, j)
        for s in range(size):
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


# ---- Neighbour lists in which the distances of some pairs are replaced by others -----------------


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


# --------------------------------------------------------------------------------------------------
# Lists of so many neighbours that a row of distances is sorted as a whole: by distance, then by index.


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


# ---- A directed CSR graph and its transpose, both with sorted indices, joined row by row ---------


@kernel
def turned_entries(indptr, indices, starts, sources, places):
    """The entries of a CSR graph by column, in row order: their rows, and their places; a counting sort.

    Those of column j begin at ``starts[j]``, which has n + 1 entries.
    """
    n = len(starts) - 1
    starts[:] = 0
    for e in range(len(indices)):
        starts[indices[e] + 1] += 1
    for j in range(n):
        starts[j + 1] += starts[j]
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            at = starts[indices[e]]
            sources[at], places[at] = i, e
            starts[indices[e]] = at + 1
    for j in range(n, 0, -1):  # each has moved on to where the next begins
        starts[j] = starts[j - 1]
    starts[0] = 0


@kernel
def _joined_row(i, indptr, indices, weights, starts, sources, places, average, out, out_weights):
    """Merge row i of both; returns the length. Arrays of length 0 only count."""
    a, b, size = indptr[i], starts[i], 0
    while a < indptr[i + 1] or b < starts[i + 1]:
        from_a = a < indptr[i + 1] and (b >= starts[i + 1] or indices[a] <= sources[b])
        from_b = b < starts[i + 1] and (a >= indptr[i + 1] or sources[b] <= indices[a])
        if len(out) > 0:
            left = weights[a] if from_a else 0.0
            right = weights[places[b]] if from_b else 0.0
            out[size] = indices[a] if from_a else sources[b]
            out_weights[size] = 0.5 * (left + right) if average else max(left, right)
        size += 1
        a += from_a
        b += from_b
    return size


@parallel_kernel
def joined_sizes(indptr, indices, weights, starts, sources, places):
    """How many entries each row of the union has; the transpose is that of :func:`turned_entries`."""
    sizes = np.empty(len(indptr) - 1, np.int64)
    nothing = np.empty(0, indices.dtype)
    no_weights = np.empty(0)
    for i in rows(len(sizes)):
        sizes[i] = _joined_row(np.int64(i), indptr, indices, weights, starts, sources, places, False,
                               nothing, no_weights)  # fmt: skip
    return sizes


@parallel_kernel
def joined_rows(indptr, indices, weights, starts, sources, places, average, out_ptr, out, out_weights):
    """The union: the weight of an edge is that of either side, or the average with 0 for a missing side."""
    for i in rows(len(out_ptr) - 1):
        a, b = out_ptr[i], out_ptr[i + 1]
        if b > a:
            _joined_row(np.int64(i), indptr, indices, weights, starts, sources, places, average,
                        out[a:b], out_weights[a:b])  # fmt: skip
