"""UMAP's cross-entropy of fuzzy graphs, as moves of rows along its gradient by negative sampling."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import rel_entr

from .._core.runtime import row_blocks
from ..kernels._jit import threads
from ..kernels.layouts.epochs import FIRST, LAST, STEPS, fuzzy_epoch, fuzzy_slopes

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
        self._edges = W.indptr.astype(np.int64), W.indices.astype(np.int32), W.data.astype(np.float32)
        self._degrees = np.asarray(W.sum(axis=1)).ravel().astype(np.float32)
        self._forces = force_table(*curve)
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
                    _DRAWS, *np.array(steps, np.float32))  # fmt: skip


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

    def slopes(self, Z: np.ndarray, exaggeration: float = 1.0) -> np.ndarray:
        """The gradient at the map ``Z`` (n, d), in single precision; pushes divided by ``exaggeration``."""
        out = np.empty(Z.shape, np.float32)
        push = np.float32(self._push / exaggeration)
        with threads(self.n_jobs if len(Z) > _WORTH_THREADS else 1):
            fuzzy_slopes(np.ascontiguousarray(Z, np.float32), *self._edges, self._degrees, self._forces,
                         self._seed, self._count, _DRAWS, push, out)  # fmt: skip
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
