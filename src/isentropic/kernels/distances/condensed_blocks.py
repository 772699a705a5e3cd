"""Products of a symmetric matrix, held as its upper triangle, with several vectors in one reading."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from .condensed import CHUNKS, _chunk_bounds

COLUMNS = 8  # vectors of a block
_TILE = 256  # columns of the triangle at a time: theirs of the vectors and of the products stay in L1
_ROWS = 4  # of the triangle at a time


@kernel
def _times_tile(distances, starts, Q, first, last, start, stop, squared, mine):
    """Add what rows ``first`` to ``last`` of the triangle contribute within columns ``start`` to ``stop``."""
    for i in range(first, min(last, stop - 1)):
        begin = max(i + 1, start)
        at = starts[i] + begin
        row = distances[at : at + stop - begin]
        for j in range(len(row)):
            squared[j] = row[j] * row[j]
        for b in range(COLUMNS):
            later = Q[b, begin:stop]
            below = mine[b, begin:stop]
            own = Q[b, i]
            total = 0.0
            for j in range(len(row)):
                total += squared[j] * later[j]
                below[j] += squared[j] * own
            mine[b, i] += total


@kernel
def _times_square(distances, starts, Q, first, start, stop, squared, mine):
    """As :func:`_times_tile` for :data:`_ROWS` rows left of the tile, whose products are then read once."""
    for r in range(_ROWS):
        at = starts[first + r]
        row, mine_squared = distances[at + start : at + stop], squared[r]
        for j in range(len(row)):
            mine_squared[j] = row[j] * row[j]
    s0, s1, s2, s3 = squared[0], squared[1], squared[2], squared[3]
    for b in range(COLUMNS):
        later = Q[b, start:stop]
        below = mine[b, start:stop]
        q0, q1, q2, q3 = Q[b, first], Q[b, first + 1], Q[b, first + 2], Q[b, first + 3]
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for j in range(stop - start):
            t0 += s0[j] * later[j]
            t1 += s1[j] * later[j]
            t2 += s2[j] * later[j]
            t3 += s3[j] * later[j]
            below[j] += (s0[j] * q0 + s1[j] * q1) + (s2[j] * q2 + s3[j] * q3)
        mine[b, first] += t0
        mine[b, first + 1] += t1
        mine[b, first + 2] += t2
        mine[b, first + 3] += t3


@parallel_kernel
def squared_times_block(distances, starts, Q):
    """``(D ∘ D) Q'`` for the triangle of ``D`` and the :data:`COLUMNS` rows of ``Q``, transposed as ``Q`` is.

    ``O(n^2)`` time, one pass over the triangle.
    """
    n = Q.shape[1]
    bounds = _chunk_bounds(n)
    partial = np.zeros((CHUNKS, COLUMNS, n))
    for c in rows(CHUNKS):
        squared = np.empty((_ROWS, _TILE))
        for start in range(bounds[c], n, _TILE):
            stop = min(start + _TILE, n)
            first, last = bounds[c], min(bounds[c + 1], start)
            for i in range(first, last - _ROWS + 1, _ROWS):
                _times_square(distances, starts, Q, i, start, stop, squared, partial[c])
                first = i + _ROWS
            _times_tile(distances, starts, Q, first, bounds[c + 1], start, stop, squared[0], partial[c])
    out = np.zeros((COLUMNS, n))
    for b in rows(COLUMNS):
        for c in range(CHUNKS):
            for j in range(n):
                out[b, j] += partial[c, b, j]
    return out
