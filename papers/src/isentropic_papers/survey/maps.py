"""The work of the survey: maps as published, maps of our methods, and their four measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from isentropic import make
from isentropic._core.values import Floats, Integers
from isentropic.experiments.protocols import cpu_limit

from ..restated import mean_weight_eigenmaps, randomized_pca, unbridged_isomap
from .data import survey_table
from .measures import four_measures

_SEED = 42  # of the survey
Parameters = Mapping[str, Any]


def published_map(dataset: str, technique: str, parameters: Parameters) -> dict[str, float]:
    """Measures of a technique with the printed parameters, as the survey's program ran it."""
    X, y = survey_table(dataset)
    return four_measures(X, _AS_PUBLISHED[technique](X, y, parameters), y)


def unhelped_map(dataset: str, technique: str, parameters: Parameters) -> dict[str, float]:
    """The same technique and parameters without labels, to the end, and with its graph in one piece."""
    X, y = survey_table(dataset)
    return four_measures(X, _BY_OURS[technique](X, parameters), y)


def own_map(dataset: str, method: str, seconds: float) -> dict[str, float]:
    """Measures of a method of ours with its default parameters, and without labels."""
    X, y = survey_table(dataset)
    with cpu_limit(seconds, f"{method} on the {len(X):,} rows of {dataset}"):
        estimator = make(method)
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=_SEED)
        Z = estimator.fit_transform(X)
    return four_measures(X, Z, y)


# ---- as published ------------------------------------------------------------------------------


def _kernel_pca(X: Floats, y: Integers, parameters: Parameters) -> Floats:
    gamma = parameters["gamma"] or 1.0 / X.shape[1]
    if parameters["kernel"] == "sigmoid":
        return _fitted("kernel-pca", np.tanh(gamma * X @ X.T + 1.0), kernel="precomputed")
    degree = parameters.get("degree", 3)
    return _fitted("kernel-pca", X, kernel=parameters["kernel"], gamma=gamma, degree=degree, coef0=1.0)


def _modified_lle(X: Floats, y: Integers, parameters: Parameters) -> Floats:
    return _fitted("modified-lle", X, n_neighbors=parameters["n_neighbors"])


def _umap(parameters: Parameters) -> dict[str, Any]:
    return {name: parameters[name] for name in ("n_neighbors", "min_dist", "init")} | {"random_state": _SEED}


def _fitted(method: str, X: Floats, **params: Any) -> Floats:
    return np.asarray(make(method, **params).fit_transform(X))


_AS_PUBLISHED: dict[str, Callable[[Floats, Integers, Parameters], Floats]] = {
    "PCA": lambda X, y, p: randomized_pca(X, _SEED),
    "ISO": lambda X, y, p: unbridged_isomap(X, p["n_neighbors"]),
    "K-PCA-P": _kernel_pca,
    "K-PCA-R": _kernel_pca,
    "K-PCA-S": _kernel_pca,
    "LE": lambda X, y, p: mean_weight_eigenmaps(X, max(len(X) // 10, 2)),
    "M-LLE": _modified_lle,
    "UMAP": lambda X, y, p: np.asarray(make("supervised-umap", **_umap(p)).fit_transform(X, y)),
}
_BY_OURS: dict[str, Callable[[Floats, Parameters], Floats]] = {
    "PCA": lambda X, p: _fitted("pca", X),
    "ISO": lambda X, p: _fitted("isomap", X, n_neighbors=p["n_neighbors"]),
    "UMAP": lambda X, p: _fitted("umap", X, **_umap(p)),
}
RERUN = tuple(_AS_PUBLISHED)
UNHELPED = tuple(_BY_OURS)
