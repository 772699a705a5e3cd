"""Plain twins of stress: sums over pairs, and majorisation (SMACOF)."""

import numpy as np

from naive import distances


def naive_stress(pairs, d, w, Z):
    """``sum w (d - e)^2`` over pairs of rows, and its gradient, one pair after the other."""
    cost, gradient = 0.0, np.zeros_like(Z)
    for (i, j), given, weight in zip(pairs, d, w, strict=True):
        gap = Z[i] - Z[j]
        e = np.sqrt((gap**2).sum())
        cost += weight * (given - e) ** 2
        if e > 0:
            gradient[i] += 2 * weight * (e - given) / e * gap
            gradient[j] -= 2 * weight * (e - given) / e * gap
    return cost, gradient


def smacof(D, W, Z, steps):
    """Weighted stress by Guttman transforms, each of which lowers it: ``Z = V^+ B(Z) Z``."""
    inverse = np.linalg.pinv(np.diag(W.sum(axis=1)) - W)
    for _ in range(steps):
        E = distances(Z)
        ratio = np.divide(W * D, E, out=np.zeros_like(E), where=E > 0)
        Z = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ Z
    return Z


def weighted_stress(D, W, Z):
    """``sum w (d - e)^2 / sum w d^2`` over square matrices."""
    return float((W * (D - distances(Z)) ** 2).sum() / (W * D**2).sum())
