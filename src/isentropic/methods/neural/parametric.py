"""Parametric neighbor embeddings: a network whose outputs go down the cost of t-SNE, or of UMAP.

A method makes a neighbor graph of the rows, with weights, and names its cost for a graph. The network sees
batches of pairs, drawn by these weights: in a batch the pairs pull, and all of its rows push.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from ...embedding.maps.network import Layers, NetworkMap
from ...embedding.training_data import TrainingData
from .lessons import FEW, warn_of_few
from .training import ScaledRows, Schedule, held_and_learnt, train

_HELD, _MOST_HELD = 0.1, 2_000  # rows that are held back, as a share and at most
_PAIRS = 256  # of a batch, and at least:
_FEWEST_PAIRS = 4
_ROWS_A_PAIR = 8  # that a table has for a pair of its batches: or many rows would stand in a batch twice
_BATCHES = 20  # of an epoch at least
# How far a row is moved at most, on the way to its neighbour or back: a network learns still ones by heart.
_SHAKEN = 0.5
_HELD_PAIRS = 1_500  # by which the rows held back are judged
# Share of the epochs, exaggeration of pulls, rate of learning: rows find their neighbours before the map
# opens, and smaller steps then take the noise of drawn pairs out.
_PHASES = ((0.5, 2.0, 3e-3), (0.25, 1.0, 3e-3), (0.15, 1.0, 1e-3), (0.1, 1.0, 2e-4))


class GraphCost(Protocol):
    """A cost of places in a map, for a graph, and its gradient."""

    def slopes(self, Z: np.ndarray, exaggeration: float = 1.0) -> np.ndarray: ...

    def divergence(self, Z: np.ndarray, exaggeration: float = 1.0) -> float: ...


def learnt_network(
    rows: ScaledRows,
    graph: csr_array,
    cost_of: Callable[[csr_array], GraphCost],
    sizes: tuple[int, ...],
    max_epochs: int,
    weight_decay: float,
    random: np.random.RandomState,
) -> tuple[Layers, int]:
    """A network of these sizes that learnt drawn pairs, first exaggerated, and its epochs."""
    bent = (*("relu" for _ in sizes[1:-1]), "linear")
    layers = Layers.drawn(sizes, bent, random, np.float32)
    pairs = DrawnPairs.of(graph, random)
    n_epochs = 0
    for epochs, exaggeration, rate in _phases(max_epochs):
        lesson = PairLesson(layers, rows, pairs, cost_of, exaggeration, weight_decay)
        n_epochs += train(layers.vector, lesson, Schedule(epochs, epochs, (rate,)), random).n_epochs
    return layers, n_epochs


def network_map(rows: ScaledRows, layers: Layers) -> NetworkMap:
    """The map of a trained network, in double precision."""
    data = TrainingData(len(rows), None, "euclidean")
    return NetworkMap(data, layers.sizes[-1], rows.origin, rows.unit, layers.astype(np.float64))


@dataclass(frozen=True, slots=True)
class DrawnPairs:
    """Pairs of rows that a network learns from, and pairs with rows that it does not see."""

    learnt: DrawnEdges
    held: np.ndarray  # (2, h): rows held back are in each of these pairs
    size: int  # pairs of a batch
    n_batches: int  # of an epoch

    @classmethod
    def of(cls, graph: csr_array, random: np.random.RandomState) -> DrawnPairs:
        """A tenth of the rows is held back, of fewer than 50 none: then the learnt ones tell when to end."""
        n = graph.shape[0]
        warn_of_few(n)
        held, learnt = held_and_learnt(n, _HELD, random, fewest=FEW, most=_MOST_HELD)
        edges = DrawnEdges.of(graph, _mask(learnt, n), both=True)
        judged = DrawnEdges.of(graph, _mask(held, n), both=False)
        if not len(edges):  # each row has neighbours among those held back alone
            edges = judged
        size = min(_PAIRS, max(_FEWEST_PAIRS, n // _ROWS_A_PAIR))
        judges = judged.drawn(min(_HELD_PAIRS, max(_FEWEST_PAIRS, len(held))), random)
        return cls(edges, judges, size, max(_BATCHES, -(-n // size)))


class PairLesson:
    """Batches of drawn pairs: the cost of a graph in which each row has one neighbour."""

    def __init__(
        self,
        layers: Layers,
        rows: ScaledRows,
        pairs: DrawnPairs,
        cost_of: Callable[[csr_array], GraphCost],
        exaggeration: float,
        weight_decay: float,
    ):
        self.layers, self.rows, self.pairs = layers, rows, pairs
        self.exaggeration, self.weight_decay = exaggeration, weight_decay
        self.cost = cost_of(matching(pairs.size))
        self.cost_of_held = cost_of(matching(pairs.held.shape[1]))

    def batches(self, random: np.random.RandomState) -> Iterator[np.ndarray]:
        """Rows of pairs, row i and row size + i, each moved along the way between both."""
        size = self.pairs.size
        ends = self.pairs.learnt.drawn(size * self.pairs.n_batches, random)
        for first in range(0, ends.shape[1], size):
            one, two = self.rows.take(ends[:, first : first + size].ravel()).reshape(2, size, -1)
            way = two - one
            back, forth = random.uniform(-_SHAKEN, _SHAKEN, size=(2, size, 1)).astype(way.dtype)
            yield np.concatenate([one + back * way, two + forth * way])

    def slopes(self, batch: np.ndarray) -> np.ndarray:
        outputs = self.layers.forward(batch)
        gradient = np.zeros_like(self.layers.vector)
        slopes = self.cost.slopes(outputs[-1], self.exaggeration).astype(np.float32, copy=False)
        self.layers.backward(outputs, slopes, gradient)
        self.layers.decay(self.weight_decay, gradient)
        return gradient

    def error(self) -> float:
        Z = self.layers.forward(self.rows.take(self.pairs.held.ravel()))[-1]
        return self.cost_of_held.divergence(Z.astype(np.float64), self.exaggeration)


def _phases(max_epochs: int) -> Iterator[tuple[int, float, float]]:
    """Epochs, exaggeration and rate of each phase that has epochs."""
    ends = np.rint(np.cumsum([share for share, *_ in _PHASES]) * max_epochs).astype(int)
    for epochs, (_, exaggeration, rate) in zip(np.diff(ends, prepend=0).tolist(), _PHASES, strict=True):
        if epochs:
            yield epochs, exaggeration, rate


def _mask(rows: np.ndarray, n: int) -> np.ndarray:
    mask = np.zeros(n, bool)
    mask[rows] = True
    return mask


# ---- Edges of a neighbour graph, drawn by their weights: what batches of a network are made from ----


@dataclass(frozen=True, slots=True)
class DrawnEdges:
    """Edges of a symmetric graph, each once, and the sums of their weights: for systematic sampling.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> W = csr_array([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    >>> edges = DrawnEdges.of(W, np.ones(3, bool), both=True)
    >>> np.sort(edges.drawn(4, np.random.RandomState(0)), axis=1).tolist()
    [[0, 0, 0, 1], [1, 1, 1, 2]]
    """

    first: np.ndarray  # (e,) int32: the lower number of both ends
    second: np.ndarray  # (e,) int32
    sums: np.ndarray  # (e,) of the weights up to each edge

    @classmethod
    def of(cls, graph: csr_array, some: np.ndarray, *, both: bool) -> DrawnEdges:
        """Those with both ends among ``some`` rows (a mask), or with at least one."""
        own = np.repeat(np.arange(graph.shape[0], dtype=np.int32), np.diff(graph.indptr))
        fits = np.logical_and if both else np.logical_or
        kept = np.flatnonzero(fits(some[own], some[graph.indices]) & (own < graph.indices) & (graph.data > 0))
        return cls(own[kept], graph.indices[kept].astype(np.int32), np.cumsum(graph.data[kept]))

    def __len__(self) -> int:
        return len(self.first)

    def drawn(self, count: int, random: np.random.RandomState) -> np.ndarray:
        """Both ends of ``count`` edges, (2, count), in mixed order; heavy edges come more than once.

        At equal steps along the sums, from a drawn start: every row has its share to within one edge.
        ``O(count log e)``.
        """
        at = (np.arange(count) + random.uniform()) * (self.sums[-1] / count)
        edges = np.minimum(np.searchsorted(self.sums, at, side="right"), len(self) - 1)
        return np.stack([self.first[edges], self.second[edges]])[:, random.permutation(count)]


def matching(n_pairs: int) -> csr_array:
    """The graph of ``2 n`` rows in which row i and row n + i are neighbours, with weights of sum 1.

    >>> (4 * matching(2).toarray()).tolist()
    [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    n = 2 * n_pairs
    others = np.roll(np.arange(n, dtype=np.int32), n_pairs)
    return csr_array((np.full(n, 1.0 / n), others, np.arange(n + 1, dtype=np.int32)), shape=(n, n))
