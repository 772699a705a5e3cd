"""SNE and multiscale SNE: the divergence of conditional affinities from means of Gaussians in a map.

Row i sees the others with ``q = mean_h q^h``, ``q^h`` proportional to ``exp(-a_h |z_i - z_j|^2 / 2)`` over
all j but i, for the precisions ``a_h``.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows

_VANISHED = 1e-280  # weights below are told by their logarithms


@kernel
def _gaussians(Z, i, precisions, squares, weights, logs):
    """Fill in ``|z_i - z_j|^2``, less the least, and ``q^h`` for all j; the logarithms of the normalisers."""
    n = len(Z)
    least = np.inf
    for j in range(n):
        squares[j] = 0.0
        for c in range(Z.shape[1]):
            squares[j] += (Z[i, c] - Z[j, c]) ** 2
        if j != i:
            least = min(least, squares[j])
    for h in range(len(precisions)):
        total = 0.0
        for j in range(n):
            weights[h, j] = np.exp(-0.5 * precisions[h] * (squares[j] - least)) if j != i else 0.0
            total += weights[h, j]
        logs[h] = np.log(total)
        for j in range(n):
            weights[h, j] /= total
    for j in range(n):
        squares[j] -= least


@kernel
def shares_of(square, weights, precisions, logs, out):
    """The share of each Gaussian in their sum at one place, into ``out``; the logarithm of the sum.

    ``weights`` are the values there, 0 where they are too small for numbers: then by their logarithms.
    """
    total = 0.0
    for h in range(len(precisions)):
        total += weights[h]
    if total > _VANISHED:
        for h in range(len(precisions)):
            out[h] = weights[h] / total
        return np.log(total)
    largest = -np.inf
    for h in range(len(precisions)):
        out[h] = -0.5 * precisions[h] * square - logs[h]
        largest = max(largest, out[h])
    total = 0.0
    for h in range(len(precisions)):
        out[h] = np.exp(out[h] - largest)
        total += out[h]
    for h in range(len(precisions)):
        out[h] /= total
    return largest + np.log(total)


@parallel_kernel
def mixture_forces(P, Z, precisions, out):
    """Per row: ``-sum_j p_j|i log q_j|i``; into ``out`` (n, n) the force of j on i.

    ``T_ij = sum_h a_h (p_j|i s_h - q^h_j|i sum_l p_l|i s_h)`` with ``s_h`` the share of the h-th Gaussian in
    q; the gradient is ``sum_j (T_ij + T_ji) (z_i - z_j)``. ``O(n^2 h)`` time.
    """
    n, n_scales = len(P), len(precisions)
    costs = np.empty(n)
    for i in rows(n):
        squares, weights, logs = np.empty(n), np.empty((n_scales, n)), np.empty(n_scales)
        shares, sums, here = np.empty(n_scales), np.zeros(n_scales), np.empty(n_scales)
        _gaussians(Z, i, precisions, squares, weights, logs)
        cost = 0.0
        for j in range(n):
            out[i, j] = 0.0
            if P[i, j] > 0.0:
                for h in range(n_scales):
                    here[h] = weights[h, j]
                cost -= P[i, j] * (shares_of(squares[j], here, precisions, logs, shares) - np.log(n_scales))
                for h in range(n_scales):
                    sums[h] += P[i, j] * shares[h]
                    out[i, j] += precisions[h] * P[i, j] * shares[h]
        for h in range(n_scales):
            factor = precisions[h] * sums[h]
            for j in range(n):
                out[i, j] -= factor * weights[h, j]
        costs[i] = cost
    return costs
