"""Inversions of a list, its pairs in descending order, counted in a wide Fenwick tree (32 counters a node).

The list holds ranks, each twice an average position from 0: ranks that differ do so by 2 or more. Counters
stay in the cache: a long list is cut into chunks, and its ranks into groups that share the leading bits.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows

_FAN_BITS = 5
_FAN = 1 << _FAN_BITS  # counters in a row, updated by two to four vector instructions
_STEPS = np.tri(_FAN, _FAN, -1, dtype=np.uint16)  # row d: 1 for the digits below d


@kernel
def _counters(n_values, like):
    """Counters at zero for values below ``n_values``, and the row where each level starts, of two or more."""
    n_levels = 2
    while (n_values - 1) >> (_FAN_BITS * n_levels) > 0:
        n_levels += 1
    starts = np.zeros(n_levels, np.int64)
    n_rows = 0
    for level in range(n_levels):
        starts[level] = n_rows
        n_rows += ((n_values - 1) >> (_FAN_BITS * (level + 1))) + 1
    return np.zeros((n_rows, _FAN), like.dtype), starts


@kernel
def _count_digit(counters, row, digit):
    """How many digits above this one were counted in a row; counts this one too."""
    above = np.int64(counters[row, digit])
    for other in range(counters.shape[1]):  # a constant length would be unrolled instead of vectorised
        counters[row, other] += _STEPS[digit, other]
    return above


@kernel
def _count_greater(counters, starts, value):
    """How many greater values were counted before this one, which is counted too.

    A value is a number of digits of five bits. For each leading part of it there is a row of counters:
    of the values that share the part, how many have a next digit above 0, 1, 2, ...
    """
    mask = _FAN - 1
    greater = _count_digit(counters, value >> 5, value & mask)
    greater += _count_digit(counters, starts[1] + (value >> 10), (value >> 5) & mask)
    for level in range(2, len(starts)):
        digit = (value >> (_FAN_BITS * level)) & mask
        greater += _count_digit(counters, starts[level] + (value >> (_FAN_BITS * (level + 1))), digit)
    return greater


@parallel_kernel
def deal_ranks(sequence, shift, bounds, places, like, out, inversions):
    """Write the last bits of the ranks by group, the leading bits; count inversions of groups by chunk.

    ``places[c, g]`` is where those of chunk ``c`` in group ``g`` begin. ``like`` has a type that can count as
    many as a chunk has.
    """
    for c in rows(len(bounds) - 1):
        place = places[c]
        counters, starts = _counters(places.shape[1], like)
        count = 0
        for i in range(bounds[c], bounds[c + 1]):
            group = np.int64(sequence[i] >> shift)
            count += _count_greater(counters, starts, group)
            out[place[group]] = (sequence[i] - (group << shift)) >> 1
            place[group] += 1
        inversions[c] = count


@parallel_kernel
def group_inversions(values, bounds, n_values, n_workers, like, inversions):
    """Inversions in each group of values, all below ``n_values``."""
    for worker in rows(n_workers):
        counters, starts = _counters(n_values, like)
        for g in range(worker, len(bounds) - 1, n_workers):
            counters[:] = 0
            count = 0
            for i in range(bounds[g], bounds[g + 1]):
                count += _count_greater(counters, starts, np.int64(values[i]))
            inversions[g] = count


@parallel_kernel
def row_inversions(sequences, like, inversions):
    """Inversions of the ranks in each row."""
    n_rows, n = sequences.shape
    for s in rows(n_rows):
        counters, starts = _counters(n, like)
        count = 0
        for i in range(n):
            count += _count_greater(counters, starts, np.int64(sequences[s, i] >> 1))
        inversions[s] = count
