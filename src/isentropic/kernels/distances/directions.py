"""Cosine and correlation distances, from a copy of the rows laid out in tiles.

A row counts by its direction only. So each is multiplied by a power of two, which changes no bit of the
result and lets no product overflow; for the correlation its mean is taken off first. A tile holds a few
directions column by column, and products with all of them are added up at once, feature after feature:
equal pairs have equal bits, in both directions and in any batch.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel, parallel_kernel, rows

LANES = 64  # rows in a tile
_GROUP = 16  # rows that are measured together, so that a tile is read once for all of them


@kernel
def _write_direction(x, centred, out):
    """``x``, or ``m (x - mean)``, which of whole numbers is whole, times a power of two."""
    m = len(x)
    total = 0.0
    for f in range(m):
        total += x[f] - x[0]  # so that an offset of all features costs no digits
    largest = 0.0
    for f in range(m):
        out[f] = m * (x[f] - x[0]) - total if centred else x[f]
        largest = max(largest, abs(out[f]))
    _, exponent = math.frexp(largest)
    unit = math.ldexp(1.0, min(max(-exponent, -1000), 1000))
    for f in range(m):
        out[f] *= unit


@kernel
def _write_products(tile, row, out):
    """``out[c]``: the product of row c of a tile and another row."""
    out[:] = 0.0
    whole = len(tile) - len(tile) % 2
    for f in range(0, whole, 2):
        x, y = row[f], row[f + 1]
        for c in range(LANES):
            out[c] += tile[f, c] * x + tile[f + 1, c] * y
    if whole < len(tile):
        for c in range(LANES):
            out[c] += tile[whole, c] * row[whole]


@kernel
def _write_paired_products(tile, other, out):
    """``out[c]``: the product of the rows c of two tiles, added up in the same order."""
    out[:] = 0.0
    whole = len(tile) - len(tile) % 2
    for f in range(0, whole, 2):
        for c in range(LANES):
            out[c] += tile[f, c] * other[f, c] + tile[f + 1, c] * other[f + 1, c]
    if whole < len(tile):
        for c in range(LANES):
            out[c] += tile[whole, c] * other[whole, c]


@parallel_kernel
def direction_tiles(X, centred, tiles, norms):
    """``tiles[t, f, c]``: feature f of the direction of row ``LANES t + c``; ``norms[t, c]`` its square."""
    for t in rows(len(tiles)):
        start = t * LANES
        tiles[t] = 0.0
        for c in range(min(LANES, len(X) - start)):
            _write_direction(X[start + c], centred, tiles[t, :, c])
        _write_paired_products(tiles[t], tiles[t], norms[t])


@kernel
def cosine_distance(product, norm, other, none, one):
    """``1 - cos``; ``none`` where neither row has a direction, ``one`` where only one of them has.

    The cosine is the root of a quotient: equal cosines between rows of whole numbers have equal bits.
    """
    both = norm * other
    if both == 0.0:
        return none if norm == other else one
    cosine = np.sqrt(product * product / both)
    distance = 1.0 - (-cosine if product < 0.0 else cosine)
    return 0.0 if distance < 0.0 else distance


@parallel_kernel
def direction_rows(own_tiles, own_norms, tiles, norms, none, one, out):
    """``out[i, j]``: the distance of the directions of row i of the first tiles and row j of the second."""
    n_rows, n = out.shape
    m = tiles.shape[1]
    for g in rows((n_rows + _GROUP - 1) // _GROUP):
        first = g * _GROUP
        count = min(_GROUP, n_rows - first)
        own = np.empty((count, m))
        for s in range(count):
            own[s] = own_tiles[(first + s) // LANES, :, (first + s) % LANES]
        products = np.empty(LANES)
        for t in range(len(tiles)):
            start = t * LANES
            for s in range(count):
                norm = own_norms[(first + s) // LANES, (first + s) % LANES]
                _write_products(tiles[t], own[s], products)
                for c in range(min(LANES, n - start)):
                    out[first + s, start + c] = cosine_distance(products[c], norm, norms[t, c], none, one)


@parallel_kernel
def direction_pairs(tiles, norms, first, second, none, one, out):
    """``out[e]``: the distance of rows ``first[e]`` and ``second[e]``, in the bits of ``direction_rows``."""
    m = tiles.shape[1]
    for g in rows((len(first) + LANES - 1) // LANES):
        start = g * LANES
        count = min(LANES, len(first) - start)
        a, b = np.zeros((m, LANES)), np.zeros((m, LANES))
        for c in range(count):
            i, j = first[start + c], second[start + c]
            a[:, c] = tiles[i // LANES, :, i % LANES]
            b[:, c] = tiles[j // LANES, :, j % LANES]
        products = np.empty(LANES)
        _write_paired_products(a, b, products)
        for c in range(count):
            i, j = first[start + c], second[start + c]
            norm, other = norms[i // LANES, i % LANES], norms[j // LANES, j % LANES]
            out[start + c] = cosine_distance(products[c], norm, other, none, one)


# ---- Cosine distances of sparse rows: columns ascending, no zeros, each row times a power of two ----
#
# The products of a row with all others are added up column after column, over those in which both have a
# value: equal pairs have equal bits, in both directions, in any batch, and one by one.


@parallel_kernel
def sparse_units(indptr, data, out):
    """Each row times the power of two that brings its largest value near 1: no product overflows."""
    for i in rows(len(indptr) - 1):
        largest = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            largest = max(largest, abs(data[p]))
        _, exponent = math.frexp(largest)
        unit = math.ldexp(1.0, min(max(-exponent, -1000), 1000))
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = data[p] * unit


@kernel
def _product(indptr, indices, data, i, j):
    """Of two rows of one table, over the columns that both have."""
    p, q = indptr[i], indptr[j]
    total = 0.0
    while p < indptr[i + 1] and q < indptr[j + 1]:
        if indices[p] == indices[q]:
            total += data[p] * data[q]
            p += 1
            q += 1
        elif indices[p] < indices[q]:
            p += 1
        else:
            q += 1
    return total


@parallel_kernel
def sparse_norms(indptr, indices, data, out):
    """``out[i]``: the product of row i with itself, in the bits of any other product."""
    for i in rows(len(out)):
        out[i] = _product(indptr, indices, data, i, i)


@parallel_kernel
def sparse_rows(indptr, indices, data, own_norms, heads, members, values, norms, none, one, out):
    """``out[i, j]``: the distance of row i to row j of a table that is given by columns.

    Column f has ``values[p]`` in the rows ``members[p]``, p from ``heads[f]`` to ``heads[f + 1]``.
    """
    for i in rows(len(out)):
        products = np.zeros(out.shape[1])
        for p in range(indptr[i], indptr[i + 1]):
            x = data[p]
            for q in range(heads[indices[p]], heads[indices[p] + 1]):
                products[members[q]] += x * values[q]
        for j in range(out.shape[1]):
            out[i, j] = cosine_distance(products[j], own_norms[i], norms[j], none, one)


@parallel_kernel
def sparse_pairs(indptr, indices, data, norms, first, second, none, one, out):
    """``out[e]``: the distance of rows ``first[e]`` and ``second[e]``, in the bits of ``sparse_rows``."""
    for e in rows(len(first)):
        i, j = first[e], second[e]
        product = _product(indptr, indices, data, i, j)
        out[e] = cosine_distance(product, norms[i], norms[j], none, one)
