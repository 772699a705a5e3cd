"""Parametric UMAP: a network that goes down the cost of UMAP."""

from __future__ import annotations

from functools import partial

from ..._core.errors import require_count
from ..._core.state import Number, State
from ..._core.values import Knn
from ...affinities import fitted_curve, fuzzy_graph
from ...embedding.input_rows import checked_rows
from ...neighbors import nearest_neighbors
from ...objectives import FuzzyNeighbors, mean_edge_cost
from .parametric_maps import ParametricMap

_PUSH = 5.0  # of drawn rows for every pull


class ParametricUMAP(ParametricMap):
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

    _state = State(cost_=Number(0))

    def __init__(
        self,
        n_neighbors=15,
        n_components=2,
        *,
        min_dist=0.1,
        layers=(100, 100, 100, 100),
        max_epochs=200,
        weight_decay=1e-4,
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(n_components, layers=layers, max_epochs=max_epochs, weight_decay=weight_decay,
                         random_state=random_state, n_jobs=n_jobs)  # fmt: skip
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist

    def fit(self, X, y=None):
        """Neighbours, the fuzzy graph, a network that learns drawn pairs of it. ``y`` is not used."""
        X, how = checked_rows(self, X), self._settings()
        nearest = Knn(require_count("n_neighbors", self.n_neighbors))
        curve = fitted_curve(self.min_dist, 1.0)
        found = nearest_neighbors(X, nearest, random_state=how.seed, n_jobs=self.n_jobs)
        W = fuzzy_graph(found, n_jobs=self.n_jobs)
        cost_of = partial(FuzzyNeighbors, curve=curve, push=_PUSH, seed=how.seed, n_jobs=self.n_jobs)
        self._learn(X, W, cost_of, how)
        self.cost_ = mean_edge_cost(W, curve, self.embedding_)
        return self
