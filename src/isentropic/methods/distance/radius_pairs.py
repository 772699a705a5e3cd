"""Stress over the pairs that are within a radius of each other in the map, whichever way they are found."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..._core.runtime import require_memory
from ...distances import condensed_distances
from ...kernels._jit import threads
from ...kernels.pairs.degrees import paired_distances
from ...objectives import AllPairs, ListedPairs, ListedStress, Stress, worth_threads
from .pairs_embedder import Problem

_LISTED = 512  # partners of a row within the radius, on average, that are listed
_LISTED_SHARE = 1 / 8  # of all rows: above it, sums over all pairs are quicker


class RadiusPairs:
    """Stress of a problem, over the pairs within a radius in a map: by weights of 0 and 1, or by lists.

    Lists take over once few pairs are within the radius, and then come from a tree of the map.
    """

    def __init__(self, problem: Problem, n_jobs: int | None):
        self.problem, self.listed = problem, False
        self.n_jobs = worth_threads(problem.pairs.distances.size, n_jobs)

    def stress(self, Z: np.ndarray, radius: float) -> Stress | ListedStress:
        """The cost, for the pairs that are within ``radius`` in the map ``Z``."""
        if not self.listed:
            weights = self._within(Z, radius)
            n = len(Z)
            self.listed = weights.mean() * n <= min(_LISTED, _LISTED_SHARE * n)
            if not self.listed:
                return Stress(self.problem.pairs, weights=weights, counts=self.problem.counts,
                              n_jobs=self.n_jobs)  # fmt: skip
        return ListedStress(self._list(Z, radius), n_jobs=self.n_jobs)

    def _within(self, Z: np.ndarray, radius: float) -> np.ndarray:
        """1 for each pair of the problem within the radius, 0 for the others."""
        pairs = self.problem.pairs
        if isinstance(pairs, AllPairs):
            e = condensed_distances(Z, "euclidean", self.n_jobs)
        else:
            e = np.empty(pairs.distances.shape)
            with threads(self.n_jobs):
                paired_distances(Z, pairs.order, pairs.shifts, e)
        return np.less_equal(e, radius, out=e)

    def _list(self, Z: np.ndarray, radius: float) -> ListedPairs:
        n, counts = len(Z), self.problem.counts
        tree = cKDTree(Z)
        expected = int(tree.count_neighbors(tree, radius)) - n
        require_memory(40 * expected, f"{expected // 2:,} pairs within the radius", "Take a smaller radius.")
        found = tree.query_pairs(radius, output_type="ndarray")
        first, second = found[:, 0].astype(np.int64), found[:, 1].astype(np.int64)
        weights = np.ones(len(found)) if counts is None else counts[first] * counts[second]
        return ListedPairs.of(n, first, second, self._given(first, second), weights)

    def _given(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Distances in the data, in units, of pairs with ``first < second``."""
        problem, pairs = self.problem, self.problem.pairs
        if isinstance(pairs, AllPairs):
            return pairs.distances[first * pairs.n - first * (first + 1) // 2 + second - first - 1]
        if problem.groups is not None:
            first, second = problem.groups.rows[first], problem.groups.rows[second]
        return problem.distances.of_pairs(first, second) / problem.unit
