"""The four measures by which the survey compares projections, and what the order of ties can do to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from isentropic._core.runtime import row_blocks
from isentropic._core.values import DistanceRows, Floats, Integers
from isentropic.distances import distance_rows, rows_per_block
from isentropic.quality import assess, spearman_rho

MEASURES = ("trustworthiness", "continuity", "neighborhood hit", "shepard")
MEAN = "mean of four"
_K = 7


def four_measures(X: Floats, Z: Floats, y: Integers) -> dict[str, float]:
    """Trustworthiness and continuity at 7, neighbourhood hit at 7, Shepard correlation, and their mean.

    The hit counts the row itself: ``(1 + same class among the 6 nearest others) / 7``. Shepard is
    ``(rho + 1) / 2``, rho that of Spearman over all pairs of distances. Ties are broken by row number;
    "NAME low" and "NAME high" are the extremes over all orders of ties, each row taken by itself.
    ``O(n^2 (m + log n))`` time.

    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 3)), np.repeat([0, 1], 30)
    >>> found = four_measures(X, X[:, :2], y)
    >>> round(found["trustworthiness"], 3), found["trustworthiness low"] == found["trustworthiness"]
    (0.848, True)
    >>> four_measures(X, X, y)["continuity"]
    1.0
    """
    ranks = assess(X, Z, n_neighbors=_K, sample=None, measures="ranks")
    values = {
        "trustworthiness": (ranks.measures[f"trustworthiness({_K})"].value, *ranks.ties.trustworthiness[0]),
        "continuity": (ranks.measures[f"continuity({_K})"].value, *ranks.ties.continuity[0]),
        "neighborhood hit": neighborhood_hit(Z, y),
        "shepard": (0.5 + 0.5 * spearman_rho(X, Z, n_pairs=None).value,) * 3,
    }
    value, low, high = np.mean([values[name] for name in MEASURES], axis=0).tolist()
    values[MEAN] = value, low, high
    found: dict[str, float] = {}
    for name, (value, low, high) in values.items():
        found |= {name: value, f"{name} low": low, f"{name} high": high}
    return found


def neighborhood_hit(Z: Floats, y: Integers, k: int = _K) -> tuple[float, float, float]:
    """Share of the k nearest rows, the row itself among them, that are of its class; its extremes.

    >>> neighborhood_hit(np.array([[0.0], [1.0], [1.0], [9.0]]), np.array([0, 0, 1, 1]), k=2)
    (0.625, 0.5, 0.75)
    """
    mapped, y = distance_rows(Z, name="Z"), np.asarray(y)
    sums = np.zeros(3)
    for block in row_blocks(mapped.n, "neighbourhood hit", size=rows_per_block(mapped.n)):
        sums += _hits(mapped, y, np.arange(block.start, block.stop), k - 1)
    value, worst, best = ((1 + sums / mapped.n) / k).tolist()
    return value, worst, best


def _hits(Z: DistanceRows, y: Integers, rows: Integers, k: int) -> Floats:
    """Of some rows: how many of their k nearest others are of their class, and the fewest and the most."""
    D = Z.rows(rows).copy()
    D[np.arange(len(rows)), rows] = np.inf
    same = y == y[rows][:, None]
    last = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
    nearer, level = last > D, last == D
    left = k - nearer.sum(axis=1)  # to be taken among those at the distance of the k-th
    taken = level & (np.cumsum(level, axis=1) <= left[:, None])
    sure, tied = (same & nearer).sum(axis=1), (same & level).sum(axis=1)
    others = level.sum(axis=1) - tied
    found = (
        sure + (same & taken).sum(axis=1),
        sure + np.maximum(left - others, 0),
        sure + np.minimum(left, tied),
    )
    return np.array([part.sum() for part in found], float)


def extremes(measures: Mapping[str, float], name: str) -> tuple[float, float]:
    """The least and the greatest value of a measure over all orders of ties."""
    return measures[f"{name} low"], measures[f"{name} high"]
