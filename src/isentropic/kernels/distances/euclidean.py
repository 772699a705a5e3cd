"""Euclidean distances of pairs of rows, of rows to rows, and of rows to all from a table in tiles.

A tile holds a few rows column by column, so that the distances to all of them are added up at once: four
features at a time, so that tiled distances agree with the others to rounding only.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..elementary import dot

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


# ---- in tiles, by inner products ------------------------------------------------------------------


@kernel
def _add_products(tile, a, b, c, d, out):
    """``out[s, j]``: the inner products of four queries and row j of a tile, which is read once for them."""
    for s in range(4):
        for j in range(TILE):
            out[s, j] = 0.0
    of_a, of_b, of_c, of_d = out[0], out[1], out[2], out[3]
    whole = len(a) - len(a) % 4
    for f in range(0, whole, 4):
        a0, a1, a2, a3 = a[f], a[f + 1], a[f + 2], a[f + 3]
        b0, b1, b2, b3 = b[f], b[f + 1], b[f + 2], b[f + 3]
        c0, c1, c2, c3 = c[f], c[f + 1], c[f + 2], c[f + 3]
        d0, d1, d2, d3 = d[f], d[f + 1], d[f + 2], d[f + 3]
        for j in range(TILE):
            y0, y1, y2, y3 = tile[f, j], tile[f + 1, j], tile[f + 2, j], tile[f + 3, j]
            of_a[j] += (a0 * y0 + a1 * y1) + (a2 * y2 + a3 * y3)
            of_b[j] += (b0 * y0 + b1 * y1) + (b2 * y2 + b3 * y3)
            of_c[j] += (c0 * y0 + c1 * y1) + (c2 * y2 + c3 * y3)
            of_d[j] += (d0 * y0 + d1 * y1) + (d2 * y2 + d3 * y3)
    for f in range(whole, len(a)):
        for j in range(TILE):
            y = tile[f, j]
            of_a[j] += a[f] * y
            of_b[j] += b[f] * y
            of_c[j] += c[f] * y
            of_d[j] += d[f] * y


@parallel_kernel
def tiled_products(queries, tiles, out):
    """``out[s, j]``: the inner product of query s and row j, for few queries; a thread takes a tile."""
    n_queries, n = out.shape
    for t in rows(len(tiles)):
        products, last = np.empty((4, TILE)), n_queries - 1
        for s in range(0, n_queries, 4):
            _add_products(tiles[t], queries[s], queries[min(s + 1, last)], queries[min(s + 2, last)],
                          queries[min(s + 3, last)], products)  # fmt: skip
            for p in range(min(4, n_queries - s)):
                for j in range(min(TILE, n - t * TILE)):
                    out[s + p, t * TILE + j] = products[p, j]


@parallel_kernel
def distances_by_products(queries, tiles, squares, out):
    """``out[i, j] = sqrt(|x_i|^2 + |y_j|^2 - 2 x_i y_j)``; ``squares`` (tiles, TILE) are those of the y.

    Four queries at a time, the last one again where there are fewer, so that a row has equal bits in any
    batch. ``O(m)`` a pair, a third of that of differences.
    """
    n_queries, n = out.shape
    for g in rows((n_queries + GROUP - 1) // GROUP):
        products, own, last = np.empty((4, TILE)), np.empty(GROUP), n_queries - 1
        for s in range(GROUP):
            row = queries[min(g * GROUP + s, last)]
            own[s] = dot(row, row, 0, len(row))
        for t in range(len(tiles)):
            for s in range(0, GROUP, 4):
                i = g * GROUP + s
                if i > last:
                    break
                _add_products(tiles[t], queries[i], queries[min(i + 1, last)], queries[min(i + 2, last)],
                              queries[min(i + 3, last)], products)  # fmt: skip
                for p in range(min(4, n_queries - i)):
                    for j in range(min(TILE, n - t * TILE)):
                        square = own[s + p] + squares[t, j] - 2.0 * products[p, j]
                        out[i + p, t * TILE + j] = np.sqrt(max(square, 0.0))


# ---- Inner products of rows, and Gaussian exponents by them: a pair has the same bits in any batch ----


@parallel_kernel
def inner_products(X, Y, out):
    """``out[i, j]``: the inner product of row i of ``X`` and row j of ``Y``."""
    for i in rows(len(X)):
        for j in range(len(Y)):
            out[i, j] = dot(X[i], Y[j], 0, X.shape[1])


@parallel_kernel
def row_squares(X):
    """The squared length of every row."""
    out = np.empty(len(X))
    for i in rows(len(X)):
        out[i] = dot(X[i], X[i], 0, X.shape[1])
    return out


@parallel_kernel
def gaussian_exponents(X, Y, squares, gamma, out):
    """``out[i, j] = -gamma |x_i - y_j|^2`` by inner products, ``squares`` those of the rows of ``Y``."""
    for i in rows(len(X)):
        own = dot(X[i], X[i], 0, X.shape[1])
        for j in range(len(Y)):
            apart = own + squares[j] - 2.0 * dot(X[i], Y[j], 0, X.shape[1])
            out[i, j] = -gamma * max(apart, 0.0)


# --------------------------------------------------------------------------------------------------
# Sums over pairs of rows: moments of given and mapped distances, distances to classes, differences of
# ranks.
#
# A row of pairs is summed by one thread in one order; the sums of all rows are joined by the caller.


# Columns of the sums over a row of pairs with the given distance d and the mapped one z.
COUNT, MEAN_D, MEAN_Z, DD, ZZ, DZ, GAP, SQUARE_D, SQUARE_Z, REST_Z, REST, SAMMON, ZERO = range(13)


@kernel
def _add_means(given, mapped, out):
    d_sum, z_sum = 0.0, 0.0
    for j in range(len(given)):
        d_sum += given[j]
        z_sum += mapped[j]
    out[COUNT] = len(given)
    out[MEAN_D] = d_sum / len(given)
    out[MEAN_Z] = z_sum / len(given)


@kernel
def _add_centred(given, mapped, out):
    """Second moments about the means of the row, so that large distances cost no digits."""
    dd, zz, dz = 0.0, 0.0, 0.0
    for j in range(len(given)):
        a = given[j] - out[MEAN_D]
        b = mapped[j] - out[MEAN_Z]
        dd += a * a
        zz += b * b
        dz += a * b
    out[DD], out[ZZ], out[DZ] = dd, zz, dz


@kernel
def _add_gaps(given, mapped, scale, out):
    """``d - z`` and what is left after scaling the map: ``d - scale z``, near the best scale if that is."""
    gap, d_square, z_square, rest, rest_z = 0.0, 0.0, 0.0, 0.0, 0.0
    sammon, zero = 0.0, 0
    for j in range(len(given)):
        d, z = given[j], mapped[j]
        gap += (d - z) * (d - z)
        d_square += d * d
        z_square += z * z
        left = d - scale * z
        rest += left * left
        rest_z += left * z
        if d > 0:
            sammon += (d - z) * (d - z) / d
        else:
            zero += 1
    out[GAP], out[SQUARE_D], out[SQUARE_Z] = gap, d_square, z_square
    out[REST], out[REST_Z], out[SAMMON], out[ZERO] = rest, rest_z, sammon, zero


@parallel_kernel
def pair_sums(given, mapped, firsts, stop, scale, out):
    """Sums over the pairs of each row: its entries from column ``firsts[s]`` to before ``stop``."""
    for s in rows(len(given)):
        if firsts[s] < stop:
            d, z = given[s, firsts[s] : stop], mapped[s, firsts[s] : stop]
            _add_means(d, z, out[s])
            _add_centred(d, z, out[s])
            _add_gaps(d, z, scale, out[s])


@parallel_kernel
def store_upper(block, first_row, first_column, n, out):
    """Copy what lies right of the diagonal from rows of a matrix into ``out``, its upper triangle.

    The first column of ``block`` is column ``first_column`` of the matrix.
    """
    for s in rows(len(block)):
        i = first_row + s
        start = i * n - i * (i + 1) // 2
        row = block[s, i + 1 - first_column : n - first_column]
        for j in range(len(row)):
            out[start + j] = row[j]


@parallel_kernel
def class_sums(D, classes, out):
    """``out[s, c]``: the sum of the distances of row s to the rows of class c."""
    for s in rows(len(D)):
        for j in range(D.shape[1]):
            out[s, classes[j]] += D[s, j]


# ---- neighbours on both sides, nearest first ---------------------------------------------------


@parallel_kernel
def rank_differences(orders_X, orders_Z, out):
    """``out[s, j]``: rank of j around row s in the map, less that in the data; 0 for the row itself."""
    for s in rows(len(orders_X)):
        for p in range(orders_X.shape[1]):
            out[s, orders_X[s, p]] -= p
            out[s, orders_Z[s, p]] += p
