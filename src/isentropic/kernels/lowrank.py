"""Terms of divergences between Gaussians of low rank: ``S_i = U_i diag(l_i) U_i' + e_i I``.

A patch has s rows; C holds them centred, and ``U = C' A`` with ``A = V M^(-1/2)`` from the eigenvectors
of ``C C'``. An edge then needs the s×s block ``C1 C2'`` and nothing of size m×m. The terms are those of
:mod:`.gaussians`. Columns beyond the rank have l = 0 and A = 0, rows beyond the size of a patch A = 0.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows


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
def _log_det(l, e, m):
    return (m - len(l)) * np.log(e) + np.log(l + e).sum()


@kernel
def _mixed(K, u1, u2, squared, l1, l2, e1, e2, m, weight, out):
    """The mixed terms by the Cholesky factor of ``I + D^(1/2) [U1 U2]'[U1 U2] D^(1/2) / e``."""
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


@parallel_kernel
def terms_from_rows(X, members, sizes, means, A, l, e, heads, tails, weight, out):
    """Terms of every edge, with ``C1 C2'`` from the rows themselves: ``O(s^2 m + s^3)`` each."""
    m = X.shape[1]
    for edge in rows(len(heads)):
        i, j = heads[edge], tails[edge]
        C1, C2 = np.empty((sizes[i], m)), np.empty((sizes[j], m))
        for s in range(sizes[i]):
            C1[s] = X[members[i, s]] - means[i]
        for s in range(sizes[j]):
            C2[s] = X[members[j, s]] - means[j]
        delta = means[i] - means[j]
        B, w1, w2 = np.empty((sizes[i], sizes[j])), np.empty(sizes[i]), np.empty(sizes[j])
        for a in range(sizes[i]):
            w1[a] = (C1[a] * delta).sum()
            for b in range(sizes[j]):
                total = 0.0
                for f in range(m):
                    total += C1[a, f] * C2[b, f]
                B[a, b] = total
        for b in range(sizes[j]):
            w2[b] = (C2[b] * delta).sum()
        _edge(B, w1, w2, (delta * delta).sum(), A[i, : sizes[i]], A[j, : sizes[j]], l[i], l[j], e[i], e[j],
              m, weight, out[edge])  # fmt: skip


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


@parallel_kernel
def patch_blocks(G, members, sizes, blocks, own, norms):
    """``C C'`` of every patch, ``own = C mu`` and ``norms = mu'mu``."""
    for i in rows(len(members)):
        mine = members[i, : sizes[i]]
        blocks[i], own[i] = 0.0, 0.0
        norms[i] = _block(G, mine, mine, blocks[i], own[i, : sizes[i]], np.empty(sizes[i]))


@parallel_kernel
def terms_from_gram(G, members, sizes, own, norms, A, l, e, m, heads, tails, weight, out):
    """Terms of every edge, with ``C1 C2'`` from the Gram matrix of the data: ``O(s^3)`` each."""
    for edge in rows(len(heads)):
        i, j = heads[edge], tails[edge]
        B, w1, w2 = np.empty((sizes[i], sizes[j])), np.empty(sizes[i]), np.empty(sizes[j])
        between = _block(G, members[i, : sizes[i]], members[j, : sizes[j]], B, w1, w2)
        for a in range(sizes[i]):
            w1[a] = own[i, a] - w1[a]
        for b in range(sizes[j]):
            w2[b] -= own[j, b]
        squared = max(norms[i] - 2.0 * between + norms[j], 0.0)
        _edge(B, w1, w2, squared, A[i, : sizes[i]], A[j, : sizes[j]], l[i], l[j], e[i], e[j], m, weight,
              out[edge])  # fmt: skip
