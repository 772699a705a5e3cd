"""The k nearest rows by shortest paths: Dijkstra's algorithm, ended where no other row can be nearer."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..neighbors.nearest import _insert


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
