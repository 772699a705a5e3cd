"""Inversions of a list, its pairs in descending order, counted in a wide Fenwick tree (32 counters a node).

The list holds ranks, each twice an average position from 0: ranks that differ do so by 2 or more. Counters
stay in the cache: a long list is cut into chunks, and its ranks into groups that share the leading bits.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .sorting import DIGIT, DIGIT_BITS, PATIENCE, bit_length, place_starts, sort_two_digits

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


# ---- Bucket sort, its first half: long lists of integers, counted and dealt into buckets by value ----


CELLS = 1 << 16  # of a histogram; a bucket is some cells side by side


@kernel
def _cell(key, low, shift):
    """Which cell a key falls into; the first and the last cell have no outer end."""
    return 0 if key <= low else min((key - low) >> shift, CELLS - 1)


@parallel_kernel
def cell_counts(keys, low, shift, bounds, out):
    """``out[c, v]``: how many entries of chunk ``c``, which begins at ``bounds[c]``, are in cell ``v``."""
    for c in rows(len(bounds) - 1):
        mine = out[c]
        for p in range(bounds[c], bounds[c + 1]):
            mine[_cell(keys[p], low, shift)] += 1


@parallel_kernel
def deal(keys, low, shift, bucket_of, bounds, places, order):
    """Write the numbers of the entries into ``order`` by bucket, ascending in each.

    ``places[c, b]`` is where those of chunk ``c`` in bucket ``b`` begin; it moves on as they come.
    """
    for c in rows(len(bounds) - 1):
        place = places[c]
        for p in range(bounds[c], bounds[c + 1]):
            b = bucket_of[_cell(keys[p], low, shift)]
            order[place[b]] = p
            place[b] += 1


# ---- Ranks of long lists by bucket and radix sort, and the ranks of one list in the order of another ----
#
# Made for the distances of all pairs of rows: lists of up to 2^31 numbers, each at least 0, so that their
# bits as integers (``keys``) are in the order of their values. Entries are dealt into buckets by value, and
# each bucket is sorted while it is in the cache; then ranks of 32 bits take the place of the values, so that
# 16 bytes an entry suffice. Buckets depend on the entries alone, not on the number of threads, and so does
# every sum.
#
# The rank of an entry is twice its average position among all, from 0: ``first + last`` of its ties.


_LARGE = 1 << 18  # a bucket above this is looked at before it is copied: it may hold a single value


# ---- sorting a bucket --------------------------------------------------------------------------


@kernel
def _constant(keys, entries):
    same = True
    for i in range(1, len(entries)):
        same &= keys[entries[i]] == keys[entries[0]]
    return same


@kernel
def _sort_packed(a, b, size, bits):
    """Sort numbers of ``bits`` bits: two passes over the leading digits, insertion; False if it gave up."""
    first, second = max(bits - 2 * DIGIT_BITS, 0), max(bits - DIGIT_BITS, 0)
    low, high = np.empty(DIGIT + 1, np.int64), np.empty(DIGIT + 1, np.int64)
    sort_two_digits(a[:size], b[:size], first, second, low, high)
    left = PATIENCE * size
    for i in range(1, size):
        number, at = a[i], i
        while at > 0 and a[at - 1] > number:
            a[at] = a[at - 1]
            at -= 1
        a[at] = number
        left -= i - at
        if left < 0:
            return False
    return True


@kernel
def _sort_all_digits(keys, places, size, span):
    """Sort the first rows by key, from the last digit on; the sorted rows are the first again."""
    a, b, pa, pb = keys[0], keys[1], places[0], places[1]
    for shift in range(0, bit_length(span), DIGIT_BITS):
        counts = np.zeros(DIGIT + 1, np.int64)
        for i in range(size):
            counts[(a[i] >> shift) & DIGIT] += 1
        place_starts(counts)
        for i in range(size):
            digit = (a[i] >> shift) & DIGIT
            b[counts[digit]] = a[i]
            pb[counts[digit]] = pa[i]
            counts[digit] += 1
        for i in range(size):
            a[i], pa[i] = b[i], pb[i]


@kernel
def _sort_bucket(keys, entries, values, places):
    """``values[0]`` and ``places[0]``: keys of the entries less the least, sorted, and where each was."""
    size = len(entries)
    least, most = keys[entries[0]], keys[entries[0]]
    for i in range(size):
        values[0, i] = keys[entries[i]]
        least, most = min(least, values[0, i]), max(most, values[0, i])
    own, span = bit_length(size - 1), most - least
    packed = values[1]
    if bit_length(span) + own < 63:
        for i in range(size):
            packed[i] = ((values[0, i] - least) << own) | i
        if _sort_packed(packed, values[0], size, bit_length(span) + own):
            for i in range(size):
                values[0, i] = packed[i] >> own
                places[0, i] = packed[i] & ((1 << own) - 1)
            return
    for i in range(size):
        values[0, i] = keys[entries[i]] - least
        places[0, i] = i
    _sort_all_digits(values, places, size, span)


@kernel
def _run_end(values, first, size):
    """One past the last of the equal values that begin at ``first``."""
    last = first + 1
    while last < size and values[last] == values[first]:
        last += 1
    return last


@kernel
def _pairs_of(length):
    return length * (length - 1) // 2


# ---- ranks -------------------------------------------------------------------------------------


@kernel
def _rank(keys, entries, start, n, values, places, ranks):
    """Ranks of a bucket that begins at ``start`` of ``n``: tied pairs, sum of squares of centred ranks."""
    size = len(entries)
    _sort_bucket(keys, entries, values, places)
    tied, square = 0, 0.0
    first = 0
    while first < size:
        last = _run_end(values[0], first, size)
        rank = 2 * start + first + last - 1
        for i in range(first, last):
            places[1, places[0, i]] = rank
        tied += _pairs_of(last - first)
        square += float(rank - n + 1) ** 2 * (last - first)
        first = last
    for i in range(size):  # memory is written in the order of the entries, not in that of the ranks
        ranks[entries[i]] = places[1, i]
    return tied, square


@kernel
def _rank_every(keys, order, bounds, worker, step, ranks, tied, squares):
    """Every ``step``-th bucket. Outside of the parallel loop, for the workspace grows as needed."""
    values, places = np.empty((2, 0), np.int64), np.empty((2, 0), np.uint32)
    n = len(order)
    for b in range(worker, len(bounds) - 1, step):
        entries = order[bounds[b] : bounds[b + 1]]
        size = len(entries)
        if size > _LARGE and _constant(keys, entries):
            rank = 2 * bounds[b] + size - 1
            for i in range(size):
                ranks[entries[i]] = rank
            tied[b], squares[b] = _pairs_of(size), float(rank - n + 1) ** 2 * size
        elif size > 0:
            if size > values.shape[1]:
                values, places = np.empty((2, size), np.int64), np.empty((2, size), np.uint32)
            tied[b], squares[b] = _rank(keys, entries, bounds[b], n, values, places, ranks)


@parallel_kernel
def rank_buckets(keys, order, bounds, n_workers, ranks, tied, squares):
    """``ranks[p]`` of every entry; per bucket the tied pairs and the sum of squares of centred ranks."""
    for worker in rows(n_workers):
        _rank_every(keys, order, bounds, np.int64(worker), n_workers, ranks, tied, squares)


# ---- two lists ---------------------------------------------------------------------------------


@kernel
def _tied_in_both(ranks):
    """Sort the other list's ranks of tied entries, and count the pairs that are tied there too."""
    ranks.sort()
    count = 0
    first = 0
    while first < len(ranks):
        last = _run_end(ranks, first, len(ranks))
        count += _pairs_of(last - first)
        first = last
    return count


