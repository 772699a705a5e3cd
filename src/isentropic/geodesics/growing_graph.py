"""Geodesic distances of a graph that grows: repaired where that takes less than to search all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._core.runtime import memory_budget, row_blocks
from .._core.values import NeighborGraph
from ..kernels._jit import threads
from ..kernels.paths.repaired_paths import repaired_paths
from .changes import Changes
from .sequences import PairSequence
from .shortest_paths import _Numbered, _Seeds, from_rows

_SAMPLE = 64  # sources whose lost distances are counted before any is repaired
_BLOCK = 256  # sources in the first call; the next ones take as many as fit a quarter of a second
# Costs of an entry of G: of one that is lost, of a source searched by itself, of a hub that is tried, where
# 1 is that of a search of all pairs, each from one end.
_LOST, _SEARCHED, _TRIED = 15.0, 2.3, 0.008
_HEAVY = _SEARCHED / _LOST  # share of nodes: a source that lost more is searched from the start


class Repair:
    """Brings rows of distances in one graph up to date with the next.

    ``labels`` are the rows of the new graph as the columns of distances have them, those of the old first.
    """

    def __init__(
        self, old: NeighborGraph, new: NeighborGraph, labels: np.ndarray, *, n_jobs: int | None = None
    ) -> None:
        n, everyone = old.n_rows, np.arange(new.n_rows)
        self._n, self._n_new, self._n_jobs = n, new.n_rows - n, n_jobs
        self._changes = changes = Changes.between(old, new)
        kept = _Numbered._permuted(changes.kept, labels[:n])
        numbered = _Numbered._permuted(new, labels)
        number = numbered.numbers
        self._graph = replace(numbered, labels=everyone, numbers=everyone)  # columns are nodes
        self._most = int(_HEAVY * n)
        self._kept = kept.indptr, kept.indices, kept.weights
        self._ends = number[changes.ends].astype(np.int32)
        self._exits = number[changes.exits].astype(np.int32)
        self.hubs = np.empty((len(changes.hubs), new.n_rows))
        self._graph.fill(self.hubs, _Seeds.at(number[changes.hubs]), n_jobs, near=False)

    def is_worth_it(self, G: np.ndarray, sources: np.ndarray, than: float = 1.0) -> bool:
        """Whether repair takes less than to search all pairs, by what a sample of the sources lost."""
        sample = np.unique(np.linspace(0, len(sources) - 1, _SAMPLE).astype(np.int64))
        lost = self._run(G[sample], sources[sample], repair=False)
        cost = np.where(lost > self._most, _SEARCHED, _LOST / self._n * lost).mean()
        return bool(cost + _TRIED * len(self.hubs) < than)

    def rows(self, G: np.ndarray, sources: np.ndarray, *, near: bool) -> float:
        """Repair the rows of ``G``; the share of them that was lost.

        Rows that lost most are searched from the start, in groups if ``near`` sources follow each other.
        """
        n_lost = self._run(G, sources, repair=True)
        heavy = np.flatnonzero(n_lost > self._most)
        for block in row_blocks(len(heavy), "shortest paths", size=_BLOCK, adapt=True):
            mine = heavy[block]
            at = mine * G.shape[1]
            self._graph._find(
                _Seeds.at(sources[mine]), at, np.zeros_like(at), self._n_jobs, near, G.reshape(-1)
            )
        n_lost[heavy] = self._n
        return float(n_lost.sum() / (len(sources) * self._n))

    def _run(self, G: np.ndarray, sources: np.ndarray, *, repair: bool) -> np.ndarray:
        changes, n_lost = self._changes, np.empty(len(sources), np.int64)
        for block in row_blocks(len(sources), "shortest paths", size=_BLOCK, adapt=True):
            with threads(self._n_jobs) as workers:
                repaired_paths(*self._kept, self._ends, changes.lengths, changes.exit_ptr, self._exits,
                               changes.exit_weights, self.hubs, self._n_new, sources[block], self._most,
                               repair, workers, G[block], n_lost[block])  # fmt: skip
        return n_lost


def grown_rows(
    known: np.ndarray,
    known_sources: np.ndarray,
    old: NeighborGraph,
    new: NeighborGraph,
    sources: np.ndarray,
    *,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, float | None]:
    """As :func:`from_rows` of the new graph, where ``known`` are such distances in the old one.

    Also the share of the known ones that lost their paths; None where all were searched anew. Those of
    sources that are known are repaired where that takes less.
    """
    row_of = np.full(new.n_rows, -1)
    row_of[known_sources] = np.arange(len(known_sources))
    same = np.flatnonzero(row_of[sources] >= 0)
    if len(same):
        repair = Repair(old, new, np.arange(new.n_rows), n_jobs=n_jobs)
        mine = np.empty((len(same), new.n_rows))
        mine[:, : old.n_rows] = known[row_of[sources[same]]]
        if repair.is_worth_it(mine, sources[same], _SEARCHED):
            share = repair.rows(mine, sources[same], near=False)
            G = np.empty((len(sources), new.n_rows))
            G[same] = mine
            others = np.setdiff1d(np.arange(len(sources)), same)
            G[others] = from_rows(new, sources[others], n_jobs=n_jobs)
            return G, share
    return from_rows(new, sources, n_jobs=n_jobs), None


class GrowingPaths:
    """All geodesic distances of a connected graph that takes more rows, whole rows of them kept.

    ``rows`` is their order, that of :class:`PairSequence` with new rows at the end. ``8 n^2`` bytes, and a
    quarter more as room to grow. ``graph`` is the one that they belong to, None after growth that failed.

    >>> import numpy as np
    >>> from isentropic import Radius, neighbor_graph
    >>> table = np.array([[0.0], [2.0], [4.0], [1.0]])
    >>> paths = GrowingPaths(neighbor_graph(table[:3], Radius(2.5)))
    >>> paths.grow(neighbor_graph(table, Radius(2.5)))
    0.0
    >>> paths.rows.tolist(), paths.distances[0].tolist()
    ([0, 1, 2, 3], [0.0, 2.0, 4.0, 1.0])
    """

    graph: NeighborGraph | None
    rows: np.ndarray

    def __init__(self, graph: NeighborGraph, *, n_jobs: int | None = None) -> None:
        self._square = np.empty((0, 0))
        self._search(graph, n_jobs)
        self.graph = graph

    @staticmethod
    def fit_memory(n: int) -> bool:
        """Whether the memory budget allows for the distances of so many rows."""
        budget = memory_budget()
        return budget is None or 8 * _room(n) ** 2 <= budget

    def has_room(self, n: int) -> bool:
        """Whether so many rows fit what is allotted, or the memory budget allows for more."""
        return n <= len(self._square) or self.fit_memory(n)

    @property
    def distances(self) -> np.ndarray:
        """Square, in the order of :attr:`rows`; symmetric up to rounding."""
        return self._square[: len(self.rows), : len(self.rows)]

    def grow(self, graph: NeighborGraph, *, n_jobs: int | None = None) -> float | None:
        """Distances in a graph whose first rows are those of the last one.

        The share of the distances between old rows that lost their paths; None where all were searched anew.
        They are changed in place: after an error there are none.
        """
        old, self.graph = self.graph, None
        assert old is not None
        try:
            share = self._grow(old, graph, n_jobs)
        except BaseException:
            self._square = np.empty((0, 0))
            raise
        self.graph = graph
        return share

    def _grow(self, old: NeighborGraph, graph: NeighborGraph, n_jobs: int | None) -> float | None:
        n, n_old = graph.n_rows, old.n_rows
        rows = np.concatenate([self.rows, np.arange(n_old, n)])
        repair = Repair(old, graph, rows, n_jobs=n_jobs)
        sources = np.arange(n_old)
        if not repair.is_worth_it(self._square[:n_old], sources):
            self._search(graph, n_jobs)
            return None
        self._make_room(n, n_old)
        share = repair.rows(self._square[:n_old], sources, near=True)
        self._square[n_old:n, :n] = repair.hubs[: n - n_old]
        self.rows = rows
        return share

    def _search(self, graph: NeighborGraph, n_jobs: int | None) -> None:
        sequence = PairSequence(graph, n_jobs=n_jobs)
        self.rows = sequence.rows
        self._make_room(graph.n_rows, 0)
        G = self.distances
        sequence.all_pairs(graph, out=G)
        np.fill_diagonal(G, 0.0)
        for block in row_blocks(len(G), "mirrored", size=64):
            G[block, : block.start] = G[: block.start, block].T
            within = G[block, block]
            lower = np.tril_indices(len(within), -1)
            within[lower] = within.T[lower]

    def _make_room(self, n: int, n_kept: int) -> None:
        if len(self._square) >= n:
            return
        kept = self._square[:n_kept, :n_kept] if n_kept else np.empty((0, 0))
        self._square = kept  # what is not kept is given up before more is taken
        square = np.empty((_room(n), _room(n)))  # pages that nobody writes to take no memory
        square[:n_kept, :n_kept] = kept
        self._square = square


def _room(n: int) -> int:
    """Rows that are allotted for n of them."""
    return n + n // 8 + 64
