"""Kendall's tau of a map: how well the order of its distances follows that of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..objectives import AllPairs, DrawnPairs
from .pair_distances import Distances

_QUICK = 2**18  # drawn pairs that a search compares degrees by: always the same ones


@dataclass(frozen=True, slots=True)
class Tau:
    """Kendall's tau-b, NaN where distances do not vary; its 95% interval where pairs were drawn."""

    value: float
    interval: tuple[float, float] | None


def distance_tau(
    distances: Distances, pairs: AllPairs | DrawnPairs, Z: np.ndarray, *, seed: int, quick: bool = False
) -> Tau:
    """Tau of the distances between rows and those between the rows of ``Z``; drawn pairs where ``quick``."""
    from scipy.spatial.distance import pdist
    from scipy.stats import kendalltau

    if isinstance(pairs, AllPairs):
        return Tau(float(kendalltau(pairs.distances, pdist(Z)).statistic), None)
    rng = np.random.RandomState(seed)
    i = rng.randint(0, len(Z), _QUICK)
    j = rng.randint(0, len(Z), _QUICK)
    d = np.linalg.norm(distances.X[i] - distances.X[j], axis=1)
    z = np.linalg.norm(Z[i] - Z[j], axis=1)
    value = float(kendalltau(d, z).statistic)
    return Tau(value, (value - 0.01, value + 0.01))


def table_tau(X: np.ndarray, Z: np.ndarray, *, n_jobs: int | None = None) -> Tau:
    """Tau of the Euclidean distances of a table and of its map."""
    from scipy.spatial.distance import pdist
    from scipy.stats import kendalltau

    return Tau(float(kendalltau(pdist(X), pdist(Z)).statistic), None)
