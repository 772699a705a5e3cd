"""Terms of divergences between Gaussians of low rank: ``S_i = U_i diag(l_i) U_i' + e_i I``.

A patch has s rows; C holds them centred, and ``U = C' A`` with ``A = V M^(-1/2)`` from the eigenvectors
of ``C C'``. An edge then needs the s×s block ``C1 C2'`` and nothing of size m×m. The terms are those of
:mod:`.gaussians`. Columns beyond the rank have l = 0 and A = 0, rows beyond the size of a patch A = 0.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows


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
