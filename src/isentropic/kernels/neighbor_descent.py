"""Nearest-neighbour descent: lists that are improved by the neighbours of neighbours.

A list holds whole numbers, least first: the bits of a distance in single precision, those of the row, and
whether it is new. Distances are not negative, so their bits have their order: a list is sorted by (distance,
row), and an entry that is offered again is found in its place.

Rows are taken ``GROUP`` at a time, as the lanes of a tile: a candidate is read once and measured against all
of them. A group owns the lists of its rows and reads those of others from a copy made before the round, so
that any number of threads gives the same lists.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .elementary import mixed

GROUP = 32
STEP = 4  # features that are added up at once
# What is made of the differences of two rows. Capped sums and means are Gower's: a column adds at most its
# weight, and a mean is over the columns that both have, the others being NaN.
SQUARES, SUMS, LARGEST, UNEQUAL, CAPPED_SUMS, CAPPED_MEANS = range(6)
NOTHING = np.iinfo(np.int64).max  # an entry behind all others
_ROW = 0x7FFFFFFF


# ---- distances ---------------------------------------------------------------------------------


@kernel
def _add_squares(tile, w, x, y, z, out):
    """Four rows together, so that one is on its way from memory while others are measured."""
    o0, o1, o2, o3 = out[0], out[1], out[2], out[3]
    for b in range(len(tile)):
        f = STEP * b
        w0, w1, w2, w3 = w[f], w[f + 1], w[f + 2], w[f + 3]
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        y0, y1, y2, y3 = y[f], y[f + 1], y[f + 2], y[f + 3]
        z0, z1, z2, z3 = z[f], z[f + 1], z[f + 2], z[f + 3]
        t0, t1, t2, t3 = tile[b, 0], tile[b, 1], tile[b, 2], tile[b, 3]
        for c in range(GROUP):
            a0, a1, a2, a3 = t0[c], t1[c], t2[c], t3[c]
            o0[c] += ((a0 - w0) ** 2 + (a1 - w1) ** 2) + ((a2 - w2) ** 2 + (a3 - w3) ** 2)
            o1[c] += ((a0 - x0) ** 2 + (a1 - x1) ** 2) + ((a2 - x2) ** 2 + (a3 - x3) ** 2)
            o2[c] += ((a0 - y0) ** 2 + (a1 - y1) ** 2) + ((a2 - y2) ** 2 + (a3 - y3) ** 2)
            o3[c] += ((a0 - z0) ** 2 + (a1 - z1) ** 2) + ((a2 - z2) ** 2 + (a3 - z3) ** 2)


@kernel
def _add_others(kind, tile, x, out):
    for b in range(len(tile)):
        for s in range(STEP):
            value, lanes = x[STEP * b + s], tile[b, s]
            if kind == SUMS:
                for c in range(GROUP):
                    out[c] += abs(lanes[c] - value)
            elif kind == LARGEST:
                for c in range(GROUP):
                    out[c] = max(out[c], abs(lanes[c] - value))
            else:
                for c in range(GROUP):
                    out[c] += np.float32(lanes[c] != value)


@kernel
def _add_capped(tile, x, weights, out):
    for b in range(len(tile)):
        for s in range(STEP):
            value, cap, lanes = x[STEP * b + s], weights[STEP * b + s], tile[b, s]
            for c in range(GROUP):
                apart = abs(lanes[c] - value)
                out[c] += apart if apart < cap else cap


@kernel
def _add_means(tile, x, weights, shared, out):
    for c in range(GROUP):
        shared[c] = np.float32(0)
    for b in range(len(tile)):
        for s in range(STEP):
            value, cap, lanes = x[STEP * b + s], weights[STEP * b + s], tile[b, s]
            if value != value:
                continue
            for c in range(GROUP):
                apart = abs(lanes[c] - value)
                capped = apart if apart < cap else cap
                is_there = apart == apart
                out[c] += capped if is_there else np.float32(0)
                shared[c] += cap if is_there else np.float32(0)
    for c in range(GROUP):
        out[c] = out[c] / shared[c] if shared[c] > 0 else np.float32(1)


@kernel
def _measure(kind, data, weights, tile, four, shared, out):
    """``out[s, c]``: how far row ``four[s]`` is from the one in lane ``c`` of a tile."""
    out[:] = np.float32(0)
    if kind == SQUARES:
        _add_squares(tile, data[four[0]], data[four[1]], data[four[2]], data[four[3]], out)
        return
    for s in range(4):
        if kind == CAPPED_SUMS:
            _add_capped(tile, data[four[s]], weights, out[s])
        elif kind == CAPPED_MEANS:
            _add_means(tile, data[four[s]], weights, shared, out[s])
        else:
            _add_others(kind, tile, data[four[s]], out[s])


# ---- lists -------------------------------------------------------------------------------------


@kernel
def _offer(entries, bits, row):
    """Put a row into a list, as new, unless it is there or the list is full of nearer ones."""
    entry = (np.int64(bits) << 32) | (np.int64(row) << 1)
    low, left = 0, len(entries)
    while left > 0:  # without a branch on what is found, which no processor foresees
        half = (left + 1) >> 1
        low += half * np.int64(entries[low + half - 1] < entry)
        left -= half
    if low == len(entries) or entries[low] >> 1 == entry >> 1:
        return 0
    for s in range(len(entries) - 1, low, -1):
        entries[s] = entries[s - 1]
    entries[low] = entry | 1
    return 1


@kernel
def _offer_to_group(kind, data, weights, own, candidates, count, tile, shared, measured, reach, lists):
    """Measure candidates against a group of rows, whose lists take those that are near enough."""
    for c in range(GROUP):
        row = own[min(c, len(own) - 1)]
        reach[c] = lists[row, -1] >> 32 if c < len(own) else -1
        for f in range(data.shape[1]):
            tile[f // STEP, f % STEP, c] = data[row, f]
    taken = 0
    bits = measured.view(np.int32)
    four = np.empty(4, np.int32)
    for start in range(0, count, 4):
        for s in range(4):
            four[s] = candidates[min(start + s, count - 1)]  # a list takes no row twice
        _measure(kind, data, weights, tile, four, shared, measured)
        for s in range(4):
            found = bits[s]
            near = 0
            for c in range(GROUP):
                near += found[c] <= reach[c]
            if near == 0:
                continue
            for c in range(len(own)):
                if found[c] <= reach[c] and own[c] != four[s]:
                    entries = lists[own[c]]
                    taken += _offer(entries, found[c], four[s])
                    reach[c] = entries[-1] >> 32
    return taken


@kernel
def both_ways(lists, width, most, near, starts):
    """The ``width`` first neighbours of each row, and at most ``most`` rows that it is such a neighbour of.

    Those of row i begin at ``starts[i, 0]`` in ``near``, the new ones at ``starts[i, 1]``, and end at
    ``starts[i, 2]``. All of them are old from now on. A counting sort, ``O(n width)``.
    """
    n = len(lists)
    counts = np.zeros((n, 3), np.int32)  # old, new, and those backwards
    for turn in range(2):
        if turn == 1:
            place = 0
            for i in range(n):
                starts[i] = place, place + counts[i, 0], place + counts[i, 0] + counts[i, 1]
                place = starts[i, 2]
            counts[:] = 0
        for s in range(width):  # the nearest first: they are those that a full row keeps
            for i in range(n):
                entry = lists[i, s]
                if entry == NOTHING:
                    continue
                j, new = (entry >> 1) & _ROW, entry & 1
                is_back = counts[j, 2] < most
                if turn == 1:
                    near[starts[i, new] + counts[i, new]] = j
                    if is_back:
                        near[starts[j, new] + counts[j, new]] = i
                    lists[i, s] = entry & ~1
                counts[i, new] += 1
                if is_back:
                    counts[j, new] += 1
                    counts[j, 2] += 1


# ---- rounds ------------------------------------------------------------------------------------


@kernel
def _meet(row, met, mark, found, count):
    """Append a row that this group has not met."""
    if met[row] != mark:
        met[row] = mark
        found[count] = row
        return count + 1
    return count


@kernel
def _two_steps(own, near, starts, mark, passed, met, firsts, found):
    """The rows two steps away from a group, over at least one new step, and those over one new step."""
    count = 0
    for i in own:
        for e in range(starts[i, 0], starts[i, 1]):
            count = _meet(near[e], passed, mark, firsts, count)
    n_old = count
    for i in own:
        for e in range(starts[i, 1], starts[i, 2]):
            count = _meet(near[e], passed, mark, firsts, count)
    n_found = 0
    for s in range(count):
        u = firsts[s]
        if s >= n_old:
            n_found = _meet(u, met, mark, found, n_found)
        for e in range(starts[u, 1] if s < n_old else starts[u, 0], starts[u, 2]):
            n_found = _meet(near[e], met, mark, found, n_found)
    return n_found


@parallel_kernel
def offer_round(kind, data, weights, order, span, near, starts, n_workers, lists):
    """Offer every row candidates that may be near it; returns how many entries are new.

    Columns have ``weights`` where the kind is a capped one; others do not read them.

    A group is ``GROUP`` rows side by side in ``order``. Its candidates are those in the same ``span`` rows,
    the leaf of a tree; where the span is 0, the neighbours of its neighbours as ``both_ways`` lists them.
    """
    n, m = data.shape
    taken = np.zeros(n_workers, np.int64)
    for worker in rows(n_workers):
        tile = np.empty((m // STEP, STEP, GROUP), np.float32)
        measured, reach = np.empty((4, GROUP), np.float32), np.empty(GROUP, np.int32)
        shared = np.empty(GROUP, np.float32)
        passed, met = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        firsts, found = np.empty(n, np.int32), np.empty(n, np.int32)
        for g in range(worker, (n + GROUP - 1) // GROUP, n_workers):
            own = order[g * GROUP : (g + 1) * GROUP]
            if span > 0:
                start = g * GROUP // span * span
                count = min(span, n - start)
                found[:count] = order[start : start + count]
            else:
                count = _two_steps(own, near, starts, g, passed, met, firsts, found)
            taken[worker] += _offer_to_group(
                kind, data, weights, own, found, count, tile, shared, measured, reach, lists
            )
    return taken.sum()


@parallel_kernel
def listed_rows(lists, names, out):
    """``out[names[i]]``: the names of the rows in list i, -1 for nothing."""
    for i in rows(len(lists)):
        for s in range(lists.shape[1]):
            entry = lists[i, s]
            out[names[i], s] = -1 if entry == NOTHING else names[(entry >> 1) & _ROW]


# ---- Trees of random hyperplanes, whose leaves hold rows that are probably near each other -------


@kernel
def _draw(seed, tree, node):
    """A number that depends on nothing but its counters."""
    value = mixed(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15))
    value = mixed((value ^ np.uint64(tree)) + np.uint64(0x9E3779B97F4A7C15))
    return mixed((value ^ np.uint64(node)) + np.uint64(0x9E3779B97F4A7C15))


BY_PRODUCTS, BY_CODES, BY_CAPPED = range(3)  # what tells on which side a row is: see _side


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
