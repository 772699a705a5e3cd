"""Every method of the registry as the tests try it, and variants of some: fitted once in a process.

``case(name).fitted`` is the shared fit, of ``laws.X``: whoever changes it takes a copy. A method whose fit
takes more than about 0.1 s on these 240 rows has smaller parameters in ``SMALL``.
"""

from functools import cache

import pytest

from isentropic import (
    MVU,
    PCA,
    SDD,
    TSNE,
    UMAP,
    ClassicalMDS,
    ClassIsomap,
    Diffusion,
    DiffusionMaps,
    Dis3,
    EntropicIsomap,
    Geodesic,
    Gower,
    Isomap,
    KDEIsomap,
    KernelPCA,
    Knn,
    Landmarks,
    LaplacianEigenmaps,
    MetricMDS,
    Momentum,
    PaCMAP,
    ParameterFreeSDD,
    Percentile,
    ProbabilisticPCA,
    Radius,
    RobustPCA,
    Selected,
    SGtSNE,
    StochasticLE,
    SupervisedIsomap,
    SupervisedLE,
    SupervisedLLE,
)
from isentropic._core.errors import MissingExtraError, require_extra
from laws import Case, X
from supervised_stub import METHODS_AND_STUB

SMALL = {
    "landmark-isomap": {"n_landmarks": 20},
    "landmark-mds": {"n_landmarks": 20},
    "sdd": {"degree": [1, 2], "max_iter": 30},
    "multi-sdd": {"degrees": {1, 2}},
    "mvu": {"max_iter": 60, "tol": 0.05},  # so few steps that its coordinates keep twelve digits
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
    "set-sne": {"max_iter": 250, "scale": "match"},  # without, nats come to squares that have a unit
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
# The power of the unit of the data that a map is known to have; 0: no unit. One in squares of the unit is
# "my-method": 2. A method that is not named here may be in units, or have none.
IN_UNITS = {
    "pca": 1,
    "random-projection": 1,
    "robust-pca": 1,
    "sparse-pca": 1,
    "multilinear-pca": 1,
    "classical-mds": 1,
    "landmark-mds": 1,
    "metric-mds": 1,
    "elastic-scaling": 1,
    "nonmetric-mds": 1,
    "local-mds": 1,
    "sammon": 1,
    "geodesic-sammon": 1,
    "cca": 1,
    "cda": 1,
    "dd-hds": 1,
    "rankvisu": 1,
    "tcie": 1,
    "isomap": 1,
    "landmark-isomap": 1,
    "kernel-isomap": 1,
    "mvu": 1,
    "sdd": 1,
    "multi-sdd": 1,
    "parameter-free-sdd": 1,
}
# Their optimisers end in the same place when every step has the same digits.
_SHORT_RANGE = {"cca", "cda", "dd-hds", "rankvisu", "tcie"}
_BY_STRESS = {"metric-mds", "elastic-scaling", "sammon", "geodesic-sammon", *_SHORT_RANGE}
SETTLING = {"sdd", "multi-sdd", "parameter-free-sdd", *_BY_STRESS, "parametric"}

NAMES = tuple(METHODS_AND_STUB)
GIVEN = {f"{name} of distances": name for name in NAMES if METHODS_AND_STUB[name].precomputed}
VARIANTS = {
    "whitened": PCA(whiten=True),
    "linear kernel": KernelPCA(kernel="linear"),
    "kernel through landmarks": KernelPCA(n_landmarks=40),
    "pursuit": RobustPCA(solver="pcp"),
    "holes allowed": ProbabilisticPCA(missing="em"),
    "manhattan": Isomap(metric="manhattan"),
    "correlation": Isomap(metric="correlation"),
    "minkowski": Isomap(metric="minkowski"),
    "cosine": ClassicalMDS(metric="cosine"),
    "canberra": ClassicalMDS(metric="canberra"),
    "random landmarks": Isomap(n_landmarks=Landmarks(20, "random")),
    "approximate": Isomap(neighbors=Knn(10, approximate=True)),
    "approximate landmarks": Isomap(neighbors=Knn(10, approximate=True), n_landmarks=20),
    "three dimensions": Isomap(n_components=3),
    "radius": Isomap(neighbors=Radius(1.5)),
    "percentile": Isomap(neighbors=Percentile(8.0)),
    "largest part": Isomap(n_neighbors=2, on_disconnected="largest"),
    "inflated": Isomap(n_neighbors=2, on_disconnected="inflate"),
    "conformal, by percentile": Isomap(neighbors=Percentile(8.0), conformal=True),
    "conformal, largest part": Isomap(2, conformal=True, on_disconnected="largest"),
    "kernel landmarks": Isomap(positive=True, n_landmarks=20),
    "landmark mvu": MVU(n_landmarks=30, max_iter=25, tol=0.5),
    "oas": EntropicIsomap(regularization="oas", divergence="bhattacharyya"),
    "ledoit-wolf": EntropicIsomap(regularization="ledoit-wolf"),
    "entropic landmarks": EntropicIsomap(n_landmarks=20, divergence="hellinger", root=True),
    "kde, root": KDEIsomap(bandwidth="scott", root=True, n_landmarks=40),
    "kde, largest part": KDEIsomap(2, bandwidth=0.1, on_disconnected="largest"),
    "kde, inflated": KDEIsomap(2, 3, bandwidth_floor="reference", on_disconnected="inflate"),
    "a real degree": SDD(2.5, 3, scale=1.5),
    "manhattan sdd": ParameterFreeSDD(metric="manhattan"),
    "geodesic sdd": ParameterFreeSDD(metric=Geodesic()),
    "diffusion sdd": ParameterFreeSDD(metric=Diffusion(t=8, alpha=0.5)),
    "gower": Isomap(metric="gower"),
    "gower sdd": ParameterFreeSDD(metric="gower", max_iter=20),
    "gower mds": MetricMDS(metric="gower", max_iter=30),
    "gower t-sne": TSNE(5, metric=Gower(ordered=(0,)), max_iter=50),
    "drawn pairs": ParameterFreeSDD(pairs=8, max_iter=20),
    "momentum": ParameterFreeSDD(init="random", optimizer=Momentum(50)),
    "symmetric laplacian": LaplacianEigenmaps(laplacian="symmetric"),
    "unnormalised laplacian": LaplacianEigenmaps(laplacian="unnormalised"),
    "eigenmaps, largest part": LaplacianEigenmaps(2, on_disconnected="largest"),
    "diffusion by percentile": DiffusionMaps(neighbors=Percentile(8.0), alpha=1.0, t=2),
    "manhattan pacmap": PaCMAP(5, metric="manhattan", max_iter=20),
    "cosine pacmap": PaCMAP(5, metric="cosine", max_iter=20),
    "umap of given lists": UMAP(5, init="pca", n_epochs=20),
    "geodesic umap": UMAP(5, metric=Geodesic(), init="pca", n_epochs=20),
    "3-d t-sne": TSNE(5, 3, max_iter=50),
    "classes by posterior": SupervisedIsomap(5, unlabelled="posterior", on_disconnected="largest"),
    "classes through landmarks": ClassIsomap(n_landmarks=20, unlabelled="votes", divergence="hellinger"),
    "classes as points": SupervisedLLE(dissimilarity=Dis3(1.0), on_disconnected="points", convex=True),
    "classes cut apart": StochasticLE(alpha=None, scale=None, on_disconnected="points"),
    "eigenmaps by classes": SupervisedLE(5, dissimilarity="dis1"),
    "edges between classes": SGtSNE(5, penalise="edges", squared=False, unlabelled="posterior", max_iter=100),
    "selected": Selected(Isomap(), {"n_neighbors": [5, 10]}),
}
_SEARCHED = {"a real degree", "manhattan sdd", "geodesic sdd", "diffusion sdd", "gower sdd", "gower mds",
             "drawn pairs", "momentum"}  # fmt: skip
_DRAWN = {"manhattan pacmap", "cosine pacmap", "geodesic umap", "umap of given lists"}  # by their seed
_LAID_OUT = {*_DRAWN, "3-d t-sne", "gower t-sne", "edges between classes"}


def lacking(name):
    """What to install for a method, or nothing."""
    method = METHODS_AND_STUB[name]
    try:
        if method.extra:
            require_extra(method.extra, name)
    except MissingExtraError as error:
        return str(error)
    return ""


def made(name):
    """The estimator of a method, small."""
    method = METHODS_AND_STUB[name]
    return method.load()(**{**method.params, **SMALL.get(name, {})})


@cache
def case(name):
    """The case of a method, of a variant, or of a method that is given distances."""
    if name in VARIANTS:
        searched = name in _SEARCHED | _LAID_OUT
        lists = 5 if name == "umap of given lists" else 0
        return Case(name, VARIANTS[name], searched, name in _SEARCHED, name in _DRAWN, lists=lists)
    line = METHODS_AND_STUB[GIVEN.get(name, name)]
    if lacking(line.name):
        pytest.skip(lacking(line.name))
    draws = line.draws_above is not None and line.draws_above < len(X)
    searched = draws or line.out_of_sample == "optimised"
    estimator = made(line.name)
    if name in GIVEN:
        estimator.set_params(metric="precomputed")
    return Case(name, estimator, searched, line.name in SETTLING, draws, IN_UNITS.get(line.name))
