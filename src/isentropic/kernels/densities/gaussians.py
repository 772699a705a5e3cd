"""Gaussians given by covariance matrices: their factors, and the terms of divergences between pairs.

With ``delta`` the difference of the means and ``S = (1 - w) S1 + w S2``, a pair has the plain terms
``tr(S2^-1 S1), tr(S1^-1 S2), delta' S2^-1 delta, delta' S1^-1 delta`` and the mixed terms
``log|S| - (1 - w) log|S1| - w log|S2|, delta' S^-1 delta``. Every divergence is a formula of these.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..elementary import cholesky, dot, solve_lower


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


# ---- Mixed terms of Gaussians that nearly coincide, at weight 1/2, without cancellation ----------
#
# With ``S = (S1 + S2)/2 = L L'`` and ``E = L^-1 (S1 - S2)/2 L^-T`` the excess ``log|S| - 1/2 log|S1| - 1/2
# log|S2|`` is ``-1/2 log|I - E^2|``. The pivots of that matrix are ``1 - x`` with x a sum of squares:
# ``log1p(-x)`` keeps the digits that a difference of log-determinants loses.


_ROUNDING = 64 * 2.0**-52  # of the longest row: what is left of zero


@kernel
def _solved(L, D):
    """``L^-1 D L^-T`` of a symmetric D."""
    m = len(L)
    Y = D.copy()
    for a in range(m):
        for t in range(a):
            for b in range(m):
                Y[a, b] -= L[a, t] * Y[t, b]
        for b in range(m):
            Y[a, b] /= L[a, a]
    for a in range(m):
        for b in range(a + 1):
            Y[a, b] = (Y[a, b] - dot(L[b], Y[a], 0, b)) / L[b, b]
    for a in range(m):
        for b in range(a):
            Y[b, a] = Y[a, b]
    return Y


@kernel
def _half_log_excess(E):
    """``-1/2 log|I - E^2|``; NaN where an eigenvalue of E reaches 1."""
    m = len(E)
    C = np.empty((m, m))
    total = 0.0
    for i in range(m):
        for j in range(i):
            C[i, j] = (-dot(E[i], E[j], 0, m) - dot(C[i], C[j], 0, j)) / C[j, j]
        x = dot(E[i], E[i], 0, m) + dot(C[i], C[i], 0, i)
        if not x < 1.0:
            return np.nan
        C[i, i] = np.sqrt(1.0 - x)
        total -= np.log1p(-x)
    return 0.5 * total


@kernel
def _near(S1, S2, delta, out):
    """The two mixed terms; NaN where the mean covariance is not positive definite."""
    m = len(S1)
    L = np.empty((m, m))
    z = delta.copy()
    out[:] = np.nan
    if np.isnan(cholesky(0.5 * (S1 + S2), 0.0, L)):
        return
    solve_lower(L, z)
    out[0] = _half_log_excess(_solved(L, 0.5 * (S1 - S2)))
    out[1] = dot(z, z, 0, m)


@parallel_kernel
def near_terms(means, S, heads, tails, out):
    """The mixed terms of every pair of full covariances, ``O(m^3)`` each."""
    for e in rows(len(heads)):
        i, j = heads[e], tails[e]
        _near(S[i], S[j], means[i] - means[j], out[e])


@kernel
def _coordinates(T):
    """The rows of T in an orthonormal basis of their span: Gram-Schmidt, the longest remainder first.

    From the rows themselves: a factor of ``T T'`` would lose half of the digits of the short directions.
    """
    n, m = T.shape
    left, Q, R = T.copy(), np.empty((n, m)), np.zeros((n, n))
    squares = np.empty(n)
    least = 0.0
    for column in range(n):
        for t in range(n):
            squares[t] = dot(left[t], left[t], 0, m)
        at = np.argmax(squares)
        if column == 0:
            least = squares[at] * _ROUNDING**2
        if not squares[at] > least:
            return R[:, :column]
        q = left[at] / np.sqrt(squares[at])
        for p in range(column):  # once more: of a short remainder, rounding is no longer a small part
            q -= dot(q, Q[p], 0, m) * Q[p]
        q /= np.sqrt(dot(q, q, 0, m))
        Q[column] = q
        for t in range(n):
            R[t, column] = dot(left[t], q, 0, m)
            left[t] -= R[t, column] * q
    return R


@kernel
def _covariance(R, start, stop, scale, noise):
    q = R.shape[1]
    S = np.zeros((q, q))
    for t in range(start, stop):
        for a in range(q):
            for b in range(q):
                S[a, b] += scale * R[t, a] * R[t, b]
    for a in range(q):
        S[a, a] += noise
    return S


@kernel
def _near_from_rows(X, members1, members2, mean1, mean2, scale1, scale2, e1, e2, out):
    """Both Gaussians in coordinates of the span of their rows; outside they are ``e1 I`` and ``e2 I``."""
    first, both, m = len(members1), len(members1) + len(members2), X.shape[1]
    T = np.empty((both + 1, m))
    for s in range(first):
        T[s] = X[members1[s]] - mean1
    for s in range(len(members2)):
        T[first + s] = X[members2[s]] - mean2
    T[both] = mean1 - mean2
    R = T if m <= both + 1 else _coordinates(T)
    S1, S2 = _covariance(R, 0, first, scale1, e1), _covariance(R, first, both, scale2, e2)
    _near(S1, S2, R[both].copy(), out)
    out[0] -= 0.5 * (m - R.shape[1]) * np.log1p(-(((e1 - e2) / (e1 + e2)) ** 2))


@parallel_kernel
def near_terms_from_rows(X, members, sizes, means, scales, noise, heads, tails, out):
    """The mixed terms of every pair of patches: ``scale C'C + noise I``, ``O(s^2 m + s^3)`` each."""
    for e in rows(len(heads)):
        i, j = heads[e], tails[e]
        _near_from_rows(X, members[i, : sizes[i]], members[j, : sizes[j]], means[i], means[j], scales[i],
                        scales[j], noise[i], noise[j], out[e])  # fmt: skip
