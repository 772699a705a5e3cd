"""Cosine distances of sparse rows: columns ascending, no zeros, each row times a power of two.

The products of a row with all others are added up column after column, over those in which both have a
value: equal pairs have equal bits, in both directions, in any batch, and one by one.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from .directions import cosine_distance


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
