"""Gaussians given by covariance matrices: their factors, and the terms of divergences between pairs.

With ``delta`` the difference of the means and ``S = (1 - w) S1 + w S2``, a pair has the plain terms
``tr(S2^-1 S1), tr(S1^-1 S2), delta' S2^-1 delta, delta' S1^-1 delta`` and the mixed terms
``log|S| - (1 - w) log|S1| - w log|S2|, delta' S^-1 delta``. Every divergence is a formula of these.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..dense import cholesky, dot, solve_lower


@kernel
def _inverted(L, R, P):
    """``P = (L L')^-1`` through the transposed inverse R of L, so that all sums run along rows."""
    m = len(L)
    for j in range(m):
        R[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, m):
            R[j, i] = -dot(L[i], R[j], j, i) / L[i, i]
    for a in range(m):
        for b in range(a + 1):
            P[a, b] = dot(R[a], R[b], a, m)
            P[b, a] = P[a, b]


@kernel
def _precision(S, P):
    L = np.empty(S.shape)
    log_det = cholesky(S, 0.0, L)
    if log_det == log_det:
        _inverted(L, np.empty(S.shape), P)
    return log_det


@parallel_kernel
def log_determinants(S, out):
    """``log|S|`` of every matrix; NaN where it is not positive definite."""
    for i in rows(len(S)):
        out[i] = cholesky(S[i], 0.0, np.empty(S[i].shape))


@parallel_kernel
def precisions(S, P, log_dets):
    """Inverse and ``log|S|`` of every matrix; the latter NaN where it is not positive definite."""
    for i in rows(len(S)):
        log_dets[i] = _precision(S[i], P[i])


@kernel
def _quadratic(P, delta):
    total = 0.0
    for a in range(len(delta)):
        total += delta[a] * dot(P[a], delta, 0, len(delta))
    return total


@kernel
def _trace_of_product(P, S):
    """``tr(P S)`` of symmetric matrices."""
    total = 0.0
    for a in range(len(P)):
        total += dot(P[a], S[a], 0, len(P))
    return total


@kernel
def _plain_pair(mean1, mean2, S1, S2, P1, P2, out):
    delta = mean1 - mean2
    out[0] = _trace_of_product(P2, S1)
    out[1] = _trace_of_product(P1, S2)
    out[2] = _quadratic(P2, delta)
    out[3] = _quadratic(P1, delta)


@parallel_kernel
def plain_terms(means, S, P, heads, tails, out):
    """The four plain terms of every pair, ``O(m^2)`` each."""
    for e in rows(len(heads)):
        i, j = heads[e], tails[e]
        _plain_pair(means[i], means[j], S[i], S[j], P[i], P[j], out[e])


@kernel
def _mixed_pair(mean1, mean2, S1, S2, log_det1, log_det2, weight, out):
    L = np.empty(S1.shape)
    z = mean1 - mean2
    log_det = cholesky((1.0 - weight) * S1 + weight * S2, 0.0, L)
    out[:] = np.nan
    if log_det == log_det:
        solve_lower(L, z)
        out[0] = log_det - (1.0 - weight) * log_det1 - weight * log_det2
        out[1] = dot(z, z, 0, len(z))


@parallel_kernel
def mixed_terms(means, S, log_dets, heads, tails, weight, out):
    """The two mixed terms of every pair, ``O(m^3)`` each; NaN where S is not positive definite."""
    for e in rows(len(heads)):
        i, j = heads[e], tails[e]
        _mixed_pair(means[i], means[j], S[i], S[j], log_dets[i], log_dets[j], weight, out[e])
