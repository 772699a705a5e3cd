"""Kendall's tau of a map: how well the order of its distances follows that of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import kendalltau, t

from .pair_distances import Distances

_EXACT_PAIRS = 20_000_000  # compared in a minute
_QUICK_PAIRS = 500_000  # all of them are compared in a search; of more, drawn ones, always the same
_BATCHES = 64
_ROWS_OF_BATCH = 16
_PARTNERS = 256


@dataclass(frozen=True, slots=True)
class Tau:
    """Kendall's tau-b, NaN where distances do not vary; its 95% interval where pairs were drawn."""

    value: float
    interval: tuple[float, float] | None


def distance_tau(
    distances: Distances, condensed: np.ndarray | None, Z: np.ndarray, *, seed: int, quick: bool = False
) -> Tau:
    """Tau of the distances between rows and between the rows of ``Z``.

    Of all pairs where they are at hand as ``condensed``, up to 20 million; of drawn ones otherwise, and
    in the middle of a search (``quick``) above half a million.
    """
    most = _QUICK_PAIRS if quick else _EXACT_PAIRS
    if condensed is not None and len(condensed) <= most:
        return Tau(_tau(condensed, pdist(Z)), None)
    return _drawn_tau(distances, condensed, Z, seed)


def table_tau(X: np.ndarray, Z: np.ndarray, *, seed: int = 0, n_jobs: int | None = None) -> Tau:
    """Tau of the Euclidean distances of a table and of its map."""
    if len(X) * (len(X) - 1) // 2 <= _EXACT_PAIRS:
        return Tau(_tau(pdist(X), pdist(Z)), None)
    return _drawn_tau(Distances.again(X, "euclidean", None, n_jobs=n_jobs), None, Z, seed)


def _drawn_tau(distances: Distances, condensed: np.ndarray | None, Z: np.ndarray, seed: int) -> Tau:
    """From drawn rows with drawn partners: batches do not depend on each other, and give the interval."""
    n, random = len(Z), np.random.default_rng(seed)
    given = np.empty((_BATCHES, _ROWS_OF_BATCH, _PARTNERS))
    mapped = np.empty_like(given)
    for batch in range(_BATCHES):
        for i, row in enumerate(random.integers(n, size=_ROWS_OF_BATCH)):
            partners = random.integers(n - 1, size=_PARTNERS)
            partners += partners >= row
            given[batch, i] = distances.between(row, partners, condensed)
            mapped[batch, i] = np.sqrt(((Z[row] - Z[partners]) ** 2).sum(axis=1))
    value = _tau(given.ravel(), mapped.ravel())
    of_batches = [_tau(a.ravel(), b.ravel()) for a, b in zip(given, mapped, strict=True)]
    half = float(t.ppf(0.975, _BATCHES - 1) * np.std(of_batches, ddof=1) / math.sqrt(_BATCHES))
    return Tau(value, (max(-1.0, value - half), min(1.0, value + half)))


def _tau(given: np.ndarray, mapped: np.ndarray) -> float:
    return float(kendalltau(given, mapped).statistic) if len(given) > 1 else math.nan
