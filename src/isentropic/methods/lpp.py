"""LPP: locality preserving projections."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import eigh, svd

from .._errors import IsentropicWarning, require
from .._state import Array, State
from ..affinities import checked_heat, heat
from ..families.input_rows import checked_components, checked_rows
from ..families.linear import LinearEmbedder
from ..linalg import normalized_adjacency
from ..neighbors import as_rule, neighbor_graph

_RANK = 1e-10  # of the largest singular value: what is below is rounding


class LPP(LinearEmbedder):
    """Directions along which neighbours stay close: Laplacian eigenmaps restricted to linear functions.

    ``X' L X a = lambda X' D X a`` for the d smallest lambda, X centred at the mean weighted by the degrees,
    L = D - W the Laplacian of a neighbour graph whose edges weigh ``exp(-d^2 / t)``. Solved in the basis of
    the singular vectors of ``D^1/2 X``, so that collinear columns, or more columns than rows, are no case of
    their own. Every coordinate has the mean square 1, weighted by the degrees.

    Cost: the search of neighbours and ``O(n m min(n, m) + n k m)`` time, ``O(n (m + k))`` memory.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row; the graph joins two rows if either is one of the other.
    n_components : int
        Dimension of the map, at most the number of features.
    neighbors : Knn, Radius, Percentile, Can or Pnn, optional
        The rule of the graph, instead of ``n_neighbors``. ``Can`` and ``Pnn`` have weights of their own.
    t : "auto" or float
        Width of the weights, in squared units of the data. ``"auto"`` is the mean squared length of an edge,
        and infinity weighs all edges alike.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive. Zero beyond the rank of X, with a warning.
    mean_ : array of shape (m,)
        Weighted by the degrees of the rows.
    eigenvalues_ : array of shape (n_components,)
        Smallest first: how far neighbours are apart along each direction.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    He and Niyogi (2003).

    Examples
    --------
    >>> from isentropic import LPP, datasets
    >>> lpp = LPP().fit(datasets.load("builtin:iris").X)
    >>> lpp.embedding_.shape
    (150, 2)
    >>> bool(lpp.eigenvalues_[0] < lpp.eigenvalues_[1] < 1)
    True
    """

    _state = State(eigenvalues_=Array("d"))

    def __init__(self, n_neighbors=10, n_components=2, *, neighbors=None, t="auto", n_jobs=None):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.neighbors = neighbors
        self.t = t
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Graph, weights, the directions of least change along its edges."""
        n_components, t = checked_components(self.n_components), checked_heat(self.t)
        rule = as_rule(self.n_neighbors if self.neighbors is None else self.neighbors)
        X = checked_rows(self, X)
        most = X.shape[1]
        require(n_components <= most, "n_components", f"at most the number of features {most}", n_components)
        adjacency, degrees = normalized_adjacency(heat(neighbor_graph(X, rule, n_jobs=self.n_jobs), t))
        self._project(X, *self._directions(X, adjacency, degrees))
        return self

    def _directions(self, X: np.ndarray, adjacency, degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centre and directions; ``I - U' D^-1/2 W D^-1/2 U`` is the problem in the singular vectors U."""
        middle, total = X.mean(axis=0), degrees.sum()
        centre = middle + degrees @ (X - middle) / total
        U, spreads, axes = svd(np.sqrt(degrees / total)[:, None] * (X - centre), full_matrices=False)
        rank = int(np.count_nonzero(spreads > _RANK * spreads[0]))
        count = min(self.n_components, rank)
        self.eigenvalues_ = np.zeros(self.n_components)
        components = np.zeros((self.n_components, X.shape[1]))
        if count:
            U = U[:, :rank]
            values, vectors = eigh(np.eye(rank) - U.T @ (adjacency @ U), subset_by_index=(0, count - 1))
            self.eigenvalues_[:count] = values
            components[:count] = (vectors / spreads[:rank, None]).T @ axes[:rank]
        if count < self.n_components:
            lost = f"the last {self.n_components - count} of {self.n_components} coordinates are zero"
            warnings.warn(f"X has a rank of {rank}: {lost}.", IsentropicWarning, stacklevel=3)
        return centre, components
