"""UMAP: uniform manifold approximation and projection."""

from __future__ import annotations

import numpy as np

from .._errors import require_count, require_number
from .._runtime import generator, require_memory
from .._state import Array, Number, State, Whole
from ..affinities import fitted_curve, fuzzy_graph, memberships
from ..families.embedder import undone_on_failure
from ..families.neighbor_maps import NeighborEmbedder, settled_among
from ..families.spectral_start import spectral_start, wide
from ..kernels.row_costs import FUZZY
from ..neighbors import component_labels, warn_of_parts
from ..objectives import FuzzyMoves, mean_edge_cost
from ..objectives.fuzzy import SOFTENING
from ..optim import batch_epochs

_FEW_ROWS, _EPOCHS_OF_FEW, _EPOCHS_OF_MANY = 10_000, 300, 200
_NOISE = 1e-3  # of a start, in units: rows at one place must be able to part
_MOST_PUSH = 1000  # far above it, new rows would be pushed out of the map
_SAMPLE = 512  # fitted rows that push a new one
_EDGE_BYTES = 110  # of a listed neighbour: weights and the graph of both directions, in both precisions


class UMAP(NeighborEmbedder):
    """A map whose fuzzy neighbour graph is as near as possible to that of the data.

    A row belongs to the neighbourhood of another with the weight ``exp(-(d - rho)_+ / sigma)``: rho is the
    distance of the nearest other row, and sigma such that the weights of its k neighbours sum to ``log2 k``.
    ``w = v + v' - v v'`` of both directions. In the map ``q = 1 / (1 + a r^(2b))``, a curve near to 1 up to
    ``min_dist`` and then falling by ``exp(-r / spread)``. The map minimises
    ``sum w log(w / q) + (1 - w) log((1 - w) / (1 - q))``, the second part by drawn rows. In every epoch all
    rows move at once, by random numbers that depend on the seed, the epoch and the row alone: the same seed
    gives the same map on any number of threads. A new row minimises its own part of the cost, the fitted
    rows held.

    Cost: the search of neighbours, then ``O(n (k + 24))`` time an epoch and ``O(n k)`` memory.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, itself not counted. More show more of the whole, fewer more detail.
    n_components : int
        Dimension of the map.
    min_dist : float
        How close rows may lie in the map.
    spread : float
        The unit of the map, at least ``min_dist``, from 1e-50 to 1e50.
    init : {"spectral", "pca", "random"} or array of shape (n, n_components)
        Where the search starts, made 10 spreads wide. ``"spectral"``: eigenvectors of the graph; parts of a
        graph that is not connected have one start each, around the middles of their rows in ``"pca"``.
    metric : str, callable or Geodesic
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph.
    neighbors : Neighbors, optional
        Lists to take instead of searching, such as ``nearest_neighbors`` makes.
    n_epochs : int, optional
        None is 300 up to 10,000 rows, and 200 above.
    negative_sample_rate : float
        How much drawn rows push for every neighbour that pulls: at most 1000.
    random_state : int, RandomState or None
        None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    a_ : float
        Of the curve of the map, in its unit.
    b_ : float
        As above.
    cost_ : float
        Of the map: the mean of ``w log(w / q) + (1 - w) log((1 - w) / (1 - q))`` over the edges of the fuzzy
        graph, 0 where both graphs agree.
    n_iter_ : int
        Epochs.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    McInnes, Healy and Melville (2018).

    Examples
    --------
    >>> from isentropic import UMAP, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> umap = UMAP(n_neighbors=10).fit(iris.X)
    >>> umap.embedding_.shape
    (150, 2)
    >>> bool((umap.transform(iris.X[:5]) == umap.embedding_[:5]).all())
    True
    """

    _state = State(  # r fitted rows push new ones
        cost_=Number(0),
        a_=Number(above=0),
        b_=Number(above=0),
        _spread=Number(above=0),
        _push=Number(0),
        _n_nearest=Whole(1, below="n"),
        _far=Array("r", dtype=np.int64, below="n"),
    )
    _starts = ("spectral", "pca", "random")

    def __init__(
        self,
        n_neighbors=15,
        n_components=2,
        *,
        min_dist=0.1,
        spread=1.0,
        init="spectral",
        metric="euclidean",
        neighbors=None,
        n_epochs=None,
        negative_sample_rate=5,
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.min_dist = min_dist
        self.spread = spread
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.n_epochs = n_epochs
        self.negative_sample_rate = negative_sample_rate
        self.random_state = random_state
        self.n_jobs = n_jobs

    @undone_on_failure
    def fit(self, X, y=None):
        """Neighbours, the fuzzy graph, a start, epochs."""
        k = require_count("n_neighbors", self.n_neighbors)
        a, b = fitted_curve(self.min_dist, self.spread)
        spread = float(self.spread)
        curve = _in_spreads(a, b, spread)
        must_be = f"a number of at least 0 and at most {_MOST_PUSH}"
        push = require_number("negative_sample_rate", self.negative_sample_rate, must_be, most=_MOST_PUSH)
        n_epochs = self._checked_epochs(X := self._checked_rows(X))
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        n = len(X)
        require_memory(_EDGE_BYTES * n * min(k, n), f"UMAP of {n:,} rows", "Take fewer neighbours.")
        distances = self._distances_of(X, seed)
        found = self._listed(distances, k, seed)
        W = fuzzy_graph(found, n_jobs=self.n_jobs)
        warn_of_parts(component_labels(W.indptr, W.indices, W.data > 0))
        start = self._start_of(W, distances, random)
        moves = FuzzyMoves(W, curve, push=push, n_epochs=n_epochs, seed=seed)
        Z = batch_epochs(moves, start, n_epochs, n_jobs=self.n_jobs)
        self._keep(distances, (Z - Z.mean(axis=0)) * spread, n_epochs)
        self.a_, self.b_, self._spread, self._push = a, b, spread, push
        self._n_nearest = found.indices.shape[1]
        self._far = np.sort(random.permutation(n)[:_SAMPLE])
        self.cost_ = mean_edge_cost(W, curve, self.embedding_ / spread)
        return self

    def _checked_epochs(self, X: np.ndarray) -> int:
        if self.n_epochs is None:
            return _EPOCHS_OF_FEW if len(X) <= _FEW_ROWS else _EPOCHS_OF_MANY
        return require_count("n_epochs", self.n_epochs, "None or a number of epochs", least=0)

    def _start_of(self, W, distances, random: np.random.RandomState) -> np.ndarray:
        """10 units wide, with a little noise."""
        if isinstance(self.init, str) and self.init == "spectral":
            Z = spectral_start(W, self.n_components, lambda: self._start(distances, random))
        else:
            Z = wide(self._start(distances, random))
        return Z + _NOISE * random.standard_normal(Z.shape)

    def _place(self, X: np.ndarray) -> np.ndarray:
        indices, near = self._listed_among_fitted(X, self._n_nearest)
        weights = memberships(near, n_jobs=self.n_jobs)
        Z = self.embedding_ / self._spread
        shape = np.array([*_in_spreads(self.a_, self.b_, self._spread), self._push, SOFTENING])
        return settled_among(FUZZY, Z, indices, weights, self._far, shape, self.n_jobs) * self._spread


def _in_spreads(a: float, b: float, spread: float) -> tuple[float, float]:
    """The curve of a map in units of the spread."""
    return a * spread ** (2.0 * b), b
