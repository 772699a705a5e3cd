"""Shortest paths over a CSR graph with non-negative weights: delta-stepping, and label correction in groups.

A source is a set of seeds: nodes with a first distance. A row of the data is one seed at distance
0; a new row is its neighbours at their distances. Every routine finds the least left-to-right sum
over all paths, so all of them agree to the last bit, whatever the grouping or the number of threads.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .nearest import _insert

LANES = 16  # sources per group: two cache lines a node, 16 n doubles a group stay in L2 up to n = 8,000


# What became of a node so far. Visited again means: queued once more, for a shorter way was found.
_UNSEEN, _FAR, _NEAR, _VISITED, _AGAIN = 0, 1, 2, 3, 4


@kernel
def _next_wave(distance, state, near, head, far, n_far, width):
    """Queue the nearest of the far nodes; returns how many, how many stay far, and the wave's limit."""
    least = np.inf
    for i in range(n_far):
        if state[far[i]] == _FAR:
            least = min(least, distance[far[i]])
    limit = least + width
    size, kept = 0, 0
    for i in range(n_far):
        v = far[i]
        if state[v] != _FAR:  # a shorter way reached it, and it has been queued
            continue
        if distance[v] <= limit:
            state[v] = _NEAR
            near[(head + size) % len(near)] = v
            size += 1
        else:
            far[kept] = v
            kept += 1
    return size, kept, limit


@kernel
def _waves(indptr, indices, weights, seeds, starts, width, distance, state, near, far, order):
    """Delta-stepping from one source, wave by wave; ``order`` gets the reached nodes as first visited.

    Nodes within a wave are visited first in, first out, and again when a shorter way turns up; farther
    ones wait for theirs. With waves of two edge lengths 1 % of the nodes are visited twice, which costs
    less than a heap.
    """
    n = len(distance)
    distance[:] = np.inf
    state[:] = _UNSEEN
    head, size, n_far, n_visited, limit = 0, 0, 0, 0, -1.0
    for s in range(len(seeds)):
        v = seeds[s]
        if starts[s] < distance[v]:
            distance[v] = starts[s]
            if state[v] == _UNSEEN:
                state[v] = _FAR
                far[n_far] = v
                n_far += 1
    while size > 0 or n_far > 0:
        if size == 0:
            size, n_far, limit = _next_wave(distance, state, near, head, far, n_far, width)
            continue
        u = near[head]
        head = head + 1 if head + 1 < n else 0
        size -= 1
        if state[u] == _NEAR:
            order[n_visited] = u
            n_visited += 1
        state[u] = _VISITED
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            through = distance[u] + weights[e]
            if through >= distance[v]:
                continue
            distance[v] = through
            before = state[v]
            if through <= limit and before != _NEAR and before != _AGAIN:
                state[v] = _AGAIN if before == _VISITED else _NEAR
                place = head + size
                near[place if place < n else place - n] = v
                size += 1
            elif before == _UNSEEN:
                state[v] = _FAR
                far[n_far] = v
                n_far += 1
    return n_visited


@kernel
def _wave_width(weights):
    return 2.0 * weights.mean() if len(weights) > 0 else 0.0


@kernel
def _append_unreached(order, n_reached, distance):
    for v in range(len(distance)):
        if distance[v] == np.inf:
            order[n_reached] = v
            n_reached += 1


@kernel
def _renumber(indptr, indices, weights, order, place, local_indptr, local_indices, local_weights):
    """The graph with its nodes in the given order; ``place`` gets the new number of each node."""
    n = len(order)
    for step in range(n):
        place[order[step]] = step
    local_indptr[0] = 0
    at = 0
    for step in range(n):
        for e in range(indptr[order[step]], indptr[order[step] + 1]):
            local_indices[at] = place[indices[e]]
            local_weights[at] = weights[e]
            at += 1
        local_indptr[step + 1] = at


@kernel
def _sweep(indptr, indices, weights, D, dirty, source, forward):
    """Push every dirty node's distances to its neighbours, in order or backwards; was any shortened?"""
    n, lanes = D.shape
    shortened_any = False
    for step in range(n):
        u = step if forward else n - 1 - step
        if not dirty[u]:
            continue
        dirty[u] = False
        for lane in range(lanes):
            source[lane] = D[u, lane]
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            w = weights[e]
            shortened = 0
            for lane in range(lanes):  # the lanes of a node are one or two vector operations
                through = source[lane] + w
                known = D[v, lane]
                shortened |= through < known
                D[v, lane] = through if through < known else known
            if shortened:
                dirty[v] = True
                shortened_any = True
    return shortened_any


