"""Euclidean distances of pairs of rows, of rows to rows, and of rows to all from a table in tiles.

A tile holds a few rows column by column, so that the distances to all of them are added up at once: four
features at a time, so that tiled distances agree with the others to rounding only.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel, parallel_kernel, rows

TILE = 64
GROUP = 16  # rows that are measured together, so that a tile is read once for all of them
_TINY = 2.0**-900  # a sum of squares below it may have lost some of them


@kernel
def squared_distance(x, y):
    total = 0.0
    for f in range(len(x)):
        total += (x[f] - y[f]) ** 2
    return total


@kernel
def tiny_distance(x, y):
    """The distance of two rows, whose differences are scaled by a power of two before they are squared."""
    largest = 0.0
    for f in range(len(x)):
        largest = max(largest, abs(x[f] - y[f]))
    if largest == 0.0:
        return 0.0
    _, exponent = math.frexp(largest)
    total = 0.0
    for f in range(len(x)):
        total += math.ldexp(x[f] - y[f], -exponent) ** 2
    return math.ldexp(np.sqrt(total), exponent)


@kernel
def distance(x, y):
    square = squared_distance(x, y)
    return tiny_distance(x, y) if square < _TINY else np.sqrt(square)


@parallel_kernel
def euclidean_rows(queries, data, out):
    """``out[i, j]``: the distance of ``queries[i]`` and ``data[j]``; equal bits for equal pairs of rows."""
    for i in rows(len(queries)):
        for j in range(len(data)):
            out[i, j] = distance(queries[i], data[j])


@parallel_kernel
def euclidean_pairs(data, first, second, out):
    """``out[p]``: the distance of rows ``first[p]`` and ``second[p]``, in the bits of ``euclidean_rows``."""
    for p in rows(len(first)):
        out[p] = distance(data[first[p]], data[second[p]])


# ---- in tiles -------------------------------------------------------------------------------------


@kernel
def _add_squares(tile, query, out):
    """``out[c]``: the squared distance of the query to row c of a tile."""
    out[:] = 0.0
    whole = len(query) - len(query) % 4
    for f in range(0, whole, 4):
        x0, x1, x2, x3 = query[f], query[f + 1], query[f + 2], query[f + 3]
        for c in range(TILE):
            d0 = tile[f, c] - x0
            d1 = tile[f + 1, c] - x1
            d2 = tile[f + 2, c] - x2
            d3 = tile[f + 3, c] - x3
            out[c] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
    for f in range(whole, len(query)):
        for c in range(TILE):
            d = tile[f, c] - query[f]
            out[c] += d * d


@kernel
def measure_rows(data, own, tiles, squares, out):
    """``out[s, j]``: the distance of rows ``own[s]`` and j."""
    n = out.shape[1]
    for t in range(len(tiles)):
        start = t * TILE
        stop = min(TILE, n - start)
        for s in range(len(own)):
            _add_squares(tiles[t], data[own[s]], squares)
            least = 1.0
            for c in range(stop):
                out[s, start + c] = np.sqrt(squares[c])
                least = min(least, squares[c])
            if least < _TINY:
                for c in range(stop):
                    if squares[c] < _TINY:
                        out[s, start + c] = tiny_distance(tiles[t, :, c], data[own[s]])


@parallel_kernel
def tiled_distances(data, own, tiles, group, out):
    """``out[s, j]``: Euclidean distance of rows ``own[s]`` and j; ``tiles[t, f, c] = data[TILE t + c, f]``.

    Every pair is added up in the same order, so that equal pairs have equal bits, in both directions and
    in any batch. The last tile is filled up with anything. A thread takes ``group`` rows at a time.
    """
    for g in rows((len(own) + group - 1) // group):
        part = slice(g * group, min((g + 1) * group, len(own)))
        measure_rows(data, own[part], tiles, np.empty(TILE), out[part])
