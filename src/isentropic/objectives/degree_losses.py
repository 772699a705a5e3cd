"""The cost of same-degree distributions: how far the similarities in the map are from those in the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..kernels._jit import threads
from ..kernels.pairs.degrees import all_pairs_forces, attractions, degree_sums, sampled_pairs_forces

_WORTH_THREADS = 50_000  # pairs: below that, waking threads costs more than the sums


@dataclass(frozen=True, slots=True)
class AllPairs:
    """The distances of all pairs of n rows, condensed as by ``scipy.spatial.distance.pdist``."""

    n: int
    distances: np.ndarray  # (n (n - 1) / 2,)

    def among(self, rows: np.ndarray) -> AllPairs:
        """Those of some of the rows, which are named in ascending order."""
        starts = rows * self.n - rows * (rows + 1) // 2 - rows - 1
        parts = [self.distances[starts[i] + rows[i + 1 :]] for i in range(len(rows))]
        return AllPairs(len(rows), np.concatenate(parts))

    def in_order(self, Z: np.ndarray) -> np.ndarray:
        """Rows of a table in the order of the pairs."""
        return Z

    def out_of_order(self, Z: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`in_order`."""
        return Z


@dataclass(frozen=True, slots=True)
class SampledPairs:
    """The distances of s n sampled pairs: of the rows ``order[i]`` and ``order[(i + shifts[s]) mod n]``.

    ``order`` is a random one, so that every row has ``2 s`` random partners; ``shifts`` are distinct, at
    least 1 and at most ``(n - 1) / 2``, so that no pair is drawn twice.
    """

    order: np.ndarray  # (n,)
    shifts: np.ndarray  # (s,)
    distances: np.ndarray  # (s, n)

    @property
    def n(self) -> int:
        return len(self.order)

    def in_order(self, Z: np.ndarray) -> np.ndarray:
        return Z[self.order]

    def out_of_order(self, Z: np.ndarray) -> np.ndarray:
        rows = np.empty_like(Z)
        rows[self.order] = Z
        return rows


class SameDegree:
    """``C(Z) = sum_g sum_pairs p log(p / q)``, p and q proportional to ``(1 + d^2)^-g`` in the data and in Z.

    Distances in the data are taken in multiples of ``unit``. The gradient is
    ``dC/dz_i = 4 sum_g g sum_j (p_ij - q_ij) (z_i - z_j) / (1 + |z_i - z_j|^2)``, p and q over ordered pairs.
    Drawn pairs stand for all: the normalisers are sums over the sampled pairs, on both sides the same ones.
    Memory: one more array like that of the distances.

    >>> import numpy as np
    >>> from scipy.spatial.distance import pdist
    >>> Z = np.array([[0.0, 0.0], [0.3, 0.1], [0.0, 0.9]])
    >>> cost, gradient = SameDegree(AllPairs(3, pdist(Z)), unit=1.0, degrees=[2])(Z)
    >>> bool(abs(cost) < 1e-12), bool(np.abs(gradient).max() < 1e-12)
    (True, True)
    """

    def __init__(
        self,
        pairs: AllPairs | SampledPairs,
        *,
        unit: float,
        degrees: Sequence[float],
        n_jobs: int | None = None,
        out: np.ndarray | None = None,
    ):
        flat = pairs.distances.ravel()
        self.pairs = pairs
        self.degrees = np.array(degrees, float)
        self.n_jobs = n_jobs if flat.size > _WORTH_THREADS else 1
        out = np.empty_like(flat) if out is None else out
        with threads(self.n_jobs):
            self._given = degree_sums(flat, unit, self.degrees).sum(axis=0)
            self._given_logs = float(attractions(flat, unit, self.degrees, self._given, out).sum())
        self.attraction = out.reshape(pairs.distances.shape)
        self._count = flat.size

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d), rows in the order of the pairs."""
        sums, pull, push = self._forces(Z)
        mapped = sums[1:]
        cost = sums[0] - self._given_logs + float(np.log(mapped / self._given).sum())
        pull -= np.tensordot(self.degrees / mapped, push, axes=1)
        return cost, 2.0 * pull.T

    def __repr__(self) -> str:
        return f"SameDegree at degrees {self.degrees.tolist()}"

    def in_order(self, Z: np.ndarray) -> np.ndarray:
        """Rows of a table in the order in which the cost takes them: that of the pairs."""
        return self.pairs.in_order(Z)

    def out_of_order(self, Z: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`in_order`."""
        return self.pairs.out_of_order(Z)

    def mean_weights(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean weight of a pair for each degree, in the data and in the map: the normalisers per pair."""
        sums, _, _ = self._forces(self.in_order(Z))
        return self._given / self._count, sums[1:] / self._count

    def curvature(self, Z: np.ndarray) -> float:
        """Mean second derivative of n times the cost by a coordinate of a row, as far as the weights bend it.

        ``8 g^2 E[u^(g+2) r^2] / (d E[u^g])``, summed over the degrees, r the distances in the map.
        """
        Z = self.in_order(Z)
        if isinstance(self.pairs, AllPairs):
            gaps = Z[1:] - Z[:-1]
        else:
            gaps = Z - np.roll(Z, -int(self.pairs.shifts[0]), axis=0)
        square = (gaps * gaps).sum(axis=1)
        u = 1.0 / (1.0 + square)
        return float(
            sum(8 * g * g * (u ** (g + 2) * square).mean() / (u**g).mean() for g in self.degrees) / Z.shape[1]
        )

    def _forces(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        coordinates = np.ascontiguousarray(Z.T)
        with threads(self.n_jobs):
            if isinstance(self.pairs, AllPairs):
                sums, moves = all_pairs_forces(self.attraction, coordinates, self.degrees)
                moves = moves.sum(axis=0)
            else:
                sums, moves = sampled_pairs_forces(
                    self.attraction, self.pairs.shifts, coordinates, self.degrees
                )
        # exactly rounded: the cost is the small difference of large sums
        totals = np.array([math.fsum(column) for column in sums.T])
        return totals, moves[0], moves[1:]
