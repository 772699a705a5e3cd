"""Trees of random hyperplanes, whose leaves hold rows that are probably near each other."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..draws import mixed


@kernel
def _draw(seed, tree, node):
    """A number that depends on nothing but its counters."""
    value = mixed(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15))
    value = mixed((value ^ np.uint64(tree)) + np.uint64(0x9E3779B97F4A7C15))
    return mixed((value ^ np.uint64(node)) + np.uint64(0x9E3779B97F4A7C15))


BY_PRODUCTS, BY_CODES, BY_CAPPED = range(3)  # what tells on which side a row is: see kernels/descent.py


@kernel
def _capped(x, y, weight):
    """Of two entries; half of the weight where one is missing."""
    apart = abs(x - y)
    if apart != apart:
        return np.float32(0.5) * weight
    return min(apart, weight)


@kernel
def _side(by, x, one, two, weights):
    """How much nearer ``x`` is to ``one`` than to ``two``."""
    total = np.float32(0)
    if by == BY_CODES:
        for f in range(len(x)):
            total += np.float32(x[f] == one[f]) - np.float32(x[f] == two[f])
    elif by == BY_CAPPED:
        for f in range(len(x)):
            total += _capped(x[f], two[f], weights[f]) - _capped(x[f], one[f], weights[f])
    else:
        for f in range(len(x)):
            total += x[f] * (one[f] - two[f])
    return total


@kernel
def _part(keys, order, low, high, place):
    """Put the rows that belong before ``place``, by (key, row), before it: quickselect."""
    high -= 1
    while low < high:
        middle = (low + high) >> 1
        key, row = keys[middle], order[middle]
        left, right = low, high
        while left <= right:
            while keys[left] < key or (keys[left] == key and order[left] < row):
                left += 1
            while keys[right] > key or (keys[right] == key and order[right] > row):
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if place <= right:
            high = right
        elif place >= left:
            low = left
        else:
            return


@parallel_kernel
def plant(by, data, weights, seed, first, span, finest, orders):
    """``orders[t]``: the rows by the leaves of tree ``first + t``, of ``span`` rows each but for the last.

    A node is parted by how much nearer its rows are to one drawn row than to another, in halves of whole
    leaves; leaves likewise, down to ``finest`` rows. ``O(n m log n)`` a tree.
    """
    n = len(data)
    for t in rows(len(orders)):
        order, keys = orders[t], np.empty(n, np.float32)
        for i in range(n):
            order[i] = i
        stack = np.empty((128, 2), np.int64)
        stack[0] = 0, n
        depth, node = 1, 0
        while depth > 0:
            depth -= 1
            low, high = stack[depth]
            if high - low <= finest:
                continue
            unit = span if high - low > span else finest
            middle = low + (high - low + unit - 1) // unit // 2 * unit
            draw = _draw(seed, first + t, node)
            size = np.uint64(high - low)
            one = data[order[low + np.int64((draw >> np.uint64(32)) % size)]]
            two = data[order[low + np.int64((draw & np.uint64(0xFFFFFFFF)) % size)]]
            for p in range(low, high):
                keys[p] = _side(by, data[order[p]], one, two, weights)
            _part(keys, order, low, high, middle)
            stack[depth] = low, middle
            stack[depth + 1] = middle, high
            depth += 2
            node += 1
