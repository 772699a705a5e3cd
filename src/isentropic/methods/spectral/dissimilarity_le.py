"""Laplacian eigenmaps of a dissimilarity that knows classes."""

from __future__ import annotations

import numpy as np

from ..._core.errors import require_one_of
from ..._core.state import OneOf, State, Value
from ..._core.values import Knn
from ...affinities import bridged_heat, checked_heat, heat_width, step_weights
from ...dissimilarities import Added, Exponential, Shrunk, checked_dissimilarity
from ...embedding.classes.class_divergences import dissimilarity_of
from ...embedding.classes.class_graphs import class_graph
from ...embedding.classes.supervised import ClassLearner
from ...embedding.input_rows import checked_components
from ...embedding.maps.spectral import padded
from ...linalg import leading_eigenpairs, normalized_adjacency
from ...neighbors import clipped_neighbors
from .laplacian import LaplacianEmbedder, require_degrees, tell_of_alternating, undone

_POLICIES = ("bridge", "raise")


class DissimilarityLE(ClassLearner, LaplacianEmbedder):
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

    _state = State(
        _fit_rule=Value(Knn),
        _fit_measure=OneOf(Value(Exponential), Value(Shrunk), Value(Added, c="c")),
    )

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        dissimilarity="dis1",
        t="auto",
        unlabelled="votes",
        on_disconnected="bridge",
        n_jobs=None,
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
        d, t = checked_components(self.n_components), checked_heat(self.t)
        checked_dissimilarity(self.dissimilarity)
        require_one_of("on_disconnected", self.on_disconnected, _POLICIES)
        X, codes = self._taught(X, y)
        fitted = np.flatnonzero(codes >= 0)
        rows, classes = X[fitted], codes[fitted]
        k = clipped_neighbors(self.n_neighbors, len(rows) - 1)
        measure = dissimilarity_of(self.dissimilarity, rows, classes, n_jobs=self.n_jobs)
        policy, jobs = self.on_disconnected, self.n_jobs
        graph = class_graph(rows, classes, measure, k, on_disconnected=policy, n_jobs=jobs)
        width = heat_width(graph, t)
        walk, degrees = normalized_adjacency(bridged_heat(graph, width, shifted=True))
        require_degrees(degrees, graph, self.t)
        count = min(d, len(rows) - 1)
        values, vectors = leading_eigenpairs(walk, count, known=np.sqrt(degrees))
        tell_of_alternating(values[:count])
        self._learn(X, codes, k, self.unlabelled)
        self._keep(
            X, fitted, vectors * np.sqrt(degrees.sum() / degrees)[:, None], d, graph_=graph,
            _fit_rule=Knn(k), _width=width, _fit_measure=measure,
            eigenvalues_=padded(1.0 - values[:count], d), **self._told(1.0 - values, count, size=2.0),
        )  # fmt: skip
        return self

    def _place(self, X: np.ndarray) -> np.ndarray:
        shares = self._shares(X)
        k = self._fit_rule.k
        near, far = self._rows_by_class().nearest(X, k, self._fit_measure, shares, self.n_jobs)
        weights, _ = step_weights(far, self._width)
        Z = self.embedding_[self._fitted[near]]
        means = np.cumsum(weights[:, :, None] * Z, axis=1)[:, -1] / np.cumsum(weights, axis=1)[:, -1:]
        return means / undone(1.0 - self.eigenvalues_)
