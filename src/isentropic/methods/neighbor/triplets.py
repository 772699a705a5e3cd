"""Triplets of rows: a near one is to stay nearer than a far one."""

from __future__ import annotations

import numpy as np

from ...objectives import Triplets
from .sampled import NearRows, distances_to, other_rows, rows_beyond

_RANDOM_WEIGHT = 0.1
_PUBLISHED = 500.0  # what the largest weighs, in the published rule, before its logarithm
RULES = ("tempered", "published")
_OUTLIERS, _PAIRS = 0, 1  # what rows are drawn for


def drawn_triplets(
    given: NearRows, *, n_outliers: int, n_random: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Near rows, far rows and the excess of scaled squared distance of far over near ones: (n, t) each.

    For every inlier, a near row, ``n_outliers`` drawn rows that are no nearer inliers, and ``n_random`` pairs
    of drawn rows, the nearer of which is the near one; a far row of -1 is no triplet.
    """
    near, widths, n_jobs = given.rows, given.widths, given.distances.n_jobs
    n, k = near.shape
    far = rows_beyond(given.seed, _OUTLIERS, near, range(1, k + 1), n_outliers, n_jobs)
    per_inlier = far.shape[1] // k
    drawn = other_rows(given.seed, _PAIRS, n, 2 * n_random, n_jobs)
    others = np.concatenate([np.maximum(far, 0), drawn], axis=1)
    away = distances_to(given.distances, others) if others.shape[1] else np.empty((n, 0))
    away = (away / widths[:, None]) * (away / widths[others])
    count = far.shape[1]
    excess = away[:, :count] - np.repeat(given.scaled, per_inlier, axis=1)
    first, second = away[:, count : count + n_random], away[:, count + n_random :]
    swap = first > second
    one, two = drawn[:, :n_random], drawn[:, n_random:]
    nearer, farther = np.where(swap, two, one), np.where(swap, one, two)
    farther = np.where(nearer == farther, -1, farther)
    return (
        np.concatenate([np.repeat(near, per_inlier, axis=1), nearer], axis=1).astype(np.int32),
        np.concatenate([far, farther], axis=1).astype(np.int32),
        np.concatenate([excess, _RANDOM_WEIGHT * np.abs(first - second)], axis=1),
    )


def weighted_triplets(
    near: np.ndarray, far: np.ndarray, excess: np.ndarray, rule: str = "tempered"
) -> tuple[Triplets, float]:
    """Triplets that weigh by a rule, and the excess that it counts from: the least, or the largest."""
    there = far >= 0
    end = np.min if rule == "tempered" else np.max
    origin = float(end(excess[there])) if there.any() else 0.0
    weights = np.where(there, triplet_weights(excess, origin, rule), 0.0)
    return Triplets(near, np.maximum(far, 0), weights.astype(np.float32)), origin


def triplet_weights(excess: np.ndarray, origin: float, rule: str) -> np.ndarray:
    """The tempered logarithm ``2 (sqrt(1 + x) - 1)`` of the excess x beyond the least; or, as published,
    ``log(1 + 500 exp(x))`` of that below the largest.

    >>> triplet_weights(np.array([0.0, 3.0]), 0.0, "tempered").tolist()
    [0.0, 2.0]
    """
    beyond = excess - origin
    if rule == "tempered":
        return 2.0 * (np.sqrt(1.0 + np.maximum(beyond, 0.0)) - 1.0)
    return np.log1p(_PUBLISHED * np.exp(np.minimum(beyond, 0.0)))
