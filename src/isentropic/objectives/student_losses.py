"""Kullback-Leibler losses of SNE and t-SNE, by pairs and by interpolated fields."""

from __future__ import annotations

import math

import numpy as np
from scipy import fft
from scipy.sparse import csr_array
from scipy.special import xlogy

from ..kernels._jit import share, threads
from ..kernels.boxes import boxes_of, means_of, pushes_by_boxes, split_rows
from ..kernels.layouts.neighbor_forces import (
    mixture_forces,
    packed_pulls,
    pull_logs,
    pulls,
    pulls_in_plane,
    pushes,
    read_field,
    sorted_by_line,
    spread_charges,
)
from ..kernels.pairs.degrees import all_pairs_forces
from ..kernels.sorting import renumbered_edges

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


# ---- Sums over all pairs of a map as a field on a grid: particle-mesh, by two real Fourier transforms ----


SPACING = 0.35  # of the nodes, for the weights (1 + d^2)^-1
_TOUCHED = 4  # nodes that a row touches along an axis
_MOST_NODES = 4096  # along an axis; beyond that they lie farther apart
_AT_ONCE = 64  # lines of a grid, or columns, that are transformed together
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
        columns = np.ascontiguousarray(Z.T)  # along rows, which is ten times faster
        low, high = columns.min(axis=1), columns.max(axis=1)
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
        waves = np.empty((nodes[0], self._spectrum.shape[1]), np.complex64)
        first, second = self._shape

        def along_lines(b: int) -> None:
            block = slice(b * _AT_ONCE, (b + 1) * _AT_ONCE)
            waves[block] = fft.rfft(grid[block], n=second, axis=1)

        def across_lines(b: int) -> None:
            block = slice(b * _AT_ONCE, (b + 1) * _AT_ONCE)
            wave = fft.fft(waves[:, block], n=first, axis=0)
            wave *= self._spectrum[:, block]
            waves[:, block] = fft.ifft(wave, axis=0, overwrite_x=True)[: nodes[0]]

        def back(b: int) -> None:
            block = slice(b * _AT_ONCE, (b + 1) * _AT_ONCE)
            field[block] = fft.irfft(waves[block], n=second, axis=1)[:, : nodes[1]]

        # one axis after the other: half of the lines are empty before the second, unread after it
        field = grid
        share(along_lines, -(-len(waves) // _AT_ONCE))
        share(across_lines, -(-waves.shape[1] // _AT_ONCE))
        share(back, -(-len(waves) // _AT_ONCE))
        return field


def _coefficients(spectrum: np.ndarray, shape: list[int]) -> np.ndarray:
    """The inverse transform of a real, even spectrum at the first lags of both axes."""
    lags = np.arange(_TOUCHED)[:, None]
    first = np.cos(2 * np.pi * lags * np.arange(shape[0]) / shape[0])
    second = np.cos(2 * np.pi * lags * np.arange(spectrum.shape[1]) / shape[1])
    second[:, 1 : (shape[1] + 1) // 2] *= 2.0  # these stand for their mirror images, too
    return first @ spectrum @ second.T / (shape[0] * shape[1])


# ---- The same sums beyond the plane, where maps are too wide and empty for a grid: Barnes and Hut ----


_LEAF = 32  # rows


class Boxes:
    """The sums of :class:`Field` in any number of dimensions: far boxes of a tree stand for their rows.

    ``O(n log n)`` time, ``O(n)`` memory. In three dimensions pushes are within 1.5% of the exact ones (root
    mean square), within 0.1% where the map is wide, and the sum within 5e-3.
    """

    def __init__(self, power: float = 1.0):
        self.power = power

    def __call__(self, Z: np.ndarray) -> tuple[np.ndarray, float]:
        """Pushes (n, d) in single precision, and the sum of all weights, of places (n, d)."""
        Z = np.ascontiguousarray(Z, np.float32)
        if not np.isfinite(Z).all():  # which no box has
            return np.full_like(Z, np.nan), math.nan
        order, *nodes, depth = split_rows(Z, _LEAF)
        points, pushes = Z[order], np.empty(Z.shape)
        boxes, means, leaves = (
            boxes_of(points, *nodes),
            means_of(points, *nodes),
            np.flatnonzero(nodes[-1] == 0),
        )
        sums = pushes_by_boxes(points, *nodes, *boxes, means, depth, leaves, self.power, pushes)
        out = np.empty_like(Z)
        out[order] = pushes
        return out, float(sums.sum())


# ---- Pulls along the edges of a graph; in the plane, rows that are near each other are near in memory ----


class Pulls:
    """``sum_j p_ij / (1 + |z_i - z_j|^2) (z_i - z_j)`` for P as a graph in CSR form, ``O(nnz d)`` a call."""

    def __init__(self, starts: np.ndarray, indices: np.ndarray, weights: np.ndarray):
        self._edges = starts, indices, weights

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """The pulls at ``places`` (n, d)."""
        out = np.empty_like(places)
        (pulls_in_plane if places.shape[1] == _PLANE else pulls)(*self._edges, places, out)
        return out

    def logs(self, places: np.ndarray) -> np.ndarray:
        """``sum_j p_ij log(1 + |z_i - z_j|^2)`` of every row, in any order."""
        return pull_logs(*self._edges, places)


_LEVELS = 10  # doublings of the curve that orders rows: a map has 1024 cells along an axis
_FIRST_ORDERS = 16  # calls until rows are put in order again, and twice as many each time


class OrderedPulls:
    """:class:`Pulls` in the plane, in single precision.

    Rows are numbered along a curve through the map (Morton's order), so that those that pull a row are near
    in memory. The map moves, so that the numbering is made anew after 16, 32, 64, ... calls. The entries of a
    row keep their order: no bit depends on the numbering. ``O(nnz)`` a call.
    """

    def __init__(self, starts: np.ndarray, indices: np.ndarray, weights: np.ndarray):
        self._edges = starts, indices.astype(np.uint32), weights
        self._order = np.arange(len(starts) - 1)  # of the rows as they are numbered
        self._calls, self._next = 0, 0

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """The pulls at ``places`` (n, 2)."""
        if self._calls == self._next:
            self._put_in_order(places)
            self._next = max(2 * self._next, _FIRST_ORDERS)
        self._calls += 1
        out = np.empty_like(places)
        packed = places.view(np.uint64)[self._order, 0]
        packed_pulls(*self._edges, packed, self._order, out)
        return out

    def logs(self, places: np.ndarray) -> np.ndarray:
        """``sum_j p_ij log(1 + |z_i - z_j|^2)`` of every row, in any order."""
        return pull_logs(*self._edges, places[self._order])

    def _put_in_order(self, places: np.ndarray) -> None:
        before = np.empty(len(places), np.int64)
        before[self._order] = np.arange(len(places))
        order = curve_order(places)
        names = np.empty(len(places), np.uint32)
        names[before[order]] = np.arange(len(places))
        starts, indices, weights = self._edges
        lengths = np.diff(starts)[before[order]]
        moved = np.concatenate([[0], np.cumsum(lengths)])
        edges = moved, np.empty_like(indices), np.empty_like(weights)
        renumbered_edges(starts, indices, weights, before[order], names, *edges)
        self._edges, self._order = edges, order


def curve_order(places: np.ndarray) -> np.ndarray:
    """Rows along Morton's curve through 1024 x 1024 cells around places (n, 2); those of a cell as they come.

    >>> curve_order(np.array([[0.0, 0.0], [9.0, 9.0], [1.0, 1.0], [9.0, 0.0]])).tolist()
    [0, 2, 3, 1]
    """
    columns = np.ascontiguousarray(places.T)
    low = columns.min(axis=1, keepdims=True)
    width = float((columns.max(axis=1, keepdims=True) - low).max())
    if not 0.0 < width < np.inf:
        return np.arange(len(places))
    cells = ((columns - low) * ((2**_LEVELS - 1) / width)).astype(np.uint32)
    for shift, bits in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | (cells << np.uint32(shift))) & np.uint32(bits)  # a zero between any two bits
    return np.argsort((cells[0] << np.uint32(1)) | cells[1], kind="stable")


# ---- The cost of t-SNE: how far the Student weights of a map are from joint affinities of the data ----


EXACT_UP_TO = 4_000  # rows: the sums over their pairs take no longer than a field would
_PLANE = 2
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
        approximate = "fields" if n_components <= _PLANE else "barnes-hut"
        self.repulsion = approximate if n > EXACT_UP_TO else "exact"
        self._approximate = (Field if n_components <= _PLANE else Boxes)(self._power)
        self._precision = np.float64 if n <= _DOUBLE_UP_TO else np.float32
        edges = P.indptr.astype(np.int64), P.indices, P.data.astype(self._precision)
        is_packed = n_components <= _PLANE and self._precision == np.float32
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
        places = np.zeros((len(Z), max(Z.shape[1], _PLANE)), self._precision)
        np.divide(Z, math.sqrt(self.dof), out=places[:, : Z.shape[1]], casting="same_kind")
        return places

    def _pushes(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        if self.repulsion != "exact":
            return self._approximate(places)
        push = np.empty_like(places)
        sums = pushes(np.ascontiguousarray(places.T), self._power, push)
        return push, math.fsum(sums)


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
        self._forces = np.empty(P.shape)

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d)."""
        with threads(self.n_jobs):
            costs = mixture_forces(self.P, np.ascontiguousarray(Z), self.precisions, self._forces)
        ones = np.column_stack([Z, np.ones(len(Z))])
        moves = self._forces @ ones + self._forces.T @ ones
        return self._entropy + math.fsum(costs), moves[:, -1:] * Z - moves[:, :-1]
