"""Do two maps of the same rows show the same neighbours? Row by row, and by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.errors import require, require_count
from ..._core.values import Floats
from ...distances import euclidean_rows
from ...linalg import around_mean, procrustes_correlation
from ...neighbors import nearest_among
from .movement import aligned_distance


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """How much of the neighbourhoods of one group two maps share, on average."""

    name: Any
    n_rows: int
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class MapAgreement:
    """What two maps of the same rows have in common.

    A row that moved far together with its neighbours agrees; one that changed its neighbours does not,
    however little it moved. ``moved`` is what remains between the maps after one was turned, mirrored,
    moved and sized onto the other, as a share of the width of the first (the longest side of its frame).
    """

    n_neighbors: int
    shares: Floats  # (n,) of the k nearest on the first map, those among the k nearest on the second
    moved: Floats  # (n,)
    correlation: float  # of Procrustes: 1, one map; 0, nothing in common

    @property
    def mean(self) -> float:
        """Of the shares: 1 for equal neighbourhoods."""
        return float(self.shares.mean())

    @property
    def chance(self) -> float:
        """The mean for maps that have nothing to do with each other: k / (n - 1)."""
        return self.n_neighbors / (len(self.shares) - 1)

    def by_group(self, groups: Any) -> tuple[GroupAgreement, ...]:
        """The mean share of each group, that of most change first; ``groups`` names that of each row."""
        given = np.asarray(groups)
        n = len(self.shares)
        require(given.shape == (n,), "groups", f"one for each of {n} rows", f"shape {given.shape}")
        found, codes, counts = np.unique(given, return_inverse=True, return_counts=True)
        means = np.bincount(codes, self.shares) / counts
        order, names = np.argsort(means, kind="stable"), found.tolist()
        return tuple(GroupAgreement(names[i], int(counts[i]), float(means[i])) for i in order)


def map_agreement(
    first: Any, second: Any, *, n_neighbors: int = 10, n_jobs: int | None = None
) -> MapAgreement:
    """Compare two maps of the same rows, of any numbers of dimensions.

    For each row the share |N(first) ∩ N(second)| / k of its k nearest others that both maps agree on. The
    data are not asked: which of two maps is right is for :func:`compare_quality` to say. Cost: ``O(n log
    n)`` for maps of few dimensions.

    >>> import numpy as np
    >>> Z = np.random.default_rng(0).normal(size=(200, 2))
    >>> turned = map_agreement(Z, 3.0 * Z[:, ::-1] + 1.0)
    >>> turned.mean, round(turned.correlation, 9), bool(turned.moved.max() < 1e-9)
    (1.0, 1.0, True)
    >>> shuffled = map_agreement(Z, Z[np.random.default_rng(1).permutation(200)])
    >>> abs(shuffled.mean - shuffled.chance) < 0.02
    True
    """
    A, B = euclidean_rows(first, "first", fewest=3), euclidean_rows(second, "second", fewest=3)
    n = len(A)
    require(len(B) == n, "second", f"a map of the same {n} rows", f"{len(B)} rows")
    k = require_count("n_neighbors", n_neighbors, f"from 1 to {n - 1}, the number of other rows", most=n - 1)
    near, there = (
        nearest_among(Z, Z, k, metric="euclidean", selves=np.arange(n), n_jobs=n_jobs)[0] for Z in (A, B)
    )
    return MapAgreement(k, _shared(near, there), *_moved(A, B))


def _shared(near: np.ndarray, there: np.ndarray) -> Floats:
    """Members that two lists of a row have in common: those that come twice in both together."""
    both = np.sort(np.concatenate([near, there], axis=1), axis=1)
    shares: Floats = (both[:, 1:] == both[:, :-1]).sum(axis=1) / near.shape[1]
    return shares


def _moved(A: Floats, B: Floats) -> tuple[Floats, float]:
    d = max(A.shape[1], B.shape[1])
    wide, other = (np.pad(Z, ((0, 0), (0, d - Z.shape[1]))) for Z in (A, B))
    size, its_size = (float(np.linalg.norm(around_mean(Z))) for Z in (wide, other))
    best = procrustes_correlation(wide, other) * size / its_size if its_size > 0 else 1.0  # the least squares
    movement = aligned_distance(wide, best * other)
    return movement.shares, procrustes_correlation(wide, other)
