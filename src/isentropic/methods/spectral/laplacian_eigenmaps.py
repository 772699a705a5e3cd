"""Laplacian eigenmaps, by distances or by a dissimilarity that knows classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from ..._core.arguments import Choice
from ..._core.specs import Array, Number, Text, Whole
from ..._core.state import Sub, Value
from ..._core.values import NeighborGraph
from ...affinities import bridged_heat, heat_width
from ...embedding.class_model import ClassModel, class_graph, dissimilarity_of
from ...embedding.components import EmbeddedRows, complete_embedding, initial_coordinates
from ...embedding.embedder import Embedder
from ...embedding.maps.nystrom import GraphEdges, GraphWalkMap, NystromMap, undone
from ...embedding.training_data import NComponents, NJobs, Unlabelled, labelled_training_data, training_data
from ...linalg import leading_eigenpairs, normalized_adjacency
from ...neighbors import clipped_neighbors
from .laplacian import (
    DissimilarEdges,
    Heat,
    OnDisconnected,
    embedded_graph,
    graph_rule,
    require_degrees,
    spectrum_results,
    warn_of_alternating,
)

LAPLACIANS = ("random-walk", "symmetric", "unnormalised")


@dataclass(frozen=True, eq=False)
class LaplacianMap(GraphWalkMap):
    """The out-of-sample map of Laplacian eigenmaps, for each of the Laplacians."""

    degrees: Annotated[np.ndarray, Array("g", above=0)]
    eigenvalues: Annotated[np.ndarray, Array("d")]  # of the Laplacian
    laplacian: Annotated[str, Text(*LAPLACIANS)]

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows."""
        if self.laplacian == "random-walk":
            return super().transform(X, n_jobs)
        Z = self.Z[self.edges.rows]
        if self.laplacian == "symmetric":
            means, degrees = self.step(X, Z / np.sqrt(self.degrees)[:, None], n_jobs)
            return np.sqrt(degrees)[:, None] * means / undone(self.walk)
        means, degrees = self.step(X, Z, n_jobs)
        # (d - lambda) z = sum_j w_j z_j; of a row so far off that this leads nowhere, the mean
        left = 1.0 - np.minimum(self.eigenvalues / np.maximum(degrees, np.finfo(float).tiny)[:, None], 1.0)
        return means / np.where(left >= 0.5, left, 1.0)


