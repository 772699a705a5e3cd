"""Sums over pairs of rows: moments of given and mapped distances, distances to classes, differences of ranks.

A row of pairs is summed by one thread in one order; the sums of all rows are joined by the caller.
"""

from __future__ import annotations

from .._jit import kernel, parallel_kernel, rows

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
