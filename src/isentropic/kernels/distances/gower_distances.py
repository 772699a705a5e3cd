"""Gower's distance, for mixed tables with holes: how two rows differ on average where both have values.

Rows come with every column multiplied by its weight, NaN where a value is missing. A column adds at most its
weight, so that numbers from 0 to 1 and codes of levels, which are whole, need no telling apart: two levels
differ by 1 or more, which counts as 1. A tile holds a few rows column by column; sums go column by column
for every pair, whatever it is measured with, and weights are such that their sums are exact: equal pairs
have equal bits in both directions and in any batch.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from .euclidean import TILE

NOTHING_SHARED = 1.0  # distance of two rows that have no column in common: as far as can be


@kernel
def _add_complete(lanes, value, weight, totals):
    for c in range(TILE):
        apart = abs(lanes[c] - value)
        totals[c] += apart if apart < weight else weight


@kernel
def _add_holed(lanes, value, weight, totals, shared):
    """As above, of a column with holes; ``shared[c]`` adds up the weights of those that are there."""
    for c in range(TILE):
        apart = abs(lanes[c] - value)
        capped = apart if apart < weight else weight
        is_there = apart == apart  # NaN is not
        totals[c] += capped if is_there else 0.0
        shared[c] += weight if is_there else 0.0


@kernel
def _mean(total, weight):
    return total / weight if weight > 0.0 else NOTHING_SHARED


@kernel
def _measure(tile, query, weights, holed, totals, shared):
    """``totals[c]``: the distance of the query to row c of a tile."""
    every = 0.0  # the weight of complete columns
    for c in range(TILE):
        totals[c] = 0.0
        shared[c] = 0.0
    for f in range(len(query)):
        value, weight = query[f], weights[f]
        if value != value:
            continue
        if holed[f]:
            _add_holed(tile[f], value, weight, totals, shared)
        else:
            every += weight
            _add_complete(tile[f], value, weight, totals)
    for c in range(TILE):
        totals[c] = _mean(totals[c], every + shared[c])


@parallel_kernel
def gower_rows(queries, tiles, weights, holed, group, out):
    """``out[s, j]``: the distance of query s and row j; ``tiles[t, f, c]`` is column f of row ``TILE t + c``.

    ``holed[f]`` tells that some row of the tiles has no value in column f. The last tile is filled up with
    anything but NaN. A thread takes ``group`` queries at a time, for which a tile is read once.
    """
    n = out.shape[1]
    for g in rows((len(queries) + group - 1) // group):
        totals, shared = np.empty(TILE), np.empty(TILE)
        for t in range(len(tiles)):
            start = t * TILE
            stop = min(TILE, n - start)
            for s in range(g * group, min((g + 1) * group, len(queries))):
                _measure(tiles[t], queries[s], weights, holed, totals, shared)
                for c in range(stop):
                    out[s, start + c] = totals[c]


@parallel_kernel
def gower_pairs(data, first, second, weights, out):
    """``out[p]``: the distance of rows ``first[p]`` and ``second[p]``, in the bits of ``gower_rows``."""
    for g in rows((len(first) + TILE - 1) // TILE):
        start = g * TILE
        size = min(TILE, len(first) - start)
        totals, shared = np.zeros(TILE), np.zeros(TILE)
        for f in range(data.shape[1]):
            weight = weights[f]
            for c in range(size):  # many pairs at once: the sums of one by itself would be taken apart
                apart = abs(data[first[start + c], f] - data[second[start + c], f])
                capped = apart if apart < weight else weight
                is_there = apart == apart
                totals[c] += capped if is_there else 0.0
                shared[c] += weight if is_there else 0.0
        for c in range(size):
            out[start + c] = _mean(totals[c], shared[c])
