"""Plain twins of walks over a neighbour graph: dense, entry by entry."""

import numpy as np

from isentropic import neighbor_graph


def naive_walk(X, rule, sigma, alpha):
    """P, its stationary shares, and the sums of the weights."""
    graph = neighbor_graph(X, rule)
    sigma = np.mean(graph.weights**2) if sigma == "auto" else sigma
    W = np.eye(len(X))
    for i in range(len(X)):
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            W[i, graph.indices[e]] = np.exp(-(graph.weights[e] ** 2) / sigma)
    q = W.sum(axis=1)
    W /= np.outer(q, q) ** alpha
    return W / W.sum(axis=1)[:, None], W.sum(axis=1) / W.sum(), q


def naive_diffusion(P, phi, t, first=None):
    """Distances of all rows to all; or of new ones, whose first steps are the rows of ``first``."""
    spread = np.linalg.matrix_power(P, t)
    starts = spread if first is None else first @ np.linalg.matrix_power(P, t - 1)
    return np.array([[np.sqrt((((a - b) ** 2) / phi).sum()) for b in spread] for a in starts])
