"""Places of a map go uphill to the peak of their density; peaks that do not stand out join higher ones."""

from __future__ import annotations

import numpy as np

from .._jit import kernel


@kernel
def _root(parents, i):
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@kernel
def basins(order, density, neighbors, counts, rise, least, parents, sizes):
    """ToMATo: union-find over places from the densest down; ``parents`` ends with the peak of each place.

    A place joins the hill of its densest neighbour that came before. There it is also the saddle between
    hills: one whose log density rises less than ``rise`` above it, or that has fewer than ``least`` rows so
    far, joins the higher one. ``O(n k)`` time.
    """
    n, k = neighbors.shape
    place = np.empty(n, np.int64)
    for p in range(n):
        place[order[p]] = p
    for p in range(n):
        i = order[p]
        parents[i] = i
        sizes[i] = counts[i]
        first = p
        for j in range(k):
            first = min(first, place[neighbors[i, j]])
        if first == p:
            continue  # a peak
        high = _root(parents, order[first])
        parents[i] = high
        sizes[high] += counts[i]
        for j in range(k):
            if place[neighbors[i, j]] >= p:
                continue
            other = _root(parents, neighbors[i, j])
            high = _root(parents, i)
            if other == high:
                continue
            low = other if place[other] > place[high] else high
            if density[low] - density[i] < rise or sizes[low] < least:
                top = high if low == other else other
                parents[low] = top
                sizes[top] += sizes[low]
    for i in range(n):
        parents[i] = _root(parents, i)
