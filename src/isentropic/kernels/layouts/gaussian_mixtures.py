"""SNE and multiscale SNE: the divergence of conditional affinities from means of Gaussians in a map.

Row i sees the others with ``q = mean_h q^h``, ``q^h`` proportional to ``exp(-a_h |z_i - z_j|^2 / 2)`` over
all j but i, for the precisions ``a_h``.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..elementary import exponentials, weighted_logs

_VANISHED = 1e-280  # weights below are told by their logarithms


@kernel
def _gaussians(Z, i, precisions, squares, weights, totals, sums, bits):
    """Fill in ``|z_i - z_j|^2``, less the least, ``q^h`` and their sum over h for all j; the normalisers.

    Gives the sum of all squares, by which NaN and infinity are known: then nothing is filled in.
    """
    n = len(Z)
    for j in range(n):
        squares[j], sums[j] = 0.0, 0.0
    for c in range(Z.shape[1]):
        for j in range(n):
            squares[j] += (Z[i, c] - Z[j, c]) ** 2
    largest, least = squares.sum(), np.inf
    if not np.isfinite(largest):
        return largest
    squares[i] = np.inf  # whose weight is nothing
    for j in range(n):
        least = min(least, squares[j])
    for j in range(n):
        squares[j] -= least
    for h in range(len(precisions)):
        totals[h] = exponentials(squares, -0.5 * precisions[h], weights[h], bits)
        scale = 1.0 / totals[h]
        weights[h, i] = 0.0
        for j in range(n):
            weights[h, j] *= scale
            sums[j] += weights[h, j]
    sums[i] = 1.0  # whose logarithm is nothing
    return largest


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


@kernel
def _told_by_logarithms(p, squares, precisions, totals, sums, means, force):
    """``sum p log q`` over pairs whose weights are too small for numbers, and their part in forces and means.

    Their sums are 1 thereafter: what weights of 1e-280 add to forces is nothing.
    """
    logs, shares, nothing = np.log(totals), np.empty(len(precisions)), np.zeros(len(precisions))
    cost = 0.0
    for j in range(len(p)):
        if sums[j] <= _VANISHED:
            sums[j] = 1.0
            if p[j] > 0.0:
                cost += p[j] * shares_of(squares[j], nothing, precisions, logs, shares)
                for h in range(len(precisions)):
                    means[h] += p[j] * shares[h]
                    force[j] += precisions[h] * p[j] * shares[h]
    return cost


@kernel
def _row_forces(p, precisions, weights, sums, means, ratios, force):
    """Add the forces of one row to ``force``."""
    for j in range(len(p)):
        ratios[j] = p[j] / sums[j]
    for h in range(len(precisions)):
        mean = means[h]
        for j in range(len(p)):
            mean += ratios[j] * weights[h, j]
        for j in range(len(p)):
            force[j] += precisions[h] * weights[h, j] * (ratios[j] - mean)


@parallel_kernel
def mixture_forces(P, Z, precisions, out):
    """Per row: ``-sum_j p_j|i log q_j|i``; into ``out`` (n, n) the force of j on i.

    ``T_ij = sum_h a_h q^h_j|i (p_j|i / q_j|i - m_h)``, q here the sum over h, and ``m_h`` the sum over l of
    ``q^h_l|i p_l|i / q_l|i``; the gradient is ``sum_j (T_ij + T_ji) (z_i - z_j)``. ``O(n^2 h)`` time.
    """
    n, n_scales = len(P), len(precisions)
    costs = np.empty(n)
    for i in rows(n):
        squares, weights, bits = np.empty(n), np.empty((n_scales, n)), np.empty(n, np.int64)
        totals, means, sums = np.empty(n_scales), np.zeros(n_scales), np.empty(n)
        largest = _gaussians(Z, i, precisions, squares, weights, totals, sums, bits)
        start = 0.0 if np.isfinite(largest) else largest
        for j in range(n):
            out[i, j] = start
        costs[i] = largest
        if np.isfinite(largest):
            cost = 0.0
            if sums.min() <= _VANISHED:
                cost = _told_by_logarithms(P[i], squares, precisions, totals, sums, means, out[i])
            cost += weighted_logs(P[i], sums, squares)
            _row_forces(P[i], precisions, weights, sums, means, squares, out[i])
            costs[i] = P[i].sum() * np.log(n_scales) - cost
    return costs
