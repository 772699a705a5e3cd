"""Bucket sort, its first half: long lists of integers, counted and dealt into buckets by value."""

from __future__ import annotations

from .._jit import kernel, parallel_kernel, rows

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
