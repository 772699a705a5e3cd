"""The cost of SNE and multiscale SNE: Gaussian weights of a map against affinities of the data."""

from __future__ import annotations

import math

import numpy as np

from ..kernels._jit import threads
from ..kernels.layouts.gaussian_mixtures import mixture_forces

_WORTH_THREADS = 200  # rows: below that, waking threads costs more than the sums


class GaussianNeighbors:
    """``C(Z) = sum_i KL(P_i || Q_i)``, ``q_j|i`` the mean over h of ``exp(-a_h |z_i - z_j|^2 / 2) / sum``.

    One precision of 2 is SNE, several are multiscale SNE. All pairs: ``O(n^2 h)`` time, ``16 n^2`` bytes.

    >>> import numpy as np
    >>> P = (np.ones((3, 3)) - np.eye(3)) / 2
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    >>> cost, gradient = GaussianNeighbors(P, [2.0])(Z)
    >>> round(abs(cost), 12), float(np.abs(gradient).max().round(12))
    (0.0, 0.0)
    """

    def __init__(self, P: np.ndarray, precisions, *, n_jobs: int | None = None):
        self.P, self.precisions = P, np.asarray(precisions, float)
        self.n_jobs = n_jobs if len(P) > _WORTH_THREADS else 1
        self._entropy = math.fsum((row[row > 0] * np.log(row[row > 0])).sum() for row in P)
        self._forces = np.empty(P.shape)

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d)."""
        with threads(self.n_jobs):
            costs = mixture_forces(self.P, np.ascontiguousarray(Z), self.precisions, self._forces)
        ones = np.column_stack([Z, np.ones(len(Z))])
        moves = self._forces @ ones + self._forces.T @ ones
        return self._entropy + math.fsum(costs), moves[:, -1:] * Z - moves[:, :-1]
