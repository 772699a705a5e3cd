"""Stochastic Laplacian eigenmaps: edges weigh less the farther apart the classes of their ends are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from ..._core.errors import require_number, require_one_of
from ..._core.state import Double, State, Value
from ..._core.values import Knn, NeighborGraph
from ...affinities import bridging_edges, checked_heat, heat_width
from ...dissimilarities import mean_between
from ...embedding.classes.divergence_learner import DivergenceLearner
from ...embedding.input_rows import checked_components
from ...embedding.maps.spectral import padded
from ...embedding.parts import POLICIES, eigenvectors_of_parts, warn_of_points
from ...linalg import leading_eigenpairs, normalized_adjacency
from ...neighbors import component_labels, directed_lists, nearest_neighbors, repaired, subgraph, union
from .laplacian import LaplacianEmbedder, tell_of_alternating, undone

_JOINS = np.log(1e12)  # an edge that weighs less than 1e-12 of the heaviest joins nothing


class StochasticLE(DivergenceLearner, LaplacianEmbedder):
    """Laplacian eigenmaps whose weights fall with the distance and with the divergence between classes.

    ``L z = lambda D z`` for the d smallest lambda after 0, with the weights
    ``exp(-(alpha d^2 / t + (1 - alpha) s DE))`` of the edges of the neighbour graph, DE the divergence
    between the Gaussians of the classes of both ends, 0 within a class. With ``alpha=None`` they are
    ``exp(-(d^2 / t + s DE))``. Covariances are shrunk as in :class:`ClassIsomap`.

    A new row has no label: its DE to a fitted row is the expectation over the classes that it may have, by
    their Gaussians. It is placed by one step of the walk, as in Laplacian eigenmaps. Rows of ``y`` without a
    class are in the graph, and treated like that.

    Cost: that of Laplacian eigenmaps, and ``O(n m r + c r^3 + c^2 r^2)`` for c classes,
    r the lesser of n and m where m is above 256.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row; the graph joins two rows if either is one of the other.
    n_components : int
        Dimension of the map.
    alpha : float or None
        Weight of the distances, from 0, classes alone, to 1, Laplacian eigenmaps.
    t : "auto" or float
        Width of the weights, in squared units of the data. ``"auto"`` is the mean squared length of an edge.
    divergence : str
        As in :class:`ClassIsomap`.
    scale : "match" or None
        Divergences times a number s, so that their mean over edges between classes is 1, as is that of
        ``d^2 / t``. None is s = 1, as published: tens of nats then cut all edges between classes.
    unlabelled : {"posterior", "votes", "neutral"}
        What is guessed of the class of a new row: as above; by votes of its nearest rows; or nothing.
    on_disconnected : {"bridge", "points", "largest", "raise"}
        What to do about a graph in parts, of edges that weigh at least 1e-12 of the heaviest: join them by
        their shortest edges, which weigh as the median edge; leave them, each a point in the layout of their
        means; fit the largest and place the others as new rows; or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    classes_ : array
        What the classes are called.
    divergences_ : array of shape (c, c)
        Between the classes, in nats, or what the divergence is in.
    scale_ : float
        The number s.
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out.
    eigengap_ : float
        How far the last eigenvalue is below the next one, as a share of that.
    n_separating_ : int
        Coordinates that only separate groups of rows which the graph hardly joins. A warning tells of them.
    graph_ : NeighborGraph
        Of the rows that were fitted; its weights are distances.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Cervati Neto (2024). Belkin and Niyogi (2003).

    Examples
    --------
    >>> from isentropic import StochasticLE, datasets
    >>> wine = datasets.load("builtin:wine", scaling="standard")
    >>> eigenmaps = StochasticLE().fit(wine.X[::2], wine.y[::2])
    >>> eigenmaps.transform(wine.X[1::2]).shape  # without labels
    (89, 2)
    """

    _state = State(_fit_rule=Value(Knn), _class_weight=Double(0, most=1))

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        alpha=0.5,
        t="auto",
        divergence="kl",
        scale="match",
        unlabelled="posterior",
        on_disconnected="bridge",
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.alpha = alpha
        self.t = t
        self.divergence = divergence
        self.scale = scale
        self.unlabelled = unlabelled
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Graph, weights by distances and classes, the coordinates that change least along its edges."""
        d, alpha = self._checked()
        X, codes = self._taught(X, y)
        graph = _unrepaired(X, self.n_neighbors, self.n_jobs)
        self._diverge(X, codes)
        self.scale_ = self._matched(graph, codes)
        self._class_weight = 1.0 if alpha is None else 1.0 - alpha
        share, t = 1.0 if alpha is None else alpha, heat_width(graph, self.t)
        self._width = t / share if share > 0 else np.inf
        graph, fitted = self._joined(X, graph)
        W = self._weighed(graph, fitted)
        degrees = np.asarray(W.sum(axis=1)).ravel()
        changes, vectors = self._slowest(X[fitted], graph, W, degrees, min(d, len(fitted) - 1))
        count = vectors.shape[1]
        told = self._told(changes, count, size=2.0)
        self._keep(
            X, fitted, vectors * np.sqrt(degrees.sum() / degrees)[:, None], d, graph_=graph,
            _fit_rule=Knn(self.n_neighbors), eigenvalues_=padded(changes[:count], d), **told,
        )  # fmt: skip
        return self

    def _checked(self) -> tuple[int, float | None]:
        """The dimension and alpha, after all other parameters."""
        d = checked_components(self.n_components)
        checked_heat(self.t)
        self._checked_divergence()
        require_one_of("on_disconnected", self.on_disconnected, POLICIES)
        if self.alpha is None:
            return d, None
        return d, require_number("alpha", self.alpha, "a number in [0, 1] or None", most=1)

    def _matched(self, graph: NeighborGraph, codes: np.ndarray) -> float:
        """What divergences are multiplied by, so that their mean over edges between classes is 1."""
        heads, tails = codes[_heads(graph)], codes[graph.indices]
        apart = (heads != tails) & (heads >= 0) & (tails >= 0)
        if self.scale is None:
            return 1.0
        if apart.any():
            mean = float(self.divergences_[heads[apart], tails[apart]].mean())
        else:  # of all pairs: no edge has a divergence, but one of a new row may
            mean = mean_between(self.divergences_, np.bincount(codes[codes >= 0]))
        return 1.0 / mean if mean > 0 else 1.0

    def _exponents(self, graph: NeighborGraph, rows: np.ndarray) -> np.ndarray:
        """What the weight of each edge is the exponential of, less; ``rows`` are those of the graph."""
        classes = self._between_rows(rows[_heads(graph)], rows[graph.indices])
        return (graph.weights / np.sqrt(self._width)) ** 2 + self._class_weight * self.scale_ * classes

    def _joined(self, X: np.ndarray, graph: NeighborGraph) -> tuple[NeighborGraph, np.ndarray]:
        """The graph of the edges that weigh something, repaired as the policy says, and the rows in it."""
        rows = np.arange(len(X))
        exponents = self._exponents(graph, rows)
        graph = _of_edges(graph, exponents - exponents.min() <= _JOINS)
        if self.on_disconnected == "points":
            return graph, rows
        graph = repaired(graph, X, self.on_disconnected, n_jobs=self.n_jobs)
        if self.on_disconnected == "largest" and graph.n_components > 1:
            rows = np.flatnonzero(graph.components == 0)
            graph = subgraph(graph, rows)
        return graph, rows

    def _weighed(self, graph: NeighborGraph, rows: np.ndarray) -> csr_array:
        """Weights of the edges; a bridge weighs as the median edge, and a row without edges is its own."""
        exponents, bridges = self._exponents(graph, rows), bridging_edges(graph)
        weights = np.exp(exponents[~bridges].min(initial=np.inf) - exponents)
        if bridges.any():
            weights[bridges] = np.median(weights[~bridges])
        W = csr_array((weights, graph.indices, graph.indptr), shape=(graph.n_rows, graph.n_rows))
        lonely = np.asarray(np.diff(graph.indptr) == 0, float)
        return csr_array(W + diags_array(lonely)) if lonely.any() else W

    def _slowest(self, X, graph, W, degrees, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Eigenpairs of the Laplacian after the constant; one value more than vectors if there is one."""
        A = normalized_adjacency(W)[0]
        if self.on_disconnected == "points" and graph.n_components > 1:
            warn_of_points(graph.n_components, self.n_components)
            operator = csr_array(eye_array(len(X)) - A)
            return eigenvectors_of_parts(operator, X, graph.components, count, degrees)
        values, vectors = leading_eigenpairs(A, count, known=np.sqrt(degrees))
        tell_of_alternating(values[:count])
        return 1.0 - values, vectors

    def _place(self, X: np.ndarray) -> np.ndarray:
        def terms(rows: np.ndarray, near: np.ndarray) -> np.ndarray:
            return self._class_weight * self.scale_ * self._to_rows(self._shares(rows), self._fitted[near])

        means, _ = self._step(X, self.embedding_[self._fitted], self._fit_rule, None, terms)
        return means / undone(1.0 - self.eigenvalues_)


def _unrepaired(X: np.ndarray, n_neighbors: int, n_jobs: int | None) -> NeighborGraph:
    """The neighbour graph before anything is known of its parts."""
    found = nearest_neighbors(X, Knn(n_neighbors), n_jobs=n_jobs)
    directed = directed_lists(found.indices, found.distances)
    indptr, indices, lengths = union(directed, average=False, n_jobs=n_jobs)
    whole = np.zeros(len(X), np.int32)
    return NeighborGraph(indptr, indices, lengths, "knn", whole, exact=found.exact, recall=found.recall)


def _heads(graph: NeighborGraph) -> np.ndarray:
    return np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))


def _of_edges(graph: NeighborGraph, kept: np.ndarray) -> NeighborGraph:
    """The graph of some of the edges, with the parts that these leave."""
    counts = np.bincount(_heads(graph)[kept], minlength=graph.n_rows)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = graph.indices[kept]
    return replace(graph, indptr=indptr, indices=indices, weights=graph.weights[kept],
                   components=component_labels(indptr, indices))  # fmt: skip
