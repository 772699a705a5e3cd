"""What ``bits.py`` computes: tables, settings of methods that are slow, and settings off the defaults."""

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris

import isentropic as ic

# Fewer steps or units, for methods that would take longer than all others together.
SMALL: dict[str, dict[str, Any]] = {
    "landmark-isomap": {"n_landmarks": 20},
    "landmark-mds": {"n_landmarks": 20},
    "sdd": {"degree": [1, 2], "max_iter": 30},
    "multi-sdd": {"degrees": {1, 2}},
    "mvu": {"max_iter": 60, "tol": 0.05},
    "cca": {"max_iter": 12},
    "cda": {"max_iter": 12},
    "dd-hds": {"max_iter": 20},
    "rankvisu": {"n_neighbors": 10, "max_iter": 6},
    "tcie": {"max_iter": 100},
    "manifold-sculpting": {"n_neighbors": 6, "n_tries": 2, "max_iter": 12},
    "local-mds": {"max_iter": 24},
    "umap": {"n_epochs": 100},
    "pacmap": {"max_iter": 100},
    "supervised-t-sne": {"max_iter": 250},
    "sgt-sne": {"max_iter": 250},
    "set-sne": {"max_iter": 250},
    "supervised-umap": {"n_epochs": 100},
    "trimap": {"max_iter": 100},
    "autoencoder": {"layers": (8,), "max_epochs": 10},
    "nonlinear-pca": {"max_iter": 100},
    "rbm-autoencoder": {"layers": (8,), "pretrain_epochs": 2, "max_epochs": 10},
    "variational-autoencoder": {"layers": (8,), "max_epochs": 10},
    "parametric-t-sne": {"layers": (16,), "max_epochs": 4},
    "parametric-umap": {"layers": (16,), "max_epochs": 4},
    "parametric": {"layers": (8,), "max_epochs": 2, "synthetic": 50},
}
# Settings that take another way through the code than the defaults do.
VARIANTS: dict[str, Callable[[], Any]] = {
    "pca whiten": lambda: ic.PCA(whiten=True),
    "kernel-pca linear": lambda: ic.KernelPCA(kernel="linear"),
    "kernel-pca landmarks": lambda: ic.KernelPCA(n_landmarks=40),
    "robust-pca pcp": lambda: ic.RobustPCA(solver="pcp"),
    "probabilistic-pca em": lambda: ic.ProbabilisticPCA(missing="em"),
    "isomap manhattan": lambda: ic.Isomap(metric="manhattan"),
    "isomap correlation": lambda: ic.Isomap(metric="correlation"),
    "isomap gower": lambda: ic.Isomap(metric="gower"),
    "isomap random landmarks": lambda: ic.Isomap(n_landmarks=ic.Landmarks(20, "random")),
    "isomap approximate": lambda: ic.Isomap(neighbors=ic.Knn(10, approximate=True)),
    "isomap approximate landmarks": lambda: ic.Isomap(neighbors=ic.Knn(10, approximate=True), n_landmarks=20),
    "isomap 3": lambda: ic.Isomap(n_components=3),
    "isomap radius": lambda: ic.Isomap(neighbors=ic.Radius(2.0)),
    "isomap percentile": lambda: ic.Isomap(neighbors=ic.Percentile(8.0)),
    "isomap largest": lambda: ic.Isomap(n_neighbors=2, on_disconnected="largest"),
    "isomap inflate": lambda: ic.Isomap(n_neighbors=2, on_disconnected="inflate"),
    "isomap conformal percentile": lambda: ic.Isomap(neighbors=ic.Percentile(8.0), conformal=True),
    "isomap conformal largest": lambda: ic.Isomap(2, conformal=True, on_disconnected="largest"),
    "isomap positive landmarks": lambda: ic.Isomap(positive=True, n_landmarks=20),
    "classical-mds cosine": lambda: ic.ClassicalMDS(metric="cosine"),
    "mvu landmarks": lambda: ic.MVU(n_landmarks=30, max_iter=25, tol=0.5),
    "entropic-isomap oas": lambda: ic.EntropicIsomap(regularization="oas", divergence="bhattacharyya"),
    "entropic-isomap ledoit-wolf": lambda: ic.EntropicIsomap(regularization="ledoit-wolf"),
    "entropic-isomap landmarks": lambda: ic.EntropicIsomap(n_landmarks=20, divergence="hellinger", root=True),
    "kde-isomap scott": lambda: ic.KDEIsomap(bandwidth="scott", root=True, n_landmarks=40),
    "kde-isomap largest": lambda: ic.KDEIsomap(2, bandwidth=0.1, on_disconnected="largest"),
    "kde-isomap inflate": lambda: ic.KDEIsomap(2, 3, bandwidth_floor="reference", on_disconnected="inflate"),
    "sdd real degree": lambda: ic.SDD(2.5, 3, scale=1.5),
    "parameter-free-sdd manhattan": lambda: ic.ParameterFreeSDD(metric="manhattan"),
    "parameter-free-sdd geodesic": lambda: ic.ParameterFreeSDD(metric=ic.Geodesic()),
    "parameter-free-sdd diffusion": lambda: ic.ParameterFreeSDD(metric=ic.Diffusion(t=8, alpha=0.5)),
    "parameter-free-sdd pairs": lambda: ic.ParameterFreeSDD(pairs=8, max_iter=20),
    "parameter-free-sdd momentum": lambda: ic.ParameterFreeSDD(init="random", optimizer=ic.Momentum(50)),
    "laplacian-eigenmaps symmetric": lambda: ic.LaplacianEigenmaps(laplacian="symmetric"),
    "laplacian-eigenmaps unnormalised": lambda: ic.LaplacianEigenmaps(laplacian="unnormalised"),
    "laplacian-eigenmaps largest": lambda: ic.LaplacianEigenmaps(2, on_disconnected="largest"),
    "diffusion-maps percentile": lambda: ic.DiffusionMaps(neighbors=ic.Percentile(8.0), alpha=1.0, t=2),
    "pacmap manhattan": lambda: ic.PaCMAP(5, metric="manhattan", max_iter=20),
    "pacmap cosine": lambda: ic.PaCMAP(5, metric="cosine", max_iter=20),
    "umap pca": lambda: ic.UMAP(5, init="pca", n_epochs=20),
    "umap geodesic": lambda: ic.UMAP(5, metric=ic.Geodesic(), init="pca", n_epochs=20),
    "t-sne 3": lambda: ic.TSNE(5, 3, max_iter=50),
    "weighted-isomap posterior": lambda: ic.SupervisedIsomap(
        5, unlabelled="posterior", on_disconnected="largest"
    ),
    "class-isomap landmarks": lambda: ic.ClassIsomap(
        n_landmarks=20, unlabelled="votes", divergence="hellinger"
    ),
    "slle points": lambda: ic.SupervisedLLE(
        dissimilarity=ic.Dis3(1.0), on_disconnected="points", convex=True
    ),
    "stochastic-le points": lambda: ic.StochasticLE(alpha=None, scale=None, on_disconnected="points"),
    "supervised-le dis1": lambda: ic.SupervisedLE(5, dissimilarity="dis1"),
    "sgt-sne edges": lambda: ic.SGtSNE(
        5, penalise="edges", squared=False, unlabelled="posterior", max_iter=100
    ),
    "selected isomap": lambda: ic.Selected(ic.Isomap(), {"n_neighbors": [5, 10]}),
}


