"""Distances of all or sampled pairs of rows, from a table and a metric, a matrix, or a graph."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._core.errors import UndefinedMeasureError, require, require_count, require_number
from .._core.runtime import require_memory, row_blocks
from .._core.sparse_rows import SparseRows
from .._core.values import MOST_STEPS, Diffusion, Geodesic, GraphMetric, Knn, NeighborGraph
from ..affinities import checked_heat, heat_walk, heat_width, step_weights
from ..distances import (
    EUCLIDEAN,
    DiffusionDistances,
    Metric,
    condensed_distances,
    distances_between,
    is_gower,
    pair_distances,
    store_distances,
)
from ..geodesics import all_pairs, from_neighbors, from_rows
from ..kernels._jit import threads
from ..kernels.pairs.degrees import paired_distances
from ..neighbors import RowIndex, as_rule, graph_of_rows, query_edges, warn_of_isolated
from ..objectives import AllPairs, SampledPairs
from ..quality import kendall_tau

# ---- Distances over a neighbour graph: shortest ways, and how differently walks spread -----------


_POLICIES = ("bridge", "raise")


class GraphDistances(ABC):
    """Distances over a neighbour graph, which new rows enter at their neighbours."""

    name: str  # what such distances are called

    def __init__(self, X: np.ndarray, metric: Any, graph: NeighborGraph):
        self.graph = graph
        self._rule, self._index = as_rule(metric.neighbors), RowIndex(X, metric.metric)

    @abstractmethod
    def condensed(self, n_jobs: int | None) -> np.ndarray:
        """Of all pairs i < j."""

    @abstractmethod
    def rows(self, numbers: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Of some rows to all: (b, n)."""

    @abstractmethod
    def of_new(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Of new rows, each by itself, to all of the graph: (b, n)."""

    def _entries(self, X: np.ndarray, rule: Any, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        entries = query_edges(X, self._index, self.graph, rule, n_jobs=n_jobs)
        warn_of_isolated(entries.isolated, len(X))
        return entries.indices, entries.distances


class _ShortestPaths(GraphDistances):
    """Lengths of the shortest paths."""

    name = "geodesic"

    def condensed(self, n_jobs: int | None) -> np.ndarray:
        return all_pairs(self.graph, n_jobs=n_jobs)

    def rows(self, numbers: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return from_rows(self.graph, numbers, n_jobs=n_jobs)

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return from_neighbors(self.graph, *self._entries(X, self._rule, n_jobs), n_jobs=n_jobs)


class _DiffusionDistances(GraphDistances):
    """Diffusion distances. The walk from a new row has its first step among the row's neighbours."""

    name = "diffusion"

    def __init__(self, X: np.ndarray, metric: Any, graph: NeighborGraph):
        super().__init__(X, metric, graph)
        if isinstance(self._rule, Knn):  # a row that moves onto a fitted one sees it and its neighbours
            self._rule = replace(self._rule, k=self._rule.k + 1)
        self._width = heat_width(graph, metric.sigma)
        walk, degrees, self._shares = heat_walk(graph, self._width, metric.alpha)
        self._walks = DiffusionDistances(walk, degrees, metric.t)

    def condensed(self, n_jobs: int | None) -> np.ndarray:
        n = self.graph.n_rows
        return store_distances(self._walks.source(), np.empty(n * (n - 1) // 2), n_jobs=n_jobs)

    def rows(self, numbers: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return self._walks.rows(numbers)

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        near, distances = self._entries(X, self._rule, n_jobs)
        weights = step_weights(distances, self._width)[0] * self._shares[near]
        return self._walks.of_new(near, weights / np.cumsum(weights, axis=1)[:, -1:])


_KINDS: dict[type, type[GraphDistances]] = {Geodesic: _ShortestPaths, Diffusion: _DiffusionDistances}


def kind_of(metric: GraphMetric) -> type[GraphDistances]:
    return _KINDS[type(metric)]


def graph_distances(X: np.ndarray, metric: GraphMetric, graph: NeighborGraph) -> GraphDistances:
    """Distances over a graph that was fitted before."""
    return kind_of(metric)(X, metric, graph)


def fit_graph_distances(
    X: np.ndarray, metric: GraphMetric, *, random_state, n_jobs: int | None
) -> GraphDistances:
    """Distances over the neighbour graph of a table, or of precomputed distances."""
    kind = kind_of(metric)
    if isinstance(metric, Diffusion):
        steps = require_count("t", metric.t, "a number of steps, an integer of at least 1")
        hint = "Take DiffusionMaps for more: it takes powers of eigenvalues."
        require(steps <= MOST_STEPS, "t", f"at most {MOST_STEPS:,} steps", steps, hint)
        checked_heat(metric.sigma, "sigma")
        require_number("alpha", metric.alpha, "a number from 0 to 1", most=1.0)
    must_be = f"one of {', '.join(_POLICIES)} for {kind.name} distances"
    require(metric.on_disconnected in _POLICIES, "on_disconnected", must_be, metric.on_disconnected)
    rule = as_rule(metric.neighbors)
    graph = graph_of_rows(X, rule, metric=metric.metric, on_disconnected=metric.on_disconnected,
                           random_state=random_state, n_jobs=n_jobs)  # fmt: skip
    return kind(X, metric, graph)


ALL_UP_TO = 8_000  # rows: all their pairs, 32 million, are summed in a fifth of a second
PAIRS_PER_ROW = 128  # of each row, beyond that
_SWEEPS = 4


def sampled_shifts(n: int, count: int, seed: int | tuple[int, ...]) -> np.ndarray:
    """Sample shifts from 1 to ``(n - 1) / 2``, sorted: they give no pair of n rows twice."""
    most = (n - 1) // 2
    sample: np.ndarray = np.random.default_rng(seed).choice(
        most, min(count, most), replace=False, shuffle=False
    )
    return np.sort(sample) + 1


@dataclass(frozen=True, slots=True)
class Distances:
    """Distances between the training rows, and of new rows to them."""

    X: np.ndarray  # a table, or a square matrix
    metric: Metric  # that of the graph, where they are over one
    over: GraphDistances | None
    n_jobs: int | None

    @classmethod
    def of(
        cls, X: np.ndarray, metric: Metric | GraphMetric, *, random_state, n_jobs: int | None
    ) -> Distances:
        if not isinstance(metric, GraphMetric):
            return cls(X, metric, None, n_jobs)
        return cls(
            X, metric.metric, fit_graph_distances(X, metric, random_state=random_state, n_jobs=n_jobs), n_jobs
        )

    @property
    def graph(self) -> NeighborGraph | None:
        return None if self.over is None else self.over.graph

    def among(self, rows: np.ndarray) -> Distances:
        """Distances between some of the rows; not over a graph, whose paths lead over all rows."""
        assert self.over is None
        return replace(self, X=self.X[np.ix_(rows, rows)] if self.metric == "precomputed" else self.X[rows])

    @property
    def euclidean(self) -> bool:
        return self.over is None and self.metric in EUCLIDEAN

    def all(self) -> AllPairs:
        """All pairs: ``4 n^2`` bytes, and as many for the attractions."""
        n = len(self.X)
        require_memory(8 * n * n, f"All pairs of {n:,} rows", "Draw pairs: pairs=128.")
        if self.over is not None:
            return AllPairs(n, self.over.condensed(self.n_jobs))
        return AllPairs(n, condensed_distances(self.X, self.metric, self.n_jobs))

    def sample(self, shifts: np.ndarray, order: np.ndarray) -> SampledPairs:
        """Sampled pairs, of rows at a shift: ``8 n`` bytes a shift, twice with the attractions."""
        n, count = len(self.X), len(shifts)
        hint = 'Take pairs="all".'
        kind = "" if self.over is None else self.over.name
        require(self.over is None, "pairs", f"'all' or 'auto' for {kind} distances", 2 * count, hint)
        require_memory(16 * n * count, f"{2 * count} partners of {n:,} rows each", "Draw fewer pairs.")
        out = np.empty((count, n))
        if self.euclidean:
            for block in row_blocks(count, "distances", size=8):
                with threads(self.n_jobs):
                    paired_distances(self.X, order, shifts[block], out[block])
        elif is_gower(self.metric) or isinstance(self.X, SparseRows):
            measure = pair_distances(self.X, self.metric, self.n_jobs)
            assert measure is not None
            for block in row_blocks(count, "distances", size=1):
                out[block] = measure(order, np.roll(order, -int(shifts[block.start])))
        else:
            for block in row_blocks(n, "distances", size=256):
                for i in range(block.start, block.stop):
                    out[:, i] = self._between(order[i], order[(i + shifts) % n])
        return SampledPairs(order, shifts, out)

    def of_pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Distances of rows (p,) to rows (p,), one by one; not over a graph."""
        assert self.over is None
        out, measure = np.empty(len(first)), pair_distances(self.X, self.metric, self.n_jobs)
        if measure is not None:
            for block in row_blocks(len(first), "distances", size=2**16):
                out[block] = measure(first[block], second[block])
            return out
        order = np.argsort(first, kind="stable")  # by whole rows, where the metric knows no single pairs
        starts = np.searchsorted(first[order], np.arange(len(self.X) + 1))
        for block in row_blocks(len(self.X), "distances", size=256):
            for row in range(block.start, block.stop):
                mine = order[starts[row] : starts[row + 1]]
                if len(mine):
                    out[mine] = self._between(row, second[mine])
        return out

    def _between(self, row: int, others: np.ndarray) -> np.ndarray:
        if self.metric == "precomputed":
            return self.X[row, others]
        return distances_between(self.X[row : row + 1], self.X[others], self.metric, self.n_jobs)[0]

    def largest(self, pairs: AllPairs | SampledPairs) -> float:
        """The largest distance; beyond all pairs, the largest found by walking to the farthest row."""
        largest = float(pairs.distances.max(initial=0.0))
        if isinstance(pairs, AllPairs):
            return largest
        if self.metric == "precomputed":
            return float(self.X.max())
        row = 0
        for _ in range(_SWEEPS):
            away = distances_between(self.X[row : row + 1], self.X, self.metric, self.n_jobs)[0]
            row = int(away.argmax())
            largest = max(largest, float(away[row]))
        return largest

    def of_rows(self, rows: np.ndarray, others: np.ndarray | slice) -> np.ndarray:
        """Distances of some of the rows to others of them: (b, r)."""
        if self.over is not None:
            return self.over.rows(rows, self.n_jobs)[:, others]
        return self.to_references(self.X[rows], others)

    def to_references(self, X: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
        """Distances of new rows to some of the rows: (b, r)."""
        if self.over is not None:
            return self.over.of_new(X, self.n_jobs)[:, rows]
        if self.metric == "precomputed":
            return X[:, rows]
        return distances_between(X, self.X[rows], self.metric, self.n_jobs)


# ---- Kendall's tau of a map: how well the order of its distances follows that of the data --------


_QUICK_PAIRS = 2**18  # that a search compares degrees by, always the same ones, where there are more


@dataclass(frozen=True, slots=True)
class Tau:
    """Kendall's tau-b, NaN where distances do not vary; its 95% interval where pairs were sampled."""

    value: float
    interval: tuple[float, float] | None


def distance_tau(
    distances: Distances, condensed: np.ndarray | None, Z: np.ndarray, *, seed: int, quick: bool = False
) -> Tau:
    """Tau of the distances between rows, ``condensed`` where all are at hand, and between the rows of ``Z``.

    In the middle of a search (``quick``) of at most 2^18 pairs.
    """
    n = len(Z)
    given, metric = (distances.X, distances.metric) if condensed is None else (condensed, "precomputed")
    n_pairs = _QUICK_PAIRS if quick and n * (n - 1) // 2 > _QUICK_PAIRS else "auto"
    return _tau(given, Z, metric=metric, n_pairs=n_pairs, random_state=seed, n_jobs=distances.n_jobs)


def table_tau(X: np.ndarray, Z: np.ndarray, *, n_jobs: int | None = None) -> Tau:
    """Tau of the Euclidean distances of a table and of its map."""
    return _tau(X, Z, random_state=0, n_jobs=n_jobs)


def _tau(given: np.ndarray, Z: np.ndarray, **settings) -> Tau:
    if len(Z) < 3:  # a single distance has no order
        return Tau(math.nan, None)
    try:
        found = kendall_tau(given, Z, **settings)
    except UndefinedMeasureError:  # distances that are all equal have none either
        return Tau(math.nan, None)
    if found.low is None or found.high is None:
        return Tau(found.value, None)
    return Tau(found.value, (found.low, found.high))
