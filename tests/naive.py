"""Plain twins of what the library computes: loops, no numba, no cleverness.

A graph is a dictionary ``{(i, j): weight}`` here, so that an edge of weight 0 differs from no edge. An
undirected graph holds both (i, j) and (j, i).
"""

import itertools
import math

import numpy as np


def distances(X, Y=None, metric="euclidean"):
    """Distances of every row of ``X`` to every row of ``Y``, one pair after the other."""
    Y = X if Y is None else Y
    return np.array([[_PAIR[metric](x, y) for y in Y] for x in X]).reshape(len(X), len(Y))


_PAIR = {
    "euclidean": lambda x, y: math.sqrt(
        sum((a - b) ** 2 for a, b in zip(x.tolist(), y.tolist(), strict=True))
    ),
    "manhattan": lambda x, y: float(np.abs(x - y).sum()),
    "chebyshev": lambda x, y: float(np.abs(x - y).max()),
    "cosine": lambda x, y: 1.0 - float(x @ y) / math.sqrt(float(x @ x) * float(y @ y)),
}


# ---- neighbours --------------------------------------------------------------------------------


def naive_knn(D, k, selves=None):
    """Indices and distances of the k least entries of every row, ties by index; ``selves[i]`` is left out."""
    indices, lengths = [], []
    for i, row in enumerate(D):
        others = [(d, j) for j, d in enumerate(row.tolist()) if selves is None or j != selves[i]]
        chosen = sorted(others)[:k]
        indices.append([j for _, j in chosen])
        lengths.append([d for d, _ in chosen])
    return np.array(indices, int).reshape(len(D), -1), np.array(lengths, float).reshape(len(D), -1)


def naive_neighbors(D, k):
    """As :func:`naive_knn` for the rows of a square matrix, each without itself."""
    return naive_knn(D, k, selves=range(len(D)))


def naive_recall(D, indices):
    """Share of the true neighbours that the lists contain."""
    true, _ = naive_neighbors(D, indices.shape[1])
    hits = sum(len(set(a) & set(b)) for a, b in zip(true.tolist(), indices.tolist(), strict=True))
    return hits / true.size


# ---- graphs ------------------------------------------------------------------------------------


def edges_of(graph):
    """The edges of a NeighborGraph, or of anything with indptr, indices and weights."""
    edges = {}
    for i in range(len(graph.indptr) - 1):
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            edges[i, int(graph.indices[e])] = float(graph.weights[e])
    return edges


def naive_union(directed):
    """An edge where either direction has one."""
    edges = {}
    for i, j in directed:
        known = [directed[pair] for pair in ((i, j), (j, i)) if pair in directed]
        edges[i, j] = edges[j, i] = max(known)
    return edges


def naive_average(directed):
    """``(S + S') / 2``, kept where either direction has an entry."""
    edges = {}
    for i, j in directed:
        edges[i, j] = edges[j, i] = (directed.get((i, j), 0.0) + directed.get((j, i), 0.0)) / 2
    return edges


def naive_knn_graph(D, k):
    indices, lengths = naive_neighbors(D, k)
    return naive_union(
        {(i, int(j)): d for i in range(len(D)) for j, d in zip(indices[i], lengths[i], strict=True)}
    )


def naive_radius_graph(D, eps):
    n = len(D)
    return naive_union({(i, j): D[i, j] for i in range(n) for j in range(n) if i != j and D[i, j] < eps})


def naive_percentile_graph(D, p):
    n = len(D)
    radius = [np.percentile(row, p) for row in D]
    return naive_union(
        {(i, j): D[i, j] for i in range(n) for j in range(n) if i != j and D[i, j] <= radius[i]}
    )


def naive_can(D, k):
    """``s_j = (d_{k+1} - d_j) / (k d_{k+1} - sum d_l)``, d squared; 1/k where all k+1 are equally far."""
    directed = {}
    for i, nearest, d in _squared_lists(D, k):
        below = k * d[k] - sum(d[:k])
        for j, dj in zip(nearest, d, strict=False):
            directed[i, j] = (d[k] - dj) / below if d[k] > d[0] else 1 / k
    return naive_average(directed)


def naive_pnn(D, k, t=None):
    """``s_j = (d_{k+1} - d_j) / (d_{k+1} - d_1)``, d squared, or ``-exp(-d / t)``; 1 where equally far."""
    directed = {}
    for i, nearest, d in _squared_lists(D, k):
        if t is not None:
            d = [-np.exp(-one / t) for one in d]
        for j, dj in zip(nearest, d, strict=False):
            directed[i, j] = (d[k] - dj) / (d[k] - d[0]) if d[k] > d[0] else 1.0
    return naive_average(directed)


