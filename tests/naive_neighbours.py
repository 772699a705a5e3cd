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
