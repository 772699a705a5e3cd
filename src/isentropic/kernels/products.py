"""Inner products of rows: a pair has the same bits in any batch."""

from __future__ import annotations

from ._jit import parallel_kernel, rows
from .dense import dot


@parallel_kernel
def inner_products(X, Y, out):
    """``out[i, j]``: the inner product of row i of ``X`` and row j of ``Y``."""
    for i in rows(len(X)):
        for j in range(len(Y)):
            out[i, j] = dot(X[i], Y[j], 0, X.shape[1])
