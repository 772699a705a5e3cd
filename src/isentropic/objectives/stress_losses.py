"""Stress of all pairs, of listed pairs, monotone (nonmetric), and of rank images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from .._core.runtime import require_memory
from ..kernels._jit import threads
from ..kernels.pairs.degrees import paired_distances
from ..kernels.pairs.disparities import (
    condensed_ranks,
    pool_adjacent_violators,
    rank_images,
    sort_within,
    spread_pools,
)
from ..kernels.pairs.pair_stress import (
    SQUARES,
    all_pairs_lengths,
    all_pairs_stress,
    listed_values,
    pair_list_stress,
    pair_rows,
    sampled_pairs_stress,
)
from .degree_losses import AllPairs, SampledPairs

# --------------------------------------------------------------------------------------------------
# Stress: how far the distances of a map are from those of the data, or another cost of pairs by both.


_WORTH_THREADS = 50_000  # pairs: below that, waking threads costs more than the sums
_FLOOR = 1e-6  # of the mean distance: what is nearer weighs no more than that


def worth_threads(n_pairs: int, n_jobs: int | None) -> int | None:
    """The number of threads; one for few pairs."""
    return n_jobs if n_pairs > _WORTH_THREADS else 1


def weight_floor(pairs: AllPairs | SampledPairs) -> float:
    """The distance below which a power of it would weigh a near-duplicate above all else."""
    return _FLOOR * float(pairs.distances.mean()) if pairs.distances.size else 0.0


class Stress:
    """``C(Z) = sum_pairs w (d - e)^2 / sum_pairs w d^2``, d distances in the data and e in the map.

    The weights are ``max(d, floor)^-power``, or ``weights``, one for each pair, as the distances are laid
    out; times ``counts_i counts_j``, the numbers of equal rows that a row of the map stands for. The gradient
    is ``dC/dz_i = 2 / c sum_j w_ij (e_ij - d_ij) / e_ij (z_i - z_j)``; a pair at one place adds nothing to
    it. Drawn pairs stand for all, in numerator and denominator alike.

    ``term`` is another cost of a pair than the square, with the numbers ``shape``: see
    ``kernels.pairs.pair_stress``. The sum is divided by ``normaliser``, by default the cost of a map that
    is one point. No memory beyond the distances, and the weights where these are given.

    >>> import numpy as np
    >>> from scipy.spatial.distance import pdist
    >>> Z = np.array([[0.0, 0.0], [0.3, 0.1], [0.0, 0.9]])
    >>> cost, gradient = Stress(AllPairs(3, pdist(Z)))(2 * Z)
    >>> round(cost, 12), bool((gradient[2] * Z[2] >= 0).all())
    (1.0, True)
    """

    def __init__(
        self,
        pairs: AllPairs | SampledPairs,
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
                costs, moves = sampled_pairs_stress(*about, self.pairs.shifts, coordinates)
        return math.fsum(costs) / self.normaliser, moves.sum(axis=0).T / self.normaliser

    def row_weights(self) -> np.ndarray:
        """What the sampled pairs of each row weigh together (n,), rows in the order of the pairs."""
        assert isinstance(self.pairs, SampledPairs)
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


# ---- Weighted stress over listed pairs: how far distances in the map are from those wanted -------


@dataclass(frozen=True, slots=True)
class ListedPairs:
    """Partners of each row in CSR form, symmetric: the distance wanted of a pair, and what it weighs."""

    indptr: np.ndarray  # (n + 1,) int64
    indices: np.ndarray  # (p,) int32
    wanted: np.ndarray  # (p,)
    weights: np.ndarray  # (p,)

    @classmethod
    def of(
        cls,
        n: int,
        first: np.ndarray,
        second: np.ndarray,
        measure: Callable[[np.ndarray, np.ndarray], np.ndarray],
        *,
        counts: np.ndarray | None = None,
        known: ListedPairs | None = None,
    ) -> ListedPairs:
        """From pairs of n rows that are named once each, which weigh ``counts_i counts_j``, or 1.

        ``measure`` gives the distances wanted of rows (p,) and rows (p,), unless ``known`` lists have them.
        """
        indptr, indices = np.zeros(n + 1, np.int64), np.empty(2 * len(first), np.int32)
        pair, wanted = np.empty(len(indices), np.int64), np.full(len(first), np.nan)
        pair_rows(first, second, indptr, indices, pair)
        if known is not None:
            listed_values(indptr, indices, pair, known.indptr, known.indices, known.wanted, wanted)
        new = np.flatnonzero(np.isnan(wanted))
        wanted[new] = measure(first[new], second[new])
        weights = np.ones(len(pair)) if counts is None else (counts[first] * counts[second])[pair]
        return cls(indptr, indices, wanted[pair], weights)


class ListedStress:
    """``C(Z) = sum w (t - e)^2 / sum w t^2`` over listed pairs, t the distances wanted, e those in the map.

    ``dC/dz_i = -2 sum_j w_ij (t_ij - e_ij) / e_ij (z_i - z_j) / sum w t^2``. ``O(p d)`` for p partners.

    >>> import numpy as np
    >>> pairs = ListedPairs(np.array([0, 1, 2]), np.array([1, 0]), np.array([2.0, 2.0]), np.ones(2))
    >>> cost, gradient = ListedStress(pairs)(np.array([[0.0], [1.0]]))
    >>> cost, gradient.ravel().tolist()
    (0.25, [0.5, -0.5])
    """

    def __init__(self, pairs: ListedPairs, *, n_jobs: int | None = None):
        self.pairs = pairs
        self.n_jobs = worth_threads(len(pairs.indices), n_jobs)
        self.total = 0.5 * float((pairs.weights * pairs.wanted**2).sum()) or 1.0

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d)."""
        pairs, gradient = self.pairs, np.empty(Z.shape)
        with threads(self.n_jobs):
            costs = pair_list_stress(pairs.indptr, pairs.indices, pairs.wanted, pairs.weights, Z, gradient)
        return 0.5 * math.fsum(costs) / self.total, gradient / self.total

    def __repr__(self) -> str:
        return f"stress of {len(self.pairs.indices) // 2:,} listed pairs"

    def in_order(self, Z: np.ndarray) -> np.ndarray:
        """Rows of a table in the order in which the cost takes them: as they are."""
        return Z

    def out_of_order(self, Z: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`in_order`."""
        return Z


# --------------------------------------------------------------------------------------------------
# Kruskal's stress-1: how far distances in a map are from any increasing function of those in the data.


_NONE = np.empty(0)
_ROUNDING = 1e-12  # of a distance: two that differ by less are tied, and their last digits say nothing


class MonotoneStress:
    """``C(Z) = min_f sum (f(d) - e)^2 / sum e^2`` over pairs, f increasing: the square of stress-1.

    f is found anew for every map, by pooling adjacent violators in the order of the distances d. Where these
    are tied, ``ties="primary"`` lets f differ between them, in the order of e; ``"secondary"`` does not. As f
    is the best one, its own change adds nothing to the gradient,
    ``dC/dz_i = 2 / sum e^2 sum_j (e_ij - f_ij - C e_ij) (z_i - z_j) / e_ij``. Pairs count
    ``counts_i counts_j`` times. Of the distances only the order matters.

    Beyond the distances: 36 bytes a pair, and 16 more where rows count several times. ``O(pairs)`` time,
    after one sort.

    >>> import numpy as np
    >>> from scipy.spatial.distance import pdist
    >>> Z = np.array([[0.0, 0.0], [0.3, 0.1], [0.0, 0.9], [1.0, 1.0]])
    >>> cost, gradient = MonotoneStress(AllPairs(4, pdist(Z) ** 3))(Z)
    >>> cost, bool(np.abs(gradient).max() < 1e-12)
    (0.0, True)
    """

    def __init__(
        self,
        pairs: AllPairs | SampledPairs,
        *,
        ties: str = "primary",
        counts: np.ndarray | None = None,
        n_jobs: int | None = None,
    ):
        flat = pairs.distances.ravel()
        small = np.int32 if flat.size < 2**31 else np.int64
        self.pairs, self.primary = pairs, ties == "primary"
        self.order = np.argsort(flat, kind="stable").astype(small)
        ascending = flat[self.order]
        new = np.flatnonzero(np.diff(ascending) > _ROUNDING * ascending[1:]) + 1
        self.n_levels = len(new) + 1
        tied = self.n_levels < flat.size
        self.bounds = np.concatenate([[0], new, [flat.size]]).astype(small) if tied else np.empty(0, small)
        self._weights = _NONE if counts is None else pair_counts(pairs, counts)
        self._lengths, self._means = np.empty(flat.size), np.empty(flat.size)
        self._loads, self._starts = np.empty(self._weights.size), np.empty(flat.size, small)
        self._wanted = replace(pairs, distances=np.empty(pairs.distances.shape))
        self._stress = Stress(self._wanted, floor=0.0, counts=counts, normaliser=1.0, n_jobs=n_jobs)
        self.n_jobs = self._stress.n_jobs

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """Cost and gradient at the map ``Z`` (n, d), rows in the order of the pairs."""
        n_pools = self._pool(Z)
        wanted = self._wanted.distances.reshape(-1)
        error, square = spread_pools(
            self._lengths, self.order, self._weights, self._means, self._starts, n_pools, wanted
        )
        cost = error / square
        wanted /= 1.0 - cost  # (1 - C) e - f is the slope of ordinary stress towards f / (1 - C)
        _, gradient = self._stress(Z)
        return cost, gradient * ((1.0 - cost) / square)

    def _pool(self, Z: np.ndarray) -> int:
        """Distances of the map, and the pools of them that increase."""
        e = self._lengths
        with threads(self.n_jobs):
            if isinstance(self.pairs, AllPairs):
                all_pairs_lengths(np.ascontiguousarray(Z.T), e)
            else:
                shape, rows = self.pairs.distances.shape, np.ascontiguousarray(Z)
                paired_distances(rows, np.arange(len(Z)), self.pairs.shifts, e.reshape(shape))
        if self.primary:
            sort_within(e, self.bounds, self.order)
        bounds = self.bounds[:0] if self.primary else self.bounds
        return int(
            pool_adjacent_violators(
                e, self.order, bounds, self._weights, self._means, self._loads, self._starts
            )
        )

    def knots(self, Z: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """The increasing function of a map: up to ``most`` distances d, different ones, and f of each.

        Tied distances have the mean of their f.
        """
        n_pools = self._pool(self.in_order(Z))
        stops = np.append(self._starts[1:n_pools], len(self.order))
        f = np.repeat(self._means[:n_pools], stops - self._starts[:n_pools])
        d = self.pairs.distances.ravel()[self.order]
        if len(self.bounds):
            first = self.bounds[:-1].astype(np.int64)
            d, f = d[first], np.add.reduceat(f, first) / np.diff(self.bounds)
        chosen = np.unique(np.linspace(0, len(d) - 1, min(most, len(d))).astype(np.int64))
        return d[chosen], f[chosen]

    def __repr__(self) -> str:
        return f"MonotoneStress over {self.pairs.distances.size:,} pairs"

    def in_order(self, Z: np.ndarray) -> np.ndarray:
        """Rows of a table in the order in which the cost takes them: that of the pairs."""
        return self.pairs.in_order(Z)

    def out_of_order(self, Z: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`in_order`."""
        return self.pairs.out_of_order(Z)


def pair_counts(pairs: AllPairs | SampledPairs, counts: np.ndarray) -> np.ndarray:
    """``counts_i counts_j`` of every pair, flat."""
    m = pairs.in_order(counts)
    if isinstance(pairs, AllPairs):
        return np.concatenate([m[i] * m[i + 1 :] for i in range(len(m))])
    return np.concatenate([m * np.roll(m, -shift) for shift in pairs.shifts])


# ---- Rank images of a map: what its distances would be, were its rows in the order of the data ----


class RankImages:
    """The cost of the ranks within k of a map, and what rank images (Guttman) want of its distances.

    ``(1 - a) zeta_1 + a zeta_2``, a the ``leniency``: see :class:`isentropic.RankVisu`. ``2 n^2`` bytes and
    ``O(n^2 log n)`` a map.

    >>> import numpy as np
    >>> from scipy.spatial.distance import pdist
    >>> Z = np.random.default_rng(0).normal(size=(9, 2))
    >>> cost, wanted = RankImages(AllPairs(9, pdist(Z) ** 3), 4)(Z)
    >>> first = slice(0, wanted.indptr[1])
    >>> lengths = np.linalg.norm(Z[0] - Z[wanted.indices[first]], axis=1)
    >>> cost, bool(np.allclose(wanted.wanted[first], lengths))
    (0.0, True)
    """

    def __init__(self, pairs: AllPairs, k: int, leniency: float = 0.0, *, n_jobs: int | None = None):
        n = pairs.n
        dtype = np.uint16 if n <= 2**16 else np.int32
        require_memory(n * n * np.dtype(dtype).itemsize, f"Ranks of {n:,} rows", "Take fewer rows.")
        self.k, self.leniency, self.n_jobs = k, float(leniency), n_jobs
        self.ranks = np.empty((n, n), dtype)
        with threads(n_jobs) as workers:
            condensed_ranks(pairs.distances, workers, self.ranks)
        self.near = np.argsort(self.ranks, axis=1, kind="stable")[:, 1 : k + 1]  # the first is the row itself

    def __call__(self, Z: np.ndarray) -> tuple[float, ListedPairs]:
        """The cost of the map ``Z`` (n, d), and its rank images."""
        n = len(Z)
        shape = (n, 2 * self.k)
        others, wanted, weights = np.empty(shape, np.int64), np.empty(shape), np.empty(shape)
        with threads(self.n_jobs) as workers:
            costs = rank_images(self.ranks, self.near, Z, self.leniency, workers, others, wanted, weights)
        return math.fsum(costs), _symmetric(others, wanted, weights)


def _symmetric(others: np.ndarray, wanted: np.ndarray, weights: np.ndarray) -> ListedPairs:
    """Symmetrize wanted distances by weight: ``W = w + w'``, ``T = (w t + w' t') / W``."""
    n = len(others)
    rows = np.repeat(np.arange(n), others.shape[1])
    some = weights.ravel() > 0

    both = weights + 1j * weights * wanted  # in one array, for one pattern of entries
    one = csr_array((both.ravel()[some], (rows[some], others.ravel()[some])), shape=(n, n))
    total = (one + one.T).tocsr()
    total.sort_indices()
    W = total.data.real.copy()
    return ListedPairs(total.indptr.astype(np.int64), total.indices.astype(np.int32), total.data.imag / W, W)
