"""Symmetric matrices with a zero diagonal, held as their upper triangle.

The order is scipy's: the pair i < j is at ``i n - i (i + 1) / 2 + j - i - 1``, so what lies right of
the diagonal in a row is contiguous. Half the memory of a square array, and half the traffic.

Sums over all pairs read them at ``starts[i] + j``, so that they take a square array as well
(:func:`square_starts`), of which they read the upper triangle.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows

CHUNKS = 32  # fixed, so that sums are added in the same order on any number of threads


@kernel
def _row_start(i, n):
    """Where row ``i`` starts, shifted so that column ``j`` is at ``_row_start(i, n) + j``."""
    return i * n - i * (i + 1) // 2 - i - 1


def condensed_starts(n):
    """Where each row starts in a condensed array: column ``j`` of row ``i`` is at ``starts[i] + j``."""
    i = np.arange(n)
    return i * n - i * (i + 1) // 2 - i - 1


def square_starts(n, stride):
    """Where each row starts in a square array whose rows are ``stride`` entries apart."""
    return np.arange(n) * stride


@kernel
def _chunk_bounds(n):
    """Rows cut into chunks of about equally many entries each."""
    bounds = np.empty(CHUNKS + 1, np.int64)
    for c in range(CHUNKS + 1):
        bounds[c] = n - np.int64(n * np.sqrt(1.0 - c / CHUNKS))
    return bounds


@parallel_kernel
def squared_times(distances, starts, x):
    """``(D ∘ D) x`` for the triangle of ``D``. ``O(n^2)`` time, one pass over the triangle."""
    n = len(x)
    bounds = _chunk_bounds(n)
    partial = np.zeros((CHUNKS, n))
    for c in rows(CHUNKS):
        mine = partial[c]
        for i in range(bounds[c], bounds[c + 1]):
            start = starts[i] + i + 1
            row = distances[start : start + n - i - 1]
            later = x[i + 1 :]
            below = mine[i + 1 :]
            xi = x[i]
            total = 0.0
            for j in range(len(row)):
                squared = row[j] * row[j]
                total += squared * later[j]
                below[j] += squared * xi
            mine[i] += total
    out = np.empty(n)
    for j in rows(n):
        total = 0.0
        for c in range(CHUNKS):
            total += partial[c, j]
        out[j] = total
    return out


@parallel_kernel
def fourth_power_sums(distances, starts, unit):
    """Per row ``i``: the sum over ``j > i`` of ``(d_ij / unit)^4``."""
    n = len(starts)
    sums = np.zeros(n)
    inverse = 1.0 / unit
    for i in rows(n):
        row = distances[starts[i] + i + 1 : starts[i] + n]
        total = 0.0
        for j in range(len(row)):
            scaled = row[j] * inverse
            total += (scaled * scaled) * (scaled * scaled)
        sums[i] = total
    return sums


@parallel_kernel
def comoments(distances, starts, coordinates):
    """Per row ``i``, of the pairs ``j > i``: count, means, and centred second moments.

    Columns: count, mean of d, mean of d', sum (d - mean)^2, sum (d' - mean)^2, and the mixed sum, with
    ``d`` the given distance and ``d'`` the one between the columns of ``coordinates``.
    """
    n_components, n = coordinates.shape
    moments = np.zeros((n, 6))
    for i in rows(n):
        count = n - i - 1
        if count == 0:
            continue
        given = distances[starts[i] + i + 1 : starts[i] + n]
        mapped = np.zeros(count)
        for c in range(n_components):
            mine, theirs = coordinates[c, i], coordinates[c, i + 1 :]
            for j in range(len(mapped)):
                mapped[j] += (mine - theirs[j]) ** 2
        given_sum = 0.0
        mapped_sum = 0.0
        for j in range(len(given)):
            mapped[j] = np.sqrt(mapped[j])
            given_sum += given[j]
            mapped_sum += mapped[j]
        given_mean = given_sum / count
        mapped_mean = mapped_sum / count
        given_square = 0.0
        mapped_square = 0.0
        mixed = 0.0
        for j in range(len(given)):
            a = given[j] - given_mean
            b = mapped[j] - mapped_mean
            given_square += a * a
            mapped_square += b * b
            mixed += a * b
        moments[i, 0] = count
        moments[i, 1] = given_mean
        moments[i, 2] = mapped_mean
        moments[i, 3] = given_square
        moments[i, 4] = mapped_square
        moments[i, 5] = mixed
    return moments


@kernel
def combined_comoments(moments):
    """Join the moments of all rows (Chan's formula): sums of squares of d, of d', and of d d'."""
    count = 0.0
    given_mean = 0.0
    mapped_mean = 0.0
    given_square = 0.0
    mapped_square = 0.0
    mixed = 0.0
    for i in range(len(moments)):
        more = moments[i, 0]
        if more == 0:
            continue
        a = moments[i, 1] - given_mean
        b = moments[i, 2] - mapped_mean
        weight = count * more / (count + more)
        given_square += moments[i, 3] + a * a * weight
        mapped_square += moments[i, 4] + b * b * weight
        mixed += moments[i, 5] + a * b * weight
        given_mean += a * more / (count + more)
        mapped_mean += b * more / (count + more)
        count += more
    return given_square, mapped_square, mixed


# ---- Products of a symmetric matrix, held as its upper triangle, with several vectors in one reading ----


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
