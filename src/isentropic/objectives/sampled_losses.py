"""Losses over sampled pairs and triplets: UMAP, PaCMAP, TriMap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import rel_entr

from .._core.runtime import row_blocks
from ..kernels._jit import threads
from ..kernels.elementary import key_jumps
from ..kernels.layouts.epochs import (
    FIRST,
    LAST,
    STEPS,
    fuzzy_epoch,
    fuzzy_gradient,
    pair_epoch,
    triplet_epoch,
)
from ..kernels.networks import bias_corrections

# ---- UMAP's cross-entropy of fuzzy graphs, as moves of rows along its gradient by negative sampling ----


SOFTENING = 1e-3  # added to squared distances where a force would be without bound
_ROWS_AT_ONCE = 4096
_DRAWS = 24  # rows that push a row in an epoch
_RISING = 0.5  # of the epochs, in which the pushes grow from a small share to all
_FIRST_PUSH = 0.04  # that share: rows find their neighbours before the map opens
_FIRST_RATE = 2.0
_MOMENTA = (0.9, 0.5)  # at first, and in the last epochs
_LAST = 0.2  # of the epochs
_FARTHEST = 2.0  # that a row may go in an epoch
_WORTH_THREADS = 1_000  # rows: below that, waking threads costs more than the sums


def force_table(a: float, b: float) -> np.ndarray:
    """Pull and push by squared distance s, for the curve ``q = 1 / (1 + a s^b)``: gradients of both parts.

    ``4 a b s^(b-1) / (1 + a s^b)``, of both ends of an edge, and ``2 b / ((s + 0.001) (1 + a s^b))``, at 64
    squared distances for every doubling; linear between them within 2e-4 of the force.
    """
    entry = np.arange((LAST - FIRST) * STEPS + 1)
    s = (1.0 + entry % STEPS / STEPS) * 2.0 ** (entry // STEPS + FIRST)
    scaled = a * s**b
    pull = 4.0 * b * scaled / (s * (1.0 + scaled))
    push = 2.0 * b / ((s + SOFTENING) * (1.0 + scaled))
    return np.column_stack([pull, push]).astype(np.float32)


def packed_tables(forces: np.ndarray) -> np.ndarray:
    """Tables of pull and push (2, entries): each entry and what the next one has more, as the bits of one."""
    packed = np.zeros((2, len(forces), 2), np.float32)
    packed[:, :, 0] = forces.T
    packed[:, :-1, 1] = np.diff(forces.T)
    return packed.view(np.uint64)[:, :, 0]


def mean_edge_cost(W: csr_array, curve: tuple[float, float], Z: np.ndarray) -> float:
    """The mean of ``w log(w / q) + (1 - w) log((1 - w) / (1 - q))`` over the edges of a graph: at least 0.

    ``q = 1 / (1 + a (r^2 + 0.001)^b)``, so that rows at one place have a finite cost. ``O(nnz)`` time.
    """
    a, b = curve
    total = 0.0
    for block in row_blocks(len(Z), "the cost", size=_ROWS_AT_ONCE):
        starts = W.indptr[block.start : block.stop + 1]
        edges = slice(starts[0], starts[-1])
        own = np.repeat(np.arange(block.start, block.start + len(starts) - 1), np.diff(starts))
        w = np.minimum(W.data[edges].astype(float), 1.0)
        p = a * (((Z[own] - Z[W.indices[edges]]) ** 2).sum(axis=1) + SOFTENING) ** b
        total += float((rel_entr(w, 1.0 / (1.0 + p)) + rel_entr(1.0 - w, p / (1.0 + p))).sum())
    return total / max(W.nnz, 1)


class _FuzzyForces:
    """A fuzzy graph, the forces of a curve along its edges, and the draws of a seed."""

    def __init__(self, W: csr_array, curve: tuple[float, float], *, push: float, seed: int):
        self._edges = W.indptr.astype(np.int64), W.indices.astype(np.uint32), W.data.astype(np.float32)
        self._degrees = np.asarray(W.sum(axis=1)).ravel().astype(np.float32)
        self._forces, self._jumps = packed_tables(force_table(*curve)), key_jumps(_DRAWS)
        self._push, self._seed = push, seed


class FuzzyMoves(_FuzzyForces):
    """Moves of ``sum w log(w / q) + (1 - w) log((1 - w) / (1 - q))``, ``q = 1 / (1 + a r^(2b))``.

    The second part is a sample: every row is pushed by 24 drawn rows, which weigh ``push`` times its degree
    together. A row steps by its force over the stiffness of its pulls, with momentum: near neighbours that
    all move at once do not overshoot, whatever the degrees are. The steps fade, and the pushes grow in the
    first half. From an earlier map, a share of all that has ``begun`` is left out.

    ``O(nnz + 24 n)`` an epoch.
    """

    n_memories = 1

    def __init__(
        self,
        W: csr_array,
        curve: tuple[float, float],
        *,
        push: float,
        n_epochs: int,
        seed: int,
        begun: float = 0.0,
    ):
        super().__init__(W, curve, push=push, seed=seed)
        self._n_epochs, self._begun = n_epochs, begun

    def __call__(self, Z: np.ndarray, memory: np.ndarray, out: np.ndarray, epoch: int) -> None:
        share = self._begun + (1.0 - self._begun) * epoch / self._n_epochs
        push = self._push * (_FIRST_PUSH + (1.0 - _FIRST_PUSH) * min(share / _RISING, 1.0))
        momentum = _MOMENTA[share >= 1.0 - _LAST]
        steps = (push, _FIRST_RATE * (1.0 - share), momentum, _FARTHEST)
        fuzzy_epoch(Z, memory[0], out, *self._edges, self._degrees, self._forces, self._seed, epoch,
                    self._jumps, *np.array(steps, np.float32))  # fmt: skip


class FuzzyNeighbors(_FuzzyForces):
    """The cost of :class:`FuzzyMoves` and its gradient, for descents that move rows otherwise.

    What pushes a row is drawn anew for every gradient, by the seed, the number of gradients before, and the
    row. A graph of equal degrees has weights of sum 1, where the cost is as large as its gradient says.

    >>> import numpy as np
    >>> from scipy.sparse import coo_array, csr_array
    >>> cost = FuzzyNeighbors(csr_array(np.eye(4)[[1, 0, 3, 2]]), (1.577, 0.895), push=5.0, seed=0)
    >>> near, far = np.array([[0.0], [0.1], [9.0], [9.1]]), np.array([[0.0], [9.0], [0.1], [9.1]])
    >>> cost.divergence(near) < cost.divergence(far)
    True
    """

    def __init__(self, W: csr_array, curve: tuple[float, float], *, push: float, seed: int, n_jobs=None):
        super().__init__(W, curve, push=push, seed=seed)
        self._W, self._curve, self._count, self.n_jobs = W, curve, 0, n_jobs

    def gradient(self, Z: np.ndarray, exaggeration: float = 1.0) -> np.ndarray:
        """The gradient at the map ``Z`` (n, d), in single precision; pushes divided by ``exaggeration``."""
        out = np.empty(Z.shape, np.float32)
        push = np.float32(self._push / exaggeration)
        with threads(self.n_jobs if len(Z) > _WORTH_THREADS else 1):
            fuzzy_gradient(np.ascontiguousarray(Z, np.float32), *self._edges, self._degrees, self._forces,
                         self._seed, self._count, self._jumps, push, out)  # fmt: skip
        self._count += 1
        return out

    def divergence(self, Z: np.ndarray, exaggeration: float = 1.0) -> float:
        """The mean of ``-log q`` over the edges, and ``push / 2`` of that of ``-log(1 - q)`` over pairs.

        Nothing is drawn: 24 others for each row, the same ones at every call, or all. Half of the push, since
        a drawn row is not pushed itself. Softened as the cost of edges.
        """
        a, b = self._curve
        own, others, weights = coo_array(self._W).row, self._W.indices, self._W.data
        pulls = np.log1p(a * (((Z[own] - Z[others]) ** 2).sum(axis=1) + SOFTENING) ** b)
        shifts = np.unique(np.linspace(1, len(Z) - 1, _DRAWS).astype(np.int64))
        gaps = np.stack([((Z - np.roll(Z, shift, axis=0)) ** 2).sum(axis=1) for shift in shifts])
        pushes = np.log1p(1.0 / (a * (gaps + SOFTENING) ** b))
        return float(np.average(pulls, weights=weights) + self._push / (2 * exaggeration) * pushes.mean())


# ---- PaCMAP's cost over near, mid-near and further pairs, as steps of Adam's ---------------------


HALVES = (10.0, 10_000.0, 1.0)  # squared distances at which the three costs are at half
_PHASES = (2 / 9, 4 / 9)  # of the steps: mid-near pairs fade out in the first, end with the second
_FIRST_MID = 1000.0
_MID, _NEAR = 3.0, (2.0, 3.0, 1.0)  # the weights of mid-near pairs after the first phase, of near ones in all


def phase_weights(step: int, n_steps: int) -> tuple[float, float, float]:
    """Weights of near, mid-near and further pairs, as published for 450 steps."""
    share = step / n_steps
    if share < _PHASES[0]:
        gone = share / _PHASES[0]
        return _NEAR[0], (1.0 - gone) * _FIRST_MID + gone * _MID, 1.0
    if share < _PHASES[1]:
        return _NEAR[1], _MID, 1.0
    return _NEAR[2], 0.0, 1.0


def adam_rate(rate: float, step: int) -> float:
    """The rate of a step, with Adam's corrections of both means."""
    of_mean, of_squares = bias_corrections(step + 1)
    return rate * of_squares / of_mean


