"""Parametric UMAP: a network that goes down the cost of UMAP."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import generator
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ..._core.values import Knn
from ...affinities import fitted_curve, fuzzy_graph
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_coordinates
from ...embedding.maps.network import NetworkMap
from ...embedding.training_data import NComponents, NJobs, NNeighbors, training_data
from ...neighbors import searched_neighbors
from ...objectives import FuzzyNeighbors, mean_edge_cost
from .lessons import HiddenLayers, MaxEpochs, WeightDecay, checked_layers
from .parametric import learnt_network, network_map
from .training import ScaledRows

_PUSH = 5.0  # of drawn rows for every pull


class ParametricUMAP(Embedder):
    """A network whose outputs minimise the cost of UMAP: a new row is one pass through it.

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
        """Neighbours, the fuzzy graph, a network that learns drawn pairs of it. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        curve = fitted_curve(self.min_dist, 1.0)
        knn = searched_neighbors(data.table, Knn(int(self.n_neighbors)), random_state=seed, n_jobs=n_jobs)
        W = fuzzy_graph(knn, n_jobs=n_jobs)
        cost_of = partial(FuzzyNeighbors, curve=curve, push=_PUSH, seed=seed, n_jobs=n_jobs)
        rows = ScaledRows.standard(data.table, np.float32)
        sizes = (rows.X.shape[1], *checked_layers(self.layers), d)
        layers, n_epochs = learnt_network(rows, W, cost_of, sizes, int(self.max_epochs),
                                          float(self.weight_decay), random)  # fmt: skip
        new_rows = network_map(rows, layers)
        Z = checked_coordinates(new_rows.transform(rows.X, n_jobs))
        return self._set_fit(Z, new_rows, cost_=mean_edge_cost(W, curve, Z), n_epochs_=n_epochs)
