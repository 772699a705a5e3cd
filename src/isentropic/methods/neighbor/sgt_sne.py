"""SGt-SNE: supervised geodesic t-SNE."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import squareform

from ..._core.errors import require_flag, require_one_of
from ..._core.state import Flag, State, StateError, Text, Tuple, Value, Whole
from ..._core.values import NeighborGraph
from ...embedding.classes.fitted_classes import FittedClasses
from ...geodesics import all_pairs, nearest_by_entries, nearest_in_graph
from ...neighbors import component_labels
from .class_maps import GraphStudentMap, edges_of, graph_of_map

_PENALTIES = ("pairs", "edges")


class SGtSNE(GraphStudentMap):
    """t-SNE of geodesic distances, those between near rows of two classes twice as long.

    G are the shortest ways over the graph of the k nearest neighbours. An edge between two classes adds its
    own length to the distance of its ends: ``G_ij + d_ij``; ways over it stay what they are, unless
    ``penalise="edges"``. Affinities are t-SNE's, ``exp(-G^2 / 2 sigma_i^2)``, and so is the descent. A new
    row has no class: it enters the graph by its k nearest rows, whose distances grow by the expected length
    ``(1 - p) d``, p the probability that both are of one class, and goes down its own part of the cost.

    The classes shape the map: with labels at random it looks separated, too. Believe it as far as rows
    that it has not seen are placed with their class, and beside the same map of permuted labels.

    Cost: that of t-SNE, and a search that ends at the ``3 perplexity`` nearest rows of each by Dijkstra's
    algorithm: ``O(n k p log p)`` time for a perplexity of p, ``O(n (k + p))`` memory.

    Parameters
    ----------
    perplexity : float, optional
        About how many neighbours count. None is 30, or a third of the other rows where there are fewer.
    n_components : int
        Dimension of the map.
    n_neighbors : int, optional
        Neighbours in the graph. None is the root of the number of rows.
    penalise : {"pairs", "edges"}
        What between two classes is twice as long: the distance between the ends of an edge, as published, or
        the edge itself and with it all ways over it.
    squared : bool
        Affinities fall with G^2; False, for reproduction, with G, as the text has it.
    low_dimensional : {"euclidean", "graph"}
        What the weights of the map are made of. ``"graph"``, for reproduction: geodesics over a graph of the
        map, with its classes, found again in each step, from a start at random; ``O(n^2 k)`` a step. The
        published programs took 50 steps at a perplexity of 20.
    unlabelled : {"votes", "posterior", "neutral"}
        What is guessed of rows without a class, new ones and those of ``y`` where it is missing: the shares
        of the classes among the k nearest rows, the posterior of a Gaussian for each class, or nothing, so
        that no distance grows.
    max_iter : int
        Steps in all.
    random_state : int, RandomState or None
        For the approximate search, and the start of a ``"graph"``. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    kl_divergence_ : float
        ``sum p log(p / q)`` of the map.
    repulsion_ : {"exact", "fields"}
        How the push of all pairs was summed.
    n_iter_ : int
    classes_ : array
        What the classes are called.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Cervati Neto (2024), section 3.3.1.

    Examples
    --------
    >>> from isentropic import SGtSNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> tsne = SGtSNE(max_iter=250).fit(iris.X, iris.y)
    >>> tsne.embedding_.shape, tsne.transform(iris.X[:5] + 0.01).shape
    ((150, 2), (5, 2))
    """

    _state = State(
        _paths=Value(NeighborGraph, n="n"),
        _n_near=Whole(1, below="n"),
        _fit_as=Tuple(Text(*_PENALTIES), Flag()),
    )

    def __init__(
        self,
        perplexity=None,
        n_components=2,
        *,
        n_neighbors=None,
        penalise="pairs",
        squared=True,
        low_dimensional="euclidean",
        unlabelled="votes",
        max_iter=750,
        random_state=None,
        n_jobs=None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.penalise = penalise
        self.squared = squared
        self.low_dimensional = low_dimensional
        self.unlabelled = unlabelled
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Graph, longer distances between classes, the nearest by geodesics, affinities, descent."""
        X, codes = self._taught(X, y)
        require_one_of("penalise", self.penalise, _PENALTIES)
        require_flag("squared", self.squared)
        k, frame = self._n_edges(len(X)), self._frame(len(X))
        classes = self._classes_of(X, codes, k)
        graph, extras = self._penalised(self._plain_graph(X, k, k, frame.seed)[1], classes)
        lists = nearest_in_graph(graph, frame.listed, extras, n_jobs=self.n_jobs)
        if not self.squared:
            lists = replace(lists, distances=np.sqrt(lists.distances))
        given = self._given(X, frame, lists)
        self._embed(given, classes, k, self._squares_in_map)
        self._paths, self._n_near, self._fit_as = graph, k, (self.penalise, bool(self.squared))
        return self

    def _penalised(self, graph: NeighborGraph, classes: FittedClasses) -> tuple[NeighborGraph, np.ndarray]:
        """The graph that ways are searched in, and what comes to the distance between the ends of an edge."""
        longer = (1.0 - classes.same(*edges_of(graph))) * graph.weights
        if self.penalise == "pairs":
            return graph, longer
        return replace(graph, weights=graph.weights + longer), np.zeros(len(longer))

    def _squares_in_map(self, Z: np.ndarray, classes: FittedClasses, k: int) -> np.ndarray:
        """The same distances in a map: all pairs, squared as those of the data are."""
        graph, extras = self._penalised(graph_of_map(Z, k, self.n_jobs)[1], classes)
        G = squareform(all_pairs(graph, n_jobs=self.n_jobs))
        heads, tails = edges_of(graph)
        G[heads, tails] += extras
        return G**2 if self.squared else G

    def _listed_among_fitted(self, X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        penalise, squared = self._fit_as
        near, d = self._row_index().nearest(X, self._n_near, n_jobs=self.n_jobs)
        longer = (1.0 - self._same_as_new(X, near)) * d
        starts, extras = (d, longer) if penalise == "pairs" else (d + longer, np.zeros(d.shape))
        indices, lengths = nearest_by_entries(self._paths, near, starts, extras, k, n_jobs=self.n_jobs)
        return indices, lengths if squared else np.sqrt(lengths)

    def _require_sound(self) -> None:
        super()._require_sound()
        if not self._paths.is_distance:
            raise StateError("_paths.kind", "must be one whose weights are distances")
        if component_labels(self._paths.indptr, self._paths.indices, None).any():
            raise StateError("_paths", "must be connected")
