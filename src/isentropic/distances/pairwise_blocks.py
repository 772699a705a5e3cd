"""Distances of pairs of rows: in blocks of bounded memory, of listed pairs, and by diffusion over a graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .._core.errors import require, require_count
from .._core.runtime import generator, row_blocks
from .._core.sparse_rows import SparseRows
from .._core.values import DistanceRows, Floats, Integers
from ..kernels._jit import threads
from ..kernels.distances.euclidean import euclidean_pairs, euclidean_rows
from .gower import GowerRows, is_gower
from .metrics import (
    CITY_BLOCK,
    DIRECTIONS,
    EUCLIDEAN,
    LARGEST,
    Directions,
    Metric,
    SparseDirections,
    between_directions,
    metric_name,
)

# ---- Blocks of distances between rows, whatever the metric: a pair has the same bits in any block ----


_BY_SCIPY = ("braycurtis", "canberra", "chebyshev", "hamming", "minkowski", "sqeuclidean", *CITY_BLOCK)
_BLOCK_BYTES = 2**24  # a block of distances stays within 16 MiB


def rows_per_block(n_columns: int) -> int:
    """Number of rows of ``n_columns`` doubles in a block."""
    return max(1, _BLOCK_BYTES // (8 * max(n_columns, 1)))


def distances_between(
    queries: np.ndarray, data: np.ndarray, metric: Metric, n_jobs: int | None
) -> np.ndarray:
    """Distances of every query to every row of ``data``; a query of ``"precomputed"`` is such a row.

    By Gower's metric the rows are in the units of one table (:func:`~isentropic.distances.in_units`).
    """
    if isinstance(data, SparseRows):
        return SparseDirections.of(data, n_jobs).of_new(queries)
    if metric == "precomputed":
        return queries
    if metric in EUCLIDEAN:
        out = np.empty((len(queries), len(data)))
        with threads(n_jobs):
            euclidean_rows(queries, data, out)
        return out
    if is_gower(metric):
        return GowerRows.of(data, metric, n_jobs).of_new(queries)
    if isinstance(metric, str) and metric in DIRECTIONS:
        return sound_distances(between_directions(queries, data, metric, n_jobs), metric)
    return sound_distances(_by_library(queries, data, metric), metric)


def distances_to(data: np.ndarray, metric: Metric, n_jobs: int | None) -> Callable[[np.ndarray], np.ndarray]:
    """A function of queries that equals :func:`distances_between` them and ``data``, prepared once."""
    if isinstance(data, SparseRows):
        return SparseDirections.of(data, n_jobs).of_new
    if is_gower(metric):
        return GowerRows.of(data, metric, n_jobs).of_new
    return lambda queries: distances_between(queries, data, metric, n_jobs)


def _by_library(queries: np.ndarray, data: np.ndarray, metric: Metric) -> np.ndarray:
    """Metrics that a library measures one pair after the other, so that no batch changes a bit."""
    if isinstance(metric, str) and metric in _BY_SCIPY:
        from scipy.spatial.distance import cdist

        return cdist(queries, data, "cityblock" if metric in CITY_BLOCK else metric)
    from sklearn.metrics import pairwise_distances
    from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

    of_flags = isinstance(metric, str) and metric in PAIRWISE_BOOLEAN_FUNCTIONS
    if of_flags and all(np.isin(X, (0, 1)).all() for X in (queries, data)):
        queries, data = queries.astype(bool), data.astype(bool)  # nothing is lost, nothing to warn of
    return pairwise_distances(queries, data, metric=metric)


def sound_distances(D: np.ndarray, metric: Metric) -> np.ndarray:
    """Distances that can be added up and squared: finite, none below 0 but by rounding."""
    least, largest = float(D.min(initial=0.0)), float(D.max(initial=0.0))  # NaN if any is
    sound = largest < LARGEST and least >= -1e-9 * max(largest, 1.0)
    hint = "A row may have no such distance (one without variance no correlation): drop it, or take another."
    got = least if np.isnan(least) or least < 0 else largest
    what, must_be = f"metric {metric_name(metric)!r}", "finite and at least 0 between all rows"
    if LARGEST <= largest < np.inf:
        must_be, hint = f"below {LARGEST:.0e} between all rows".replace("+", ""), "Scale it, or the data."
    require(sound, what, must_be, got, hint)
    return np.maximum(D, 0.0, out=D) if least < 0 else D


# ---- Distances of single pairs of rows, where a metric has them, and of pairs drawn at random ----
#
# Pairs are drawn with replacement, in batches that do not depend on each other: how a measure varies between
# them says how far it can be off.


BATCHES = 64
ENOUGH = 2**20  # pairs; tau of that many, drawn one by one and free of ties, is known within 0.004
FEWEST = 10 * BATCHES
_PER_ROW = 256  # pairs that share a row, at most, where distances come as whole rows only
_ROWS = 32  # of a batch, at least: one row says little about pairs of other rows


def pair_distances(
    X: Floats, metric: Metric, n_jobs: int | None = None
) -> Callable[[Integers, Integers], Floats] | None:
    """A function of single pairs of rows of ``X``, or None for a metric of whole rows only."""
    if isinstance(X, SparseRows):
        sparse = cache(lambda: SparseDirections.of(X, n_jobs))
        return lambda first, second: sparse().pairs(first, second)
    if isinstance(metric, str) and metric == "precomputed":
        return lambda first, second: X[first, second]
    if metric in EUCLIDEAN:
        return lambda first, second: _euclidean(X, first, second, n_jobs)
    if isinstance(metric, str) and metric in DIRECTIONS:
        directions = cache(lambda: Directions.of(X, metric, n_jobs))  # once a pair is asked for
        return lambda first, second: sound_distances(directions().pairs(first, second), metric)
    if is_gower(metric):
        rows = cache(lambda: GowerRows.of(X, metric, n_jobs))
        return lambda first, second: rows().pairs(first, second)
    if metric in CITY_BLOCK:
        return lambda first, second: _city_block(X, first, second)
    if callable(metric):
        from sklearn.metrics.pairwise import paired_distances

        return lambda first, second: paired_distances(X[first], X[second], metric=metric)
    return None


def _city_block(X: Floats, first: Integers, second: Integers) -> Floats:
    total = np.zeros(len(first))
    for column in X.T:  # one feature after the other, as the library adds up a whole row of distances
        total += np.abs(column[first] - column[second])
    return total


def _euclidean(X: Floats, first: Integers, second: Integers, n_jobs: int | None) -> Floats:
    out = np.empty(len(first))
    with threads(n_jobs):
        euclidean_pairs(X, first, second, out)
    return out


# ---- drawn pairs -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SampledPairs:
    """Distances of sampled pairs in the data and on the map: one batch per row."""

    given: Floats  # (BATCHES, b)
    mapped: Floats

    @property
    def n_pairs(self) -> int:
        return self.given.size


def sampled_pairs(X: DistanceRows, Z: DistanceRows, n_pairs: Any, random_state: Any = None) -> SampledPairs:
    """At least ``n_pairs`` pairs of different rows, each equally likely.

    They are drawn one by one where both sides can tell the distance of a single pair. Otherwise rows are
    drawn, and up to 256 partners for each: pairs that share a row are in the same batch. No
    ``random_state`` is a fixed seed.
    """
    n_pairs = require_count("n_pairs", n_pairs, f"None, 'auto' or an integer from {FEWEST} on", least=FEWEST)
    single = X.pairs is not None and Z.pairs is not None
    per_row = 1 if single else max(1, min(_PER_ROW, X.n - 1, n_pairs // (BATCHES * _ROWS)))
    per_batch = math.ceil(n_pairs / (BATCHES * per_row))
    random = generator(random_state)
    drawn = random.randint(X.n, size=(BATCHES * per_batch, 1))
    others = random.randint(X.n - 1, size=(BATCHES * per_batch, per_row))
    others += others >= drawn
    if single:
        sides = [_single(side, drawn[:, 0], others[:, 0]) for side in (X, Z)]
    else:
        sides = [_from_rows(side, drawn[:, 0], others) for side in (X, Z)]
    given, mapped = (distances.reshape(BATCHES, -1) for distances in sides)
    return SampledPairs(given, mapped)


def _single(side: DistanceRows, first: Integers, second: Integers) -> Floats:
    assert side.pairs is not None
    out = np.empty(len(first))
    for block in row_blocks(len(first), "drawn pairs", size=2**16):
        out[block] = side.pairs(first[block], second[block])
    return out


def _from_rows(side: DistanceRows, rows: Integers, others: Integers) -> Floats:
    out = np.empty(others.shape)
    for block in row_blocks(len(rows), "drawn pairs", size=rows_per_block(side.n)):
        out[block] = np.take_along_axis(side.rows(rows[block]), others[block], axis=1)
    return out


# ---- Diffusion distances -------------------------------------------------------------------------
#
# How differently random walks over a graph spread from two rows.


class DiffusionDistances:
    """``(sum_l (P^t_il - P^t_jl)^2 / phi_l)^1/2`` for the walk P = D^-1/2 S D^1/2, phi = D / sum D.

    ``walk`` is S, symmetric. They are distances of a Gram matrix, that of the rows of ``P^t`` over the root
    of phi, without what all rows have in common and late walks would drown in. ``O(nnz t)`` time a row, and
    once half as much for each of the rows.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> there = DiffusionDistances(csr_array(np.array([[0.75, 0.25], [0.25, 0.75]])), np.ones(2), 1)
    >>> there.rows(np.array([0])).tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, walk: csr_array, degrees: Floats, steps: int):
        self._walk, self._steps = walk, steps
        self._roots = np.sqrt(degrees.sum() / degrees)

    def source(self) -> DistanceRows:
        """The distances of the rows of the graph, for what reads distances row by row."""
        return DistanceRows(len(self._roots), self.rows, f"diffusion, t = {self._steps}")

    def rows(self, numbers: Integers) -> Floats:
        """Distances of rows of the graph to all rows: (b, n)."""
        numbers = np.asarray(numbers, np.int64)
        distances = self._to_all(self._differing(self._starts(numbers), self._steps), self._lengths[numbers])
        distances[np.arange(len(numbers)), numbers] = 0.0
        return distances

    def of_new(self, near: Integers, shares: Floats) -> Floats:
        """Distances of new rows to all: (b, n). First steps lead to ``near`` (b, k), by ``shares`` of 1."""
        starts, columns = np.zeros((len(self._roots), len(near))), np.arange(len(near))
        np.add.at(starts, (near, columns[:, None]), shares * self._roots[near])  # a list may be filled up
        spread = self._differing(starts, self._steps - 1)
        return self._to_all(spread, (np.ascontiguousarray(spread.T) ** 2).sum(axis=1))

    def _to_all(self, spread: Floats, lengths: Floats) -> Floats:
        products = (self._spread(spread, self._steps) * self._roots[:, None]).T
        squared = lengths[:, None] + self._lengths - 2.0 * products
        return np.sqrt(np.maximum(squared, 0.0))

    @cached_property
    def _lengths(self) -> Floats:
        """The squared norm of each row."""
        lengths = np.empty(len(self._roots))
        for block in row_blocks(len(lengths), "diffusion distances", size=rows_per_block(len(lengths))):
            spread = self._differing(self._starts(np.arange(block.start, block.stop)), self._steps)
            lengths[block] = (spread**2).sum(axis=0)
        return lengths

    def _starts(self, numbers: Integers) -> Floats:
        starts = np.zeros((len(self._roots), len(numbers)))
        starts[numbers, np.arange(len(numbers))] = self._roots[numbers]
        return starts

    def _differing(self, starts: Floats, steps: int) -> Floats:
        """Starts spread, without what all walks have in common: one part of each, along the root of phi."""
        common = 1.0 / self._roots
        spread = self._spread(starts - common[:, None], steps)
        # rounding of the first steps left some of it, which never fades; a row by itself, for equal bits
        return spread - common[:, None] * (np.ascontiguousarray(spread.T) * common).sum(axis=1)

    def _spread(self, B: Floats, steps: int) -> Floats:
        for _ in range(steps):
            B = self._walk @ B
        return B