def _squared_lists(D, k):
    indices, lengths = naive_neighbors(D, k + 1)
    for i in range(len(D)):
        yield i, indices[i, :k].tolist(), (lengths[i] ** 2).tolist()


def naive_components(n, edges):
    """Labels by depth-first search; the largest component is 0, of equal ones the first."""
    around = {i: [] for i in range(n)}
    for i, j in edges:
        around[i].append(j)
        around[j].append(i)
    parts, seen = [], set()
    for start in range(n):
        part, stack = [], [start]
        while stack:
            i = stack.pop()
            if i not in seen:
                seen.add(i)
                part.append(i)
                stack.extend(around[i])
        if part:
            parts.append(part)
    labels = np.empty(n, int)
    for label, part in enumerate(sorted(parts, key=len, reverse=True)):  # stable: the first stays first
        labels[part] = label
    return labels


def naive_nearest_outside(D, labels):
    """For every row the nearest row of another part, the first of equally near ones, and how far: lists."""
    near, lengths = [], []
    for i in range(len(D)):
        others = [(D[i, j], j) for j in range(len(D)) if labels[j] != labels[i]]
        length, j = min(others, default=(np.inf, -1))
        near.append(j)
        lengths.append(length)
    return near, lengths


def naive_bridges(D, labels):
    """Minimum spanning edges ``{(i, j): d}``, i < j, between the parts: Kruskal over all pairs of rows."""
    part = list(labels)
    pairs = sorted((D[i, j], i, j) for i in range(len(D)) for j in range(i + 1, len(D)))
    bridges = {}
    for d, i, j in pairs:
        if part[i] != part[j]:
            bridges[i, j] = d
            part = [part[i] if label == part[j] else label for label in part]
    return bridges


def naive_shortest_paths(n, edges):
    """Floyd and Warshall; infinite where there is no path."""
    G = np.full((n, n), np.inf)
    np.fill_diagonal(G, 0.0)
    for (i, j), weight in edges.items():
        if i != j:
            G[i, j] = min(G[i, j], weight)
    for middle in range(n):
        for i in range(n):
            for j in range(n):
                G[i, j] = min(G[i, j], G[i, middle] + G[middle, j])
    return G


# ---- linear algebra ----------------------------------------------------------------------------


def condensed(D):
    """The entries right of the diagonal, row after row."""
    return np.array([D[i, j] for i in range(len(D)) for j in range(i + 1, len(D))], float)


def centred_gram(D):
    """``B = -1/2 H (D ∘ D) H`` with H formed."""
    n = len(D)
    H = np.eye(n) - np.ones((n, n)) / n
    return -0.5 * H @ (D * D) @ H


def naive_classical_scaling(D, n_components):
    """Eigenvalues, largest first, and coordinates, zero where the eigenvalue is not positive."""
    values, vectors = np.linalg.eigh(centred_gram(D))
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    return values, vectors * np.sqrt(np.maximum(values, 0.0))


def naive_placement(D, new, n_components):
    """Rows at distances ``new`` from those of ``D``: ``y = L^(-1/2) V' kx``, with
    ``kx = -1/2 (g^2 - rowmean(D^2) - mean(g^2) + mean(D^2))`` for every row g.
    """
    values, vectors = np.linalg.eigh(centred_gram(D))
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    placed = np.zeros((len(new), n_components))
    for i, g in enumerate(new):
        kx = -0.5 * (g**2 - (D**2).mean(axis=1) - (g**2).mean() + (D**2).mean())
        for c in range(n_components):
            placed[i, c] = vectors[:, c] @ kx / math.sqrt(values[c]) if values[c] > 0 else 0.0
    return placed


def naive_residual_variance(D, Z):
    """``1 - corr^2`` of the given and the mapped distances over pairs i < j."""
    return 1.0 - np.corrcoef(condensed(D), condensed(distances(Z)))[0, 1] ** 2


def naive_euclidean_defect(D):
    """Share of the magnitude of the spectrum that is negative."""
    values = np.linalg.eigvalsh(centred_gram(D))
    return -values[values < 0].sum() / np.abs(values).sum()


def naive_fixed_signs(vectors):
    """Columns turned so that their entry of largest magnitude, the first if several, is positive."""
    out = np.array(vectors, float)
    for c in range(out.shape[1]):
        column = out[:, c].tolist()
        leading = max(column, key=abs)  # the first of equal ones
        if leading < 0:
            out[:, c] *= -1
    return out


# ---- pairs of rows -----------------------------------------------------------------------------