class LaplacianEigenmaps(Embedder):
    """Laplacian eigenmaps: coordinates that change least along the edges of the neighbour graph.

    ``L z = lambda D z`` for the d smallest lambda after 0, ``L = D - W``, W the weights ``exp(-d^2 / t)`` of
    the edges and D their sums for each row. Each coordinate has the mean square 1, weighted by D. A new row
    is placed by one step of the walk over its neighbours, which a fitted row would undo (Nyström):
    ``z = sum_j w_j z_j / sum_j w_j / (1 - lambda)``; a fitted one has its own coordinates.

    Cost: the search of neighbours, and a sparse factorisation of ``L`` or, where that would fill up, some
    hundreds of products with it; ``O(n k)`` memory beside the factors.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row; the graph joins two rows if either is one of the other.
    n_components : int
        Dimension of the map.
    neighbors : Knn, Radius or Percentile, optional
        The rule of the graph, instead of ``n_neighbors``. A radius is a distance, not its square.
    t : "auto" or float
        Width of the weights, in squared units of the data. ``"auto"`` is the mean squared length of an edge,
        and infinity weighs all edges alike.
    laplacian : {"random-walk", "symmetric", "unnormalised"}
        The problem above; the eigenvectors of ``D^-1/2 L D^-1/2`` as they are; or those of ``L``. Of the last
        two each coordinate has the mean square 1.
    on_disconnected : {"bridge", "largest", "raise"}
        What to do about a disconnected graph: join them by their shortest edges, which weigh as the median
        edge; fit the largest and place the others as new rows (both with a warning); or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out.
    eigengap_ : float
        How far the last eigenvalue is below the next one, as a share of that: a small gap means that another
        row could turn the map.
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects: their eigenvalues are
        more than 100 times below the next, or 0. A warning reports them.
    graph_ : NeighborGraph
        Of the rows that were fitted; its weights are distances.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Belkin and Niyogi (2003).

    Examples
    --------
    >>> from isentropic import LaplacianEigenmaps, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> eigenmaps = LaplacianEigenmaps().fit(roll.X)
    >>> eigenmaps.embedding_.shape
    (1000, 2)
    >>> bool((eigenmaps.transform(roll.X[:5]) == eigenmaps.embedding_[:5]).all())
    True
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    _map: Annotated[LaplacianMap, Sub(LaplacianMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        neighbors: Any = None,
        t: Heat = "auto",
        laplacian: Annotated[str, Choice(*LAPLACIANS)] = "random-walk",
        on_disconnected: OnDisconnected = "bridge",
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.neighbors = neighbors
        self.t = t
        self.laplacian = laplacian
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Graph, weights, the coordinates that change least along its edges. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        rule = graph_rule(self.n_neighbors, self.neighbors)
        graph, rows = embedded_graph(data.X, rule, self.on_disconnected, n_jobs)
        width = heat_width(graph, self.t)
        W = bridged_heat(graph, width, shifted=self.laplacian == "random-walk")
        degrees = np.asarray(W.sum(axis=1)).ravel()
        require_degrees(degrees, graph, self.t)
        walk, constant, size = walk_of(W, degrees, self.laplacian)
        count = min(d, graph.n_rows - 1)
        values, vectors = leading_eigenpairs(walk, count, known=constant)
        if self.laplacian != "unnormalised":
            warn_of_alternating(values[:count])
        results = spectrum_results(size * (1.0 - values), count, d, size=2.0 * size)
        edges, eigenvalues = GraphEdges(EmbeddedRows(data, rows), graph, rule), results["eigenvalues_"]
        Z = initial_coordinates(edges, scaled(vectors, degrees, self.laplacian), d)
        new_rows = LaplacianMap(
            edges, Z, width, 1.0 - eigenvalues, None, degrees, eigenvalues, self.laplacian
        )
        new_rows = complete_embedding(new_rows, rows, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, graph_=graph, **results)


def walk_of(W: csr_array, degrees: np.ndarray, laplacian: str) -> tuple[csr_array, np.ndarray, float]:
    """A walk, its constant eigenvector, and what one less its eigenvalues is in units of."""
    if laplacian != "unnormalised":
        return normalized_adjacency(W)[0], np.sqrt(degrees), 1.0
    largest = float(degrees.max())
    return csr_array(W / largest + diags_array(1.0 - degrees / largest)), np.ones(len(degrees)), largest


def scaled(vectors: np.ndarray, degrees: np.ndarray, laplacian: str) -> np.ndarray:
    """Eigenvectors as coordinates of mean square 1, of the random walk weighted by the degrees."""
    if laplacian == "random-walk":
        return vectors * np.sqrt(degrees.sum() / degrees)[:, None]
    return vectors * np.sqrt(len(vectors))


_POLICIES = ("bridge", "raise")


class DissimilarityMap(NystromMap):
    """The out-of-sample map of Laplacian eigenmaps of a dissimilarity."""

    edges: Annotated[DissimilarEdges, Sub(DissimilarEdges)]


class DissimilarityLE(Embedder):
    """Laplacian eigenmaps by a dissimilarity that counts classes.

    ``L z = lambda D z`` for the d smallest lambda after 0, with the weights ``exp(-D_ij^2 / t)`` of the graph
    of the nearest rows by D, dis1, dis2, dis3 or a divergence of classes as in :class:`SupervisedIsomap`.
    :class:`SupervisedLE` is another method: it pushes near rows of two classes apart.

    A new row has no label: its D to a fitted row is the expectation over the classes that it may have, and
    it is placed by one step of the walk to the nearest by it (Nyström). So are rows of ``y`` without a class.

    Cost: that of Laplacian eigenmaps with an exact search for each class.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row; the graph joins two rows if either is one of the other.
    n_components : int
        Dimension of the map.
    dissimilarity : {"dis1", "dis2", "dis3", "divergence"}, Dis1, Dis2, Dis3 or ClassDivergence
        As in :class:`SupervisedIsomap`.
    t : "auto" or float
        Width of the weights, in squares of the dissimilarity. ``"auto"`` is the mean square of an edge.
    unlabelled : {"votes", "posterior", "neutral"}
        How the class of a new row is estimated: by votes of its nearest rows, by a Gaussian for each class,
        or not at all.
    on_disconnected : {"bridge", "raise"}
        What to do about a disconnected graph, which classes often give: join its components by their shortest
        edges, which weigh as the median edge, with a warning; or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    classes_ : array
        What the classes are called.
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out.
    eigengap_ : float
        How far the last eigenvalue is below the next one, as a share of that.
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects. A warning reports them.
    graph_ : NeighborGraph
        Of the rows with a class; its weights are dissimilarities, and ``bridges`` what joins its parts.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hajderanj (2022), chapter 6. Belkin and Niyogi (2003).

    Examples
    --------
    >>> from isentropic import DissimilarityLE, datasets
    >>> iris = datasets.load("builtin:iris", scaling="standard")
    >>> eigenmaps = DissimilarityLE(40, dissimilarity="dis2").fit(iris.X[::2], iris.y[::2])
    >>> eigenmaps.transform(iris.X[1::2]).shape  # without labels
    (75, 2)
    """

    _learns_from_y = True
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    _map: Annotated[DissimilarityMap, Sub(DissimilarityMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        dissimilarity: Any = "dis1",
        t: Heat = "auto",
        unlabelled: Unlabelled = "votes",
        on_disconnected: Annotated[str, Choice(*_POLICIES)] = "bridge",
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.dissimilarity = dissimilarity
        self.t = t
        self.unlabelled = unlabelled
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Nearest rows by the dissimilarity, weights, the coordinates that change least along its edges."""
        data, d, n_jobs = labelled_training_data(self, X, y), self.n_components, self.n_jobs
        rows, labels = data.X[data.labelled], data.labels[data.labelled]
        k = clipped_neighbors(self.n_neighbors, len(rows) - 1)
        measure = dissimilarity_of(self.dissimilarity, rows, labels, n_jobs=n_jobs)
        graph = class_graph(rows, labels, measure, k, on_disconnected=self.on_disconnected, n_jobs=n_jobs)
        width = heat_width(graph, self.t)
        walk, degrees = normalized_adjacency(bridged_heat(graph, width, shifted=True))
        require_degrees(degrees, graph, self.t)
        count = min(d, len(rows) - 1)
        values, vectors = leading_eigenpairs(walk, count, known=np.sqrt(degrees))
        warn_of_alternating(values[:count])
        results = spectrum_results(1.0 - values, count, d, size=2.0)
        classes = ClassModel.fit(data, len(self.classes_), self.unlabelled, k, n_jobs)
        edges = DissimilarEdges(classes, measure, k)
        Z = initial_coordinates(edges, vectors * np.sqrt(degrees.sum() / degrees)[:, None], d)
        new_rows = DissimilarityMap(edges, Z, width, 1.0 - results["eigenvalues_"], None)
        new_rows = complete_embedding(new_rows, edges.rows, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, graph_=graph, **results)
