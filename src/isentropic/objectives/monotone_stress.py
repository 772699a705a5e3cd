"""Kruskal's stress-1: how far distances in a map are from any increasing function of those in the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..kernels._jit import threads
from ..kernels.pairs.degrees import paired_distances
from ..kernels.pairs.monotone import pool_adjacent_violators, sort_within, spread_pools
from ..kernels.pairs.stress import all_pairs_lengths
from .same_degree import AllPairs, DrawnPairs
from .stress import Stress

_NONE = np.empty(0)
_ROUNDING = 1e-12  # of a distance: two that differ by less are tied, and their last digits say nothing


class MonotoneStress:
    """``C(Z) = min_f sum (f(d) - e)^2 / sum e^2`` over pairs, f increasing: the square of stress-1.

    f is found anew for every map, by pooling adjacent violators in the order of the distances d. Where these
    are tied, ``ties="primary"`` lets f differ between them, in the order of e; ``"secondary"`` does not. As f
    is the best one, its own change adds nothing to the gradient,
    ``dC/dz_i = 2 / sum e^2 sum_j (e_ij - f_ij - C e_ij) (z_i - z_j) / e_ij``. Pairs count
    ``counts_i counts_j`` times. Of the distances only the order matters.

    Beyond the distances: 36 bytes a pair, and 16 more where rows count several times. ``O(pairs)`` time,
    after one sort.

    >>> import numpy as np
    >>> from scipy.spatial.distance import pdist
    >>> Z = np.array([[0.0, 0.0], [0.3, 0.1], [0.0, 0.9], [1.0, 1.0]])
    >>> cost, gradient = MonotoneStress(AllPairs(4, pdist(Z) ** 3))(Z)
    >>> cost, bool(np.abs(gradient).max() < 1e-12)
    (0.0, True)
    """

    def __init__(
        self,
        pairs: AllPairs | DrawnPairs,
        *,
        ties: str = "primary",
        counts: np.ndarray | None = None,
        n_jobs: int | None = None,
    ):
        flat = pairs.distances.ravel()
        small = np.int32 if flat.size < 2**31 else np.int64
        self.pairs, self.primary = pairs, ties == "primary"
        self.order = np.argsort(flat, kind="stable").astype(small)
        ascending = flat[self.order]
        new = np.flatnonzero(np.diff(ascending) > _ROUNDING * ascending[1:]) + 1
        self.n_levels = len(new) + 1
        tied = self.n_levels < flat.size
        self.bounds = np.concatenate([[0], new, [flat.size]]).astype(small) if tied else np.empty(0, small)
        self._weights = _NONE if counts is None else pair_counts(pairs, counts)
        self._lengths, self._means = np.empty(flat.size), np.empty(flat.size)
        self._loads, self._starts = np.empty(self._weights.size), np.empty(flat.size, small)
        self._wanted = replace(pairs, distances=np.empty(pairs.distances.shape))
        self._stress = Stress(self._wanted, floor=0.0, counts=counts, normaliser=1.0, n_jobs=n_jobs)
        self.n_jobs = self._stress.n_jobs

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d), rows in the order of the pairs."""
        n_pools = self._pool(Z)
        wanted = self._wanted.distances.reshape(-1)
        error, square = spread_pools(
            self._lengths, self.order, self._weights, self._means, self._starts, n_pools, wanted
        )
        cost = error / square
        wanted /= 1.0 - cost  # (1 - C) e - f is the slope of ordinary stress towards f / (1 - C)
        _, gradient = self._stress(Z)
        return cost, gradient * ((1.0 - cost) / square)

    def _pool(self, Z: np.ndarray) -> int:
        """Distances of the map, and the pools of them that increase."""
        e = self._lengths
        with threads(self.n_jobs):
            if isinstance(self.pairs, AllPairs):
                all_pairs_lengths(np.ascontiguousarray(Z.T), e)
            else:
                shape, rows = self.pairs.distances.shape, np.ascontiguousarray(Z)
                paired_distances(rows, np.arange(len(Z)), self.pairs.shifts, e.reshape(shape))
        if self.primary:
            sort_within(e, self.bounds, self.order)
        bounds = self.bounds[:0] if self.primary else self.bounds
        return int(
            pool_adjacent_violators(
                e, self.order, bounds, self._weights, self._means, self._loads, self._starts
            )
        )

    def knots(self, Z: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """The increasing function of a map: up to ``most`` distances d, different ones, and f of each.

        Tied distances have the mean of their f.
        """
        n_pools = self._pool(self.in_order(Z))
        stops = np.append(self._starts[1:n_pools], len(self.order))
        f = np.repeat(self._means[:n_pools], stops - self._starts[:n_pools])
        d = self.pairs.distances.ravel()[self.order]
        if len(self.bounds):
            first = self.bounds[:-1].astype(np.int64)
            d, f = d[first], np.add.reduceat(f, first) / np.diff(self.bounds)
        chosen = np.unique(np.linspace(0, len(d) - 1, min(most, len(d))).astype(np.int64))
        return d[chosen], f[chosen]

    def __repr__(self) -> str:
        return f"MonotoneStress over {self.pairs.distances.size:,} pairs"

    def in_order(self, Z: np.ndarray) -> np.ndarray:
        """Rows of a table in the order in which the cost takes them: that of the pairs."""
        return self.pairs.in_order(Z)

    def out_of_order(self, Z: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`in_order`."""
        return self.pairs.out_of_order(Z)


def pair_counts(pairs: AllPairs | DrawnPairs, counts: np.ndarray) -> np.ndarray:
    """``counts_i counts_j`` of every pair, flat."""
    m = pairs.in_order(counts)
    if isinstance(pairs, AllPairs):
        return np.concatenate([m[i] * m[i + 1 :] for i in range(len(m))])
    return np.concatenate([m * np.roll(m, -shift) for shift in pairs.shifts])
