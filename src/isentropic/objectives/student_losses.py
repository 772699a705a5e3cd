"""Kullback-Leibler losses of SNE and t-SNE, by pairs and by interpolated fields."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from ..kernels._jit import threads
from ..kernels.layouts.neighbor_forces import (
    mixture_forces,
    pushes,
)
from ..kernels.pairs.degrees import all_pairs_forces, sampled_pairs_forces
from .degree_losses import SampledPairs
from .student_sums import PLANE, Boxes, Field, OrderedPulls, Pulls

# ---- The cost of t-SNE over all pairs in double precision, with or without a part for large distances ----


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
            far = _far_affinities(distances)
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
            log_far, push = _far_normaliser(Z)
            cost += self.weight * log_far
            gradient += 2.0 * self.weight * push
        return cost, gradient


def _far_affinities(distances: np.ndarray) -> np.ndarray:
    """``1 + d^2``, of sum 1."""
    far = 1.0 + distances**2
    far /= far.sum()
    return far


def _far_normaliser(Z: np.ndarray) -> tuple[float, np.ndarray]:
    """``log sum (1 + |z_i - z_j|^2)`` over all pairs, by moments; half its gradient. ``O(n)``."""
    n, centred = len(Z), Z - Z.mean(axis=0)
    total = n * (n - 1) / 2 + n * float((centred * centred).sum())
    return math.log(total), n / total * centred


def _negative_entropy(P: np.ndarray) -> float:
    """``sum p log p``."""
    some = P[P > 0]
    return float((some * np.log(some)).sum())


# ---- The cost of t-SNE: how far the Student weights of a map are from joint affinities of the data ----


EXACT_UP_TO = 4_000  # rows: the sums over their pairs take no longer than a field would
_DOUBLE_UP_TO = 1_000  # rows: places in double precision, as it costs nothing
_LEAST = 1e-30  # of a sum of weights
_PART = 2**22  # affinities
_STUDENT_WORTH_THREADS = 1_000  # rows: below that, waking threads costs more than the sums


class StudentNeighbors:
    """``KL(P || Q) = sum p log(p / q)``, ``q_ij`` proportional to ``(1 + |z_i - z_j|^2 / t)^(-(t+1)/2)``.

    Its gradient is ``2 (t+1)/t sum_j (p_ij - q_ij) (z_i - z_j) / (1 + |z_i - z_j|^2 / t)``. The pull of P is
    summed over its entries, the push of Q over all pairs: exactly, ``O(n^2)``, up to 4,000 rows, else by a
    :class:`Field`, ``O(n)``, or beyond the plane by :class:`Boxes`, ``O(n log n)``. Places are in units of
    ``sqrt(t)`` within, where the weights are ``(1 + d^2)^-g`` with ``g = (t+1)/2``.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> P = csr_array((np.ones((3, 3)) - np.eye(3)) / 6)
    >>> cost = StudentNeighbors(P, n_components=2)
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    >>> round(abs(cost.divergence(Z)), 6), float(np.abs(cost.gradient(Z)).max().round(6))
    (0.0, 0.0)
    """

    def __init__(self, P: csr_array, *, n_components: int, dof: float = 1.0, n_jobs: int | None = None):
        self.dof, self.n_jobs = dof, n_jobs if P.shape[0] > _STUDENT_WORTH_THREADS else 1
        self._power = (dof + 1.0) / 2.0
        # pairwise within a part: fsum would box 1e8 numbers, and their logarithms would be a second P
        parts = (P.data[start : start + _PART] for start in range(0, len(P.data), _PART))
        self._entropy = sum(float(xlogy(part, part).sum()) for part in parts)
        self._sum = float(P.data.sum())
        n = P.shape[0]
        approximate = "fields" if n_components <= PLANE else "barnes-hut"
        self.repulsion = approximate if n > EXACT_UP_TO else "exact"
        self._approximate = (Field if n_components <= PLANE else Boxes)(self._power)
        self._precision = np.float64 if n <= _DOUBLE_UP_TO else np.float32
        edges = P.indptr.astype(np.int64), P.indices, P.data.astype(self._precision)
        is_packed = n_components <= PLANE and self._precision == np.float32
        self._pulls = OrderedPulls(*edges) if is_packed else Pulls(*edges)

    def gradient(self, Z: np.ndarray, exaggeration: float = 1.0) -> np.ndarray:
        """A quarter of the gradient at the map ``Z`` (n, d), P multiplied by ``exaggeration``."""
        places = self._places(Z)
        with threads(self.n_jobs):
            push, total = self._pushes(places)
            pull = self._pulls(places)
        factor = self._power / math.sqrt(self.dof)
        pull *= self._precision(factor * exaggeration)
        push *= self._precision(factor / max(total, _LEAST))
        pull -= push
        return pull[:, : Z.shape[1]]

    def divergence(self, Z: np.ndarray, exaggeration: float = 1.0) -> float:
        """``KL(P || Q)`` at the map ``Z``: within 1e-3 by a field, within 5e-3 by boxes.

        With ``exaggeration``, what :meth:`gradient` with it are a quarter of the gradient of.
        """
        places = self._places(Z)
        with threads(self.n_jobs):
            logs = self._pulls.logs(places)
            total = self._pushes(places)[1]
        pulls = exaggeration * self._power * math.fsum(logs)
        return self._entropy + pulls + self._sum * math.log(max(total, _LEAST))

    def _places(self, Z: np.ndarray) -> np.ndarray:
        """In units of the weights; a line is a plane that nothing leaves."""
        places = np.zeros((len(Z), max(Z.shape[1], PLANE)), self._precision)
        np.divide(Z, math.sqrt(self.dof), out=places[:, : Z.shape[1]], casting="same_kind")
        return places

    def _pushes(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        if self.repulsion != "exact":
            return self._approximate(places)
        push = np.empty_like(places)
        sums = pushes(np.ascontiguousarray(places.T), self._power, push)
        return push, math.fsum(sums)


# ---- Global t-SNE of many rows: large distances count by those of sampled pairs -----------------


_NO_DEGREES = np.empty(0)
_GLOBAL_WORTH_THREADS = 50_000  # pairs: below that, waking threads costs more than the sums


class GlobalNeighbors:
    """``KL(P || Q) + l KL(P' || Q')``, the cost of global t-SNE, for many rows.

    P' has the weights ``1 + d^2`` of sampled pairs, which stand for all; the normaliser of Q' is that of all
    pairs, from the moments of the map. ``O(n s)`` time a call beside ``near``, for s pairs a row.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from isentropic.objectives import SampledPairs, StudentNeighbors
    >>> P = csr_array((np.ones((3, 3)) - np.eye(3)) / 6)
    >>> near = StudentNeighbors(P, n_components=2)
    >>> pairs = SampledPairs(np.arange(3), np.array([1]), np.ones((1, 3)))
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    >>> cost = GlobalNeighbors(near, pairs, weight=2.0)
    >>> round(abs(cost.divergence(Z)), 6), float(np.abs(cost.gradient(Z)).max().round(6))
    (0.0, 0.0)
    """

    def __init__(
        self, near: StudentNeighbors, pairs: SampledPairs, *, weight: float, n_jobs: int | None = None
    ):
        self.near, self.pairs, self.weight = near, pairs, weight
        self.repulsion = near.repulsion
        self.n_jobs = n_jobs if pairs.distances.size > _GLOBAL_WORTH_THREADS else 1
        self._far = _far_affinities(pairs.distances)
        share = self._far.size / (pairs.n * (pairs.n - 1) / 2)
        self._constant = _negative_entropy(self._far) + math.log(share)

    def gradient(self, Z: np.ndarray, exaggeration: float = 1.0) -> np.ndarray:
        """A quarter of the gradient at the map ``Z`` (n, d), P and the second divergence exaggerated."""
        pull = self._far_forces(Z)[1]
        far = (0.5 * exaggeration * self.weight) * (_far_normaliser(Z)[1] - pull)
        return self.near.gradient(Z, exaggeration) + far

    def divergence(self, Z: np.ndarray) -> float:
        """The cost at the map ``Z``."""
        far = self._constant + _far_normaliser(Z)[0] - self._far_forces(Z)[0]
        return self.near.divergence(Z) + self.weight * far

    def _far_forces(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """``sum p' log(1 + |z_i - z_j|^2)``, and half its gradient."""
        places = np.ascontiguousarray(self.pairs.in_order(Z).T)
        with threads(self.n_jobs):
            sums, moves = sampled_pairs_forces(self._far, self.pairs.shifts, places, _NO_DEGREES)
        return math.fsum(sums[:, 0]), self.pairs.out_of_order(moves[0].T)


# ---- The cost of SNE and multiscale SNE: Gaussian weights of a map against affinities of the data ----


_GAUSSIAN_WORTH_THREADS = 200  # rows: below that, waking threads costs more than the sums


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
        self.n_jobs = n_jobs if len(P) > _GAUSSIAN_WORTH_THREADS else 1
        self._entropy = math.fsum((row[row > 0] * np.log(row[row > 0])).sum() for row in P)

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d)."""
        with threads(self.n_jobs):
            costs, moves = mixture_forces(self.P, np.ascontiguousarray(Z.T), self.precisions)
        return self._entropy + math.fsum(costs), moves.sum(axis=0).T
