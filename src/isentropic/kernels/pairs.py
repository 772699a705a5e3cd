"""Sums over pairs of rows: moments of given and mapped distances, distances to classes, terms of topology.

A row of pairs is summed by one thread in one order; the sums of all rows are joined by the caller.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows

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
def listed_sums(given, mapped, lists, scale, out):
    """Over the columns in ``lists[s]`` (-1: none): sums of (d - z)^2, d^2, z^2, r^2, r z; r = d - scale z."""
    for s in rows(len(given)):
        for p in range(lists.shape[1]):
            j = lists[s, p]
            if j >= 0:
                d, z = given[s, j], mapped[s, j]
                out[s, 0] += (d - z) * (d - z)
                out[s, 1] += d * d
                out[s, 2] += z * z
                out[s, 3] += (d - scale * z) * (d - scale * z)
                out[s, 4] += (d - scale * z) * z


@parallel_kernel
def euclidean_pairs(X, first, second, out):
    """``out[p]``: the distance of rows ``first[p]`` and ``second[p]``."""
    for p in rows(len(first)):
        x, y = X[first[p]], X[second[p]]
        total = 0.0
        for f in range(len(x)):
            total += (x[f] - y[f]) ** 2
        out[p] = np.sqrt(total)


@parallel_kernel
def class_sums(D, classes, out):
    """``out[s, c]``: the sum of the distances of row s to the rows of class c."""
    for s in rows(len(D)):
        for j in range(D.shape[1]):
            out[s, classes[j]] += D[s, j]


# ---- neighbours on both sides, nearest first ---------------------------------------------------


@kernel
def _log_product(d, z):
    """``log(d z)``; NaN if one of them is 0. The product of two tiny or huge distances is not formed."""
    product = d * z
    if 1e-300 < product < 1e300:
        return np.log(product)
    return np.log(d) + np.log(z) if d > 0 and z > 0 else np.nan


@parallel_kernel
def topological_terms(DX, DZ, orders_X, orders_Z, weights, terms, skipped):
    """``terms[s]``: weighted sum over ranks of ``log(Q1 Q2)``; ``skipped[s]``: those with a distance of 0."""
    for s in rows(len(DX)):
        logs = np.empty(DX.shape[1])
        for j in range(len(logs)):
            logs[j] = _log_product(DX[s, j], DZ[s, j])
        total = 0.0
        for p in range(orders_X.shape[1]):
            term = logs[orders_Z[s, p]] - logs[orders_X[s, p]]
            if np.isnan(term):
                skipped[s] += 1
            else:
                total += weights[p] * term
        terms[s] = total


@kernel
def _ranks(order, ranks):
    for p in range(len(order)):
        ranks[order[p]] = p


@parallel_kernel
def konig_scores(orders_X, orders_Z, k1, k2, scores):
    """``scores[s]``: points of the k1 nearest of row s: 3 for the same rank, 2 within k1, 1 within k2."""
    for s in rows(len(orders_X)):
        total = 0
        for p in range(k1):
            for q in range(k2):
                if orders_X[s, p] == orders_Z[s, q]:
                    total += 3 if p == q else (2 if q < k1 else 1)
        scores[s] = total


@parallel_kernel
def rank_gaps(orders_X, orders_Z, errors):
    """``errors[s]``: the sum over all other rows of how far apart their ranks on the two sides are."""
    n = orders_X.shape[1] + 1
    for s in rows(len(orders_X)):
        ranks = np.empty(n, np.int64)
        _ranks(orders_X[s], ranks)
        total = 0
        for q in range(n - 1):
            total += abs(ranks[orders_Z[s, q]] - q)
        errors[s] = total


@parallel_kernel
def rank_differences(orders_X, orders_Z, out):
    """``out[s, j]``: rank of j around row s in the map, less that in the data; 0 for the row itself."""
    for s in rows(len(orders_X)):
        for p in range(orders_X.shape[1]):
            out[s, orders_X[s, p]] -= p
            out[s, orders_Z[s, p]] += p
