"""Plain twins of same-degree distributions: the definition, pair after pair."""

import math

import numpy as np

from naive import distances


def naive_similarities(D, degree, pairs=None):
    """``(1 + d^2)^-degree`` of every ordered pair (or of those given), divided by their sum."""
    n = len(D)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j] if pairs is None else pairs
    weights = {pair: (1 + D[pair] ** 2) ** -degree for pair in pairs}
    total = sum(weights.values())
    return {pair: weight / total for pair, weight in weights.items()}


def naive_cost(D, Z, degrees, pairs=None):
    """Sum over the degrees of ``sum p log(p / q)``."""
    total = 0.0
    for degree in degrees:
        p = naive_similarities(D, degree, pairs)
        q = naive_similarities(distances(Z), degree, pairs)
        total += sum(p[pair] * math.log(p[pair] / q[pair]) for pair in p)
    return total


def naive_gradient(D, Z, degrees, pairs=None):
    """``4 g sum_j (p_ij - q_ij) (z_i - z_j) / (1 + |z_i - z_j|^2)``, summed over the degrees g."""
    gradient = np.zeros(Z.shape)
    between = distances(Z)
    for degree in degrees:
        p = naive_similarities(D, degree, pairs)
        q = naive_similarities(between, degree, pairs)
        for i, j in p:
            gradient[i] += 4 * degree * (p[i, j] - q[i, j]) * (Z[i] - Z[j]) / (1 + between[i, j] ** 2)
    return gradient


def naive_energy(z, d, Z, degrees, given_means, mapped_means):
    """What a new row at distances ``d`` from the rows ``Z`` minimises."""
    total = 0.0
    for degree, given, mapped in zip(degrees, given_means, mapped_means, strict=True):
        for z_j, d_j in zip(Z, d, strict=True):
            square = 1 + float(((z - z_j) ** 2).sum())
            total += degree * (1 + d_j**2) ** -degree / given * math.log(square) + square**-degree / mapped
    return total
