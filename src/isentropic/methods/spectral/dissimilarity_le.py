"""Laplacian eigenmaps of a dissimilarity that knows classes."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Choice
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub, Value
from ..._core.values import NeighborGraph
from ...affinities import bridged_heat, heat_width
from ...embedding.class_divergences import class_graph, dissimilarity_of
from ...embedding.class_model import ClassModel
from ...embedding.embedder import Embedder
from ...embedding.maps.embedded_rows import complete_embedding, initial_coordinates
from ...embedding.maps.nystrom import NystromMap
from ...embedding.training_data import NComponents, NJobs, Unlabelled, labelled_training_data
from ...linalg import leading_eigenpairs, normalized_adjacency
from ...neighbors import clipped_neighbors
from .class_edges import DissimilarEdges
from .laplacian import Heat, require_degrees, spectrum_results, warn_of_alternating

_POLICIES = ("bridge", "raise")


class DissimilarityMap(NystromMap):
    """The out-of-sample map of Laplacian eigenmaps of a dissimilarity."""

    edges: Annotated[DissimilarEdges, Sub(DissimilarEdges)]


class DissimilarityLE(Embedder):
    """Laplacian eigenmaps whose neighbours and weights are by a dissimilarity of rows and classes.

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
        What is guessed of the class of a new row: by votes of its nearest rows, by a Gaussian for each class,
        or nothing.
    on_disconnected : {"bridge", "raise"}
        What to do about a graph in parts, which classes often are: join them by their shortest edges, which
        weigh as the median edge, with a warning; or refuse.
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
        Coordinates that only separate groups of rows which the graph hardly joins. A warning tells of them.
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
