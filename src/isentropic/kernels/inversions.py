"""Ranks of long lists, and how many pairs of entries two lists put in opposite order.

Made for the distances of all pairs of rows: lists of fewer than 2^30 numbers, each at least 0, so that
their bits as integers (``keys``) are in the order of their values. Entries are dealt into buckets by
value and each bucket is sorted while it is in the cache; then ranks of 32 bits take the place of the
values, so that 16 bytes an entry suffice. Buckets and chunks depend on the entries alone, not on the
number of threads, and so does every sum.

The rank of an entry is twice its average position among all, from 0: ``first + last`` of its ties.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows

CELLS = 1 << 16  # of the histogram that the buckets are made of
TIED = np.uint32(1 << 31)  # marks an entry of a sorted list whose key equals the one before
_ENTRY = np.uint32((1 << 31) - 1)
_LARGE = 1 << 18  # a bucket above this is looked at before it is copied: it may hold a single value
_DIGIT_BITS = 11  # of a pass of the radix sort
_DIGIT = (1 << _DIGIT_BITS) - 1
FAN_BITS = 5
FAN = 1 << FAN_BITS  # counters in a row, updated by four vector instructions
_STEPS = np.tri(FAN, FAN, -1, dtype=np.int32)  # row d: 1 below the diagonal, for digits less than d


# ---- sorting -----------------------------------------------------------------------------------


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


@kernel
def _sorted_by_key(keys, numbers, size):
    """Sort the first rows of both by key, stably, with the second rows as workspace; returns the sorted ones."""
    a, b, na, nb = keys[0], keys[1], numbers[0], numbers[1]
    least = a[:size].min()
    span = a[:size].max() - least
    counts = np.empty(_DIGIT + 1, np.int64)
    shift = 0
    while span >> shift > 0:
        counts[:] = 0
        for i in range(size):
            counts[((a[i] - least) >> shift) & _DIGIT] += 1
        place = 0
        for digit in range(_DIGIT + 1):
            place += counts[digit]
            counts[digit] = place - counts[digit]
        for i in range(size):
            digit = ((a[i] - least) >> shift) & _DIGIT
            b[counts[digit]] = a[i]
            nb[counts[digit]] = na[i]
            counts[digit] += 1
        a, b, na, nb = b, a, nb, na
        shift += _DIGIT_BITS
    return a, na


@kernel
def _constant(keys, entries):
    for i in range(1, len(entries)):
        if keys[entries[i]] != keys[entries[0]]:
            return False
    return True


@parallel_kernel
def sort_buckets(keys, bounds, n_workers, order):
    """Sort ``order[bounds[b]:bounds[b + 1]]`` by key for every bucket, and mark the tied entries."""
    for worker in rows(n_workers):
        work_keys = np.empty((2, 1), np.int64)
        work = np.empty((2, 1), np.uint32)
        for b in range(worker, len(bounds) - 1, n_workers):
            entries = order[bounds[b] : bounds[b + 1]]
            size = len(entries)
            if size > _LARGE and _constant(keys, entries):
                entries[1:] |= TIED
                continue
            if size > work.shape[1]:
                work_keys = np.empty((2, size), np.int64)
                work = np.empty((2, size), np.uint32)
            for i in range(size):
                work_keys[0, i] = keys[entries[i]]
                work[0, i] = entries[i]
            values, numbers = _sorted_by_key(work_keys, work, size)
            for i in range(size):
                tied = i > 0 and values[i] == values[i - 1]
                entries[i] = numbers[i] | TIED if tied else numbers[i]


# ---- ranks -------------------------------------------------------------------------------------


@kernel
def _run_end(order, first, stop):
    """One past the last of the tied entries that begin at ``first``."""
    last = first + 1
    while last < stop and order[last] & TIED:
        last += 1
    return last


@kernel
def _tied_pairs(length):
    return length * (length - 1) // 2


@parallel_kernel
def rank_entries(order, bounds, ranks, tied):
    """``ranks[p]`` of every entry of a sorted list; ``tied[b]``: pairs of tied entries in each bucket."""
    for b in rows(len(bounds) - 1):
        first = bounds[b]
        while first < bounds[b + 1]:
            last = _run_end(order, first, bounds[b + 1])
            for i in range(first, last):
                ranks[order[i] & _ENTRY] = first + last - 1
            tied[b] += _tied_pairs(last - first)
            first = last


@kernel
def _tied_in_both(ranks):
    """Sort the ranks of a run of tied entries, and count the pairs that are tied there too."""
    ranks.sort()
    count = 0
    first = 0
    for i in range(1, len(ranks) + 1):
        if i == len(ranks) or ranks[i] != ranks[first]:
            count += _tied_pairs(i - first)
            first = i
    return count


@parallel_kernel
def align(order, bounds, ranks, tied, moments):
    """Replace the entries of one list, sorted, by their ``ranks`` in the other, ascending among the tied.

    Per bucket, ``tied``: pairs tied in this list, and in both; ``moments``: sums over the centred ranks
    r of this list, s of the other, of ``r s`` and ``r r``.
    """
    n = len(order)
    for b in rows(len(bounds) - 1):
        bucket = order[bounds[b] : bounds[b + 1]]
        for i in range(len(bucket)):  # alone in its loop, so that many loads are under way at once
            bucket[i] = ranks[bucket[i] & _ENTRY] | (bucket[i] & TIED)
        mixed, own_square = 0.0, 0.0
        first = 0
        while first < len(bucket):
            last = _run_end(bucket, first, len(bucket))
            own = float(2 * bounds[b] + first + last - n)
            total = 0.0
            for i in range(first, last):
                bucket[i] &= _ENTRY
                total += float(bucket[i]) - float(n - 1)
            mixed += own * total
            own_square += own * own * (last - first)
            if last - first > 1:
                tied[b, 0] += _tied_pairs(last - first)
                tied[b, 1] += _tied_in_both(bucket[first:last])
            first = last
        moments[b, 0] = mixed
        moments[b, 1] = own_square


# ---- inversions --------------------------------------------------------------------------------


@kernel
def _count_greater(counters, starts, value):
    """How many greater values were counted before this one, which is counted too.

    A value is a number of digits of ``FAN_BITS`` bits. For each leading part of it there is a row of
    counters: how many of the values that share the part have a digit next to it above 0, 1, 2, ...
    """
    greater = 0
    for level in range(len(starts)):
        digit = value & (FAN - 1)
        value >>= FAN_BITS
        row = counters[starts[level] + value]
        greater += row[digit]
        step = _STEPS[digit]
        for above in range(len(row)):  # a constant length would be unrolled instead of vectorised
            row[above] += step[above]
    return greater


@kernel
def _counter_rows(n_values):
    """Where the rows of each level of counters start, and how many there are in all."""
    n_levels = 1
    while (n_values - 1) >> (FAN_BITS * n_levels) > 0:
        n_levels += 1
    starts = np.zeros(n_levels, np.int64)
    n_rows = 0
    for level in range(n_levels):
        starts[level] = n_rows
        n_rows += ((n_values - 1) >> (FAN_BITS * (level + 1))) + 1
    return starts, n_rows


@parallel_kernel
def group_counts(sequence, shift, bounds, out):
    """``out[c, g]``: how many ranks of chunk ``c`` are in group ``g = rank >> shift``."""
    for c in rows(len(bounds) - 1):
        mine = out[c]
        for i in range(bounds[c], bounds[c + 1]):
            mine[sequence[i] >> shift] += 1


@parallel_kernel
def deal_ranks(sequence, shift, bounds, places, out, inversions):
    """Write what is left of the ranks, without their group, by group; count inversions of groups in a chunk."""
    n_groups = places.shape[1]
    for c in rows(len(bounds) - 1):
        place = places[c]
        starts, n_rows = _counter_rows(n_groups)
        counters = np.zeros((n_rows, FAN), np.int32)
        count = 0
        for i in range(bounds[c], bounds[c + 1]):
            group = np.int64(sequence[i] >> shift)
            count += _count_greater(counters, starts, group)
            out[place[group]] = (sequence[i] - (group << shift)) >> 1
            place[group] += 1
        inversions[c] = count


@parallel_kernel
def group_inversions(values, bounds, n_values, n_workers, inversions):
    """Inversions in each group of values, all below ``n_values``."""
    for worker in rows(n_workers):
        starts, n_rows = _counter_rows(n_values)
        counters = np.zeros((n_rows, FAN), np.int32)
        for g in range(worker, len(bounds) - 1, n_workers):
            counters[:] = 0
            count = 0
            for i in range(bounds[g], bounds[g + 1]):
                count += _count_greater(counters, starts, np.int64(values[i]))
            inversions[g] = count
