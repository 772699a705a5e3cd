"""Supervised ISOMAP: geodesics over dissimilarities in which classes count (ES-ISOMAP, WeightedIso)."""

from __future__ import annotations

import numpy as np

from ..._core.state import OneOf, State, Value, Whole
from ...dissimilarities import Added, ClassIndex, Exponential, Shrunk, checked_dissimilarity
from ...embedding.classes.class_divergences import dissimilarity_of
from ...embedding.classes.class_graphs import class_graph
from ...embedding.classes.supervised import ClassLearner
from ...neighbors import Entries, clipped_neighbors
from .geodesic import GeodesicEmbedder


class SupervisedIsomap(ClassLearner, GeodesicEmbedder):
    """ISOMAP whose neighbours and lengths are those of a dissimilarity in which classes count.

    ``"dis1"`` (ES-ISOMAP): ``sqrt(1 - exp(-d^2 / beta))`` within a class, ``exp(d^2 / 2 beta) - alpha``
    between classes. ``"dis2"`` (WeightedIso): ``d / psi`` within, d between. ``"dis3"``: d within,
    ``d + mu max d`` between. The k nearest by it make the graph, its values the lengths of the edges, and
    shortest paths and classical scaling follow as in ISOMAP. Where classes lie apart the graph is in parts:
    the shortest edges between them, in the data, join them.

    Fitted rows are separated by construction, also by labels that were drawn at random. A new row has no
    label: its dissimilarity to a fitted row is ``p within + (1 - p) between``, p the share of that row's
    class among its k nearest fitted rows. So the map of new rows tells classes as k-NN on the data does.

    Cost: ``O(n^2 (k + log n))`` time and ``4 n^2`` bytes, as ISOMAP, and a search in each class; with l
    landmarks ``O(l n (k + log n))`` and ``8 l n`` bytes.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each row by the dissimilarity, and the voters for a new one.
    n_components : int
        Dimension of the map.
    dissimilarity : {"dis1", "dis2", "dis3", "divergence"}, Dis1, Dis2, Dis3 or ClassDivergence
        As above, with ``Dis1(alpha, beta)``, ``Dis2(psi)``, ``Dis3(mu)`` for other numbers; the last adds
        the divergence between classes to distances.
    unlabelled : {"votes", "posterior", "neutral"}
        What is guessed of the class of a new row: as above; by a Gaussian for each class; or nothing, as if
        it had everybody's class.
    metric : str or callable
        Of d: any metric of scikit-learn, or ``"precomputed"``.
    n_landmarks : int or Landmarks, optional
        Work through this many rows, spread out by farthest-first choice, instead of all.
    on_disconnected : {"bridge", "largest", "raise", "inflate"} or Inflate
        What to do about a graph in parts, as in ISOMAP.
    random_state : int, RandomState or None
        For random landmarks. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. None is all cores, or one inside a parallel worker. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    classes_ : array
        What the classes are called.
    eigenvalues_ : array of shape (n_components,)
        Largest first; coordinates of a negative one are zero, with a warning.
    residual_variance_ : float
        ``1 - corr(G, D_Z)^2``, G the geodesics.
    euclidean_defect_ : (float, float)
        Bounds of the negative share of the spectrum, which no map can show.
    landmarks_ : array or None
        The rows that are landmarks, None for the exact method.
    graph_ : NeighborGraph
        Of the rows with a class; its weights are dissimilarities, and ``bridges`` what joins its parts.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Geng, Zhan and Zhou (2005). Vlachos and others (2002). Hajderanj (2022).

    Examples
    --------
    >>> import warnings
    >>> from isentropic import SupervisedIsomap, datasets
    >>> iris = datasets.load("builtin:iris", scaling="standard")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # of a graph in parts: the classes
    ...     isomap = SupervisedIsomap().fit(iris.X[::2], iris.y[::2])
    >>> isomap.transform(iris.X[1::2]).shape  # without labels
    (75, 2)
    """

    _state = State(
        _fit_measure=OneOf(Value(Exponential), Value(Shrunk), Value(Added, c="c")), _n_nearest=Whole(1)
    )

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        dissimilarity="dis1",
        unlabelled="votes",
        metric="euclidean",
        n_landmarks=None,
        on_disconnected="bridge",
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.dissimilarity = dissimilarity
        self.unlabelled = unlabelled
        self.metric = metric
        self.n_landmarks = n_landmarks
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Nearest rows by the dissimilarity, their graph, geodesics, classical scaling."""
        checked_dissimilarity(self.dissimilarity)
        self._checked_parameters()
        X, codes = self._taught(X, y, metric=self.metric)
        rows = np.flatnonzero(codes >= 0)
        table, classes = self._table(X, rows), codes[rows]
        k = clipped_neighbors(self.n_neighbors, len(rows) - 1)
        measure = dissimilarity_of(self.dissimilarity, table, classes, metric=self.metric, n_jobs=self.n_jobs)
        graph = class_graph(table, classes, measure, k, metric=self.metric,
                            on_disconnected=self.on_disconnected, n_jobs=self.n_jobs)  # fmt: skip
        self._learn(X, codes, k, self.unlabelled)
        self._fit_measure, self._n_nearest = measure, k
        self._embed_graph(X, graph, rows)
        return self

    def _table(self, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The rows that have a class; of given distances, those between them."""
        if len(rows) == len(X):
            return X
        return np.ascontiguousarray(X[np.ix_(rows, rows)] if self.metric == "precomputed" else X[rows])

    def _entries(self, X: np.ndarray) -> Entries:
        k, index = min(self._n_nearest, self.graph_.n_rows), self._rows_by_class()
        plain = Added(np.zeros((len(self.classes_),) * 2))
        shares = self._shares(X, lambda X: index.classes[index.nearest(X, k, plain, None, self.n_jobs)[0]])
        return Entries(*index.nearest(X, k, self._fit_measure, shares, self.n_jobs))

    def _rows_by_class(self) -> ClassIndex:
        index = getattr(self, "_index_of_classes", None)
        if index is None:
            classes = self._codes[self._fitted]
            index = self._index_of_classes = ClassIndex(self._fit_X, classes, self._fit_metric)
        return index