@kernel
def _correct(indptr, indices, weights, seed_ptr, seeds, starts, first, last, place, D, dirty, source):
    """Distances ``D[place[v], lane]`` from sources ``first..last-1``, by label correction.

    The sources are near each other, so an order in which one of them reaches the nodes is nearly right
    for all: the first sweep finds most distances, a few more correct the rest.
    """
    D[:, :] = np.inf
    dirty[:] = False
    for lane in range(last - first):
        for s in range(seed_ptr[first + lane], seed_ptr[first + lane + 1]):
            v = place[seeds[s]]
            D[v, lane] = min(D[v, lane], starts[s])
            dirty[v] = True
    forward = True
    while _sweep(indptr, indices, weights, D, dirty, source, forward):
        forward = not forward


@parallel_kernel
def grouped_paths(indptr, indices, weights, seed_ptr, seeds, starts, nodes, at, columns_from, n_workers, out):
    """``out[at[s] + j]``: length of the shortest path from source ``s`` to node ``nodes[j]``.

    Columns below ``columns_from[s]`` are left out, so that a triangle can be filled. Sources that follow
    each other should be near each other: groups of them run in the lanes of vector operations, on a
    graph renumbered in the order in which the middle one reaches its nodes.

    ``O(s n k)`` time in practice; ``O(n (16 + k))`` memory a worker.
    """
    n = len(indptr) - 1
    n_sources = len(seed_ptr) - 1
    n_groups = (n_sources + LANES - 1) // LANES
    width = _wave_width(weights)
    for worker in rows(n_workers):
        D = np.empty((n, LANES))
        dirty = np.empty(n, np.bool_)
        source = np.empty(LANES)
        distance = np.empty(n)
        state = np.empty(n, np.uint8)
        near = np.empty(n, np.int32)
        far = np.empty(n, np.int32)
        order = np.empty(n, np.int32)
        place = np.empty(n, np.int32)
        local_indptr = np.empty_like(indptr)
        local_indices = np.empty_like(indices)
        local_weights = np.empty_like(weights)
        for group in range(worker, n_groups, n_workers):
            first = group * LANES
            last = min(first + LANES, n_sources)
            middle = (first + last) // 2
            a, b = seed_ptr[middle], seed_ptr[middle + 1]
            reached = _waves(indptr, indices, weights, seeds[a:b], starts[a:b], width,
                             distance, state, near, far, order)  # fmt: skip
            _append_unreached(order, reached, distance)
            _renumber(indptr, indices, weights, order, place, local_indptr, local_indices, local_weights)
            _correct(local_indptr, local_indices, local_weights, seed_ptr, seeds, starts, first, last, place,
                     D, dirty, source)  # fmt: skip
            for j in range(columns_from[first:last].min(), n):
                v = place[nodes[j]]
                for s in range(first, last):
                    if j >= columns_from[s]:
                        out[at[s] + j] = D[v, s - first]


@parallel_kernel
def single_paths(indptr, indices, weights, seed_ptr, seeds, starts, nodes, at, columns_from, n_workers, out):
    """As :func:`grouped_paths`, one source at a time: for sources that are far from each other."""
    n = len(indptr) - 1
    n_sources = len(seed_ptr) - 1
    width = _wave_width(weights)
    for worker in rows(n_workers):
        distance = np.empty(n)
        state = np.empty(n, np.uint8)
        near = np.empty(n, np.int32)
        far = np.empty(n, np.int32)
        order = np.empty(n, np.int32)
        for s in range(worker, n_sources, n_workers):
            a, b = seed_ptr[s], seed_ptr[s + 1]
            _waves(indptr, indices, weights, seeds[a:b], starts[a:b], width,
                   distance, state, near, far, order)  # fmt: skip
            for j in range(columns_from[s], n):
                out[at[s] + j] = distance[nodes[j]]


