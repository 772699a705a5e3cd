"""UMAP: uniform manifold approximation and projection."""

from __future__ import annotations

from functools import partial

from ..._core.errors import require_number
from ..._core.state import Absent, State, StateError, declared
from ...affinities import fuzzy_graph
from ...embedding.input_rows import metric_of_rows
from .class_fuzzy_maps import ClassFuzzyEmbedder

_OF_CLASSES = ("_codes", "_fit_unlabelled", "_n_votes", "_guessed", "_apart")  # which a fit without y has not


class UMAP(ClassFuzzyEmbedder):
    """A map whose fuzzy neighbour graph is as near as possible to that of the data.

    A row belongs to the neighbourhood of another with the weight ``exp(-(d - rho)_+ / sigma)``: rho is the
    distance of the nearest other row, and sigma such that the weights of its k neighbours sum to ``log2 k``.
    ``w = v + v' - v v'`` of both directions. In the map ``q = 1 / (1 + a r^(2b))``, a curve near to 1 up to
    ``min_dist`` and then falling by ``exp(-r / spread)``. The map minimises
    ``sum w log(w / q) + (1 - w) log((1 - w) / (1 - q))``, the second part by drawn rows. In every epoch all
    rows move at once, by random numbers that depend on the seed, the epoch and the row alone: the same seed
    gives the same map on any number of threads. A new row minimises its own part of the cost, the fitted
    rows held.

    With classes, ``fit(X, y)``, the map is supervised, as in umap-learn: neighbours of two classes hardly
    belong together. It is the map of :class:`SupervisedUMAP`; rows whose class is -1, None or NaN are
    unlabelled.

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
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists to take instead of searching, such as ``nearest_neighbors`` makes.
    n_epochs : int, optional
        None is 300 up to 10,000 rows, and 200 above.
    negative_sample_rate : float
        How much drawn rows push for every neighbour that pulls: at most 1000.
    target_weight : float
        How much the classes of ``fit(X, y)`` count, from 0, which ignores them, to 1.
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
    classes_ : array
        What the classes are called, where ``fit`` was given some.
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
        target_weight=0.5,
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
        self.target_weight = target_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    _refines = True
    _learns_from_y = False
    _hint_for_numbers = (
        "Cut numbers into classes, pd.qcut(y, 5).codes, or give no y; target_weight=0 ignores it."
    )
    unlabelled = "votes"
    _state = State({name: Absent(declared(ClassFuzzyEmbedder)[name]) for name in _OF_CLASSES})

    def fit(self, X, y=None, *, init=None):
        """Neighbours, the fuzzy graph, its intersection with the classes ``y`` if given, a start, epochs.

        ``init`` is an earlier map to go on from, in a quarter of the epochs: a fitted estimator, a DataFrame
        of coordinates by row name, or an array.
        """
        must_be = "a number from 0 to 1"
        weight = require_number("target_weight", self.target_weight, must_be, most=1)
        warm = self._warm_start(X, init)
        for name in ("classes_", "_gaussians", *_OF_CLASSES, *self._found_again):  # of the fit before
            vars(self).pop(name, None)
        if y is None or weight == 0:
            self._embed(self._checked_rows(X), partial(fuzzy_graph, n_jobs=self.n_jobs), warm=warm)
        else:
            X, codes = self._taught(X, y, metric=metric_of_rows(self.metric))
            self._embed_classes(X, codes, weight, warm)
        return self

    def _require_sound(self) -> None:
        for name in ("classes_", *_OF_CLASSES):
            there = name in vars(self) if name == "_guessed" else vars(self).get(name) is not None
            if there != self._has_classes:  # a guess of no row is None
                raise StateError(name, "must be there for a map that learnt from classes, and for no other")
        super()._require_sound()
