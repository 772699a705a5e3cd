"""Gaussians: their factors, and the terms of divergences between pairs, from covariances of full or low rank.

With ``delta`` the difference of the means and ``S = (1 - w) S1 + w S2``, a pair has the plain terms
``tr(S2^-1 S1), tr(S1^-1 S2), delta' S2^-1 delta, delta' S1^-1 delta`` and the mixed terms
``log|S| - (1 - w) log|S1| - w log|S2|, delta' S^-1 delta``. Every divergence is a formula of these.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .elementary import cholesky, dot, solve_lower


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


# ---- Gaussians of low rank -----------------------------------------------------------------------
#
# The covariance is ``S_i = U_i diag(l_i) U_i' + e_i I``. A patch has s rows; C holds them centred, and
# ``U = C' A`` with ``A = V M^(-1/2)`` from the eigenvectors of ``C C'``. An edge then needs the s×s block
# ``C1 C2'`` and nothing of size m×m. The terms are the same. Columns beyond the rank have l = 0 and A = 0,
# rows beyond the size of a patch A = 0.


@kernel
def _projected(A, B):
    """``A' B``."""
    out = np.zeros((A.shape[1], B.shape[1]))
    for s in range(len(A)):
        for a in range(A.shape[1]):
            for b in range(B.shape[1]):
                out[a, b] += A[s, a] * B[s, b]
    return out


@kernel
def _times(T, A):
    """``T A``."""
    out = np.zeros((len(T), A.shape[1]))
    for a in range(len(T)):
        for s in range(len(A)):
            for b in range(A.shape[1]):
                out[a, b] += T[a, s] * A[s, b]
    return out


@kernel
def _projected_vector(A, w):
    out = np.zeros(A.shape[1])
    for s in range(len(A)):
        for a in range(A.shape[1]):
            out[a] += A[s, a] * w[s]
    return out


@kernel
def _plain(K, u1, u2, squared, l1, l2, e1, e2, m, out):
    """The plain terms from ``K = U1'U2``, ``u = U'delta`` and ``squared = delta'delta``."""
    f1, f2 = l1 / (e1 * (l1 + e1)), l2 / (e2 * (l2 + e2))
    forth, back = 0.0, 0.0
    for a in range(len(l1)):
        for b in range(len(l2)):
            square = K[a, b] * K[a, b]
            forth += l1[a] * f2[b] * square
            back += f1[a] * l2[b] * square
    out[0] = m * e1 / e2 + l1.sum() / e2 - e1 * f2.sum() - forth
    out[1] = m * e2 / e1 + l2.sum() / e1 - e2 * f1.sum() - back
    out[2] = squared / e2 - (f2 * u2 * u2).sum()
    out[3] = squared / e1 - (f1 * u1 * u1).sum()


@kernel
def _log_det(spectrum, e, m):
    return (m - len(spectrum)) * np.log(e) + np.log(spectrum + e).sum()


@kernel
def _mixed(K, u1, u2, squared, l1, l2, e1, e2, m, weight, out):
    """The mixed terms by the Cholesky factor of ``I + D^(1/2) [U1 U2]'[U1 U2] D^(1/2) / e``.

    Not by :func:`.dense.cholesky`: its entries are made as they are used, and products are taken away one by
    one, so that the last bits would be others.
    """
    r = len(l1)
    e = (1.0 - weight) * e1 + weight * e2
    root = np.sqrt(np.concatenate(((1.0 - weight) * l1, weight * l2)))
    z = root * np.concatenate((u1, u2))
    L = np.zeros((2 * r, 2 * r))
    log_det = m * np.log(e)
    for i in range(2 * r):
        for j in range(i + 1):
            inner = 1.0 if i == j else (K[j, i - r] if i >= r and j < r else 0.0)
            total = root[i] * root[j] * inner / e + (1.0 if i == j else 0.0)
            for t in range(j):
                total -= L[i, t] * L[j, t]
            L[i, j] = np.sqrt(total) if i == j else total / L[j, j]
        log_det += 2.0 * np.log(L[i, i])
        for t in range(i):
            z[i] -= L[i, t] * z[t]
        z[i] /= L[i, i]
    out[0] = log_det - (1.0 - weight) * _log_det(l1, e1, m) - weight * _log_det(l2, e2, m)
    out[1] = squared / e - (z * z).sum() / (e * e)


