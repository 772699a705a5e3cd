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


# ---- random numbers by counters ----------------------------------------------------------------

_WORD = 2**64 - 1


def naive_mixed(value):
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & _WORD
    return value ^ (value >> 31)


def naive_draws(seed, epoch, row, n, count):
    """``count`` numbers below n of a row in an epoch."""
    key = naive_mixed((seed + 0x9E3779B97F4A7C15) & _WORD)
    key = naive_mixed(key ^ ((epoch + 0xD1B54A32D192ED03) & _WORD))
    key = naive_mixed(key ^ ((row + 0x8CB92BA72F3D8DD7) & _WORD))
    out = []
    for _ in range(count):
        key = (key * 6364136223846793005 + 1442695040888963407) & _WORD
        out.append((key >> 32) * n >> 32)
    return np.array(out)


# ---- UMAP --------------------------------------------------------------------------------------


def naive_pull_cost(gap, a, b):
    """``-log q`` of an edge, for both of its ends."""
    return 2 * np.log(1 + a * (gap @ gap) ** b)


def naive_push_cost(gap, a, b):
    """``-log(1 - q)``."""
    return np.log(1 + 1 / (a * (gap @ gap) ** b))


def naive_fuzzy_step(Z, W, a, b, drawn, push):
    """What each row gathers, and how stiff its pulls are: ``drawn[i]`` push row i."""
    forces, stiffness = np.zeros_like(Z), np.zeros(len(Z))
    for i in range(len(Z)):
        for j in np.flatnonzero(W[i]):
            gap = Z[i] - Z[j]
            s = gap @ gap
            pull = W[i, j] * 4 * a * b * s ** (b - 1) / (1 + a * s**b)
            forces[i] -= pull * gap
            stiffness[i] += pull
        for j in drawn[i]:
            gap = Z[i] - Z[j]
            s = gap @ gap
            force = 2 * b / ((s + 1e-3) * (1 + a * s**b)) * gap
            forces[i] += push * W[i].sum() / len(drawn[i]) * np.clip(force, -4, 4)
    return forces, stiffness


# ---- PaCMAP ------------------------------------------------------------------------------------


def naive_pairs_cost(Z, lists, weights):
    """Near, mid-near and further pairs ``(i, lists[kind][i])``; -1 is no pair."""
    total = 0.0
    costs = (lambda u: u / (10 + u), lambda u: u / (10000 + u), lambda u: 1 / (1 + u))
    for near, weight, cost in zip(lists, weights, costs, strict=True):
        for i, row in enumerate(near):
            for j in row[row >= 0]:
                gap = Z[i] - Z[j]
                total += weight * cost(1 + gap @ gap)
    return total


def naive_gradient(cost, Z, h=1e-4):
    """Central differences of a cost of all rows."""
    out = np.zeros_like(Z)
    for at in np.ndindex(Z.shape):
        step = np.zeros_like(Z)
        step[at] = h
        out[at] = (cost(Z + step) - cost(Z - step)) / (2 * h)
    return out


# ---- TriMap ------------------------------------------------------------------------------------


def naive_triplets_cost(Z, near, far, weights):
    total = 0.0
    for i, t in np.ndindex(near.shape):
        a = 1 + ((Z[i] - Z[near[i, t]]) ** 2).sum()
        b = 1 + ((Z[i] - Z[far[i, t]]) ** 2).sum()
        total += weights[i, t] * a / (a + b)
    return total