def naive_order_counts(a, b):
    """Concordant and discordant pairs of entries of two lists, and those tied in a only, b only, both."""
    concordant = discordant = only_a = only_b = both = 0
    for p in range(len(a)):
        for q in range(p):
            if a[p] == a[q] and b[p] == b[q]:
                both += 1
            elif a[p] == a[q]:
                only_a += 1
            elif b[p] == b[q]:
                only_b += 1
            elif (a[p] < a[q]) == (b[p] < b[q]):
                concordant += 1
            else:
                discordant += 1
    return concordant, discordant, only_a, only_b, both


def naive_kendall_tau(a, b):
    """``(C - D) / sqrt((C + D + T) (C + D + U))``."""
    concordant, discordant, only_a, only_b, _ = naive_order_counts(a, b)
    ordered = concordant + discordant
    return (concordant - discordant) / math.sqrt((ordered + only_a) * (ordered + only_b))


def naive_average_ranks(a):
    """From 1; equal entries share the mean of their ranks."""
    return np.array([sum(x < y for x in a) + (sum(x == y for x in a) + 1) / 2 for y in a])


def naive_pearson_r(a, b):
    a, b = np.asarray(a) - np.mean(a), np.asarray(b) - np.mean(b)
    return float((a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()))


def naive_spearman_rho(a, b):
    return naive_pearson_r(naive_average_ranks(a), naive_average_ranks(b))


def naive_stress(d, z, kind):
    d, z = np.asarray(d), np.asarray(z)
    if kind == "scaled":
        z = z * ((d * z).sum() / (z * z).sum())
    gap = ((d - z) ** 2).sum()
    return math.sqrt(gap if kind == "raw" else gap / (d**2).sum())


def naive_sammon_stress(d, z):
    """Pairs with d = 0 are left out."""
    return sum((a - b) ** 2 / a for a, b in zip(d, z, strict=True) if a > 0) / sum(d)


def naive_neighborhood_stress(D, DZ, lists):
    """Stress over the pairs (i, j) with j in ``lists[i]``."""
    pairs = [(i, j) for i, listed in enumerate(lists) for j in listed]
    gap = sum((D[i, j] - DZ[i, j]) ** 2 for i, j in pairs)
    return math.sqrt(gap / sum(D[i, j] ** 2 for i, j in pairs))


# ---- neighbours on both sides ------------------------------------------------------------------


def naive_topological_product(D, DZ):
    """As printed, one term after the other; the value, and how many terms a distance of 0 leaves out."""
    n = len(D)
    near, near_Z = naive_neighbors(D, n - 1)[0], naive_neighbors(DZ, n - 1)[0]
    total, skipped = 0.0, 0
    for j in range(n):
        product = 0.0
        for k in range(1, n):
            x, z = near[j, k - 1], near_Z[j, k - 1]
            if 0 in (D[j, x], D[j, z], DZ[j, x], DZ[j, z]):
                skipped += 1
            else:
                product += math.log(D[j, z] / D[j, x]) + math.log(DZ[j, z] / DZ[j, x])
            total += product / (2 * k)
    return total / (n * (n - 1)), skipped


def naive_konig_measure(D, DZ, k1, k2):
    """The mean is over the neighbours that there are: k1 of them, or all n - 1 of few rows."""
    k1, k2 = min(k1, len(D) - 1), min(k2, len(D) - 1)
    near, near_Z = naive_neighbors(D, k1)[0].tolist(), naive_neighbors(DZ, k2)[0].tolist()
    score = 0
    for row, row_Z in zip(near, near_Z, strict=True):
        for rank, j in enumerate(row):
            if row_Z[rank] == j:
                score += 3
            elif j in row_Z[:k1]:
                score += 2
            elif j in row_Z:
                score += 1
    return score / (3 * k1 * len(near))


def naive_rank_matrix(D):
    """Ranks of the columns around each row: 0 for itself, 1 for the nearest other row."""
    n = len(D)
    ranks = np.zeros((n, n), int)
    for i, order in enumerate(naive_neighbors(D, n - 1)[0]):
        for rank, j in enumerate(order):
            ranks[i, j] = rank + 1
    return ranks


# ---- labels ------------------------------------------------------------------------------------


def naive_silhouettes(D, y):
    values = []
    for i in range(len(y)):
        mine = [D[i, j] for j in range(len(y)) if y[j] == y[i] and j != i]
        others = [[D[i, j] for j in range(len(y)) if y[j] == c] for c in set(y) if c != y[i]]
        if not mine:
            values.append(0.0)
            continue
        a, b = np.mean(mine), min(np.mean(each) for each in others)
        values.append((b - a) / max(a, b) if max(a, b) > 0 else 0.0)
    return np.array(values)


