"""SGt-SNE and SEt-SNE: t-SNE over geodesics or entropic distances that know classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
from scipy.spatial.distance import cdist, squareform

from ..._core.arguments import Choice, Switch
from ..._core.runtime import seeded
from ..._core.specs import Array, Double, Flag, Number, StateError, Text, Whole
from ..._core.state import Sub, Value
from ..._core.values import NeighborGraph
from ...affinities import neighbors_for_perplexity
from ...dissimilarities import checked_scale
from ...divergences import EDGE_DIVERGENCES, Patches, RowProducts, cheapest_form, noise_floor, reweighted
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
from ...neighbors import RowIndex, component_labels, replaced_among, replaced_neighbors
from ...objectives import StudentNeighbors
from .tsne_stages import (
    LOW_DIMENSIONAL,
    PerplexityAffinities,
    StudentLayout,
    StudentMap,
    default_perplexity,
    descend,
    edges_of,
    graph_of_map,
    merged_embedding,
    n_graph_neighbors,
    plain_graph,
    published_descent,
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
    """t-SNE of geodesic distances, twice as long between near rows of two classes.

    G are the shortest ways over the graph of the k nearest neighbours. An edge between two classes adds its
    own length to the distance of its ends: ``G_ij + d_ij``; ways over it stay what they are, unless
    ``penalise="edges"``. Affinities are t-SNE's, ``exp(-G^2 / 2 sigma_i^2)``, and so is the descent. A new
    row has no class: it enters the graph by its k nearest rows, whose distances grow by the expected length
    ``(1 - p) d``, p the probability that both are of one class, and minimises its own part of the cost.

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
    repulsion_ : {"exact", "fields", "barnes-hut"}
        How the repulsion of all pairs was computed.
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
    repulsion_: Annotated[str, Text("exact", "fields", "barnes-hut")]
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
        knn = nearest_in_graph(graph, neighbors_for_perplexity(perplexity, data.n), extras, n_jobs=n_jobs)
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
        """Squared distances of all pairs in a map, changed between classes as those of the data are."""
        graph, extras = lengthen_between_classes(graph_of_map(Z, k, self.n_jobs)[1], classes, self.penalise)
        G = squareform(all_pairs(graph, n_jobs=self.n_jobs))
        heads, tails = edges_of(graph)
        G[heads, tails] += extras
        return G**2 if self.squared else G


def lengthen_between_classes(
    graph: NeighborGraph, classes: FittedClasses, penalise: str
) -> tuple[NeighborGraph, np.ndarray]:
    """The graph of paths, and what is added to the distance between the ends of an edge."""
    longer = (1.0 - classes.same(*edges_of(graph))) * graph.weights
    if penalise == "pairs":
        return graph, longer
    return replace(graph, weights=graph.weights + longer), np.zeros(len(longer))


_REGULARIZATION = 3.0  # of patches: the mean variance times that, on their diagonals


