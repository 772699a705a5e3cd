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
