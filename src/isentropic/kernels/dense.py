"""Small dense matrices, factorised and solved inside other kernels."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def cholesky(S, shift, L):
    """Cholesky factor L of ``S + shift I`` by its lower triangle; False where not positive definite."""
    for a in range(len(S)):
        for b in range(a + 1):
            total = S[a, b]
            if a == b:
                total += shift
            for t in range(b):
                total -= L[a, t] * L[b, t]
            if a == b:
                if not total > 0.0:
                    return False
                L[a, a] = np.sqrt(total)
            else:
                L[a, b] = total / L[b, b]
    return True


@kernel
def solve_lower(L, z):
    """Solve ``L x = z`` in place."""
    for a in range(len(z)):
        total = z[a]
        for t in range(a):
            total -= L[a, t] * z[t]
        z[a] = total / L[a, a]


@kernel
def solve_upper(L, z):
    """Solve ``L' x = z`` in place."""
    for a in range(len(z) - 1, -1, -1):
        total = z[a]
        for t in range(a + 1, len(z)):
            total -= L[t, a] * z[t]
        z[a] = total / L[a, a]
