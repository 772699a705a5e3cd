"""Sorting inside kernels.

numba's own ``np.sort`` and ``np.argsort`` are closures of one name that it tells apart by a number which each
process counts anew: two kernels kept by two processes may carry the same number for different closures, and a
process that loads both runs one of them for the other.
"""

from __future__ import annotations

from ._jit import kernel


@kernel
def _comes_before(keys, i, j):
    """By key, then by number: no two entries are level, so the order is the same on every machine."""
    return keys[i] < keys[j] or (keys[i] == keys[j] and i < j)


@kernel
def sort_by(keys, order):
    """Sort the numbers in ``order`` by their ``keys``, in place: heap sort, ``O(size log size)`` at worst."""
    size = len(order)
    start, stop = size // 2, size
    while stop > 1:
        if start > 0:  # the heap is still being built
            start -= 1
            entry = order[start]
        else:  # the largest goes to the end
            stop -= 1
            entry = order[stop]
            order[stop] = order[0]
        place, child = start, 2 * start + 1
        while child < stop:
            if child + 1 < stop and _comes_before(keys, order[child], order[child + 1]):
                child += 1
            if not _comes_before(keys, entry, order[child]):
                break
            order[place] = order[child]
            place, child = child, 2 * child + 1
        order[place] = entry
