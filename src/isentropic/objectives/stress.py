"""Stress: how far the distances of a map are from those of the data, or another cost of pairs by both."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..kernels._jit import threads
from ..kernels.pairs.stress import SQUARES, all_pairs_stress, drawn_pairs_stress
from .same_degree import AllPairs, DrawnPairs

_WORTH_THREADS = 50_000  # pairs: below that, waking threads costs more than the sums
_FLOOR = 1e-6  # of the mean distance: what is nearer weighs no more than that


def worth_threads(n_pairs: int, n_jobs: int | None) -> int | None:
    """The threads asked for, or one where there are too few pairs to share."""
    return n_jobs if n_pairs > _WORTH_THREADS else 1


def weight_floor(pairs: AllPairs | DrawnPairs) -> float:
    """The distance below which a power of it would weigh a near-duplicate above all else."""
    return _FLOOR * float(pairs.distances.mean()) if pairs.distances.size else 0.0


class Stress:
    """``C(Z) = sum_pairs w (d - e)^2 / sum_pairs w d^2``, d distances in the data and e in the map.

    The weights are ``max(d, floor)^-power``, or ``weights``, one for each pair, as the distances are laid
    out; times ``counts_i counts_j``, the numbers of equal rows that a row of the map stands for. The gradient
    is ``dC/dz_i = 2 / c sum_j w_ij (e_ij - d_ij) / e_ij (z_i - z_j)``; a pair at one place adds nothing to
    it. Drawn pairs stand for all, in numerator and denominator alike.

    ``term`` is another cost of a pair than the square, with the numbers ``shape``: see
    :mod:`isentropic.kernels.pairs.stress`. The sum is divided by ``normaliser``, by default the cost of a map
    that is one point. No memory beyond the distances, and the weights where these are given.

    >>> import numpy as np
    >>> from scipy.spatial.distance import pdist
    >>> Z = np.array([[0.0, 0.0], [0.3, 0.1], [0.0, 0.9]])
    >>> cost, gradient = Stress(AllPairs(3, pdist(Z)))(2 * Z)
    >>> round(cost, 12), bool((gradient[2] * Z[2] >= 0).all())
    (1.0, True)
    """

    def __init__(
        self,
        pairs: AllPairs | DrawnPairs,
        *,
        term: tuple[bool, ...] = SQUARES,
        power: float = 0.0,
        floor: float | None = None,
        weights: np.ndarray | None = None,
        counts: np.ndarray | None = None,
        shape: Sequence[float] = (),
        normaliser: float | None = None,
        n_jobs: int | None = None,
    ):
        self.pairs = pairs
        self.term, self.power, self.shape = term, float(power), np.array(shape, float)
        self.floor = weight_floor(pairs) if floor is None else floor
        self.weights, self.counts = weights, counts
        self.n_jobs = worth_threads(pairs.distances.size, n_jobs)
        self.normaliser = 1.0
        if normaliser is None:
            normaliser, _ = self(np.zeros((pairs.n, 1)))
        self.normaliser = normaliser

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d), rows in the order of the pairs."""
        given = self.pairs.distances[..., :0] if self.weights is None else self.weights
        counts = np.empty(0) if self.counts is None else self.pairs.in_order(self.counts)
        about = self.term, self.pairs.distances, given, counts, self.power, self.floor, self.shape
        coordinates = np.ascontiguousarray(Z.T)
        with threads(self.n_jobs):
            if isinstance(self.pairs, AllPairs):
                costs, moves = all_pairs_stress(*about, coordinates)
            else:
                costs, moves = drawn_pairs_stress(*about, self.pairs.shifts, coordinates)
        return math.fsum(costs) / self.normaliser, moves.sum(axis=0).T / self.normaliser

    def row_weights(self) -> np.ndarray:
        """What the drawn pairs of each row weigh together (n,), rows in the order of the pairs."""
        assert isinstance(self.pairs, DrawnPairs)
        counts = np.ones(self.pairs.n) if self.counts is None else self.pairs.in_order(self.counts)
        total = np.zeros(self.pairs.n)
        for shift, distances in zip(self.pairs.shifts, self.pairs.distances, strict=True):
            weights = np.maximum(distances, self.floor) ** -self.power if self.power else 1.0
            mine = weights * counts * np.roll(counts, -shift)
            total += mine + np.roll(mine, shift)
        return total

    def __repr__(self) -> str:
        return f"Stress over {self.pairs.distances.size:,} pairs"

    def in_order(self, Z: np.ndarray) -> np.ndarray:
        """Rows of a table in the order in which the cost takes them: that of the pairs."""
        return self.pairs.in_order(Z)

    def out_of_order(self, Z: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`in_order`."""
        return self.pairs.out_of_order(Z)
