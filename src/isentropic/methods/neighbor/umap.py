"""UMAP: uniform manifold approximation and projection."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Count, Real
from ..._core.runtime import seeded
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ...affinities import fitted_curve
from ...embedding.class_model import ClassModel
from ...embedding.embedder import Embedder
from ...embedding.initialization import previous_embedding
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import (
    MetricParameter,
    NComponents,
    NeighborLists,
    NJobs,
    NNeighbors,
    RowMetric,
    Unlabelled,
    labelled_training_data,
    training_data,
)
from ...objectives import mean_edge_cost
from .fuzzy import (
    MOST_PUSH,
    SAMPLE,
    STEEPEST,
    Curve,
    FuzzyLayout,
    FuzzyMap,
    FuzzyMemberships,
    class_distance,
    class_fuzzy_graph,
    epochs,
    fuzzy_initialization,
    require_fuzzy_memory,
    run_epochs,
)
from .tsne_stages import merged_embedding, neighbor_lists

_NO_CLASSES = "Cut numbers into classes, pd.qcut(y, 5).codes, or give no y; target_weight=0 ignores it."
_PUSH = Real(f"a number of at least 0 and at most {MOST_PUSH}", most=MOST_PUSH)


class UMAP(Embedder):
    """UMAP: match the fuzzy neighbour graph of the data in the map.

    A row belongs to the neighbourhood of another with the weight ``exp(-(d - rho)_+ / sigma)``: rho is the
    distance of the nearest other row, and sigma such that the weights of its k neighbours sum to ``log2 k``.
    ``w = v + v' - v v'`` of both directions. In the map ``q = 1 / (1 + a r^(2b))``, a curve near to 1 up to
    ``min_dist`` and then falling by ``exp(-r / spread)``. The map minimises
    ``sum w log(w / q) + (1 - w) log((1 - w) / (1 - q))``, the second part by drawn rows. In every epoch all
    rows move at once, by random numbers that depend on the seed, the epoch and the row alone: the same seed
    gives the same map on any number of threads. A new row minimises its own part of the cost, with the fitted
    rows fixed.

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
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
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

    cost_: Annotated[float, Number(0)]
    a_: Annotated[float, Number(above=0)]
    b_: Annotated[float, Number(above=0, most=STEEPEST)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[FuzzyMap, Sub(FuzzyMap)]
    _refines = True
    _keeps_single = True

    def __init__(
        self,
        n_neighbors: NNeighbors = 15,
        n_components: NComponents = 2,
        *,
        min_dist: float = 0.1,
        spread: float = 1.0,
        init: Any = "spectral",
        metric: MetricParameter = "euclidean",
        neighbors: NeighborLists = None,
        n_epochs: Annotated[int | None, Count("None or a number of epochs", least=0, optional=True)] = None,
        negative_sample_rate: Annotated[float, _PUSH] = 5,
        target_weight: Annotated[float, Real("a number from 0 to 1", most=1)] = 0.5,
        random_state: Any = None,
        n_jobs: NJobs = None,
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

    def fit(self, X, y=None, *, init=None):
        """Neighbours, the fuzzy graph, its intersection with the classes ``y`` if given, a start, epochs.

        ``init`` is an earlier map to go on from, in a quarter of the epochs: a fitted estimator, a DataFrame
        of coordinates by row name, or an array.
        """
        d, n_jobs, classes, apart = self.n_components, self.n_jobs, None, None
        if y is None or self.target_weight == 0:
            data = training_data(self, X, names=True)
        else:
            data = labelled_training_data(self, X, y, names=True, hint=_NO_CLASSES)
            classes = ClassModel.fit(data, len(self.classes_), "votes", self.n_neighbors, n_jobs)
            apart = class_distance(self.target_weight)
        previous = previous_embedding(X, init, d)
        curve = Curve(*fitted_curve(self.min_dist, self.spread), float(self.spread))
        random, seed = seeded(self.random_state)
        require_fuzzy_memory(self.n_neighbors, data.n)
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        knn = neighbor_lists(distances, self.n_neighbors, self.metric, seed, self.neighbors)
        W = class_fuzzy_graph(knn, classes, apart, n_jobs)
        start = fuzzy_initialization(W, distances, self.init, d, curve.spread, random, previous)
        n_epochs, push = epochs(self.n_epochs, data.n, previous), float(self.negative_sample_rate)
        Z = run_epochs(W, start, curve, push, n_epochs, seed, n_jobs, warm=previous is not None)
        Z, k = merged_embedding(data, Z), knn.indices.shape[1]
        far = np.sort(random.permutation(data.n)[:SAMPLE])
        if classes is not None:
            classes = replace(classes, n_votes=min(k, len(data.labelled)))
        new_rows = FuzzyMap(query, FuzzyMemberships(k, classes, apart), FuzzyLayout(Z, *curve, push, far))
        return self._set_fit(Z, new_rows, cost_=mean_edge_cost(W, curve.in_spreads, Z / curve.spread),
                             a_=curve.a, b_=curve.b, n_iter_=n_epochs)  # fmt: skip


# ---- Supervised UMAP: the fuzzy graph of the data intersected with that of classes ---------------


_SPREAD, _CLASS_PUSH = (
    1.0,
    5.0,
)  # the unit of the map, and how much drawn rows push for every neighbour that pulls
_WEIGHT = Real("a number above 0 and at most 1", above=0, most=1, hint="UMAP().fit(X) takes no classes.")


class SupervisedUMAP(Embedder):
    """UMAP that weakens the edges between classes.

    The fuzzy graph of UMAP is intersected with that of the classes, in which two of them are
    ``r = 2.5 / (1 - target_weight)`` apart: an edge between two classes keeps ``exp(-r)`` of its weight. Then
    each row is scaled to a largest weight of 1 and both directions are joined again, as in umap-learn; start
    and epochs are UMAP's. A new row has no class: its weights to its neighbours are multiplied by the
    expectation ``p + (1 - p) exp(-r)``, p the probability that both are of one class, and scaled.

    The classes shape the map: it parts pure noise by labels at random, too. Believe it as far as rows
    that it has not seen are placed with their class, and beside the same map of permuted labels.

    Cost: that of UMAP, ``O(n (k + 24))`` time an epoch and ``O(n k)`` memory after the search.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, itself not counted.
    n_components : int
        Dimension of the map.
    target_weight : float
        How much classes count, above 0 and up to 1, where no edge between two of them is left to rows that
        have others.
    min_dist : float
        How close rows may lie in the map.
    unlabelled : {"votes", "posterior", "neutral"}
        What is guessed of rows without a class, new ones and those of ``y`` where it is missing: the shares
        of the classes among the nearest rows, the posterior of a Gaussian for each class, or nothing, so
        that no weight changes.
    init : {"spectral", "pca", "random"} or array of shape (n, n_components)
        Where the search starts, made 10 units wide.
    metric : str or callable
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows.
    n_epochs : int, optional
        None is 300 up to 10,000 rows, and 200 above.
    random_state : int, RandomState or None
        None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    a_ : float
        Of the curve of the map.
    b_ : float
        As above.
    cost_ : float
        The mean cross-entropy of the edges of both graphs, 0 where they agree.
    n_iter_ : int
        Epochs.
    classes_ : array
        What the classes are called.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    McInnes, Healy and Melville (2018); umap-learn.

    Examples
    --------
    >>> from isentropic import SupervisedUMAP, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> umap = SupervisedUMAP(10, n_epochs=50).fit(iris.X, iris.y)
    >>> umap.embedding_.shape, umap.transform(iris.X[:5] + 0.01).shape
    ((150, 2), (5, 2))
    """

    _learns_from_y = True
    cost_: Annotated[float, Number(0)]
    a_: Annotated[float, Number(above=0)]
    b_: Annotated[float, Number(above=0, most=STEEPEST)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[FuzzyMap, Sub(FuzzyMap)]

    def __init__(
        self,
        n_neighbors: NNeighbors = 15,
        n_components: NComponents = 2,
        *,
        target_weight: Annotated[float, _WEIGHT] = 0.5,
        min_dist: float = 0.1,
        unlabelled: Unlabelled = "votes",
        init: Any = "spectral",
        metric: RowMetric = "euclidean",
        n_epochs: Annotated[int | None, Count("None or a number of epochs", least=0, optional=True)] = None,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.target_weight = target_weight
        self.min_dist = min_dist
        self.unlabelled = unlabelled
        self.init = init
        self.metric = metric
        self.n_epochs = n_epochs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Neighbours, the fuzzy graph, its intersection with the classes, a start, epochs."""
        data, d, n_jobs = labelled_training_data(self, X, y), self.n_components, self.n_jobs
        curve = Curve(*fitted_curve(self.min_dist, _SPREAD), _SPREAD)
        classes = ClassModel.fit(data, len(self.classes_), self.unlabelled, self.n_neighbors, n_jobs)
        apart = class_distance(self.target_weight)
        random, seed = seeded(self.random_state)
        require_fuzzy_memory(self.n_neighbors, data.n)
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        knn = neighbor_lists(distances, self.n_neighbors, self.metric, seed)
        W = class_fuzzy_graph(knn, classes, apart, n_jobs)
        start = fuzzy_initialization(W, distances, self.init, d, curve.spread, random)
        n_epochs = epochs(self.n_epochs, data.n)
        Z = merged_embedding(data, run_epochs(W, start, curve, _CLASS_PUSH, n_epochs, seed, n_jobs))
        far, k = np.sort(random.permutation(data.n)[:SAMPLE]), knn.indices.shape[1]
        classes = replace(classes, n_votes=min(k, len(data.labelled)))
        new_rows = FuzzyMap(
            query, FuzzyMemberships(k, classes, apart), FuzzyLayout(Z, *curve, _CLASS_PUSH, far)
        )
        return self._set_fit(Z, new_rows, cost_=mean_edge_cost(W, curve.in_spreads, Z / curve.spread),
                             a_=curve.a, b_=curve.b, n_iter_=n_epochs)  # fmt: skip