@dataclass(frozen=True, eq=False)
class ClassPatches(Part):
    """Finds the training rows nearest to new ones by distances and divergences between patches."""

    classes: Annotated[ClassModel, Sub(ClassModel)]
    neighbors: Annotated[np.ndarray, Array("n", "k", dtype=np.int32, below="n")]  # of each row, in its patch
    divergence: Annotated[str, Text(*EDGE_DIVERGENCES)]
    factor: Annotated[float, Double(above=0)]  # of divergences
    floor: Annotated[float, Double(above=0)]  # of variances
    form: Annotated[str, Text("full", "low-rank")]  # of Gaussians

    @property
    def data(self) -> TrainingData:
        return self.classes.data

    def nearest(self, X: np.ndarray, k: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest training rows of each new row, and their distances."""
        n_edges = self.neighbors.shape[1]
        near, d = self.data.index.nearest(X, min(k + n_edges, self.data.n), n_jobs=n_jobs)
        first = near[:, :n_edges].astype(np.int64)
        nats = self.factor * self._patches.to_new(X, first, n_jobs=n_jobs)
        same = self.classes.same_class(X, first, n_jobs)
        values = np.sqrt(_expected_squares(d[:, :n_edges] ** 2, nats, same))
        return replaced_among(near, d, values, k, self.data.n, n_jobs=n_jobs)

    @cached_property
    def _patches(self) -> Patches:
        rows, near = self.data.X, self.neighbors
        return Patches(rows, near, self.divergence, _REGULARIZATION, False, self.floor, self.form)

    def _require_sound(self) -> None:
        self.classes.require_guesses()
        if self.data.X is None:
            raise StateError("classes.data.X", "must be there, for the patches of new rows")


class ClassPatchMap(StudentMap):
    """The out-of-sample map of SEt-SNE."""

    query: Annotated[ClassPatches, Sub(ClassPatches)]  # type: ignore[assignment]


class SEtSNE(Embedder):
    """t-SNE of divergences between the Gaussians around near rows, larger between two classes.

    The patch of a row is the row with its k neighbours, and KL the symmetrised divergence between the
    Gaussians of two patches. Squared distances are ``min(d^2, KL)`` between neighbours of one class,
    ``d^2 + KL`` between neighbours of two, and ``d^2`` between rows that are no neighbours. Affinities and
    descent are t-SNE's. A new row has no class: it makes a patch with its k nearest rows, its distances to
    these are the expectations ``p min(d^2, KL) + (1 - p) (d^2 + KL)``, p the probability that both are of one
    class, and it minimises its own part of the cost.

    Nats come to squared lengths here, so that the unit of the data matters: standardise the features, or take
    ``scale="match"``. The classes shape the map: with labels at random it looks separated, too. Believe it
    as far as rows that it has not seen are placed with their class, and beside that of permuted labels.

    Cost: that of t-SNE, and ``O(n (k m^2 + m^3) + n k m^2)`` for the divergences, or ``O(n k^3)`` and a k^2
    for each edge where rows have more features than neighbours.

    Parameters
    ----------
    perplexity : float, optional
        About how many neighbours count. None is 30, or a third of the other rows where there are fewer.
    n_components : int
        Dimension of the map.
    n_neighbors : int, optional
        Neighbours in a patch. None is the root of the number of rows.
    divergence : str
        Between the Gaussians of two patches: ``"kl"``, the symmetrised one, ``"bhattacharyya"``,
        ``"cauchy-schwarz"`` or another that ``isentropic.divergences.EDGE_DIVERGENCES`` names.
    scale : {"match"}, optional
        ``"match"`` multiplies divergences so that their mean over edges between classes is that of d^2.
        None takes nats as they are, as published.
    low_dimensional : {"euclidean", "graph"}
        What the weights of the map are made of. ``"graph"``, for reproduction: the same distances in the map,
        with patches and classes, found again in each step, from a start at random; ``O(n^2)`` a step. The
        published programs took 50 steps at a perplexity of 20.
    unlabelled : {"votes", "posterior", "neutral"}
        What is guessed of rows without a class, new ones and those of ``y`` where it is missing: the shares
        of the classes among the k nearest rows, the posterior of a Gaussian for each class, or nothing, so
        that all are of their class.
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
    repulsion_ : {"exact", "fields", "barnes-hut"}
        How the repulsion of all pairs was computed.
    n_iter_ : int
    classes_ : array
        What the classes are called.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Cervati Neto (2024), section 3.3.2.

    Examples
    --------
    >>> from isentropic import SEtSNE, datasets
    >>> iris = datasets.load("builtin:iris", scaling="standard")
    >>> tsne = SEtSNE(max_iter=250).fit(iris.X, iris.y)
    >>> tsne.embedding_.shape, tsne.transform(iris.X[:5] + 0.01).shape
    ((150, 2), (5, 2))
    """

    _learns_from_y = True
    kl_divergence_: Annotated[float, Number()]
    repulsion_: Annotated[str, Text("exact", "fields", "barnes-hut")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[ClassPatchMap, Sub(ClassPatchMap)]

    def __init__(
        self,
        perplexity: float | None = None,
        n_components: NComponents = 2,
        *,
        n_neighbors: int | None = None,
        divergence: Annotated[str, Choice(*EDGE_DIVERGENCES)] = "kl",
        scale: str | None = None,
        low_dimensional: Annotated[str, Choice(*LOW_DIMENSIONAL)] = "euclidean",
        unlabelled: Unlabelled = "votes",
        max_iter: MaxIter = 750,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.divergence = divergence
        self.scale = scale
        self.low_dimensional = low_dimensional
        self.unlabelled = unlabelled
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Patches, distances and divergences on edges, the nearest by both, affinities, descent."""
        checked_scale(self.scale)
        data, d, n_jobs = labelled_training_data(self, X, y), self.n_components, self.n_jobs
        k = n_graph_neighbors(self.n_neighbors, data.n)
        random, seed = seeded(self.random_state)
        perplexity = default_perplexity(self.perplexity, data.n)
        classes = ClassModel.fit(data, len(self.classes_), self.unlabelled, k, n_jobs)
        listed = neighbors_for_perplexity(perplexity, data.n)
        found, graph = plain_graph(data.X, listed + k, k, seed, n_jobs)
        patches = _patches_of(data.X, found.indices[:, :k], self.divergence, graph)
        squares, factor = self._squares(graph, patches, classes.training)
        graph = replace(graph, weights=np.sqrt(squares))
        knn = replaced_neighbors(found, graph, listed, RowIndex(data.X), n_jobs=n_jobs)
        P = student_affinities(knn, perplexity, n_jobs)
        loss = StudentNeighbors(P, n_components=d, n_jobs=n_jobs)
        if self.low_dimensional == "euclidean":
            plain = Distances(data.X, "euclidean", None, n_jobs)
            Z = descend(loss, plain, schedule(int(self.max_iter)), "pca", d, random)
        else:
            in_map = partial(self._squares_in_map, classes=classes.training, k=k)
            Z = published_descent(P, in_map, d, self.max_iter, random)
        Z = merged_embedding(data, Z)
        query = ClassPatches(classes, patches.neighbors, self.divergence, factor, patches.floor, patches.form)
        affinities = PerplexityAffinities(np.array([perplexity]), knn.indices.shape[1])
        new_rows = ClassPatchMap(query, affinities, StudentLayout(Z, loss.dof, loss.repulsion))
        return self._set_fit(Z, new_rows, kl_divergence_=loss.divergence(Z), repulsion_=loss.repulsion,
                             n_iter_=self.max_iter)  # fmt: skip

    def _squares(
        self, graph: NeighborGraph, patches: Patches, classes: FittedClasses
    ) -> tuple[np.ndarray, float]:
        """Squared distances and divergences on the edges of a graph, and the factor of divergences."""
        d2 = graph.weights**2
        nats = reweighted(graph, partial(patches.weights, n_jobs=self.n_jobs)).weights
        same = classes.same(*edges_of(graph))
        factor = 1.0
        if self.scale is not None and (between := float(((1.0 - same) * nats).sum())) > 0:
            factor = float(((1.0 - same) * d2).sum()) / between or 1.0
        return _expected_squares(d2, factor * nats, same), factor

    def _squares_in_map(self, Z: np.ndarray, classes: FittedClasses, k: int) -> np.ndarray:
        """Squared distances of all pairs in a map."""
        found, graph = graph_of_map(Z, k, self.n_jobs)
        D2 = cdist(Z, Z, "sqeuclidean")
        squares, _ = self._squares(graph, _patches_of(Z, found.indices, self.divergence, graph), classes)
        D2[edges_of(graph)] = squares
        return D2


def _patches_of(X: np.ndarray, lists: np.ndarray, divergence: str, graph: NeighborGraph) -> Patches:
    """A Gaussian for each row and its neighbours, ready for the edges of their graph."""
    (n, k), n_edges = lists.shape, len(graph.indices) // 2
    form = cheapest_form(n, k + 1, X.shape[1], n_edges, _REGULARIZATION)
    return Patches(X, np.ascontiguousarray(lists), divergence, _REGULARIZATION, False, noise_floor(X), form,
                   products=RowProducts(X))  # fmt: skip


def _expected_squares(d2: np.ndarray, nats: np.ndarray, same: np.ndarray) -> np.ndarray:
    """``p min(d^2, KL) + (1 - p) (d^2 + KL)``, p the probability of one class."""
    return same * np.minimum(d2, nats) + (1.0 - same) * (d2 + nats)
