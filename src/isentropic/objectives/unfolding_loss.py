"""Maximum variance unfolding: rows as far apart as fixed distances between neighbours let them be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True)
class Unfolding:
    """``max sum |z_i|^2 / n`` where ``|z_i - z_j|^2`` is, or is at most, the squared length of each pair.

    The semidefinite program of MVU with ``K = Z Z'``, Z of few columns (Burer and Monteiro), or with
    ``Z = basis Y`` for coordinates Y of landmarks. ``O(e r)`` time a value for e pairs, ``O(n l r)`` more for
    a basis.

    >>> import numpy as np
    >>> line = Unfolding(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 4.0]))
    >>> line.excess(np.array([[0.0], [1.0], [2.0]])).tolist()
    [0.0, -3.0]
    """

    n: int
    pairs: np.ndarray  # (e, 2), no pair twice
    squared: np.ndarray  # (e,)
    at_most: bool = False
    basis: np.ndarray | None = None  # (n, l)

    @cached_property
    def _incidence(self) -> tuple[csr_array, csr_array]:
        """Differences of rows over the pairs, and the sums that are its transpose."""
        count = len(self.pairs)
        signs = np.tile([1.0, -1.0], count)
        ends = np.arange(0, 2 * count + 1, 2)
        differences = csr_array((signs, self.pairs.ravel(), ends), shape=(count, self.n))
        return differences, csr_array(differences.T)

    def rows(self, Y: np.ndarray) -> np.ndarray:
        """Coordinates of all rows, centred."""
        Z = Y if self.basis is None else self.basis @ Y
        return Z - Z.mean(axis=0)

    def excess(self, Y: np.ndarray) -> np.ndarray:
        """What the squared length of each pair has beyond its own."""
        gaps = self._incidence[0] @ self.rows(Y)
        return (gaps**2).sum(axis=1) - self.squared

    def variance(self, Y: np.ndarray) -> float:
        """What is maximised."""
        return float((self.rows(Y) ** 2).sum()) / self.n

    def moved(self, multipliers: np.ndarray, penalty: float, excess: np.ndarray) -> np.ndarray:
        """The multipliers after a step of the method of multipliers."""
        found = multipliers + penalty * excess
        return np.maximum(found, 0.0) if self.at_most else found

    def lagrangian(
        self, multipliers: np.ndarray, penalty: float
    ) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
        """Augmented: ``-variance + (|moved multipliers|^2 - |multipliers|^2) / (2 n penalty)``."""
        differences, sums = self._incidence
        known = float(multipliers @ multipliers)

        def value(Y: np.ndarray) -> tuple[float, np.ndarray]:
            Z = self.rows(Y)
            gaps = differences @ Z
            forces = self.moved(multipliers, penalty, (gaps**2).sum(axis=1) - self.squared)
            cost = (float(forces @ forces) - known) / (2 * penalty) - float((Z**2).sum())
            gradient = (2 / self.n) * (sums @ (forces[:, None] * gaps) - Z)
            return cost / self.n, gradient if self.basis is None else self.basis.T @ gradient

        return value
