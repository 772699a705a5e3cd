"""Weighted stress over listed pairs: each row has a list of partners, with a distance wanted and a weight.

Lists are CSR and symmetric: a pair is in the list of both of its rows, so that a thread adds up its own rows.
"""

from __future__ import annotations

import numpy as np

from .._jit import parallel_kernel, rows


@parallel_kernel
def listed_stress(indptr, indices, wanted, weights, Z, gradient):
    """Per row, ``sum_j w_ij (t_ij - e_ij)^2`` with ``e = |z_i - z_j|``; and the gradient of half their sum.

    Rows in the same place push each other nowhere. ``O(pairs d)``.
    """
    n, d = Z.shape
    costs = np.empty(n)
    for i in rows(n):
        total = 0.0
        for c in range(d):
            gradient[i, c] = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            square = 0.0
            for c in range(d):
                gap = Z[i, c] - Z[j, c]
                square += gap * gap
            mapped = np.sqrt(square)
            short = wanted[t] - mapped
            total += weights[t] * short * short
            force = 2.0 * weights[t] * short / mapped if mapped > 0.0 else 0.0
            for c in range(d):
                gradient[i, c] -= force * (Z[i, c] - Z[j, c])
        costs[i] = total
    return costs
