"""Plain twins of supervised neighbour maps: square arrays, loops, no compiled code."""

import numpy as np
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist


def naive_edges(D, k):
    """The union of the k nearest of every row, as a square array of flags; ties by number."""
    near = np.zeros(D.shape, bool)
    for i in range(len(D)):
        others = [j for j in np.argsort(D[i], kind="stable") if j != i]
        near[i, others[:k]] = True
    return near | near.T


def naive_geodesics(X, k):
    """Shortest ways over the graph of the k nearest, which must be in one part."""
    D = cdist(X, X)
    G = shortest_path(np.where(naive_edges(D, k), D, 0.0), method="FW", directed=False)
    assert np.isfinite(G).all()
    return G


def naive_sgt_distances(X, same, k, *, penalise="pairs"):
    """Geodesics, those between the ends of an edge of two classes longer by that edge."""
    D, n = cdist(X, X), len(X)
    edges = naive_edges(D, k)
    if penalise == "edges":
        longer = np.where(edges, D * (2.0 - same), 0.0)
        return shortest_path(longer, method="FW", directed=False)
    G = naive_geodesics(X, k)
    for i in range(n):
        for j in range(n):
            if edges[i, j]:
                G[i, j] += (1.0 - same[i, j]) * D[i, j]
    return G


def naive_patches(X, k, noise):
    """Mean and covariance of every row with its k nearest; ``noise`` times the mean variance on diagonals."""
    D, gaussians = cdist(X, X), []
    for i in range(len(X)):
        others = [j for j in np.argsort(D[i], kind="stable") if j != i]
        rows = X[[i, *others[:k]]]
        S = np.atleast_2d(np.cov(rows.T))
        gaussians.append((rows.mean(axis=0), S + noise * np.trace(S) / len(S) * np.eye(len(S))))
    return gaussians


def naive_kl(p, q):
    """Half the sum of both Kullback-Leibler divergences of two Gaussians."""
    (m, S), (n, T) = p, q
    S1, T1, gap = np.linalg.inv(S), np.linalg.inv(T), m - n
    return (np.trace(S1 @ T + T1 @ S) + gap @ (S1 + T1) @ gap) / 4 - len(m) / 2


def naive_set_squares(X, same, k, *, noise=3.0, factor=1.0):
    """Squared distances; on edges the least of them and KL within a class, their sum between two."""
    D2 = cdist(X, X) ** 2
    edges, patches = naive_edges(cdist(X, X), k), naive_patches(X, k, noise)
    out = D2.copy()
    for i in range(len(X)):
        for j in range(len(X)):
            if edges[i, j]:
                kl = factor * max(naive_kl(patches[i], patches[j]), 0.0)  # of equal ones, but for rounding
                out[i, j] = same[i, j] * min(D2[i, j], kl) + (1 - same[i, j]) * (D2[i, j] + kl)
    return out


def naive_lists(D, k):
    """The k least of every row but itself, by value, then by number."""
    lists = [sorted((D[i, j], j) for j in range(D.shape[1]) if j != i or len(D) != D.shape[1])[:k]
             for i in range(len(D))]  # fmt: skip
    return np.array([[j for _, j in row] for row in lists]), np.array([[d for d, _ in row] for row in lists])


def naive_intersection(W, same, far):
    """UMAP's fuzzy graph W, edges between classes less by exp(-far); rows scaled to 1, both sides joined."""
    V = W * (same + (1.0 - same) * np.exp(-far))
    V = V / V.max(axis=1, keepdims=True)
    return V + V.T - V * V.T


def naive_published_step(P, squares, Z, step, *, rate, momentum):
    """One step of the published descent: the gradient of t-SNE, its weights of other squares."""
    n = len(Z)
    weights = 1.0 / (1.0 + squares)
    np.fill_diagonal(weights, 0.0)
    Q = weights / weights.sum()
    gradient = np.zeros_like(Z)
    for i in range(n):
        for j in range(n):
            gap = Z[i] - Z[j]
            gradient[i] += 4 * (P[i, j] - Q[i, j]) * gap / (1 + gap @ gap)
    step = momentum * step - rate * gradient
    return Z + step, step
