"""The cost of t-SNE over all pairs in double precision, with or without a part for large distances."""

from __future__ import annotations

import math

import numpy as np

from ..kernels._jit import threads
from ..kernels.pairs.degrees import all_pairs_forces

_WORTH_THREADS = 300  # rows: below that, waking threads costs more than the sums
_DEGREE = np.ones(1)


class StudentPairs:
    """``KL(P || Q)``, ``q_ij`` proportional to ``(1 + |z_i - z_j|^2)^-1``, for condensed P of sum 1.

    With distances (condensed) and a weight l, ``+ l KL(P' || Q')`` for the weights ``1 + d^2`` in the data
    and in the map, which keeps large distances (global t-SNE). ``O(n^2)`` time a call and ``4 n^2`` bytes.

    >>> import numpy as np
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    >>> cost, gradient = StudentPairs(np.full(3, 1 / 3), 3, distances=np.ones(3), weight=2.0)(Z)
    >>> round(abs(cost), 12), float(np.abs(gradient).max().round(12))
    (0.0, 0.0)
    """

    def __init__(self, P: np.ndarray, n: int, *, distances=None, weight: float = 0.0, n_jobs=None):
        self.n, self.weight = n, weight
        self.n_jobs = n_jobs if n > _WORTH_THREADS else 1
        self._attraction = P
        self._constant = _negative_entropy(P)
        if distances is not None:
            far = 1.0 + distances**2
            far /= far.sum()
            self._constant += weight * _negative_entropy(far)
            self._attraction = P - weight * far

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d)."""
        with threads(self.n_jobs):
            sums, moves = all_pairs_forces(self._attraction, np.ascontiguousarray(Z.T), _DEGREE)
        logs, total = (math.fsum(column) for column in sums.T)
        pull, push = moves.sum(axis=0)
        cost = self._constant + logs + math.log(total)
        gradient = 2.0 * (pull - push / total).T
        if self.weight:
            centred = Z - Z.mean(axis=0)
            far = self.n * (self.n - 1) / 2 + self.n * float((centred * centred).sum())
            cost += self.weight * math.log(far)
            gradient += 2.0 * self.weight * self.n / far * centred
        return cost, gradient


def _negative_entropy(P: np.ndarray) -> float:
    """``sum p log p``."""
    some = P[P > 0]
    return float((some * np.log(some)).sum())
