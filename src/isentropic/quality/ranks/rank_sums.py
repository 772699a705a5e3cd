"""One pass over the rows: rank both sides, add to what every k needs, forget the row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.errors import require
from ..._core.runtime import require_memory, row_blocks
from ..._core.values import DistanceRows, Floats, Integers
from ...distances import Points, rows_per_block
from ...kernels._jit import threads
from ...kernels.distances.euclidean import GROUP
from ...kernels.row_ranks import N_ORDER_TERMS, N_SUMS, N_TERMS, compare_points, compare_rows, tie_extremes
from ...kernels.sorting import row_orders
from ..pairwise import common_exponents, common_shifts, first_scale

NEAR = 1.5  # times the mean distance of the k nearest rows: up to there a row is near
MOST_ROWS = 2**23  # up to which the kernel's sums of 32 bits are exact
_GROUP_ENTRIES = 2**20  # of distances that a thread holds on either side
_FIRST_PAIRS = 2**22  # in the first block, some hundredths of a second
_THREAD_BYTES = 2**31  # of sums and scratch, all threads together


@dataclass(frozen=True, slots=True)
class OrderReading:
    """Terms of topology that a pass also reads from the orders of each row.

    These are the columns named in :mod:`isentropic.kernels.row_ranks`: the topological product,
    König's points, gaps of ranks, and the stress of listed rows.
    """

    n_neighbors: int = 10  # nearest in X that are listed
    k1: int = 4
    k2: int = 10
    places: Integers | None = None  # (s, r) ranks in X of others that are listed, -1 for none

    def arguments(self, X: DistanceRows, Z: DistanceRows, rows: Integers) -> tuple[Any, Integers, Floats]:
        """For the kernels: how to read, which places, and room for what is read."""
        n, first = X.n, rows[:1]
        # sum over k >= l of 1/(2k), since the l-th term of the product is part of every k from l on
        weights = np.cumsum(0.5 / np.arange(n - 1, 0, -1))[::-1].copy()
        k1, k2, n_nearest = (min(int(k), n - 1) for k in (self.k1, self.k2, self.n_neighbors))
        scale = first_scale(X.rows(first), Z.rows(first))
        places = np.empty((len(rows), 0), np.int64) if self.places is None else self.places
        shifts = common_shifts(common_exponents(X, Z))
        return (weights, k1, k2, n_nearest, scale, *shifts), places, np.empty((len(rows), N_ORDER_TERMS))


def _nothing_read(rows: Integers) -> tuple[Any, Integers, Floats]:
    return (np.empty(0), 0, 0, 0, 1.0, 1.0, 1.0), np.empty((len(rows), 0), np.int64), np.empty((len(rows), 0))


@dataclass(frozen=True, slots=True)
class RankSums:
    """Results of a pass: sums over rows for every k, and the terms of each row at some k.

    Ranks R in X and r in Z are by distance, then by row number, from 1 to n - 1, self excluded. With p
    a rank and the first axis the side (0: neighbours by R, 1: by r), ``sums`` holds how many of the
    neighbours of rank p have a higher rank on the other side, how many a lower one, and the sums of
    these differences, up and down; then how many rows become near as k grows to p: of all on the first
    side, of the k nearest in Z on the second. ``terms`` holds, of each row at each k: false
    ``sum (R - k)`` over r <= k < R, torn ``sum (r - k)`` over R <= k < r, the number of shared neighbours, of
    these those with r < R less those with R < r, ``sum |R - r| / r`` over r <= k, ``sum |R - r| / R`` over
    R <= k, and the number of near rows, among those with r <= k and among all. Row j is near row i if its
    distance in X is at most ``radius`` times the mean of those of the k nearest and that of the nearest fifth
    of all rows, or of the 2k nearest, or at most that of the k-th.
    """

    n: int
    rows: Integers  # (s,) that were compared, increasing
    ks: Integers  # (c,) increasing
    sums: Integers  # (2, 5, n - 1)
    terms: Floats  # (s, c, 8)
    close: Integers  # (s,) 1, 2, 3: distances in X, in Z, in both may be tied
    orders: Floats | None = None  # (s, N_ORDER_TERMS) what the orders of each row say, if they were read

    @property
    def exact(self) -> bool:
        return len(self.rows) == self.n

    def joined(self, other: RankSums) -> RankSums:
        """The pass over the rows of both; no row may be in both."""
        rows = np.concatenate([self.rows, other.rows])
        order = np.argsort(rows)
        terms = np.concatenate([self.terms, other.terms])[order]
        close = np.concatenate([self.close, other.close])[order]
        return RankSums(self.n, rows[order], self.ks, self.sums + other.sums, terms, close)


def rank_sums(
    X: DistanceRows,
    Z: DistanceRows,
    ks: Any,
    rows: Integers | None = None,
    *,
    radius: float = NEAR,
    reading: OrderReading | None = None,
    n_jobs: int | None = None,
) -> RankSums:
    """Compare some rows (None: all) with all others, on both sides; ``reading`` fills ``orders`` too.

    ``O(s n (m + d))`` time for s rows of n, with m and d the columns of X and Z, and ``O(n)`` memory:
    distances are forgotten after each block.
    """
    n = X.n
    require(n < MOST_ROWS, "X", f"a table of less than {MOST_ROWS} rows", n, "Assess a part of the rows.")
    ks = np.unique(np.asarray(ks, np.int64))
    rows = np.arange(n) if rows is None else np.sort(np.asarray(rows, np.int64))
    terms = np.empty((len(rows), len(ks), N_TERMS))
    states = np.empty(len(rows), np.int8)
    how, places, orders = _nothing_read(rows) if reading is None else reading.arguments(X, Z, rows)
    with threads(n_jobs) as n_workers:
        each = 184 * n + 16 * _group(n) * n  # bytes of a thread: sums and orders, distances
        n_workers = max(1, min(n_workers, _THREAD_BYTES // each))
        needed = n_workers * each + 2 * 8 * n + terms.nbytes
        require_memory(needed, f"Curves of {n:,} rows", "Assess a part of the rows.")
        sums = np.zeros((n_workers, 2, N_SUMS, n - 1), np.int64)
        compare, size, adapt = _comparison(X, Z, radius, n_workers)
        for block in row_blocks(len(rows), "ranks", size=size, adapt=adapt):
            compare(rows[block], ks, sums, terms[block], states[block], how, places[block], orders[block])
            _require_distances(bool((states[block] >= 0).all()), X, Z)
    return RankSums(n, rows, ks, sums.sum(axis=0), terms, states, None if reading is None else orders)


def _group(n: int) -> int:
    """Number of rows that a thread measures before it ranks them."""
    return max(1, min(GROUP, _GROUP_ENTRIES // n))


def _comparison(
    X: DistanceRows, Z: DistanceRows, radius: float, n_workers: int
) -> tuple[Callable[..., None], int, bool]:
    """The function that compares a block of rows, the size of a block, and whether it may grow."""
    if isinstance(X.rows, Points) and isinstance(Z.rows, Points):
        given, mapped = X.rows, Z.rows
        group = _group(X.n)

        def compare_both(rows, ks, *rest):
            points = given.data, given.tiles, mapped.data, mapped.tiles
            compare_points(*points, rows, ks, radius, group, n_workers, *rest)

        turns = max(1, _FIRST_PAIRS // (X.n * group * n_workers))
        return compare_both, turns * group * n_workers, True

    def compare(rows, ks, *rest):
        compare_rows(X.rows(rows), Z.rows(rows), rows, ks, radius, n_workers, *rest)

    return compare, rows_per_block(X.n), False


def ordered_rows(side: DistanceRows, rows: Integers, *, n_jobs: int | None = None) -> tuple[Floats, Integers]:
    """Distances of some rows to all, (b, n), and the other rows nearest first, ties by number, (b, n - 1)."""
    D = side.rows(rows)
    orders = np.empty((len(rows), side.n - 1), np.int32)
    with threads(n_jobs) as n_workers:
        amiss = row_orders(D, rows, n_workers, orders)
    _require_distances(amiss == 0, side)
    return D, orders


def _require_distances(right: bool, *sides: DistanceRows) -> None:
    names = " and ".join(side.name for side in sides)
    require(right, f"distances by {names}", "finite and at least 0", "others")


# ---- ties --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TieSums:
    """Ties of all compared rows: shared ranks in X and in Z, and extremes at each chosen k.

    ``extremes[c]`` holds the least and the greatest sum of the false terms, and of the torn terms, that any
    order of tied distances could give, each row and each k taken by itself.
    """

    shared: Floats  # (2,)
    extremes: Floats  # (c, 4)


def tie_sums(
    X: DistanceRows, Z: DistanceRows, found: RankSums, ks: Any, *, n_jobs: int | None = None
) -> TieSums:
    """A second pass, over the rows that may have ties, at some of ``found.ks``; others have one order.

    Of sampled rows with ties, 1,000 stand for all.
    """
    ks = np.asarray(ks, np.int64)
    own = np.repeat(found.terms[:, np.searchsorted(found.ks, ks), :2], 2, axis=2)  # (s, c, 4)
    tied = np.flatnonzero(found.close > 0)
    read = tied if found.exact else thin_rows(tied)
    shared, moved = np.zeros(2), np.zeros((len(ks), 4))
    for block in row_blocks(len(read), "ties", size=rows_per_block(X.n)):
        rows = found.rows[read[block]]
        row_shared, row_extremes = (
            np.empty((len(rows), 2), np.int64),
            np.empty((len(rows), len(ks), 4), np.int64),
        )
        D_X, orders_X = ordered_rows(X, rows, n_jobs=n_jobs)
        D_Z, orders_Z = ordered_rows(Z, rows, n_jobs=n_jobs)
        with threads(n_jobs) as n_workers:
            tie_extremes(D_X, D_Z, orders_X, orders_Z, ks, n_workers, row_shared, row_extremes)
        shared += row_shared.sum(axis=0)
        moved += (row_extremes - own[read[block]]).sum(axis=0)
    stands_for = len(tied) / max(len(read), 1)
    return TieSums(stands_for * shared, own.sum(axis=0) + stands_for * moved)


def thin_rows(rows: Integers, most: int = 1_000) -> Integers:
    """At most so many of the sampled rows, evenly spread, for what is dear and needs less precision.

    >>> import numpy as np
    >>> thin_rows(np.arange(10, 20), 5).tolist()
    [10, 12, 14, 16, 18]
    """
    return rows if len(rows) <= most else rows[np.arange(most) * len(rows) // most]
