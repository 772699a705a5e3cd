"""Plain twins of what is said of single rows and of groups: no numba, no cleverness."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def naive_hills(Z, fewest, rise=3.5):
    """Hills of the density of a map: sets of places, joined from the densest down."""
    places, place_of, counts = np.unique(Z, axis=0, return_inverse=True, return_counts=True)
    n, k = len(places), int(np.clip(round(np.sqrt(len(Z)) / 2), 7, 50))
    D = cdist(places, places)
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1, kind="stable")[:, :k]
    far = np.take_along_axis(D, near, axis=1)
    dimension = np.clip(1 / np.mean(np.log(far[:, -1:] / far[:, :-1])), 1, Z.shape[1])
    density = np.log(counts + counts[near].sum(axis=1)) - dimension * np.log(far[:, -1])
    least = max(fewest, k * fewest // 10)
    hill_of, members = {}, {}
    for i in sorted(range(n), key=lambda i: (-density[i], i)):
        denser = [j for j in near[i] if j in hill_of]
        best = max(denser, key=lambda j: (density[j], -j), default=None)
        hill_of[i] = i if best is None else hill_of[best]
        members.setdefault(hill_of[i], []).append(i)
        for j in denser:
            pair = sorted((hill_of[i], hill_of[j]), key=lambda peak: (density[peak], -peak))
            size = sum(counts[m] for m in members[pair[0]])
            if pair[0] != pair[1] and (density[pair[0]] - density[i] < rise / np.sqrt(k) or size < least):
                for m in members[pair[0]]:
                    hill_of[m] = pair[1]
                members[pair[1]] += members.pop(pair[0])
    large = {peak for peak, rows in members.items() if sum(counts[m] for m in rows) >= least}
    return np.array([hill_of[i] if hill_of[i] in large else -1 for i in range(n)])[place_of.ravel()]
