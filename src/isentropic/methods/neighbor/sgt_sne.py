"""SGt-SNE: supervised geodesic t-SNE."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from scipy.spatial.distance import squareform

from ..._core.arguments import Choice, Switch
from ..._core.runtime import seeded
from ..._core.specs import Flag, Number, StateError, Text, Whole
from ..._core.state import Sub, Value
from ..._core.values import NeighborGraph
from ...affinities import listed_for
from ...embedding.class_model import ClassModel, FittedClasses
from ...embedding.embedder import Embedder
from ...embedding.row_distances import Distances
from ...embedding.training_data import (
    MaxIter,
    NComponents,
    NJobs,
    Part,
    TrainingData,
    Unlabelled,
    labelled_training_data,
)
from ...geodesics import all_pairs, nearest_by_entries, nearest_in_graph
from ...neighbors import component_labels
from ...objectives import StudentNeighbors
from .class_affinities import (
    LOW_DIMENSIONAL,
    default_perplexity,
    edges_of,
    graph_of_map,
    n_graph_neighbors,
    plain_graph,
    published_descent,
)
from .student import (
    PerplexityAffinities,
    StudentLayout,
    StudentMap,
    descend,
    merged_embedding,
    schedule,
    student_affinities,
)

_PENALTIES = ("pairs", "edges")


@dataclass(frozen=True, eq=False)
class ClassGeodesics(Part):
    """Finds the training rows nearest to new ones by geodesics that are longer between classes."""

    classes: Annotated[ClassModel, Sub(ClassModel)]
    graph: Annotated[NeighborGraph, Value(NeighborGraph, n="n")]
    n_edges: Annotated[int, Whole(1, below="n")]  # by which a new row enters the graph
    penalise: Annotated[str, Text(*_PENALTIES)]
    squared: Annotated[bool, Flag()]

    @property
    def data(self) -> TrainingData:
        return self.classes.data

    def nearest(self, X: np.ndarray, k: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest training rows of each new row, and their lengths."""
        near, d = self.data.index.nearest(X, self.n_edges, n_jobs=n_jobs)
        longer = (1.0 - self.classes.same_class(X, near, n_jobs)) * d
        starts, extras = (d, longer) if self.penalise == "pairs" else (d + longer, np.zeros(d.shape))
        indices, lengths = nearest_by_entries(self.graph, near, starts, extras, k, n_jobs=n_jobs)
        return indices, lengths if self.squared else np.sqrt(lengths)

    def _require_sound(self) -> None:
        self.classes.require_guesses()
        if self.data.X is None:
            raise StateError("classes.data.X", "must be there, for new rows to enter the graph")
        if not self.graph.is_distance:
            raise StateError("graph.kind", "must be one whose weights are distances")
        if component_labels(self.graph.indptr, self.graph.indices, None).any():
            raise StateError("graph", "must be connected")


class ClassGeodesicMap(StudentMap):
    """The out-of-sample map of SGt-SNE."""

    query: Annotated[ClassGeodesics, Sub(ClassGeodesics)]  # type: ignore[assignment]


class SGtSNE(Embedder):
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

    _learns_from_y = True
    kl_divergence_: Annotated[float, Number()]
    repulsion_: Annotated[str, Text("exact", "fields")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[ClassGeodesicMap, Sub(ClassGeodesicMap)]

    def __init__(
        self,
        perplexity: float | None = None,
        n_components: NComponents = 2,
        *,
        n_neighbors: int | None = None,
        penalise: Annotated[str, Choice(*_PENALTIES)] = "pairs",
        squared: Annotated[bool, Switch()] = True,
        low_dimensional: Annotated[str, Choice(*LOW_DIMENSIONAL)] = "euclidean",
        unlabelled: Unlabelled = "votes",
        max_iter: MaxIter = 750,
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        data, d, n_jobs = labelled_training_data(self, X, y), self.n_components, self.n_jobs
        k = n_graph_neighbors(self.n_neighbors, data.n)
        random, seed = seeded(self.random_state)
        perplexity = default_perplexity(self.perplexity, data.n)
        classes = ClassModel.fit(data, len(self.classes_), self.unlabelled, k, n_jobs)
        graph = plain_graph(data.X, k, k, seed, n_jobs)[1]
        graph, extras = lengthen_between_classes(graph, classes.training, self.penalise)
        knn = nearest_in_graph(graph, listed_for(perplexity, data.n), extras, n_jobs=n_jobs)
        knn = knn if self.squared else replace(knn, distances=np.sqrt(knn.distances))
        P = student_affinities(knn, perplexity, n_jobs)
        loss = StudentNeighbors(P, n_components=d, n_jobs=n_jobs)
        if self.low_dimensional == "euclidean":
            plain = Distances(data.X, "euclidean", None, n_jobs)
            Z = descend(loss, plain, schedule(int(self.max_iter)), "pca", d, random)
        else:
            in_map = partial(self._squares_in_map, classes=classes.training, k=k)
            Z = published_descent(P, in_map, d, self.max_iter, random)
        Z = merged_embedding(data, Z)
        query = ClassGeodesics(classes, graph, k, self.penalise, bool(self.squared))
        affinities = PerplexityAffinities(np.array([perplexity]), knn.indices.shape[1])
        new_rows = ClassGeodesicMap(query, affinities, StudentLayout(Z, loss.dof, loss.repulsion))
        return self._set_fit(Z, new_rows, kl_divergence_=loss.divergence(Z), repulsion_=loss.repulsion,
                             n_iter_=self.max_iter)  # fmt: skip

    def _squares_in_map(self, Z: np.ndarray, classes: FittedClasses, k: int) -> np.ndarray:
        """The same distances in a map: all pairs, squared as those of the data are."""
        graph, extras = lengthen_between_classes(graph_of_map(Z, k, self.n_jobs)[1], classes, self.penalise)
        G = squareform(all_pairs(graph, n_jobs=self.n_jobs))
        heads, tails = edges_of(graph)
        G[heads, tails] += extras
        return G**2 if self.squared else G


def lengthen_between_classes(
    graph: NeighborGraph, classes: FittedClasses, penalise: str
) -> tuple[NeighborGraph, np.ndarray]:
    """The graph that ways are searched in, and what comes to the distance between the ends of an edge."""
    longer = (1.0 - classes.same(*edges_of(graph))) * graph.weights
    if penalise == "pairs":
        return graph, longer
    return replace(graph, weights=graph.weights + longer), np.zeros(len(longer))
