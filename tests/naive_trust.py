"""Plain twins of what is said of single rows and of groups: no numba, no cleverness."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.spatial.distance import cdist


def naive_hills(Z, fewest):
    """Hills of the density of a map: sets of places, joined from the densest down."""
    places, place_of, counts = np.unique(Z, axis=0, return_inverse=True, return_counts=True)
    n, k = len(places), int(np.clip(round(np.sqrt(len(Z)) / 2), 7, 50))
    D = cdist(places, places)
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1, kind="stable")[:, :k]
    far = np.take_along_axis(D, near, axis=1)
    dimension = np.clip(1 / np.mean(np.log(far[:, -1:] / far[:, :-1])), 1, Z.shape[1])
    density = np.log(counts + counts[near].sum(axis=1)) - dimension * np.log(far[:, -1])
    rise = 3.5 + 2.5 * np.clip((1.9 - dimension - 4 / np.sqrt(n)) / 0.15, 0, 1)
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


def naive_row_tests(X, Z, rows, seed, share=0.5):
    """Of each row: how its place on the map fits, and the share of places that fit as well."""
    n = len(X)
    drawn = np.random.RandomState(seed).permutation(n)
    references, places = drawn[: n // 2], drawn[n // 2 :][:99]
    near = min(len(references) - 1, max(3, round(share * (len(references) - 1))))
    found = []
    for i in rows:
        others = [r for r in references if r != i]
        others = sorted(others, key=lambda r: np.linalg.norm(X[r] - X[i]))[:near]
        given = np.arange(near)

        def fit(c, others=others, given=given):
            ranks = stats.rankdata(np.linalg.norm(Z[references] - Z[c], axis=1))
            rank_of = dict(zip(references.tolist(), ranks, strict=True))
            return np.corrcoef(given, [rank_of[r] for r in others])[0, 1]

        elsewhere = [fit(c) for c in places if c != i]
        as_good = sum(value >= fit(i) - 1e-12 for value in elsewhere)
        found.append((fit(i), (1 + as_good) / (1 + len(elsewhere))))
    return np.array(found).T


def naive_shared(maps, k):
    """Of each row the share of neighbours that all maps have, and the pairs that have each other in all."""
    lists = [[set(row) for row in _nearest(Z, k)] for Z in maps]
    shared = [set.intersection(*(rows[i] for rows in lists)) for i in range(len(maps[0]))]
    pairs = [[i, j] for i, found in enumerate(shared) for j in sorted(found) if i < j and i in shared[j]]
    return np.array([len(found) / k for found in shared]), pairs


def naive_jumps(place, X, Z, rows, k, n_steps):
    """The excess of the longest step on a walk to that of the k nearest rows which is farthest on the map."""
    reach = np.sort(cdist(Z, Z), axis=1)[:, k]
    found = []
    for i in rows:
        j = max(_nearest(X, k)[i], key=lambda j: np.linalg.norm(Z[j] - Z[i]))
        walk = [place((X[i] + t / n_steps * (X[j] - X[i]))[None])[0] for t in range(1, n_steps)]
        steps = np.linalg.norm(np.diff([Z[i], *walk, Z[j]], axis=0), axis=1)
        even = np.linalg.norm(Z[j] - Z[i]) / n_steps
        found.append((steps.max() - even) / max(reach[i], np.median(reach)))
    return np.array(found)


def _nearest(Z, k):
    D = cdist(Z, Z)
    np.fill_diagonal(D, np.inf)
    return np.argsort(D, axis=1, kind="stable")[:, :k]
