"""Laplacian methods against scikit-learn's, and by themselves on large tables.

    python -m benchmarks.laplacian [CASE ...]

The digits, 50 principal components of them, need the data folder (ISENTROPIC_DATA) with the MNIST files.
"""

from __future__ import annotations

import warnings

import numpy as np

from .isomap import roll
from .runner import Case, run_cases
from .spectral import digits, measured


def scikit_learn(data):
    """By its parts: its neighbours, joined, weighed as ours are, and its eigenvectors."""
    from sklearn.manifold import SpectralEmbedding
    from sklearn.neighbors import kneighbors_graph

    def fit(X):
        lengths = kneighbors_graph(X, 10, mode="distance", n_jobs=-1)
        W = lengths.maximum(lengths.T)
        squared = W.data**2
        W.data = np.exp(-squared / squared.mean())
        return SpectralEmbedding(2, affinity="precomputed", random_state=0).fit_transform(W)

    return measured(fit, data)


def scikit_learn_alone(data):
    """With its own graph, which is another one: binary, and a row among its own neighbours."""
    from sklearn.manifold import SpectralEmbedding

    peer = SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=10, random_state=0, n_jobs=-1)
    return measured(peer.fit_transform, data)


def eigenmaps(X):
    from isentropic import LaplacianEigenmaps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LaplacianEigenmaps(10).fit(X)


def ours(data):
    return measured(lambda X: eigenmaps(X).embedding_, data)


def ours_alone(data):
    return {"eigengap": eigenmaps(data["X"]).eigengap_}


def diffusion(data):
    from isentropic import DiffusionMaps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"eigengap": DiffusionMaps(10).fit(data["X"]).eigengap_}


def clouds(n):
    """Ten features without structure: a graph whose factors fill up."""

    def data():
        return {"X": np.random.default_rng(0).normal(size=(n, 10))}

    return data


BOTH = {"scikit-learn": scikit_learn, "scikit-learn, its graph": scikit_learn_alone, "isentropic": ours}
ALONE = {"isentropic, eigenmaps": ours_alone, "isentropic, diffusion maps": diffusion}

CASES = {
    case.name: case
    for case in (
        Case("roll, n = 2,000", roll(2_000), BOTH),
        Case("roll, n = 5,000", roll(5_000), BOTH),
        Case("roll, n = 20,000", roll(20_000), BOTH),
        Case("digits, n = 2,000", digits(2_000), BOTH),
        Case("digits, n = 5,000", digits(5_000), BOTH),
        Case("digits, n = 20,000", digits(20_000), BOTH, repeats=1),
        Case("clouds, n = 5,000", clouds(5_000), BOTH, repeats=1),
        Case("roll, n = 100,000", roll(100_000), ALONE, repeats=1),
        Case("clouds, n = 100,000", clouds(100_000), ALONE, repeats=1),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.laplacian", CASES)
