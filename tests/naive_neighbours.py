"""Plain twins of neighbour embeddings: no compiled code, no cleverness."""

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist


def naive_affinities(distances, perplexity):
    """Conditional affinities of one row of distances, by a root finder."""
    squares = np.asarray(distances, float) ** 2
    squares = squares - squares.min()

    def excess(log_precision):
        weights = np.exp(-np.exp(log_precision) * squares / squares.mean())
        p = weights / weights.sum()
        return -(p[p > 0] * np.log(p[p > 0])).sum() - np.log(perplexity)

    weights = np.exp(-np.exp(brentq(excess, -40, 40, xtol=1e-14)) * squares / squares.mean())
    return weights / weights.sum()


def naive_joint(X, perplexity, k=None):
    """The joint affinities of all pairs, from the k nearest of every row, as a square array."""
    D, n = cdist(X, X), len(X)
    P = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.argsort(D[i], kind="stable"), np.argsort(D[i], kind="stable").tolist().index(i))
        others = others[: n - 1 if k is None else k]
        P[i, others] = naive_affinities(D[i, others], perplexity)
    return (P + P.T) / (2 * n)


def naive_student(P, Z, dof=1.0):
    """``KL(P || Q)`` of t-SNE for a square array P, and its gradient."""
    n = len(Z)
    square = 1 + cdist(Z, Z) ** 2 / dof
    weights = square ** (-(dof + 1) / 2)
    np.fill_diagonal(weights, 0)
    Q = weights / weights.sum()
    some = P > 0
    cost = (P[some] * np.log(P[some] / Q[some])).sum()
    gradient = np.zeros_like(Z)
    for i in range(n):
        for j in range(n):
            gradient[i] += 2 * (dof + 1) / dof * (P[i, j] - Q[i, j]) * (Z[i] - Z[j]) / square[i, j]
    return cost, gradient


def naive_pushes(Z, power):
    """``sum_j (1 + d^2)^-(g + 1) (z_i - z_j)`` of every row, and ``(1 + d^2)^-g`` summed over all pairs."""
    u = 1 / (1 + cdist(Z, Z) ** 2)
    np.fill_diagonal(u, 0)
    force = u ** (power + 1)
    return force.sum(axis=1)[:, None] * Z - force @ Z, (u**power).sum()


def naive_gaussians(P, Z, precisions):
    """``sum_i KL(P_i || Q_i)``, Q the mean of Gaussians in the map, for conditional affinities P (n, n)."""
    D2 = cdist(Z, Z) ** 2
    np.fill_diagonal(D2, np.inf)
    Q = np.zeros_like(P)
    for a in precisions:
        weights = np.exp(-a * (D2 - D2.min(axis=1, keepdims=True)) / 2)
        Q += weights / weights.sum(axis=1, keepdims=True) / len(precisions)
    some = P > 0
    return (P[some] * np.log(P[some] / Q[some])).sum()