def naive_votes(D, y, k):
    """The most frequent class of the k nearest other rows; of equally frequent ones the first in order."""
    votes = []
    for row in naive_neighbors(D, k)[0]:
        classes = [y[j] for j in row]
        votes.append(min(set(classes), key=lambda c: (-classes.count(c), c)))
    return votes


def naive_kappa(y, predicted):
    """``(n sum c_ii - sum c_i+ c_+i) / (n^2 - sum c_i+ c_+i)`` of the confusion matrix."""
    y, predicted, n = list(y), list(predicted), len(y)
    agree = sum(a == b for a, b in zip(y, predicted, strict=True))
    chance = sum(y.count(c) * predicted.count(c) for c in set(y))
    return (n * agree - chance) / (n * n - chance)


# ---- ranks on both sides -----------------------------------------------------------------------


def naive_rank_weight(n, k):
    """``G_k`` of trustworthiness and continuity."""
    return n * k * (2 * n - 3 * k - 1) if k < n / 2 else n * (n - k) * (n - k - 1)


def naive_rank_terms(R, r, k):
    """Per row, with R and r the ranks from 1 (0 is the row itself): six sums over its neighbours."""
    n = len(R)
    terms = np.zeros((n, 6))
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            a, b = int(R[i, j]), int(r[i, j])
            terms[i] += [
                a - k if b <= k < a else 0,
                b - k if a <= k < b else 0,
                a <= k and b <= k,
                (b < a <= k) - (a < b <= k),
                abs(a - b) / b if b <= k else 0,
                abs(a - b) / a if a <= k else 0,
            ]
    return terms


def naive_rank_measures(R, r, k):
    """Every measure of neighbourhoods of size k; no ``r_nx`` for k = n - 1."""
    n = len(R)
    terms = naive_rank_terms(R, r, k).sum(axis=0).tolist()
    false, torn, shared, intrusive, false_error, missing_error = terms
    G = naive_rank_weight(n, k)
    H = n * sum(abs(n - 2 * m + 1) / m for m in range(1, k + 1))
    found = {
        "trustworthiness": 1 - 2 / G * false if G else 1.0,
        "continuity": 1 - 2 / G * torn if G else 1.0,
        "q_nx": shared / (n * k),
        "lcmc": shared / (n * k) - k / (n - 1),
        "b_nx": intrusive / (n * k),
        "mrre_false": 1 - false_error / H,
        "mrre_missing": 1 - missing_error / H,
    }
    if k < n - 1:
        found["r_nx"] = ((n - 1) * found["q_nx"] - k) / (n - 1 - k)
    return found


def naive_rnx_auc(R, r, most=None):
    """Of neighbourhoods of all sizes, or of at most ``most`` rows."""
    sizes = range(1, min(len(R) - 2, most or len(R)) + 1)
    weighted = [naive_rank_measures(R, r, k)["r_nx"] / k for k in sizes]
    return sum(weighted) / sum(1 / k for k in sizes)


def naive_local_and_global(R, r):
    """``K_max``, ``Q_local`` and ``Q_global``."""
    n = len(R)
    found = [naive_rank_measures(R, r, k) for k in range(1, n)]
    curve = [point["lcmc"] for point in found]
    k_max = curve.index(max(curve)) + 1
    q = [point["q_nx"] for point in found]
    return k_max, sum(q[:k_max]) / k_max, sum(q[k_max - 1 :]) / (n - k_max)


def naive_coranking(R, r):
    n = len(R)
    Q = np.zeros((n - 1, n - 1), int)
    for i in range(n):
        for j in range(n):
            if i != j:
                Q[R[i, j] - 1, r[i, j] - 1] += 1
    return Q


def naive_orders(d, own):
    """Every order of the other rows by distance: tied ones in any order."""
    others = [j for j in range(len(d)) if j != own]
    groups = [[j for j in others if d[j] == value] for value in sorted({d[j] for j in others})]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [j for group in choice for j in group]


def naive_tie_extremes(d, z, own, k):
    """Least and greatest sums of one row over all orders of ties: false ones, then torn ones."""
    false, torn = [], []
    for in_X in naive_orders(d, own):
        for in_Z in naive_orders(z, own):
            false.append(sum(max(in_X.index(j) + 1 - k, 0) for j in in_Z[:k]))
            torn.append(sum(max(in_Z.index(j) + 1 - k, 0) for j in in_X[:k]))
    return [min(false), max(false), min(torn), max(torn)]


def naive_tied_share(D):
    """Share of the pairs (i, j) at whose distance another row is from i."""
    n = len(D)
    tied = 0
    for i in range(n):
        others = [D[i, j] for j in range(n) if j != i]
        tied += sum(others.count(d) > 1 for d in others)
    return tied / (n * (n - 1))
