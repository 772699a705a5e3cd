"""Laplacian eigenmaps."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from ..._core.errors import require_one_of
from ..._core.state import Array, State, Text
from ...affinities import bridged_heat, checked_heat, heat_width
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.spectral import padded
from ...embedding.side_by_side import checked_parts
from ...linalg import leading_eigenpairs, normalized_adjacency
from .laplacian import LaplacianEmbedder, require_degrees, tell_of_alternating, undone

LAPLACIANS = ("random-walk", "symmetric", "unnormalised")


class LaplacianEigenmaps(LaplacianEmbedder):
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

    _state = State(_degrees=Array("g", above=0), _fit_laplacian=Text(*LAPLACIANS))

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        neighbors=None,
        t="auto",
        laplacian="random-walk",
        on_disconnected="bridge",
        n_jobs=None,
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
        n_components, t = checked_components(self.n_components), checked_heat(self.t)
        require_one_of("laplacian", self.laplacian, LAPLACIANS)
        checked_parts(self.on_disconnected)
        X = checked_rows(self, X)
        graph, fitted, rule = self._graph_of_fitted(X)
        width = heat_width(graph, t)
        W = bridged_heat(graph, width, shifted=self.laplacian == "random-walk")
        degrees = np.asarray(W.sum(axis=1)).ravel()
        require_degrees(degrees, graph, self.t)
        A, known, size = self._operator(W, degrees)
        count = min(n_components, graph.n_rows - 1)
        values, vectors = leading_eigenpairs(A, count, known=known)
        changes = size * (1.0 - values)
        if self.laplacian != "unnormalised":
            tell_of_alternating(values[:count])
        self._keep(
            X, fitted, self._scaled(vectors, degrees), n_components, graph_=graph, _fit_rule=rule,
            _width=width, _degrees=degrees, _fit_laplacian=self.laplacian,
            eigenvalues_=padded(changes[:count], n_components), **self._told(changes, count, size=2.0 * size),
        )  # fmt: skip
        return self

    def _operator(self, W: csr_array, degrees: np.ndarray) -> tuple[csr_array, np.ndarray, float]:
        """A walk, its constant eigenvector, and what one less its eigenvalues is in units of."""
        if self.laplacian != "unnormalised":
            return normalized_adjacency(W)[0], np.sqrt(degrees), 1.0
        largest = float(degrees.max())
        return csr_array(W / largest + diags_array(1.0 - degrees / largest)), np.ones(len(degrees)), largest

    def _scaled(self, vectors: np.ndarray, degrees: np.ndarray) -> np.ndarray:
        if self.laplacian == "random-walk":
            return vectors * np.sqrt(degrees.sum() / degrees)[:, None]
        return vectors * np.sqrt(len(vectors))

    def _place(self, X: np.ndarray) -> np.ndarray:
        Z = self.embedding_[self._fitted]
        if self._fit_laplacian == "symmetric":
            means, degrees = self._step(X, Z / np.sqrt(self._degrees)[:, None], self._fit_rule, None)
            return np.sqrt(degrees)[:, None] * means / undone(1.0 - self.eigenvalues_)
        means, degrees = self._step(X, Z, self._fit_rule, None)
        if self._fit_laplacian == "random-walk":
            return means / undone(1.0 - self.eigenvalues_)
        # (d - lambda) z = sum_j w_j z_j; of a row so far off that this leads nowhere, the mean
        left = 1.0 - np.minimum(self.eigenvalues_ / np.maximum(degrees, np.finfo(float).tiny)[:, None], 1.0)
        return means / np.where(left >= 0.5, left, 1.0)