@kernel
def _edge(B, w1, w2, squared, A1, A2, l1, l2, e1, e2, m, weight, out):
    """Terms from ``B = C1 C2'``, ``w = C delta``: plain ones, or mixed ones where the weight is a number."""
    K = _times(_projected(A1, B), A2)
    u1, u2 = _projected_vector(A1, w1), _projected_vector(A2, w2)
    if weight == weight:
        _mixed(K, u1, u2, squared, l1, l2, e1, e2, m, weight, out)
    else:
        _plain(K, u1, u2, squared, l1, l2, e1, e2, m, out)


@kernel
def _centred(X, members, mean):
    C = np.empty((len(members), X.shape[1]))
    for s in range(len(members)):
        for f in range(X.shape[1]):
            C[s, f] = X[members[s], f] - mean[f]
    return C


@kernel
def _products(C1, C2):
    """``C1 C2'``."""
    B = np.empty((len(C1), len(C2)))
    for a in range(len(C1)):
        for b in range(len(C2)):
            total = 0.0
            for f in range(C1.shape[1]):
                total += C1[a, f] * C2[b, f]
            B[a, b] = total
    return B


@kernel
def _edge_from_rows(X, members1, members2, mean1, mean2, A1, A2, l1, l2, e1, e2, weight, out):
    C1, C2 = _centred(X, members1, mean1), _centred(X, members2, mean2)
    delta = (mean1 - mean2).reshape(1, -1)
    w1, w2 = _products(C1, delta)[:, 0], _products(C2, delta)[:, 0]
    squared = _products(delta, delta)[0, 0]
    _edge(_products(C1, C2), w1, w2, squared, A1, A2, l1, l2, e1, e2, X.shape[1], weight, out)


@parallel_kernel
def terms_from_rows(X, members, sizes, means, axes, spectrum, noise, heads, tails, weight, out):
    """Terms of every edge, with ``C1 C2'`` from the rows themselves: ``O(s^2 m + s^3)`` each."""
    for edge in rows(len(heads)):
        i, j = heads[edge], tails[edge]
        a, b = sizes[i], sizes[j]
        _edge_from_rows(X, members[i, :a], members[j, :b], means[i], means[j], axes[i, :a], axes[j, :b],
                        spectrum[i], spectrum[j], noise[i], noise[j], weight, out[edge])  # fmt: skip


@kernel
def _block(G, members1, members2, B, row_means, column_means):
    """The block of the Gram matrix between two patches, its means removed in both directions."""
    mean = 0.0
    column_means[:] = 0.0
    for a in range(len(members1)):
        total = 0.0
        for b in range(len(members2)):
            B[a, b] = G[members1[a], members2[b]]
            total += B[a, b]
            column_means[b] += B[a, b] / len(members1)
        row_means[a] = total / len(members2)
        mean += row_means[a] / len(members1)
    for a in range(len(members1)):
        for b in range(len(members2)):
            B[a, b] -= row_means[a] + column_means[b] - mean
    row_means -= mean
    column_means -= mean
    return mean


@kernel
def _patch_block(G, members, block, own):
    block[:] = 0.0
    own[:] = 0.0
    return _block(G, members, members, block, own[: len(members)], np.empty(len(members)))


@parallel_kernel
def patch_blocks(G, members, sizes, blocks, own, norms):
    """``C C'`` of every patch, ``own = C mu`` and ``norms = mu'mu``."""
    for i in rows(len(members)):
        norms[i] = _patch_block(G, members[i, : sizes[i]], blocks[i], own[i])


@kernel
def _edge_from_gram(G, members1, members2, own1, own2, norms, A1, A2, l1, l2, e1, e2, m, weight, out):
    B = np.empty((len(members1), len(members2)))
    w1, w2 = np.empty(len(members1)), np.empty(len(members2))
    between = _block(G, members1, members2, B, w1, w2)
    for a in range(len(w1)):
        w1[a] = own1[a] - w1[a]
    for b in range(len(w2)):
        w2[b] -= own2[b]
    squared = max(norms - 2.0 * between, 0.0)
    _edge(B, w1, w2, squared, A1, A2, l1, l2, e1, e2, m, weight, out)


@parallel_kernel
def terms_from_gram(G, members, sizes, own, norms, axes, spectrum, noise, m, heads, tails, weight, out):
    """Terms of every edge, with ``C1 C2'`` from the Gram matrix of the data: ``O(s^3)`` each."""
    for edge in rows(len(heads)):
        i, j = heads[edge], tails[edge]
        a, b = sizes[i], sizes[j]
        _edge_from_gram(G, members[i, :a], members[j, :b], own[i], own[j], norms[i] + norms[j],
                        axes[i, :a], axes[j, :b], spectrum[i], spectrum[j], noise[i], noise[j],
                        m, weight, out[edge])  # fmt: skip
