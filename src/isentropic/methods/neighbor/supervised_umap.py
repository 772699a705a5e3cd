"""Supervised UMAP: the fuzzy graph of the data intersected with that of classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from ..._core.parameters import Count, Real
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ...affinities import fitted_curve
from ...embedding.classes.class_model import ClassModel
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.parameters import NComponents, NJobs, NNeighbors, RowMetric, Unlabelled
from ...embedding.training_data import labelled_training_data
from ...objectives import mean_edge_cost
from .fuzzy import (
    SAMPLE,
    STEEPEST,
    Curve,
    FuzzyLayout,
    FuzzyMap,
    FuzzyMemberships,
    class_distance,
    class_fuzzy_graph,
    epochs,
    fuzzy_start,
    require_fuzzy_memory,
    run_epochs,
)
from .initialization import merged_embedding, neighbor_lists
from .student import seeded

_SPREAD, _PUSH = 1.0, 5.0  # the unit of the map, and how much drawn rows push for every neighbour that pulls
_WEIGHT = Real("a number above 0 and at most 1", above=0, most=1, hint="UMAP().fit(X) takes no classes.")


class SupervisedUMAP(Embedder):
    """UMAP in which neighbours of two classes hardly belong together.

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
        start = fuzzy_start(W, distances, self.init, d, curve.spread, random)
        n_epochs = epochs(self.n_epochs, data.n)
        Z = merged_embedding(data, run_epochs(W, start, curve, _PUSH, n_epochs, seed, n_jobs))
        far, k = np.sort(random.permutation(data.n)[:SAMPLE]), knn.indices.shape[1]
        classes = replace(classes, n_votes=min(k, len(data.labelled)))
        new_rows = FuzzyMap(query, FuzzyMemberships(k, classes, apart), FuzzyLayout(Z, *curve, _PUSH, far))
        return self._set_fit(Z, new_rows, cost_=mean_edge_cost(W, curve.in_spreads, Z / curve.spread),
                             a_=curve.a, b_=curve.b, n_iter_=n_epochs)  # fmt: skip
