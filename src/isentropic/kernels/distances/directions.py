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
