"""Parametric t-SNE and parametric UMAP: a network whose outputs minimise the loss of a neighbour method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from ..._core.runtime import generator
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ..._core.values import Knn
from ...affinities import (
    checked_perplexity,
    conditional_affinities,
    fitted_curve,
    fuzzy_graph,
    joint_affinities,
    neighbors_for_perplexity,
)
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_coordinates
from ...embedding.maps.network import Layers, NetworkMap
from ...embedding.training_data import NComponents, NJobs, NNeighbors, TrainingData, training_data
from ...neighbors import searched_neighbors
from ...objectives import FuzzyNeighbors, StudentNeighbors, mean_edge_cost
from .training import (
    FEW,
    HiddenLayers,
    MaxEpochs,
    ScaledRows,
    Schedule,
    WeightDecay,
    checked_layers,
    train,
    validation_split,
    warn_of_few,
)

_VALIDATION, _MOST_VALIDATION = 0.1, 2_000  # rows of the validation set: a share, and at most
_PAIRS = 256  # of a batch, and at least:
_FEWEST_PAIRS = 4
_ROWS_A_PAIR = 8  # that a table has for a pair of its batches: or many rows would stand in a batch twice
_BATCHES = 20  # of an epoch at least
# How far a row is moved at most, on the way to its neighbour or back: a network learns still ones by heart.
_JITTER = 0.5
_VALIDATION_PAIRS = 1_500  # by which the rows held back are judged
# Share of the epochs, exaggeration of pulls, rate of learning: rows find their neighbours before the map
# opens, and smaller steps then take the noise of sampled pairs out.
_PHASES = ((0.5, 2.0, 3e-3), (0.25, 1.0, 3e-3), (0.15, 1.0, 1e-3), (0.1, 1.0, 2e-4))


class GraphCost(Protocol):
    """The cost of coordinates for a graph, and its gradient."""

    def gradient(self, Z: np.ndarray, exaggeration: float = 1.0) -> np.ndarray: ...

    def divergence(self, Z: np.ndarray, exaggeration: float = 1.0) -> float: ...


def trained_network(
    rows: ScaledRows,
    graph: csr_array,
    cost_of: Callable[[csr_array], GraphCost],
    sizes: tuple[int, ...],
    max_epochs: int,
    weight_decay: float,
    random: np.random.RandomState,
) -> tuple[Layers, int]:
    """Train a network of these sizes on sampled pairs, first exaggerated; with the number of epochs."""
    activations = (*("relu" for _ in sizes[1:-1]), "linear")
    layers = Layers.initialized(sizes, activations, random, np.float32)
    pairs = EdgeSplit.of(graph, random)
    n_epochs = 0
    for epochs, exaggeration, rate in _phases(max_epochs):
        loss = PairLoss(layers, rows, pairs, cost_of, exaggeration, weight_decay)
        n_epochs += train(layers.vector, loss, Schedule(epochs, epochs, (rate,)), random).n_epochs
    return layers, n_epochs


def network_map(rows: ScaledRows, layers: Layers) -> NetworkMap:
    """The map of a trained network, in double precision."""
    data = TrainingData(len(rows), None, "euclidean")
    return NetworkMap(data, layers.sizes[-1], rows.origin, rows.unit, layers.astype(np.float64))


@dataclass(frozen=True, slots=True)
class EdgeSplit:
    """Edges between training rows, and pairs with rows of the validation set."""

    training: SampledEdges
    validation: np.ndarray  # (2, h): rows held back are in each of these pairs
    size: int  # pairs of a batch
    n_batches: int  # of an epoch

    @classmethod
    def of(cls, graph: csr_array, random: np.random.RandomState) -> EdgeSplit:
        """Hold a tenth of the rows back; of fewer than 50 none, and the training set says when to end."""
        n = graph.shape[0]
        warn_of_few(n)
        validation, training = validation_split(n, _VALIDATION, random, fewest=FEW, most=_MOST_VALIDATION)
        edges = SampledEdges.of(graph, _mask(training, n), both=True)
        validation_edges = SampledEdges.of(graph, _mask(validation, n), both=False)
        if not len(edges):  # each row has neighbours among those held back alone
            edges = validation_edges
        size = min(_PAIRS, max(_FEWEST_PAIRS, n // _ROWS_A_PAIR))
        validation_pairs = validation_edges.sample(
            min(_VALIDATION_PAIRS, max(_FEWEST_PAIRS, len(validation))), random
        )
        return cls(edges, validation_pairs, size, max(_BATCHES, -(-n // size)))


class PairLoss:
    """The loss over batches of sampled pairs: the cost of a graph in which each row has one neighbour."""

    def __init__(
        self,
        layers: Layers,
        rows: ScaledRows,
        pairs: EdgeSplit,
        cost_of: Callable[[csr_array], GraphCost],
        exaggeration: float,
        weight_decay: float,
    ):
        self.layers, self.rows, self.pairs = layers, rows, pairs
        self.exaggeration, self.weight_decay = exaggeration, weight_decay
        self.cost = cost_of(matching(pairs.size))
        self.validation_cost = cost_of(matching(pairs.validation.shape[1]))

    def batches(self, random: np.random.RandomState) -> Iterator[np.ndarray]:
        """Rows of pairs, row i and row size + i, each moved along the way between both."""
        size = self.pairs.size
        ends = self.pairs.training.sample(size * self.pairs.n_batches, random)
        for first in range(0, ends.shape[1], size):
            one, two = self.rows.take(ends[:, first : first + size].ravel()).reshape(2, size, -1)
            way = two - one
            back, forth = random.uniform(-_JITTER, _JITTER, size=(2, size, 1)).astype(way.dtype)
            yield np.concatenate([one + back * way, two + forth * way])

    def gradient(self, batch: np.ndarray) -> np.ndarray:
        outputs = self.layers.forward(batch)
        gradient = np.zeros_like(self.layers.vector)
        of_outputs = self.cost.gradient(outputs[-1], self.exaggeration).astype(np.float32, copy=False)
        self.layers.backward(outputs, of_outputs, gradient)
        self.layers.decay(self.weight_decay, gradient)
        return gradient

    def error(self) -> float:
        Z = self.layers.forward(self.rows.take(self.pairs.validation.ravel()))[-1]
        return self.validation_cost.divergence(Z.astype(np.float64), self.exaggeration)


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


# ---- Edges of a neighbour graph, sampled by their weights: what batches of a network are made from ----


@dataclass(frozen=True, slots=True)
class SampledEdges:
    """Edges of a symmetric graph, each once, and the sums of their weights: for systematic sampling.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> W = csr_array([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    >>> edges = SampledEdges.of(W, np.ones(3, bool), both=True)
    >>> np.sort(edges.sample(4, np.random.RandomState(0)), axis=1).tolist()
    [[0, 0, 0, 1], [1, 1, 1, 2]]
    """

    first: np.ndarray  # (e,) int32: the lower number of both ends
    second: np.ndarray  # (e,) int32
    sums: np.ndarray  # (e,) of the weights up to each edge

    @classmethod
    def of(cls, graph: csr_array, some: np.ndarray, *, both: bool) -> SampledEdges:
        """Those with both ends among ``some`` rows (a mask), or with at least one."""
        own = np.repeat(np.arange(graph.shape[0], dtype=np.int32), np.diff(graph.indptr))
        fits = np.logical_and if both else np.logical_or
        kept = np.flatnonzero(fits(some[own], some[graph.indices]) & (own < graph.indices) & (graph.data > 0))
        return cls(own[kept], graph.indices[kept].astype(np.int32), np.cumsum(graph.data[kept]))

    def __len__(self) -> int:
        return len(self.first)

    def sample(self, count: int, random: np.random.RandomState) -> np.ndarray:
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


class ParametricTSNE(Embedder):
    """Parametric t-SNE: a network trained by the loss of t-SNE maps new rows.

    The affinities P are those of t-SNE. A network with ``layers`` of rectified linear units and linear
    outputs is trained by Adam on batches of 256 pairs of rows, drawn by ``p_ij``: of a batch it goes down
    the mean of ``log(1 + |z_i - z_j|^2)`` over the pairs and ``log sum (1 + |z_a - z_b|^2)^-1`` over all its
    rows, an estimate of ``sum p log(p / q)``. Both rows of a pair are moved before by up to half the way
    between them, either way, so that fewer are learnt by heart. The first part of the cost counts twice in
    the first half of the epochs; in the last quarter the rate of learning falls. A tenth of the rows, at
    most 2,000, is held back: each phase ends with the network of its best epoch on pairs of these. No map is
    fitted before: what a network cannot draw costs it from the start.

    Cost: the search of neighbours, then ``O(n w)`` time an epoch for w weights, ``O(n k)`` memory; ``O(w)``
    a new row, which needs nothing of the fitted ones.

    Parameters
    ----------
    perplexity : float
        About how many neighbours count, at least 1. From n - 1 on all rows count alike, with a warning.
    n_components : int
        Dimension of the map.
    layers : tuple of int
        Units of the hidden layers.
    max_epochs : int
        Epochs, each of as many pairs as there are rows.
    weight_decay : float
        Factor of half the squared weights in the cost: more gives a smoother map.
    random_state : int, RandomState or None
        Of the weights, the pairs, the rows held back, and the approximate search. None is a fixed seed.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        What the network gives for the fitted rows.
    kl_divergence_ : float
        ``sum p log(p / q)`` of this map; above 4,000 rows within 1e-3.
    n_epochs_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    van der Maaten (2009); Damrich, Böhm, Hamprecht and Kobak (2023).

    Examples
    --------
    >>> from isentropic import ParametricTSNE, datasets
    >>> X = datasets.load("builtin:iris").X
    >>> network = ParametricTSNE(layers=(32,), max_epochs=20).fit(X[::2])
    >>> network.transform(X[1::2]).shape
    (75, 2)
    """

    kl_divergence_: Annotated[float, Number()]
    n_epochs_: Annotated[int, Whole(1)]
    _map: Annotated[NetworkMap, Sub(NetworkMap)]

    def __init__(
        self,
        perplexity: float = 30.0,
        n_components: NComponents = 2,
        *,
        layers: HiddenLayers = (100, 100, 100, 100),
        max_epochs: MaxEpochs = 200,
        weight_decay: WeightDecay = 1e-4,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.layers = layers
        self.max_epochs = max_epochs
        self.weight_decay = weight_decay
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, affinities, a network that learns sampled pairs of them. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        perplexity = checked_perplexity(self.perplexity, data.n)
        nearest = Knn(neighbors_for_perplexity(perplexity, data.n))
        knn = searched_neighbors(data.table, nearest, random_state=seed, n_jobs=n_jobs)
        conditional, _ = conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)
        P = joint_affinities(knn, conditional, n_jobs=n_jobs)
        cost_of = partial(StudentNeighbors, n_components=d, n_jobs=n_jobs)
        rows = ScaledRows.standard(data.table, np.float32)
        sizes = (rows.X.shape[1], *checked_layers(self.layers), d)
        layers, n_epochs = trained_network(rows, P, cost_of, sizes, int(self.max_epochs),
                                          float(self.weight_decay), random)  # fmt: skip
        new_rows = network_map(rows, layers)
        Z = checked_coordinates(new_rows.transform(rows.X, n_jobs))
        divergence = cost_of(P).divergence(Z)
        return self._set_fit(Z, new_rows, kl_divergence_=divergence, n_epochs_=n_epochs)


_PUSH = 5.0  # of drawn rows for every pull


class ParametricUMAP(Embedder):
    """Parametric UMAP: a network trained by the loss of UMAP maps new rows.

    The fuzzy graph W is that of UMAP. A network with ``layers`` of rectified linear units and linear outputs
    is trained by Adam on batches of 256 pairs of rows, drawn by ``w_ij``: of a batch it goes down the mean of
    ``-log q`` over the pairs, ``q = 1 / (1 + a r^(2b))``, and each of its rows is pushed by 24 others, drawn,
    which weigh five pulls together, along ``-log(1 - q)``. Both rows of a pair are moved before by up to half
    the way between them, either way, so that fewer are learnt by heart. Pushes are halved in the first half
    of the epochs; in the last quarter the rate of learning falls. A tenth of the rows, at most 2,000, is held
    back: each phase ends with the network of its best epoch on pairs of these.

    Cost: the search of neighbours, then ``O(n w)`` time an epoch for w weights, ``O(n k)`` memory; ``O(w)``
    a new row, which needs nothing of the fitted ones.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, itself not counted. More show more of the whole, fewer more detail.
    n_components : int
        Dimension of the map.
    min_dist : float
        How close rows may lie in the map, at most 1.
    layers : tuple of int
        Units of the hidden layers.
    max_epochs : int
        Epochs, each of as many pairs as there are rows.
    weight_decay : float
        Factor of half the squared weights in the cost: more gives a smoother map.
    random_state : int, RandomState or None
        Of the weights, the pairs, the rows held back, and the approximate search. None is a fixed seed.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        What the network gives for the fitted rows.
    cost_ : float
        Of this map: the mean of ``w log(w / q) + (1 - w) log((1 - w) / (1 - q))`` over the edges of the fuzzy
        graph, 0 where both graphs agree.
    n_epochs_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Sainburg, McInnes and Gentner (2021).

    Examples
    --------
    >>> from isentropic import ParametricUMAP, datasets
    >>> X = datasets.load("builtin:iris").X
    >>> network = ParametricUMAP(layers=(32,), max_epochs=20).fit(X[::2])
    >>> network.transform(X[1::2]).shape
    (75, 2)
    """

    cost_: Annotated[float, Number(0)]
    n_epochs_: Annotated[int, Whole(1)]
    _map: Annotated[NetworkMap, Sub(NetworkMap)]

    def __init__(
        self,
        n_neighbors: NNeighbors = 15,
        n_components: NComponents = 2,
        *,
        min_dist: float = 0.1,
        layers: HiddenLayers = (100, 100, 100, 100),
        max_epochs: MaxEpochs = 200,
        weight_decay: WeightDecay = 1e-4,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.min_dist = min_dist
        self.layers = layers
        self.max_epochs = max_epochs
        self.weight_decay = weight_decay
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, the fuzzy graph, a network that learns sampled pairs of it. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        curve = fitted_curve(self.min_dist, 1.0)
        knn = searched_neighbors(data.table, Knn(int(self.n_neighbors)), random_state=seed, n_jobs=n_jobs)
        W = fuzzy_graph(knn, n_jobs=n_jobs)
        cost_of = partial(FuzzyNeighbors, curve=curve, push=_PUSH, seed=seed, n_jobs=n_jobs)
        rows = ScaledRows.standard(data.table, np.float32)
        sizes = (rows.X.shape[1], *checked_layers(self.layers), d)
        layers, n_epochs = trained_network(rows, W, cost_of, sizes, int(self.max_epochs),
                                          float(self.weight_decay), random)  # fmt: skip
        new_rows = network_map(rows, layers)
        Z = checked_coordinates(new_rows.transform(rows.X, n_jobs))
        return self._set_fit(Z, new_rows, cost_=mean_edge_cost(W, curve, Z), n_epochs_=n_epochs)
