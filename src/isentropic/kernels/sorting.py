"""Sorting inside kernels: by radix for whole rows, by insertion for short ones."""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows

# ---- Radix sort: the rows of a table, nearest first, by distance, then by row number -------------
#
# A row is ranked by sorting integers that hold a distance, as a fraction of the row's range, in front of
# the row number: two counting passes over the leading digits, then an insertion pass that looks at the
# distances themselves where the integers do not decide. A row is never among its own neighbours, whatever
# its duplicates.


_LEAST_SHIFT = 12  # a fraction of 50 bits: scaling it cannot round past the last one
DIGIT_BITS = 11  # of a digit: its counts stay in the fastest cache
DIGIT = 2**DIGIT_BITS - 1
_FIRST = 62 - DIGIT_BITS  # where the leading digit of a key starts, and the one after it
_SECOND = _FIRST - DIGIT_BITS
PATIENCE = 4  # moves per entry after which insertion gives up
_INFINITY = np.array(np.inf).view(np.int64).item()


@kernel
def bit_length(number):
    """How many bits a number of at least 0 takes."""
    bits = 0
    while number >> bits > 0:
        bits += 1
    return bits


@kernel
def _range(image):
    """Least and greatest bits: those of distances have the order of the distances."""
    least = _INFINITY
    most = np.int64(0)
    for j in range(len(image)):
        least = min(least, image[j])
        most = max(most, image[j])
    return least, most


@kernel
def _fill_part(d, start, least, scale, shift, keys):
    for j in range(len(d)):
        keys[j] = (np.int64((d[j] - least) * scale) << shift) | (start + j)


@kernel
def _fill_keys(d, own, shift, keys):
    """Fractions of the range, each with its row number in the last ``shift`` bits; False if amiss."""
    image = d.view(np.int64)
    least, most = _range(image[:own])
    also_least, also_most = _range(image[own + 1 :])
    least = min(least, also_least)
    most = max(most, also_most)
    if least < 0 or most >= _INFINITY:  # a negative, infinite or missing number
        return False
    ends = np.array([least, most]).view(np.float64)
    scale = (2.0 ** (62 - shift) - 1.0) / (ends[1] - ends[0]) if most > least else 0.0
    _fill_part(d[:own], 0, ends[0], scale, shift, keys[:own])
    _fill_part(d[own + 1 :], own + 1, ends[0], scale, shift, keys[own:])
    return True


@kernel
def place_starts(counts):
    """Turn how many there are of each digit into where the first of each goes."""
    before = 0
    for c in range(len(counts)):
        count = counts[c]
        counts[c] = before
        before += count


@kernel
def sort_two_digits(keys, spare, first, second, low, high):
    """Sort by the digits of the keys that start at bits ``first`` and ``second``, the latter ahead.

    ``low`` and ``high`` are for the counts of either digit.
    """
    low[:] = 0
    high[:] = 0
    for p in range(len(keys)):
        low[(keys[p] >> first) & DIGIT] += 1
        high[(keys[p] >> second) & DIGIT] += 1
    place_starts(low)
    place_starts(high)
    for p in range(len(keys)):
        key = keys[p]
        digit = (key >> first) & DIGIT
        spare[low[digit]] = key
        low[digit] += 1
    for p in range(len(keys)):
        key = spare[p]
        digit = (key >> second) & DIGIT
        keys[high[digit]] = key
        high[digit] += 1


@kernel
def _comes_after(one, two, d, shift):
    if one >> shift != two >> shift:
        return one > two
    mask = (1 << shift) - 1
    a = d[one & mask]
    b = d[two & mask]
    return a > b or (a == b and one > two)


@kernel
def _settle(keys, d, shift):
    """Insertion by fraction, distance, row. Returns 0, 1 if two fractions were equal, 2 if it gave up."""
    patience = PATIENCE * len(keys)
    close = 0
    for p in range(1, len(keys)):
        key = keys[p]
        if key >> shift > keys[p - 1] >> shift:
            continue
        close |= key >> shift == keys[p - 1] >> shift
        s = p
        while s > 0 and _comes_after(keys[s - 1], key, d, shift):
            keys[s] = keys[s - 1]
            s -= 1
        keys[s] = key
        patience -= p - s
        if patience < 0:
            return 2
    return close


@kernel
def _sort_all(keys, spare, d, own, counts):
    """Row numbers by distance, however unevenly spread: all digits of the bits, the lowest first."""
    image = d.view(np.int64)
    for p in range(len(keys)):
        keys[p] = p + (p >= own)
    for lowest in range(0, 63, DIGIT_BITS):
        counts[:] = 0
        for p in range(len(keys)):
            counts[(image[keys[p]] >> lowest) & DIGIT] += 1
        place_starts(counts)
        for p in range(len(keys)):
            digit = (image[keys[p]] >> lowest) & DIGIT
            spare[counts[digit]] = keys[p]
            counts[digit] += 1
        for p in range(len(keys)):
            keys[p] = spare[p]


@kernel
def order_row(d, own, keys, spare, low, high):
    """Row numbers without ``own``, nearest first, in ``keys``; 1 if some may be tied, -1 if amiss."""
    shift = max(bit_length(len(d) - 1), _LEAST_SHIFT)
    if not _fill_keys(d, own, shift, keys):
        return -1
    sort_two_digits(keys, spare, _SECOND, _FIRST, low, high)
    found = _settle(keys, d, shift)
    if found == 2:
        _sort_all(keys, spare, d, own, low)
        return 1
    mask = (1 << shift) - 1
    for p in range(len(keys)):
        keys[p] &= mask
    return found


@kernel
def sorting_space(n):
    """What :func:`order_row` works in: keys, spare keys, counts of either digit."""
    keys = np.empty(n - 1, np.int64)
    counts = np.empty((2, 2**DIGIT_BITS), np.uint32)  # unsigned: an index that cannot be negative is faster
    return keys, np.empty_like(keys), counts[0], counts[1]


@parallel_kernel
def row_orders(D, own, n_workers, orders):
    """``orders[s]``: the rows other than ``own[s]``, nearest first by ``D[s]``; how many rows were amiss."""
    wrong = np.zeros(n_workers, np.int64)
    for worker in rows(n_workers):
        keys, spare, low, high = sorting_space(D.shape[1])
        for s in range(worker, len(D), n_workers):
            wrong[worker] += order_row(D[s], own[s], keys, spare, low, high) < 0
            for p in range(len(keys)):
                orders[s, p] = keys[p]
    return wrong.sum()


# ---- Sorting inside kernels ----------------------------------------------------------------------
#
# numba's own ``np.sort`` and ``np.argsort`` are closures of one name that it tells apart by a number which
# each process counts anew: two kernels kept by two processes may carry the same number for different
# closures, and a process that loads both runs one of them for the other.


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


# ---- A graph whose rows are numbered anew --------------------------------------------------------


@parallel_kernel
def renumbered_edges(indptr, indices, weights, rows_before, names, out_ptr, out, out_weights):
    """A graph whose row s was row ``rows_before[s]``, and whose columns j become ``names[j]``.

    The entries of a row stay in their order, so that sums over them keep their bits.
    """
    for s in rows(len(rows_before)):
        first, before = out_ptr[s], indptr[rows_before[s]]
        for e in range(out_ptr[s + 1] - first):
            out[first + e] = names[indices[before + e]]
            out_weights[first + e] = weights[before + e]
