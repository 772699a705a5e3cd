"""Geodesic distances of a growing graph, repaired where that is faster than a new search."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._core.runtime import memory_budget, require_memory, row_blocks
from .._core.values import NeighborGraph
from ..kernels._jit import threads
from ..kernels.growing_paths import halved_paths, repaired_paths, wave_orders
from ..kernels.paths import LANES
from ..linalg import flat_entries
from .shortest_paths import _Numbered, _Seeds, from_rows

# ---- What became of a graph: edges that left it, and the nodes at which others came --------------


@dataclass(frozen=True, slots=True)
class Changes:
    """From one graph to the next, whose first rows are those of the first.

    Every added edge is at a hub: at a new row, or at the lower end of an edge between old rows.
    """

    unchanged: NeighborGraph  # of the old rows: the edges that are in both graphs, equally long
    ends: np.ndarray  # (r, 2) int32: edges that are in the old graph only
    lengths: np.ndarray  # (r,)
    hubs: np.ndarray  # (h,) rows of the new graph, new ones first
    exit_ptr: np.ndarray  # (h + 1,): for each hub, by which old rows a path through it goes on,
    exits: np.ndarray  # int32
    exit_weights: np.ndarray  # and how far from the hub these are

    @classmethod
    def between(cls, old: NeighborGraph, new: NeighborGraph) -> Changes:
        """``O(n k log n)`` time."""
        n = old.n_rows
        row, new_row = _row_of_entries(old), _row_of_entries(new)
        key = row * new.n_rows + old.indices  # in order, as the entries of a graph are
        inside = np.flatnonzero(new.indices[: new.indptr[n]] < n)
        at = np.searchsorted(key, new_row[inside] * new.n_rows + new.indices[inside])
        at = np.minimum(at, len(key) - 1)
        same = old.indices[at] == new.indices[inside]
        same &= (row[at] == new_row[inside]) & (old.weights[at] == new.weights[inside])
        is_kept = np.zeros(len(key), bool)
        is_kept[at[same]] = True
        indptr = np.concatenate([[0], np.cumsum(is_kept)])[old.indptr]
        unchanged = replace(old, indptr=indptr, indices=old.indices[is_kept], weights=old.weights[is_kept])
        left = np.flatnonzero(~is_kept & (row < old.indices))
        ends = np.column_stack([row[left], old.indices[left]]).astype(np.int32)
        return cls(unchanged, ends, old.weights[left], *_hubs(new, n, new_row, inside[~same]))


def _row_of_entries(graph: NeighborGraph) -> np.ndarray:
    return np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))


def _hubs(new: NeighborGraph, n: int, row: np.ndarray, added: np.ndarray):
    """Hubs, and their exits in CSR form; ``added`` are the entries of new edges between old rows.

    A path enters an old hub by such an edge and leaves by an old one, or the other way round: the hub itself
    is one of its exits, at distance 0.
    """
    start = new.indptr[n]
    outward = start + np.flatnonzero(new.indices[start:] < n)
    added = added[row[added] < new.indices[added]]
    ends = np.unique(row[added])
    hub = np.concatenate([row[outward], ends, row[added]])
    exits = np.concatenate([new.indices[outward], ends, new.indices[added]]).astype(np.int32)
    weights = np.concatenate([new.weights[outward], np.zeros(len(ends)), new.weights[added]])
    hubs = np.concatenate([np.arange(n, new.n_rows), ends])
    number = np.empty(new.n_rows, np.int64)
    number[hubs] = np.arange(len(hubs))
    order = np.argsort(number[hub], kind="stable")
    exit_ptr = np.concatenate([[0], np.cumsum(np.bincount(number[hub], minlength=len(hubs)))])
    return hubs, exit_ptr, exits[order], weights[order]


# ---- All geodesic distances of several graphs of the same rows, one graph after the other --------


_BLOCKS = 24  # of sources: the more, the more is known from earlier ones; the fewer, the more run at once


class PairSequence:
    """All geodesic distances of one graph after the other, in the memory of one.

    ``rows`` is the order in which the rows stand in the condensed distances: neighbours near each other.
    As paths are as long both ways, each pair is searched from one end only, and the order in which a wave
    passes the rows is found once for all graphs: 0.4 of the time of ``all_pairs`` a graph, and equal to it up
    to rounding, 1e-14.

    ``O(n^2 k)`` time a graph in practice; ``4.2 n^2`` bytes.

    >>> import numpy as np
    >>> from isentropic import Radius, neighbor_graph
    >>> graph = neighbor_graph(np.array([[0.0], [1.0], [3.0]]), Radius(2.5))
    >>> sequence = PairSequence(graph)
    >>> sequence.rows.tolist(), sequence.all_pairs(graph).tolist()
    ([0, 1, 2], [1.0, 3.0, 2.0])
    """

    def __init__(self, like: NeighborGraph, *, n_jobs: int | None = None) -> None:
        n = like.n_rows
        require_memory(17 * n * n // 4, f"All geodesic distances of {n:,} rows", "Take a sample of them.")
        numbered = _Numbered.in_groups(like)
        self.rows, self._n_jobs = numbered.labels, n_jobs
        self._size = LANES * max(1, -(-n // (LANES * _BLOCKS)))
        first = np.arange(0, n, LANES) // self._size * self._size  # node of the block of each group
        self._starts = np.concatenate([[0], np.cumsum(n - first)])
        self._orders = np.empty(self._starts[-1], np.int32)
        self._distances: np.ndarray | None = None
        with threads(n_jobs) as workers:
            wave_orders(numbered.indptr, numbered.indices, numbered.weights, first, self._starts, workers,
                        self._orders)  # fmt: skip

    def all_pairs(self, graph: NeighborGraph, out: np.ndarray | None = None) -> np.ndarray:
        """Condensed distances between :attr:`rows`, which the next call overwrites.

        Of a square array ``out`` what lies right of the diagonal is filled instead.
        """
        n = len(self.rows)
        if out is None:
            self._distances = np.empty(n * (n - 1) // 2) if self._distances is None else self._distances
            out = self._distances
        entries, row_starts = flat_entries(out, n)
        numbered = _in_order(_Numbered._permuted(graph, self.rows))
        for block in row_blocks(len(self.rows), "shortest paths", size=self._size):
            inner = _from_node(numbered, block.start)
            with threads(self._n_jobs) as workers:
                halved_paths(*numbered, *inner, block.start, block.stop, self._orders, self._starts, workers,
                             row_starts, entries)  # fmt: skip
        return out


Csr = tuple[np.ndarray, np.ndarray, np.ndarray]


def _in_order(graph: _Numbered) -> Csr:
    """The graph with the neighbours of each node in order."""
    node = np.repeat(np.arange(len(graph.labels)), np.diff(graph.indptr))
    order = np.lexsort((graph.indices, node))
    return graph.indptr, graph.indices[order], graph.weights[order]


def _from_node(graph: Csr, first: int) -> Csr:
    """The graph of the nodes from ``first`` on, numbered from 0."""
    indptr, indices, weights = graph
    start = indptr[first]
    inside = indices[start:] >= first
    counts = np.concatenate([[0], np.cumsum(inside)])[indptr[first:] - start]
    return counts, indices[start:][inside] - np.int32(first), weights[start:][inside]


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
        unchanged = _Numbered._permuted(changes.unchanged, labels[:n])
        numbered = _Numbered._permuted(new, labels)
        number = numbered.numbers
        self._graph = replace(numbered, labels=everyone, numbers=everyone)  # columns are nodes
        self._most = int(_HEAVY * n)
        self._kept = unchanged.indptr, unchanged.indices, unchanged.weights
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
        unchanged = self._square[:n_kept, :n_kept] if n_kept else np.empty((0, 0))
        self._square = unchanged  # what is not kept is given up before more is taken
        square = np.empty((_room(n), _room(n)))  # pages that nobody writes to take no memory
        square[:n_kept, :n_kept] = unchanged
        self._square = square


def _room(n: int) -> int:
    """Rows that are allotted for n of them."""
    return n + n // 8 + 64