@kernel
def grouped_order(indptr, indices):
    """The nodes in groups of :data:`LANES` that are near each other: each grows around its first node."""
    n = len(indptr) - 1
    taken = np.zeros(n, np.bool_)
    order = np.empty(n, np.int64)
    size = 0
    for node in range(n):
        if taken[node]:
            continue
        taken[node] = True
        order[size] = node
        first, head = size, size
        size += 1
        while head < size and size - first < LANES:
            u = order[head]
            head += 1
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                if not taken[v] and size - first < LANES:
                    taken[v] = True
                    order[size] = v
                    size += 1
    return order


# --------------------------------------------------------------------------------------------------
# The k nearest rows by shortest paths: Dijkstra's algorithm, ended where no other row can be nearer.


@kernel
def _rise(heap, slots, distance, slot):
    """Move the node of a slot of a binary heap up to where its distance belongs."""
    node = heap[slot]
    while slot > 0:
        above = (slot - 1) // 2
        if distance[heap[above]] <= distance[node]:
            break
        heap[slot] = heap[above]
        slots[heap[slot]] = slot
        slot = above
    heap[slot] = node
    slots[node] = slot


@kernel
def _take_least(heap, slots, distance, size):
    """Take the first node off a heap of so many; the last one sinks to where it belongs."""
    least, node = heap[0], heap[size - 1]
    size -= 1
    slot = 0
    while 2 * slot + 1 < size:
        below = 2 * slot + 1
        if below + 1 < size and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        if distance[heap[below]] >= distance[node]:
            break
        heap[slot] = heap[below]
        slots[heap[slot]] = slot
        slot = below
    heap[slot] = node
    slots[node] = slot
    return least


@kernel
def _nearest(indptr, indices, weights, n_seeds, distance, extra, heap, slots, touched, found, lengths):
    """Lists by ``distance + extra`` of one source whose seeds are in the heap; how many nodes were touched.

    Nodes come in the order of their distance, to which an extra only adds: a node farther than the last one
    listed, and all behind it, are none of the nearest.
    """
    size, n_touched, n_found, k = n_seeds, n_seeds, 0, len(found)
    while size > 0:
        u = _take_least(heap, slots, distance, size)
        size -= 1
        if n_found == k and distance[u] > lengths[k - 1]:
            break
        n_found = _insert(lengths, found, n_found, distance[u] + extra[u], u)
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            through = distance[u] + weights[e]
            if through < distance[v]:
                if distance[v] == np.inf:
                    touched[n_touched] = v
                    n_touched += 1
                    slots[v] = size
                    heap[size] = v
                    size += 1
                distance[v] = through
                _rise(heap, slots, distance, slots[v])
    return n_touched


@parallel_kernel
def nearest_by_paths(
    indptr, indices, weights, seed_ptr, seeds, starts, extras, selves, n_workers, found, lengths
):
    """The k nodes nearest to each source by the length of the shortest path, those near it with an extra.

    A source starts at its seeds, with the distance and the extra of each, which is added to the length of the
    path to that node and to no path through it. Nearest first, equally far ones by index; ``selves[s]`` (-1:
    none) is not listed. Every source must reach k nodes. About ``O(k d log k)`` a source for nodes of d
    edges; ``O(n)`` memory a worker.
    """
    n = len(indptr) - 1
    for worker in rows(n_workers):
        distance = np.full(n, np.inf)
        extra = np.zeros(n)
        heap = np.empty(n, np.int32)
        slots = np.empty(n, np.int32)
        touched = np.empty(n, np.int32)
        for s in range(worker, len(selves), n_workers):
            if selves[s] >= 0:
                distance[selves[s]] = -1.0  # shorter than any path
            size = 0
            for e in range(seed_ptr[s], seed_ptr[s + 1]):
                v = seeds[e]
                if distance[v] == np.inf:
                    heap[size] = touched[size] = v
                    slots[v] = size
                    size += 1
                if starts[e] < distance[v]:
                    distance[v] = starts[e]
                    extra[v] = extras[e]
                    _rise(heap, slots, distance, slots[v])
            size = _nearest(indptr, indices, weights, size, distance, extra, heap, slots, touched,
                            found[s], lengths[s])  # fmt: skip
            for t in range(size):
                distance[touched[t]] = np.inf
                extra[touched[t]] = 0.0
            if selves[s] >= 0:
                distance[selves[s]] = np.inf
