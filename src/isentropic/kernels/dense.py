"""Small dense matrices inside other kernels: dot products, Cholesky factors, triangular systems."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def dot(a, b, start, stop):
    """``sum_t a_t b_t`` over t from ``start`` to before ``stop``."""
    total = 0.0
    for t in range(start, stop):
        total += a[t] * b[t]
    return total


@kernel
def cholesky(S, shift, L):
    """Lower Cholesky factor of ``S + shift I`` by rows; returns its log-determinant, NaN where there is none.

    Only the lower triangle of S is read.
    """
    log_det = 0.0
    for i in range(len(S)):
        for j in range(i):
            L[i, j] = (S[i, j] - dot(L[i], L[j], 0, j)) / L[j, j]
        pivot = S[i, i] + shift - dot(L[i], L[i], 0, i)
        if not pivot > 0.0:
            return np.nan
        L[i, i] = np.sqrt(pivot)
        log_det += np.log(pivot)
    return log_det


@kernel
def solve_lower(L, z):
    """Solve ``L x = z`` in place."""
    for i in range(len(z)):
        z[i] = (z[i] - dot(L[i], z, 0, i)) / L[i, i]


@kernel
def solve_upper(L, z):
    """Solve ``L' x = z`` in place."""
    for i in range(len(z) - 1, -1, -1):
        total = z[i]
        for t in range(i + 1, len(z)):
            total -= L[t, i] * z[t]
        z[i] = total / L[i, i]
