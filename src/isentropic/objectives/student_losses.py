"""Kullback-Leibler losses of SNE and t-SNE, by pairs and by interpolated fields."""

from __future__ import annotations

import math

import numpy as np
from scipy import fft
from scipy.sparse import csr_array
from scipy.special import xlogy

from ..kernels._jit import threads
from ..kernels.layouts.neighbor_forces import (
    mixture_forces,
    pull_logs,
    pulls,
    pulls_in_plane,
    pushes,
    read_field,
    sorted_by_line,
    spread_charges,
)
from ..kernels.pairs.degrees import all_pairs_forces, sampled_pairs_forces
from .degree_losses import SampledPairs

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


# ---- Sums over all pairs of a map as a field on a grid: particle-mesh, by two real Fourier transforms ----


SPACING = 0.35  # of the nodes, for the weights (1 + d^2)^-1
_TOUCHED = 4  # nodes that a row touches along an axis
_MOST_NODES = 4096  # along an axis; beyond that they lie farther apart
_SPARE = 1.08  # more nodes than needed, so that a map may grow before its kernel is transformed anew


class Field:
    """``sum_ij (1 + |z_i - z_j|^2)^-g`` over all pairs, and the push of all on each row, in the plane.

    Rows are spread onto a grid by cubic B-splines, convolved with the weights sampled at the nodes, and the
    field is read, with its slopes, by the same splines; the transform of the kernel is divided by theirs, so
    that the field is exact at the nodes. ``O(n + s log s)`` for s nodes, as many as the map is wide. At the
    spacing of 0.35 pushes are within 1.5% of the exact ones (root mean square) and the sum within 1e-4.
    """

    def __init__(self, power: float = 1.0):
        self.power = power
        self.spacing = SPACING / np.sqrt(max(power, 1.0))  # the weights fall faster
        self._shape: tuple[int, int] = (0, 0)
        self._at = 0.0  # the spacing that the spectrum is for

    def __call__(self, Z: np.ndarray) -> tuple[np.ndarray, float]:
        """Pushes (n, 2) in single precision, and the sum of all weights, of places (n, 2)."""
        field, _, spacing, (order, places) = self._around(Z, margin=0)
        pushes = np.empty(Z.shape, np.float32)
        total = float(read_field(field, self._near, order, places, pushes).sum())
        pushes *= np.float32(-1.0 / (2.0 * self.power * spacing))
        return pushes, total

    def nodes(self, Z: np.ndarray, margin: int) -> tuple[np.ndarray, np.ndarray, float]:
        """The coefficients of the field on a grid, where its first cell begins, and the spacing.

        ``margin`` nodes more on every side.
        """
        field, origin, spacing, _ = self._around(Z, margin)
        return field, origin, spacing

    def _around(self, Z: np.ndarray, margin: int):
        low, high = Z.min(axis=0), Z.max(axis=0)
        widest = float((high - low).max())
        spacing = np.float32(max(self.spacing, widest / (_MOST_NODES - _TOUCHED - 2 * margin)))
        origin = low - margin * spacing
        cells = ((high - low) / spacing).astype(np.int64) + 1 + 2 * margin
        nodes = cells + _TOUCHED - 1
        self._prepare(nodes, float(spacing))
        order, places, starts = sorted_by_line(Z, origin, spacing, cells[0])
        return self._convolved(places, starts, nodes), origin, float(spacing), (order, places)

    def _prepare(self, nodes: np.ndarray, spacing: float) -> None:
        """The spectrum of the kernel, anew where the map has outgrown the last one, or shrunk."""
        fits = all(2 * k <= m <= 3 * k + 64 for k, m in zip(nodes.tolist(), self._shape, strict=True))
        if fits and spacing == self._at:
            return
        shape = [fft.next_fast_len(int(2 * k * _SPARE), real=True) for k in nodes.tolist()]
        self._shape, self._at = (shape[0], shape[1]), spacing
        first, second = (np.minimum(np.arange(m), m - np.arange(m)) * spacing for m in shape)
        kernel = 1.0 + first[:, None] ** 2 + second**2
        kernel = 1.0 / kernel if self.power == 1.0 else kernel**-self.power
        spectrum = fft.rfft2(kernel).real  # even, so that its transform is real
        of_splines = [((4 + 2 * np.cos(2 * np.pi * np.arange(m) / m)) / 6) ** 2 for m in shape]
        spectrum /= of_splines[0][:, None]
        spectrum /= of_splines[1][: spectrum.shape[1]]
        self._near = _coefficients(spectrum, shape).astype(np.float32)
        self._spectrum = spectrum.astype(np.float32)

    def _convolved(self, places: np.ndarray, starts: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        grid = np.empty(tuple(nodes), np.float32)
        spread_charges(places, starts, grid)
        # one axis after the other: half of the lines are empty before the second, unread after it
        waves = fft.fft(fft.rfft(grid, n=self._shape[1], axis=1), n=self._shape[0], axis=0)
        waves *= self._spectrum
        waves = fft.ifft(waves, axis=0, overwrite_x=True)[: nodes[0]]
        return fft.irfft(waves, n=self._shape[1], axis=1)


def _coefficients(spectrum: np.ndarray, shape: list[int]) -> np.ndarray:
    """The inverse transform of a real, even spectrum at the first lags of both axes."""
    lags = np.arange(_TOUCHED)[:, None]
    first = np.cos(2 * np.pi * lags * np.arange(shape[0]) / shape[0])
    second = np.cos(2 * np.pi * lags * np.arange(spectrum.shape[1]) / shape[1])
    second[:, 1 : (shape[1] + 1) // 2] *= 2.0  # these stand for their mirror images, too
    return first @ spectrum @ second.T / (shape[0] * shape[1])


# ---- The cost of t-SNE: how far the Student weights of a map are from joint affinities of the data ----


EXACT_UP_TO = 4_000  # rows: the sums over their pairs take no longer than a field would
_PLANE = 2
_DOUBLE_UP_TO = 1_000  # rows: places in double precision, as it costs nothing
_LEAST = 1e-30  # of a sum of weights
_STUDENT_WORTH_THREADS = 1_000  # rows: below that, waking threads costs more than the sums


class StudentNeighbors:
    """``KL(P || Q) = sum p log(p / q)``, ``q_ij`` proportional to ``(1 + |z_i - z_j|^2 / t)^(-(t+1)/2)``.

    Its gradient is ``2 (t+1)/t sum_j (p_ij - q_ij) (z_i - z_j) / (1 + |z_i - z_j|^2 / t)``. The pull of P is
    summed over its entries, the push of Q over all pairs: exactly, ``O(n^2)``, up to 4,000 rows and beyond
    two dimensions, else by a :class:`Field`, ``O(n)``. Places are in units of
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
        self._starts, self._indices = P.indptr.astype(np.int64), P.indices
        self._entropy = float(xlogy(P.data, P.data).sum())  # pairwise: fsum would box 1e8 numbers
        self._sum = float(P.data.sum())
        n = P.shape[0]
        self.repulsion = "fields" if n > EXACT_UP_TO and n_components <= _PLANE else "exact"
        self._field = Field(self._power)
        self._precision = np.float64 if n <= _DOUBLE_UP_TO else np.float32
        self._weights = P.data.astype(self._precision)

    def gradient(self, Z: np.ndarray, exaggeration: float = 1.0) -> np.ndarray:
        """A quarter of the gradient at the map ``Z`` (n, d), P multiplied by ``exaggeration``."""
        places = self._places(Z)
        with threads(self.n_jobs):
            push, total = self._pushes(places)
            pull = np.empty_like(places)
            follow = pulls_in_plane if places.shape[1] == _PLANE else pulls
            follow(self._starts, self._indices, self._weights, places, pull)
        factor = self._power / math.sqrt(self.dof)
        pull *= self._precision(factor * exaggeration)
        push *= self._precision(factor / max(total, _LEAST))
        pull -= push
        return pull[:, : Z.shape[1]]

    def divergence(self, Z: np.ndarray, exaggeration: float = 1.0) -> float:
        """``KL(P || Q)`` at the map ``Z``: with a field within 1e-3, else but for rounding.

        With ``exaggeration``, what :meth:`gradient` with it are a quarter of the gradient of.
        """
        places = self._places(Z)
        with threads(self.n_jobs):
            logs = pull_logs(self._starts, self._indices, self._weights, places)
            total = self._pushes(places)[1]
        pulls = exaggeration * self._power * math.fsum(logs)
        return self._entropy + pulls + self._sum * math.log(max(total, _LEAST))

    def _places(self, Z: np.ndarray) -> np.ndarray:
        """In units of the weights; a line is a plane that nothing leaves."""
        places = np.zeros((len(Z), max(Z.shape[1], _PLANE)), self._precision)
        np.divide(Z, math.sqrt(self.dof), out=places[:, : Z.shape[1]], casting="same_kind")
        return places

    def _pushes(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        if self.repulsion == "fields":
            return self._field(places)
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