@dataclasses.dataclass(frozen=True)
class Split:
    """Rows to fit, their classes, and rows to transform: held-out ones and some of the fitted ones."""

    X: Any
    y: np.ndarray
    new: Any


def split(X: np.ndarray, y: np.ndarray) -> Split:
    held_out = np.arange(len(X)) % 6 == 5
    return Split(X[~held_out], y[~held_out], np.concatenate([X[held_out], X[~held_out][::20]]))


@cache
def tables() -> dict[str, Split]:
    """Iris; 300 digits by their 20 columns of largest variance; a Swiss roll with repeated rows."""
    iris, digits, rng = load_iris(), load_digits(), np.random.default_rng(0)
    pixels = digits.data[:300]
    columns = np.sort(np.argsort(-pixels.var(axis=0), kind="stable")[:20])
    angle = 1.5 * np.pi * (1 + 2 * rng.uniform(size=180))
    roll = np.column_stack([angle * np.cos(angle), 21 * rng.uniform(size=180), angle * np.sin(angle)])
    third = np.array(["inner", "middle", "outer"])[np.searchsorted(np.quantile(angle, [1 / 3, 2 / 3]), angle)]
    rows = np.concatenate([np.arange(180), np.repeat([3, 50, 51], [12, 4, 4])])
    return {
        "iris": split(iris.data, iris.target),
        "digits": split(pixels[:, columns], digits.target[:300]),
        "roll": split(roll[rows], third[rows]),
    }


@cache
def other_inputs() -> dict[str, Split]:
    """What some methods take beside numbers in an array, each in one table."""
    iris, rng = tables()["iris"], np.random.default_rng(1)
    mixed, new = iris.X.copy(), iris.new.copy()
    for part in (mixed, new):
        part[:, 3] = np.floor(part[:, 3])  # levels
        part[::9, 1] = np.nan
    unlabelled = iris.y.astype(object)
    unlabelled[::7] = None
    counts, classes = rng.poisson(0.7, size=(150, 12)).astype(float), np.arange(150) % 3
    counts[:, :2] += 3.0 * classes[:, None]
    sparse = split(counts, classes)
    names = ["a", "b", "c", "d"]
    return {
        "precomputed": Split(cdist(iris.X, iris.X), iris.y, cdist(iris.new, iris.X)),
        "gower": Split(mixed, iris.y, new),
        "missing": Split(mixed, iris.y, new),
        "unlabelled": Split(iris.X, unlabelled, iris.new),
        "sparse": Split(csr_array(sparse.X), sparse.y, csr_array(sparse.new)),
        "frame": Split(pd.DataFrame(iris.X, columns=names), iris.y, pd.DataFrame(iris.new, columns=names)),
    }
