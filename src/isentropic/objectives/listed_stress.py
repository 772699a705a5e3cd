"""Weighted stress over listed pairs: how far distances in the map are from those wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ..kernels._jit import threads
from ..kernels.pairs.listed_stress import listed_stress
from .stress import worth_threads


@dataclass(frozen=True, slots=True)
class ListedPairs:
    """Partners of each row in CSR form, symmetric: the distance wanted of a pair, and what it weighs."""

    indptr: np.ndarray  # (n + 1,) int64
    indices: np.ndarray  # (p,) int32
    wanted: np.ndarray  # (p,)
    weights: np.ndarray  # (p,)

    @classmethod
    def of(
        cls, n: int, first: np.ndarray, second: np.ndarray, wanted: np.ndarray, weights: np.ndarray
    ) -> ListedPairs:
        """From pairs of n rows that are named once each."""
        numbers = np.tile(np.arange(1, len(first) + 1), 2)  # from 1: none is lost as a zero
        ends = np.concatenate([first, second]), np.concatenate([second, first])
        lists = csr_array((numbers, ends), shape=(n, n))
        lists.sort_indices()
        pair = lists.data - 1
        return cls(lists.indptr.astype(np.int64), lists.indices.astype(np.int32), wanted[pair], weights[pair])


class ListedStress:
    """``C(Z) = sum w (t - e)^2 / sum w t^2`` over listed pairs, t the distances wanted, e those in the map.

    ``dC/dz_i = -2 sum_j w_ij (t_ij - e_ij) / e_ij (z_i - z_j) / sum w t^2``. ``O(p d)`` for p partners.

    >>> import numpy as np
    >>> pairs = ListedPairs(np.array([0, 1, 2]), np.array([1, 0]), np.array([2.0, 2.0]), np.ones(2))
    >>> cost, gradient = ListedStress(pairs)(np.array([[0.0], [1.0]]))
    >>> cost, gradient.ravel().tolist()
    (0.25, [0.5, -0.5])
    """

    def __init__(self, pairs: ListedPairs, *, n_jobs: int | None = None):
        self.pairs = pairs
        self.n_jobs = worth_threads(len(pairs.indices), n_jobs)
        self.total = 0.5 * math.fsum(pairs.weights * pairs.wanted**2) or 1.0

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d)."""
        pairs, gradient = self.pairs, np.empty(Z.shape)
        with threads(self.n_jobs):
            costs = listed_stress(pairs.indptr, pairs.indices, pairs.wanted, pairs.weights, Z, gradient)
        return 0.5 * math.fsum(costs) / self.total, gradient / self.total

    def __repr__(self) -> str:
        return f"stress of {len(self.pairs.indices) // 2:,} listed pairs"

    def in_order(self, Z: np.ndarray) -> np.ndarray:
        """Rows of a table in the order in which the cost takes them: as they are."""
        return Z

    def out_of_order(self, Z: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`in_order`."""
        return Z
