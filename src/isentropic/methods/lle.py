"""LLE: locally linear embedding."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, eye_array

from .._errors import require_count, require_number, require_one_of
from .._state import Double, Number, State, Whole
from .._values import Knn
from ..affinities import barycentric_weights
from ..families.input_rows import checked_components, checked_rows
from ..families.spectral import SpectralEmbedder
from ..neighbors import listed_graph, nearest_neighbors


class LLE(SpectralEmbedder):
    """Every row is a sum of its neighbours, with the same weights in the data and in the map.

    Weights w_ij, of sum 1 over the k neighbours of row i, minimise ``|x_i - sum_j w_ij x_j|^2``; the map
    minimises ``sum_i |z_i - sum_j w_ij z_j|^2`` among coordinates of mean 0 and mean square 1: the bottom
    eigenvectors of ``(I - W)' (I - W)``. A new row is the sum of its k nearest fitted rows with weights found
    likewise, and a fitted one has its own coordinates.

    Cost: the search of neighbours, ``O(n k^2 (k + m))`` time for the weights, and a sparse factorisation.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, at least ``n_components``.
    n_components : int
        Dimension of the map.
    regularization : float
        What is added to the diagonal of each local system, as a share of its trace. With more neighbours than
        features, which is usual on tables, the map depends on it.
    on_disconnected : {"bridge", "largest", "raise"}
        What to do about a graph in parts: join them by their shortest edges, whose ends become neighbours of
        each other; fit the largest and place the others as new rows (both with a warning); or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out.
    n_separating_ : int
        Coordinates that only separate groups of rows which the graph hardly joins: their eigenvalues are more
        than 100 times below the next, or 0. A warning tells of them.
    squared_weights_ : float
        Mean of ``sum_j w_ij^2``: 1 / k where neighbours weigh alike; large where weights cancel each other.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Roweis and Saul (2000).

    Examples
    --------
    >>> from isentropic import LLE, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> lle = LLE(n_neighbors=12).fit(roll.X)
    >>> lle.embedding_.shape
    (1000, 2)
    >>> bool((lle.transform(roll.X[:5]) == lle.embedding_[:5]).all())
    True
    """

    metric = "euclidean"
    _state = State(
        squared_weights_=Number(0), _n_nearest=Whole(1, below="g + 1"), _fit_regularization=Double(above=0)
    )

    def __init__(
        self, n_neighbors=10, n_components=2, *, regularization=1e-3, on_disconnected="bridge", n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.regularization = regularization
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, the weights of each row's, the map with the same weights."""
        n_components = self._checked_parameters()
        X = checked_rows(self, X)
        found = nearest_neighbors(X, Knn(self.n_neighbors), n_jobs=self.n_jobs)
        graph = listed_graph(X, found, on_disconnected=self.on_disconnected, n_jobs=self.n_jobs)
        self._n_nearest, self._fit_regularization = found.indices.shape[1], float(self.regularization)
        fitted = np.arange(len(X))
        if self.on_disconnected == "largest":
            fitted = np.flatnonzero(graph.components == 0)
        near = np.searchsorted(fitted, found.indices[fitted])  # lists never lead out of a part
        W = self._weights(X[fitted], near, graph.bridges)
        self.squared_weights_ = float((W.data**2).sum() / len(fitted))
        apart = csr_array(eye_array(len(fitted)) - W)
        self._embed(X, fitted, csr_array(apart.T @ apart), n_components)
        return self

    def _checked_parameters(self) -> int:
        n_components = checked_components(self.n_components)
        require_number("regularization", self.regularization, "a positive number", above=0)
        hint = "A graph in parts has no distances here that could be inflated."
        require_one_of("on_disconnected", self.on_disconnected, ("bridge", "largest", "raise"), hint)
        must_be = f"an integer of at least n_components = {n_components}"
        require_count("n_neighbors", self.n_neighbors, must_be, least=n_components)
        return n_components

    def _weights(self, X: np.ndarray, near: np.ndarray, bridges: np.ndarray) -> csr_array:
        """Of the lists of neighbours; the ends of a bridge are in each other's list too."""
        heads = np.concatenate([np.repeat(np.arange(len(X)), self._n_nearest), *bridges.T])
        tails = np.concatenate([near.ravel(), *bridges[:, ::-1].T])
        order = np.lexsort((tails, heads))
        sizes = np.bincount(heads, minlength=len(X))
        starts, tails = np.concatenate([[0], np.cumsum(sizes)]), tails[order]
        weights = np.empty(len(tails))
        for size in np.unique(sizes):
            rows = np.flatnonzero(sizes == size)
            entries = starts[rows, None] + np.arange(size)
            weights[entries] = barycentric_weights(X[rows], tails[entries], X, self._fit_regularization)
        return csr_array((weights, tails, starts), shape=(len(X), len(X)))

    def _place(self, X: np.ndarray) -> np.ndarray:
        near = self._nearest_fitted(X, self._n_nearest)
        weights = barycentric_weights(X, near, self._known.X, self._fit_regularization)
        return (weights[:, :, None] * self.embedding_[near]).sum(axis=1)
