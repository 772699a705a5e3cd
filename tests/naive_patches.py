"""Plain twins of the alignment matrices of local methods: one patch after the other, dense."""

import numpy as np
from scipy.spatial.distance import cdist

from naive import naive_neighbors


def patches_of(X, k):
    """Each row before its neighbours."""
    return np.column_stack([np.arange(len(X)), naive_neighbors(cdist(X, X), k)[0]])


def tangents(rows, d):
    return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[0][:, :d]


def summed(n, patches, block):
    M = np.zeros((n, n))
    for patch in patches:
        M[np.ix_(patch, patch)] += block(patch)
    return M


def naive_ltsa(X, patches, d):
    """The block is the projection on what is not affine in the tangent coordinates."""

    def block(patch):
        G = np.column_stack([np.full(len(patch), len(patch) ** -0.5), tangents(X[patch], d)])
        return np.eye(len(patch)) - G @ G.T

    return summed(len(X), patches, block)


def naive_hessian(X, patches, d):
    """Gram and Schmidt in order; only the columns of the products are kept."""

    def block(patch):
        U = tangents(X[patch], d)
        columns = [np.ones(len(patch)), *U.T, *(U[:, a] * U[:, b] for a in range(d) for b in range(a, d))]
        basis = []
        for column in columns:
            for _ in range(2):
                for earlier in basis:
                    column = column - (earlier @ column) * earlier
            basis.append(column / np.linalg.norm(column))
        H = np.array(basis[1 + d :])
        return H.T @ H

    return summed(len(X), patches, block)


def naive_weights(X, k, share):
    """Of each row's neighbours, as in LLE."""
    W = np.zeros((len(X), len(X)))
    for i, near in enumerate(naive_neighbors(cdist(X, X), k)[0]):
        gaps = X[i] - X[near]
        C = gaps @ gaps.T
        w = np.linalg.solve(C + share * np.trace(C) * np.eye(k), np.ones(k))
        W[i, near] = w / w.sum()
    return W


def bottom(M, d):
    """Coordinates of mean square 1 after the constant."""
    values, vectors = np.linalg.eigh(M)
    return values[1 : d + 1], vectors[:, 1 : d + 1] * np.sqrt(len(M))
