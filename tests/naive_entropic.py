"""Plain twins of divergences, patches and kernel density weights: no numba, no cleverness."""

import numpy as np


def naive_divergences(mean1, S1, mean2, S2, order):
    """Every divergence by determinants and inverses, as the formulas are printed."""
    m, delta = len(mean1), mean1 - mean2
    det, inv = np.linalg.det, np.linalg.inv
    S, Sa = (S1 + S2) / 2, order * S2 + (1 - order) * S1
    bhattacharyya = delta @ inv(S) @ delta / 8 + np.log(det(S) / np.sqrt(det(S1) * det(S2))) / 2
    bhattacharyya = max(bhattacharyya, 0.0)  # rounding
    return {
        "kl": 0.5 * (np.log(det(S2) / det(S1)) - m + np.trace(inv(S2) @ S1) + delta @ inv(S2) @ delta),
        "symmetrised kl": 0.25 * (np.trace(inv(S1) @ S2 + inv(S2) @ S1) + delta @ (inv(S1) + inv(S2)) @ delta)
        - m / 2,
        "bhattacharyya": bhattacharyya,
        "hellinger": np.sqrt(1 - np.exp(-bhattacharyya)),
        "jeffreys-matusita": np.sqrt(2 * (1 - np.exp(-bhattacharyya))),
        "cauchy-schwarz": np.log(det(S1 + S2)) / 2
        - np.log(det(S1) * det(S2)) / 4
        - m / 2 * np.log(2)
        + delta @ inv(S1 + S2) @ delta / 2,
        "renyi": order / 2 * delta @ inv(Sa) @ delta
        - np.log(det(Sa) / (det(S1) ** (1 - order) * det(S2) ** order)) / (2 * (order - 1)),
    }


def naive_patch(X, members, regularization, floor):
    """Mean and regularised covariance of one patch."""
    from sklearn.covariance import ledoit_wolf_shrinkage, oas

    rows = X[members]
    m = X.shape[1]
    S = np.atleast_2d(np.cov(rows, rowvar=False))
    scale, spread = 1.0, np.trace(S) / m
    if regularization == "reference":
        added = 0.001 if np.linalg.cond(S) > 1 / 2.2e-16 else 0.0
    elif regularization in ("oas", "ledoit-wolf"):
        shrinkage = oas(rows)[1] if regularization == "oas" else ledoit_wolf_shrinkage(rows)
        scale, added = 1 - shrinkage, shrinkage * spread
    else:
        added = regularization * spread
    return rows.mean(axis=0), scale * S + max(added, floor) * np.eye(m)


def naive_bandwidth(values, rule, floor):
    """The bandwidth of one patch and feature, with the floors of the published program."""
    n = len(values)
    q75, q25 = np.percentile(values, [75, 25])
    if rule == "silverman":
        h = 0.9 * min(values.std(), (q75 - q25) / 1.34) * n ** (-1 / 5)
        return max(h, 0.05) if floor == "reference" else h
    if rule == "scott":
        sd = values.std(ddof=1) if n > 1 else 0.0
        a = min(sd, (q75 - q25) / 1.349) if q75 > q25 else sd
        h = 1.059 * a * n ** (-1 / 5)
        return (0.1 if h < 0.05 else h) if floor == "reference" else h
    if rule == "scott-histogram":
        return 3.49 * values.std() * n ** (-1 / 3)
    return rule


def naive_density(values, h, grid):
    z = (grid[:, None] - values[None, :]) / h
    return np.exp(-0.5 * z**2).sum(axis=1) / (len(values) * h * np.sqrt(2 * np.pi))


def naive_kde_weight(X, patch1, patch2, rule, grid, floor):
    """Squared norm of the symmetrised divergences of all features."""
    total = 0.0
    for f in range(X.shape[1]):
        p, q = (
            np.maximum(naive_density(X[patch, f], naive_bandwidth(X[patch, f], rule, floor), grid), 1e-300)
            for patch in (patch1, patch2)
        )
        forth, back = np.mean(p * np.log(p / q)), np.mean(q * np.log(q / p))
        total += (0.5 * (forth + back)) ** 2
    return total
