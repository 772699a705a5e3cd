"""The work of the thesis on SDD: Kendall's tau between the distances of a table and of its map."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from isentropic import METHODS, Dis1, Dis2, Dis3, make
from isentropic._core.values import Floats, Integers
from isentropic.dissimilarities import fitted_dissimilarity
from isentropic.experiments.protocols import cpu_limit
from isentropic.linalg import eigenpairs_by_rank, normalized_adjacency
from isentropic.quality import kendall_tau

from ..restated import mean_weight_eigenmaps, random_start_mds
from .data import thesis_table

_DISSIMILARITIES = {"dis1": Dis1, "dis2": Dis2, "dis3": Dis3}


def tau_of_map(
    dataset: str, method: str, parameters: Mapping[str, Any], seeds: int = 1, seconds: float = 300.0
) -> dict[str, float]:
    """Tau-b over all pairs of rows, and the seconds of the map; of several seeds the mean.

    "tau low" and "tau high" are the least and the greatest of the seeds.
    """
    X, y = thesis_table(dataset)
    began = time.perf_counter()
    with cpu_limit(seconds, f"{method} on {dataset}"):
        maps = [_map(X, y, method, dict(parameters), seed) for seed in range(seeds)]
    taken = (time.perf_counter() - began) / seeds
    found = [kendall_tau(X, Z, n_pairs=None).value for Z in maps]
    told = {"tau": float(np.mean(found)), "time": taken}
    return told if seeds == 1 else told | {"tau low": min(found), "tau high": max(found)}


def _map(X: Floats, y: Integers, method: str, parameters: dict[str, Any], seed: int) -> Floats:
    if method in _RESTATED:
        return _RESTATED[method](X, y, parameters, seed)
    if "dissimilarity" in parameters:
        parameters["dissimilarity"] = _dissimilarity(parameters["dissimilarity"])
    estimator = make(method, **parameters)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=seed)
    given = (X, y) if METHODS[method].needs_y else (X,)
    return np.asarray(estimator.fit_transform(*given))


def _dissimilarity(words: list[Any]) -> Any:
    """A choice as JSON can say it: its name, then its parameters."""
    name, *parameters = words
    return _DISSIMILARITIES[name](*parameters)


def _dissimilar_eigenmaps(X: Floats, y: Integers, parameters: dict[str, Any], seed: int) -> Floats:
    """Laplacian eigenmaps with dissimilarities taken for affinities: the farther, the stronger the edge."""
    measure = fitted_dissimilarity(_dissimilarity(parameters["dissimilarity"]), X, y)
    W = measure.between(squareform(pdist(X)), y[:, None], y)
    np.fill_diagonal(W, 0.0)
    operator, degrees = normalized_adjacency(csr_array(W))
    n = len(W)
    _, vectors = eigenpairs_by_rank(operator.toarray(), n - 3, n - 2)  # every pair is an edge: dense
    return np.asarray(vectors[:, ::-1] / np.sqrt(degrees)[:, None])


_RESTATED: dict[str, Callable[[Floats, Integers, dict[str, Any], int], Floats]] = {
    "random-start-mds": lambda X, y, p, seed: random_start_mds(X, seed, **p),
    "mean-weight-eigenmaps": lambda X, y, p, seed: mean_weight_eigenmaps(X, **p),
    "dissimilar-eigenmaps": _dissimilar_eigenmaps,
}