class PairSteps:
    """Steps down ``w_near sum u / (10 + u) + w_mid sum u / (10000 + u) + w_far sum 1 / (1 + u)``,
    ``u = 1 + r^2``, over the pairs ``(i, lists[t][i, s])``; -1 in a list is no pair. ``O(pairs)`` a step.
    """

    n_memories = 2

    def __init__(self, lists: tuple[np.ndarray, ...], *, n_steps: int):
        self._starts, self._ends = both_ends(lists)
        self._n_steps = n_steps

    def __call__(self, Z: np.ndarray, memory: np.ndarray, out: np.ndarray, epoch: int) -> None:
        near, mid, far = phase_weights(epoch, self._n_steps)
        amounts = 2.0 * np.array([near * HALVES[0], mid * HALVES[1], -far * HALVES[2]])
        pair_epoch(Z, memory, out, self._starts, self._ends, amounts.astype(np.float32),
                   np.array(HALVES, np.float32), np.float32(adam_rate(1.0, epoch)))  # fmt: skip


def mean_pair_cost(near: np.ndarray, far: np.ndarray, Z: np.ndarray) -> float:
    """The mean of ``u / (10 + u)`` of near and ``1 / (1 + u)`` of further pairs in a map, ``u = 1 + r^2``.

    The cost of the last phase, over its number of pairs; a column of the lists at a time, ``O(pairs)``.
    """
    total, count = 0.0, 0
    for rows in near.T:
        u = 1.0 + ((Z - Z[rows]) ** 2).sum(axis=1)
        total += float((u / (HALVES[0] + u)).sum())
        count += len(rows)
    for rows in far.T:
        there = rows >= 0
        u = 1.0 + ((Z[there] - Z[rows[there]]) ** 2).sum(axis=1)
        total += float((1.0 / (HALVES[2] + u)).sum())
        count += len(u)
    return total / count


