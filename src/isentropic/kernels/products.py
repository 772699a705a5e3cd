"""Inner products of rows: a pair has the same bits in any batch."""

from __future__ import annotations

from ._jit import parallel_kernel, rows


@parallel_kernel
def inner_products(X, Y, out):
    """``out[i, j]``: the inner product of row i of ``X`` and row j of ``Y``."""
    for i in rows(len(X)):
        for j in range(len(Y)):
            total = 0.0
            for f in range(X.shape[1]):
                total += X[i, f] * Y[j, f]
            out[i, j] = total