@kernel
def _align(keys, entries, start, n, values, places, ranks):
    """Replace the entries of a bucket by their ``ranks`` in the other list, sorted by key, then by rank.

    Returns the pairs tied here, those tied in both lists, and the sums of ``r r`` and ``r s``, with r the
    centred ranks in this list and s those in the other.
    """
    size = len(entries)
    _sort_bucket(keys, entries, values, places)
    for i in range(size):  # memory is read in the order of the entries
        places[1, i] = ranks[entries[i]]
    for i in range(size):
        entries[i] = places[1, places[0, i]]
    tied, both, square, mixed = 0, 0, 0.0, 0.0
    first = 0
    while first < size:
        last = _run_end(values[0], first, size)
        own = float(2 * start + first + last - n)
        total = 0.0
        for i in range(first, last):
            total += float(entries[i]) - float(n - 1)
        square += own * own * (last - first)
        mixed += own * total
        if last - first > 1:
            tied += _pairs_of(last - first)
            both += _tied_in_both(entries[first:last])
        first = last
    return tied, both, square, mixed


@kernel
def _align_every(keys, ranks, order, bounds, worker, step, tied, squares):
    """Every ``step``-th bucket. Outside of the parallel loop, for the workspace grows as needed."""
    values, places = np.empty((2, 0), np.int64), np.empty((2, 0), np.uint32)
    n = len(order)
    for b in range(worker, len(bounds) - 1, step):
        entries = order[bounds[b] : bounds[b + 1]]
        size = len(entries)
        if size > _LARGE and _constant(keys, entries):
            own, total = float(2 * bounds[b] + size - n), 0.0
            for i in range(size):
                entries[i] = ranks[entries[i]]
                total += float(entries[i]) - float(n - 1)
            tied[b, 0], tied[b, 1] = _pairs_of(size), _tied_in_both(entries)
            squares[b, 0], squares[b, 1] = own * own * size, own * total
        elif size > 0:
            if size > values.shape[1]:
                values, places = np.empty((2, size), np.int64), np.empty((2, size), np.uint32)
            found = _align(keys, entries, bounds[b], n, values, places, ranks)
            tied[b, 0], tied[b, 1], squares[b, 0], squares[b, 1] = found


@parallel_kernel
def align_buckets(keys, ranks, order, bounds, n_workers, tied, squares):
    """Replace the entries in ``order`` by their ``ranks`` in the other list, sorted by key, then by rank.

    Per bucket: pairs tied here, and in both lists; sums of ``r r`` and ``r s`` of centred ranks.
    """
    for worker in rows(n_workers):
        _align_every(keys, ranks, order, bounds, np.int64(worker), n_workers, tied, squares)


@parallel_kernel
def align_rows(keys, other_keys, sequences, tied, squares):
    """The same for many short lists: ``sequences[s]`` are the other list's ranks in the order of keys.

    Per list: pairs tied here, there and in both; sums of ``r r``, ``s s`` and ``r s``.
    """
    n_rows, n = keys.shape
    for s in rows(n_rows):
        values, places = np.empty((2, n), np.int64), np.empty((2, n), np.uint32)
        entries, ranks = sequences[s], np.empty(n, np.uint32)
        for i in range(n):
            entries[i] = i
        tied[s, 1], squares[s, 1] = _rank(other_keys[s], entries, 0, n, values, places, ranks)
        found = _align(keys[s], entries, 0, n, values, places, ranks)
        tied[s, 0], tied[s, 2], squares[s, 0], squares[s, 2] = found
