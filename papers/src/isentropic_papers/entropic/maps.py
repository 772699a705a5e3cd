"""The maps of the published tables, with the settings that meet the printed columns of the plain methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding

from isentropic import LPP, TSNE, UMAP, EntropicIsomap, KDEIsomap, SEtSNE, SGtSNE
from isentropic._core.errors import require_one_of
from isentropic._core.values import Floats, Integers

from .program import published_isomap, published_kde_map, published_kl_map, published_sne_map

BANDWIDTHS: dict[str, float | str] = {"K-ISO-F": 0.1, "K-ISO-SIL": "silverman", "K-ISO-SC": "scott"}
LEARNING = ("LDA", "SGt-SNE", "SEt-SNE")  # see the classes of all rows
_PERPLEXITY = 30.0


def published_map(method: str, X: Floats, y: Integers, parameter: float | None = None) -> Floats:
    """The map of all rows in two dimensions, not rescaled; ``parameter`` is k, or a percentile.

    scikit-learn computes what the programs took from it, and its eigenvectors of LLE and LE have length 1:
    coordinates around ``n^-1/2``, which classifiers that look at distances take for a single place.
    """
    n = len(X)
    k = min(int(parameter), n - 1) if parameter is not None else round(float(np.sqrt(n)))
    if method in BANDWIDTHS:
        return published_kde_map(X, float(parameter or 10), BANDWIDTHS[method])
    require_one_of("method", method, (*_UNSUPERVISED, *LEARNING))
    if method == "LDA":
        axes = min(2, len(np.unique(y)) - 1)
        return LinearDiscriminantAnalysis(n_components=axes).fit(X, y).transform(X)
    if method in LEARNING:
        model = SGtSNE() if method == "SGt-SNE" else SEtSNE()
        return model.fit(X, y).embedding_
    return _UNSUPERVISED[method](X, k)


def library_map(method: str, X: Floats, y: Integers, parameter: float | None) -> Floats:
    """What the library itself makes of the two entropic methods, with the published regularisation."""
    if method in BANDWIDTHS:
        model: Any = KDEIsomap(
            parameter or 10,
            bandwidth=BANDWIDTHS[method],
            bandwidth_floor="reference",
            on_disconnected="inflate",
        )
    else:
        model = EntropicIsomap(int(parameter or 20), regularization="reference")
    return model.fit_transform(X)


def _locality_map(X: Floats, k: int) -> Floats:
    """LPP along directions of length 1, as the program has them."""
    directions = LPP(k, min(2, X.shape[1]), t=1.0).fit(X).components_
    return X @ (directions / np.linalg.norm(directions, axis=1, keepdims=True)).T


def _probabilistic_map(X: Floats, k: int) -> Floats:
    """PNN-LPP by its equations, at unit variance: the scale of its constraint leaves classifiers blind."""
    Z = LPP(min(k, len(X) - 2), min(2, X.shape[1]), neighbors="pnn").fit_transform(X)
    spread = Z.std(axis=0)
    return Z / np.where(spread > 0, spread, 1.0)


def _student_map(X: Floats, k: int) -> Floats:
    return TSNE(min(_PERPLEXITY, (len(X) - 1) / 3)).fit_transform(X)


_UNSUPERVISED = {
    "PCA": lambda X, k: PCA(2).fit_transform(X),
    "KPCA": lambda X, k: KernelPCA(2, kernel="rbf").fit_transform(X),  # gamma = 1/m
    "ISOMAP": published_isomap,
    "joined ISOMAP": lambda X, k: Isomap(n_neighbors=k).fit_transform(X),  # parts joined, since version 1.0
    "LLE": lambda X, k: LocallyLinearEmbedding(n_neighbors=k, random_state=0).fit_transform(X),
    "LE": lambda X, k: SpectralEmbedding(
        affinity="nearest_neighbors", n_neighbors=k, random_state=0
    ).fit_transform(X),
    "LPP": _locality_map,
    "PNN-LPP": _probabilistic_map,
    "UMAP": lambda X, k: UMAP(min(15, len(X) - 1), random_state=0).fit_transform(X),
    "t-SNE": _student_map,
    "SNE": lambda X, k: published_sne_map(X),
    "ISOMAP-KL": published_kl_map,
}
