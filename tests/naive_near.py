"""Plain twin of the near-neighbor share, for distances of any kind of number."""

from __future__ import annotations

import numpy as np

_SLACK = 10**9  # distances are equal that differ by less than one part of so many


def naive_near_counts(D, E, k, radius=1.5):
    """Per row: how many of its k nearest by E are near by D, and how many of all rows are; (n, 2)."""
    n = len(D)
    counts = np.zeros((n, 2), int)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        away = sorted(D[i, j] for j in others)
        lengths, widest = away[:k], away[min(len(others), max(len(others) // 5, 2 * k)) - 1]
        limit = max(min(sum(lengths) * int(10 * radius) / (10 * k), widest), lengths[-1])
        near = {j for j in others if D[i, j] <= limit + limit / _SLACK}
        nearest = sorted(others, key=lambda j: (E[i, j], j))[:k]
        counts[i] = len(near.intersection(nearest)), len(near)
    return counts


def naive_near_share(D, E, k, radius=1.5):
    """The share, the share by chance, and what is left of the first beyond the second."""
    n = len(D)
    counts = naive_near_counts(D, E, k, radius)
    share, chance = (counts[:, 0] / k).mean(), (counts[:, 1] / (n - 1)).mean()
    return share, chance, (share - chance) / (1 - chance) if counts[:, 1].min() < n - 1 else 0.0
