"""Plain twins of layouts by neighbours: graphs, costs and their gradients, over dense arrays."""

import numpy as np
from scipy.optimize import brentq


def naive_memberships(distances):
    """UMAP's weights of a row of distances, the width found by root finding."""
    d = np.asarray(distances, float)
    target = np.log2(len(d))
    rho = d[d > 0].min() if (d > 0).any() else 0.0
    beyond = np.maximum(d - rho, 0.0)
    least = 1e-3 * d.sum() / (len(d) + 1)
    if (beyond == 0).sum() >= target or np.exp(-beyond / least).sum() >= target:
        return np.exp(-beyond / least) if least else np.ones(len(d))
    log_width = brentq(lambda t: np.exp(-beyond / np.exp(t)).sum() - target, np.log(least), 60, xtol=1e-14)
    return np.exp(-beyond / np.exp(log_width))


def naive_fuzzy_graph(indices, distances):
    n = len(indices)
    P = np.zeros((n, n))
    for i in range(n):
        P[i, indices[i]] = naive_memberships(distances[i])
    return P + P.T - P * P.T
