"""What the published programs compute, restated: where they differ from their texts, and from us.

A graph is a dense matrix, in which a weight of exactly zero is no edge, and a path that does not exist has
the length 0 (the shortest paths of scikit-learn before 1.0 did that): parts of the graph lie on top of each
other. ISOMAP-KL leaves the row itself out of its patch. KDE-ISOMAP takes the distances of scikit-learn's
brute-force search, whose rounding breaks ties between equal distances. None of this is worth offering:
these functions are here to tell a published figure from a mistake of ours.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

from isentropic import EntropicIsomap, Inflate, Isomap
from isentropic.affinities import conditional_affinities
from isentropic.divergences import bandwidth_floors, kde_divergences
from isentropic.experiments.tasks import Refused
from isentropic.linalg import eigenpairs_by_rank

DENSE = 1_000  # rows; beyond that the graphs are connected, and our own stages do the same work faster


def published_isomap(X: np.ndarray, k: int) -> np.ndarray:
    """ISOMAP by the lists of scikit-learn's search, whose order of equal distances is its own."""
    if len(X) > DENSE:
        return Isomap(k, on_disconnected=Inflate(0.0)).fit_transform(X)
    near = kneighbors_graph(X, k, mode="distance").toarray()
    near = np.maximum(near, near.T)
    heads, tails = np.nonzero(np.triu(near, 1))
    return _scaled(len(X), heads, tails, near[heads, tails])


def published_kl_map(X: np.ndarray, k: int) -> np.ndarray:
    """ISOMAP-KL: the k neighbours without the row, 0.001 added to covariances that are singular."""
    if len(X) > DENSE:
        return _WithoutOwnRow(k, regularization="reference").fit_transform(X)
    near = kneighbors_graph(X, k).toarray() > 0
    patches = [X[row] for row in near]
    means = np.array([rows.mean(axis=0) for rows in patches])
    S = np.array([np.cov(rows, rowvar=False) for rows in patches])
    S[~(np.linalg.cond(S) <= 1 / np.finfo(float).eps)] += 0.001 * np.eye(X.shape[1])
    heads, tails = np.nonzero(np.triu(near | near.T, 1))
    P, delta = np.linalg.inv(S), means[heads] - means[tails]
    weights = np.empty(len(heads))
    for start in range(0, len(heads), 4096):
        part = slice(start, start + 4096)
        i, j, d = heads[part], tails[part], delta[part]
        traces = np.einsum("eab,eab->e", P[i], S[j]) + np.einsum("eab,eab->e", P[j], S[i])
        weights[part] = (traces + np.einsum("ea,eab,eb->e", d, P[i] + P[j], d)) / 4 - X.shape[1] / 2
    return _scaled(len(X), heads, tails, np.where(weights < 1e-12, 0.0, weights))


class _WithoutOwnRow(EntropicIsomap):
    def _patches(self, X, knn, n_edges, products):
        patches = super()._patches(X, knn, n_edges, products)
        first, others = knn.indices[:, 0], knn.indices[:, 1:]
        return replace(patches, own=first, neighbors=others)  # the nearest row in the place of its own


def published_kde_map(X: np.ndarray, percentile: float, bandwidth: float | str) -> np.ndarray:
    """KDE-ISOMAP: rows within the percentile of the distances to all rows, bandwidths with their floors."""
    D = kneighbors_graph(X, len(X), mode="distance", include_self=True).toarray()
    near = np.percentile(D, percentile, axis=1)[:, None] >= D
    starts = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
    heads, tails = np.nonzero(np.triu(near | near.T, 1))
    low, high = X.min(), X.max()
    floors = bandwidth_floors(X, bandwidth, "reference", (high - low) / 255)
    # members in the order of the rows: patches of the same rows have the same bits, and no edge
    weights = kde_divergences(X, starts, np.nonzero(near)[1], heads, tails, grid=(low, high, 256),
                              bandwidth=bandwidth, floors=floors)  # fmt: skip
    return _scaled(len(X), heads, tails, weights)


def _scaled(n: int, heads: np.ndarray, tails: np.ndarray, weights: np.ndarray) -> np.ndarray:
    edges = weights > 0
    graph = csr_array((weights[edges], (heads[edges], tails[edges])), shape=(n, n))
    D = shortest_path(graph, method="D", directed=False)
    B = -0.5 * np.where(np.isfinite(D), D, 0.0) ** 2
    B += B.mean() - B.mean(axis=0) - B.mean(axis=1)[:, None]
    values, vectors = eigenpairs_by_rank(B, n - 2, n - 1)
    return vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))


def published_sne_map(X: np.ndarray, perplexity: float = 20.0, n_steps: int = 50) -> np.ndarray:
    """The column "t-SNE" of Table 6: symmetric SNE, stopped after 50 steps of gradient descent.

    Gaussian weights also in the map, a rate of 30, a momentum of 0.9, from a start of deviation 1e-4.
    """
    D = cdist(X, X)
    np.fill_diagonal(D, -1.0)  # first of its own list, whatever else is at distance 0
    order = np.argsort(D, axis=1, kind="stable")[:, 1:]
    P = np.zeros_like(D)
    lists, _ = conditional_affinities(np.take_along_axis(D, order, axis=1), perplexity)
    np.put_along_axis(P, order, lists, axis=1)
    P = (P + P.T) / (2 * len(X))
    Z = np.random.default_rng(0).normal(0.0, 1e-4, (len(X), 2))
    step = np.zeros_like(Z)
    for _ in range(n_steps):
        weights = np.exp(-cdist(Z, Z, "sqeuclidean"))
        np.fill_diagonal(weights, 0.0)
        if not weights.sum() > 0:  # all rows are too far apart for any weight
            raise Refused(f"Symmetric SNE of {len(X)} rows diverges at the published rate.")
        pulls = P - weights / weights.sum()
        step = 0.9 * step - 30.0 * 4.0 * (pulls.sum(axis=1)[:, None] * Z - pulls @ Z)
        Z = Z + step
    return Z
