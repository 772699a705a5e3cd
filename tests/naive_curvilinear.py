"""Plain twins of methods of weighted stress: rank images, consistent pairs, curvilinear rules, DD-HDS."""

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import erfc

# ---- stress over some pairs --------------------------------------------------------------------


def naive_stress(Z, T, W):
    """``sum_{i<j} w (t - e)^2 / sum_{i<j} w t^2`` of square arrays."""
    upper = np.triu_indices(len(Z), 1)
    e, t, w = cdist(Z, Z)[upper], T[upper], W[upper]
    return (w * (t - e) ** 2).sum() / (w * t**2).sum()


# ---- RankVisu ----------------------------------------------------------------------------------


def naive_ranks(D):
    """Rank of each row around each, from 1, ties by row number; 0 on the diagonal."""
    n = len(D)
    R = np.zeros((n, n), int)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for rank, j in enumerate(sorted(others, key=lambda j, i=i: (D[i, j], j)), start=1):
            R[i, j] = rank
    return R


def naive_zetas(D, Z, k):
    """The strict cost of ranks, and the lenient one."""
    R, r = naive_ranks(D), naive_ranks(cdist(Z, Z))
    strict = lenient = 0
    for i in range(len(D)):
        for j in range(len(D)):
            if i == j:
                continue
            strict += max(k + 1 - min(R[i, j], r[i, j]), 0) * abs(R[i, j] - r[i, j])
            low, high = min(R[i, j], R[j, i]), max(R[i, j], R[j, i])
            if r[i, j] < low:
                lenient += max(k + 1 - r[i, j], 0) * (low - r[i, j])
            elif r[i, j] > high:
                lenient += max(k + 1 - high, 0) * (r[i, j] - high)
    return strict, lenient


def naive_rank_images(D, Z, k):
    """Square arrays of weights and of wanted distances, both symmetric; NaN where nothing is wanted."""
    n, E = len(D), cdist(Z, Z)
    R, r = naive_ranks(D), naive_ranks(E)
    w = np.maximum(k + 1 - np.minimum(R, r), 0.0)
    np.fill_diagonal(w, 0.0)
    t = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                t[i, j] = E[i, r[i] == R[i, j]][0]
    with np.errstate(invalid="ignore"):
        return w + w.T, (w * t + w.T * t.T) / (w + w.T)


def naive_ranked_place(d, Z, k, steps):
    """The place of a row at distances d: the least strict cost of steps towards rank images."""
    n = len(d)
    rank = np.empty(n, int)
    rank[np.lexsort((np.arange(n), d))] = np.arange(1, n + 1)
    z, best, lowest = Z[rank <= k].mean(axis=0), None, np.inf
    for _ in range(steps):
        e = np.linalg.norm(z - Z, axis=1)
        order = np.lexsort((np.arange(n), e))
        r = np.empty(n, int)
        r[order] = np.arange(1, n + 1)
        w = np.maximum(k + 1 - np.minimum(rank, r), 0.0)
        cost = (w * np.abs(rank - r)).sum()
        if cost < lowest:
            best, lowest = z.copy(), cost
        wanted = e[order][rank - 1]
        for _ in range(5):
            e = np.linalg.norm(z - Z, axis=1)
            z = (w[:, None] * (Z + (wanted / e)[:, None] * (z - Z))).sum(axis=0) / w.sum()
    return best


# ---- TCIE --------------------------------------------------------------------------------------


def naive_consistent(G, boundary, linked):
    """Which pairs are kept: linked ones, and those whose path is no longer than both ways to the boundary."""
    to_boundary = G[:, boundary].min(axis=1, initial=np.inf)
    kept = linked | (G <= (to_boundary[:, None] + to_boundary[None, :]) * (1 + 1e-9))
    np.fill_diagonal(kept, False)
    return kept


# ---- DD-HDS ------------------------------------------------------------------------------------


def naive_ddhds(D, Z, balance, smooth):
    """``sum |d - e| (1 - Phi((min(d, e) - mu) / sigma))``, the absolute value rounded off by ``smooth``."""
    upper = np.triu_indices(len(D), 1)
    d, e = D[upper], cdist(Z, Z)[upper]
    mu, sigma = d.mean() - 2 * (1 - balance) * d.std(), 2 * balance * d.std()
    share = 0.5 * erfc((np.minimum(d, e) - mu) / (sigma * np.sqrt(2)))
    return (np.sqrt((d - e) ** 2 + smooth**2) * share).sum()


# ---- CCA ---------------------------------------------------------------------------------------


def naive_curvilinear_epochs(D, Z, orders, rates, radii):
    """The published rule: a row stays, all others within the radius move along their gaps to it."""
    Z = Z.copy()
    for order, rate, radius in zip(orders, rates, radii, strict=True):
        for i in order:
            for j in range(len(Z)):
                gap = Z[j] - Z[i]
                e = np.linalg.norm(gap)
                if j != i and 0 < e <= radius:
                    Z[j] = Z[j] + rate * (D[i, j] / e - 1) * gap
    return Z
