"""Parametric t-SNE: a network that goes down the cost of t-SNE."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import generator
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ..._core.values import Knn
from ...affinities import checked_perplexity, conditional_affinities, joint_affinities, listed_for
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_coordinates
from ...embedding.maps.network import NetworkMap
from ...embedding.training_data import NComponents, NJobs, training_data
from ...neighbors import searched_neighbors
from ...objectives import StudentNeighbors
from .lessons import HiddenLayers, MaxEpochs, WeightDecay, checked_layers
from .parametric import learnt_network, network_map
from .training import ScaledRows


class ParametricTSNE(Embedder):
    """A network whose outputs minimise the cost of t-SNE: a new row is one pass through it.

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
        """Neighbours, affinities, a network that learns drawn pairs of them. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        perplexity = checked_perplexity(self.perplexity, data.n)
        nearest = Knn(listed_for(perplexity, data.n))
        knn = searched_neighbors(data.table, nearest, random_state=seed, n_jobs=n_jobs)
        conditional, _ = conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)
        P = joint_affinities(knn, conditional, n_jobs=n_jobs)
        cost_of = partial(StudentNeighbors, n_components=d, n_jobs=n_jobs)
        rows = ScaledRows.standard(data.table, np.float32)
        sizes = (rows.X.shape[1], *checked_layers(self.layers), d)
        layers, n_epochs = learnt_network(rows, P, cost_of, sizes, int(self.max_epochs),
                                          float(self.weight_decay), random)  # fmt: skip
        new_rows = network_map(rows, layers)
        Z = checked_coordinates(new_rows.transform(rows.X, n_jobs))
        divergence = cost_of(P).divergence(Z)
        return self._set_fit(Z, new_rows, kl_divergence_=divergence, n_epochs_=n_epochs)
