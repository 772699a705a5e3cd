"""Supervised ISOMAP: geodesics over dissimilarities in which classes count (ES-ISOMAP, WeightedIso)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..._core.specs import Array, Maybe, Number, OneOf, StateError, Tuple, Whole
from ..._core.state import Sub, Value
from ..._core.values import NeighborGraph
from ...dissimilarities import Added, ClassIndex, Exponential, Shrunk, checked_dissimilarity
from ...embedding.class_divergences import class_graph, dissimilarity_of
from ...embedding.class_model import ClassModel
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_landmarks
from ...embedding.maps.geodesic import GeodesicMap
from ...embedding.training_data import NComponents, NJobs, Part, RowMetric, Unlabelled, labelled_training_data
from ...neighbors import QueryEdges, clipped_neighbors
from .geodesic_scaling import Policy, embedded_component, geodesic_results, scaled_geodesics


@dataclass(frozen=True, eq=False)
class ClassEdges(Part):
    """A new row enters the graph at its nearest nodes by the dissimilarity, expected over its classes."""

    classes: Annotated[ClassModel, Sub(ClassModel)]
    nodes: Annotated[np.ndarray, Array("g", dtype=np.int64, below="n")]
    measure: Annotated[Any, OneOf(Value(Exponential), Value(Shrunk), Value(Added, c="c"))]
    k: Annotated[int, Whole(1)]

    def of_new(self, X: np.ndarray, paths: GeodesicMap, n_jobs: int | None) -> QueryEdges:
        """The edges of new rows; the classes of their nearest nodes vote."""
        k, index = min(self.k, len(self.nodes)), self._index
        plain = Added(np.zeros((self.classes.n_classes,) * 2))

        def vote(X: np.ndarray) -> np.ndarray:
            return index.classes[index.nearest(X, k, plain, None, n_jobs)[0]]

        return QueryEdges(*index.nearest(X, k, self.measure, self.classes.shares(X, n_jobs, vote), n_jobs))

    @cached_property
    def _index(self) -> ClassIndex:
        data = self.classes.data
        rows = np.empty((len(self.nodes), 0)) if data.X is None else data.X[self.nodes]
        return ClassIndex(rows, data.labels[self.nodes], data.metric)

    def _require_sound(self) -> None:
        if (self.classes.data.labels[self.nodes] < 0).any():
            raise StateError("nodes", "must be rows with a class")


class ClassGraphMap(GeodesicMap):
    """The out-of-sample map of supervised ISOMAP."""

    edges: Annotated[ClassEdges, Sub(ClassEdges)]


class SupervisedIsomap(Embedder):
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

    _learns_from_y = True
    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    landmarks_: Annotated[np.ndarray | None, Maybe(Array("r", dtype=np.int64, below="n"))]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    euclidean_defect_: Annotated[tuple[float, float], Tuple(Number(), Number())]
    residual_variance_: Annotated[float, Number()]
    _map: Annotated[ClassGraphMap, Sub(ClassGraphMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        dissimilarity: Any = "dis1",
        unlabelled: Unlabelled = "votes",
        metric: RowMetric = "euclidean",
        n_landmarks: Any = None,
        on_disconnected: Annotated[Any, Policy()] = "bridge",
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        data, policy, n_jobs = labelled_training_data(self, X, y), self.on_disconnected, self.n_jobs
        checked_landmarks(self.n_landmarks, self.n_components, 0)
        rows, metric, table = data.labelled, self.metric, data.table
        if len(rows) < data.n:
            table = np.ascontiguousarray(table[np.ix_(rows, rows)] if data.precomputed else table[rows])
        labels = data.labels[rows]
        k = clipped_neighbors(self.n_neighbors, len(rows) - 1)
        measure = dissimilarity_of(self.dissimilarity, table, labels, metric=metric, n_jobs=n_jobs)
        graph = class_graph(table, labels, measure, k, metric=metric, on_disconnected=policy, n_jobs=n_jobs)
        nodes, graph = embedded_component(graph, policy, rows)
        found = scaled_geodesics(data, nodes, graph, self.n_landmarks, self.n_components, policy,
                                 random_state=self.random_state, n_jobs=n_jobs)  # fmt: skip
        classes = ClassModel.fit(data, len(self.classes_), self.unlabelled, k, n_jobs, guess=False)
        edges = ClassEdges(classes, nodes, measure, k)
        Z, paths, results = geodesic_results(ClassGraphMap, data, nodes, edges, found, n_jobs)
        return self._set_fit(Z, paths, **results)