def both_ends(lists: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Every pair in the lists of both of its rows, in a fixed order.

    Where those of each kind start (n, kinds + 1), and the other rows.
    """
    n, kinds = len(lists[0]), len(lists)
    heads, tails, codes = [], [], []
    for kind, near in enumerate(lists):
        own = np.repeat(np.arange(n), near.shape[1])
        other = near.ravel().astype(np.int64)
        own, other = own[other >= 0], other[other >= 0]
        heads += [own, other]
        tails += [other, own]
        codes.append(np.full(2 * len(own), kind))
    head, code = np.concatenate(heads), np.concatenate(codes)
    cell = head * kinds + code
    order = np.argsort(cell, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n * kinds))])
    starts = np.column_stack([ends[:-1].reshape(n, kinds), ends[kinds::kinds]])
    return np.ascontiguousarray(starts), np.concatenate(tails)[order].astype(np.int32)


# ---- TriMap's cost over triplets, as steps of Nesterov's with gains ------------------------------


_RATE = 0.1
_TRIPLET_MOMENTA, _SWITCH = (
    (0.5, 0.8),
    0.625,
)  # the second from this share of the steps on, as published for 400


@dataclass(frozen=True, slots=True)
class Triplets:
    """Row i is to be nearer to ``near[i, t]`` than to ``far[i, t]``; a weight of 0 is no triplet."""

    near: np.ndarray  # (n, t) int32
    far: np.ndarray
    weights: np.ndarray  # (n, t) float32

    def violated(self, Z: np.ndarray) -> float:
        """The share of triplets whose far row is nearer than the near one on a map; 0 without triplets.

        A column of triplets at a time: ``O(triplets)`` time, ``O(n)`` memory.
        """
        count = 0
        for near, far, weights in zip(self.near.T, self.far.T, self.weights.T, strict=True):
            to_near, to_far = (((Z - Z[rows]) ** 2).sum(axis=1) for rows in (near, far))
            count += int(np.count_nonzero((to_near > to_far) & (weights > 0)))
        return count / max(int(np.count_nonzero(self.weights)), 1)

    def by_part(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The triplets that each row does not lead, in the order of the leaders.

        Starts, leaders, third rows, and weights, those of far rows negative.
        """
        row, column = np.nonzero(self.weights)
        near, far, weights = (part[row, column] for part in (self.near, self.far, self.weights))
        moved = np.concatenate([near, far])
        order = np.argsort(moved, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(moved, minlength=len(self.near)))])
        leaders = np.concatenate([row, row])[order].astype(np.int32)
        others = np.concatenate([far, near])[order].astype(np.int32)
        return starts, leaders, others, np.concatenate([weights, -weights])[order]


class TripletSteps:
    """Steps down ``sum w a / (a + b)``, ``a = 1 + |z_i - z_j|^2`` and ``b = 1 + |z_i - z_k|^2``.

    Gradient descent with momentum and gains (delta-bar-delta), the gradient looked up ahead (Nesterov).
    ``O(triplets)`` a step.
    """

    n_memories = 2

    def __init__(self, triplets: Triplets, *, n_steps: int):
        self._led = triplets.near, triplets.far, triplets.weights
        self._taken = triplets.by_part()
        self._n_steps = n_steps

    def momentum(self, step: int) -> float:
        return _TRIPLET_MOMENTA[step > _SWITCH * self._n_steps]

    def __call__(self, Z: np.ndarray, memory: np.ndarray, out: np.ndarray, epoch: int) -> None:
        ahead = self.momentum(epoch + 1) if epoch + 1 < self._n_steps else 0.0  # the last one looks nowhere
        steps = np.array([_RATE, self.momentum(epoch), ahead], np.float32)
        triplet_epoch(Z, memory, out, *self._led, *self._taken, *steps)
