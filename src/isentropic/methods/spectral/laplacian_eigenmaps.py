"""Laplacian eigenmaps."""

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
from ...embedding.embedder import Embedder
from ...embedding.maps.embedded_rows import EmbeddedRows, complete_embedding, initial_coordinates
from ...embedding.maps.nystrom import GraphEdges, GraphWalkMap, undone
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import leading_eigenpairs, normalized_adjacency
from .laplacian import (
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
    """Coordinates that change least along the edges of the neighbour graph.

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
        What to do about a graph in parts: join them by their shortest edges, which weigh as the median edge;
        fit the largest and place the others as new rows (both with a warning); or refuse.
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
        Coordinates that only separate groups of rows which the graph hardly joins: their eigenvalues are more
        than 100 times below the next, or 0. A warning tells of them.
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
