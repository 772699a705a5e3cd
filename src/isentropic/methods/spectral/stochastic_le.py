"""Stochastic Laplacian eigenmaps: edges weigh less the farther apart the classes of their ends are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from ..._core.arguments import Choice, Parameter, Real
from ..._core.specs import Array, Double, Number, Whole
from ..._core.state import Sub, Value
from ..._core.values import Knn, NeighborGraph
from ...affinities import bridging_edges, heat_width
from ...dissimilarities import checked_scale, mean_between
from ...divergences import EDGE_DIVERGENCES
from ...embedding.components import (
    POLICIES,
    EmbeddedRows,
    complete_embedding,
    component_eigenvectors,
    initial_coordinates,
    warn_of_point_components,
)
from ...embedding.embedder import Embedder
from ...embedding.maps.nystrom import NystromMap
from ...embedding.training_data import NComponents, NJobs, Unlabelled, labelled_training_data
from ...linalg import leading_eigenpairs, normalized_adjacency
from ...neighbors import (
    apply_disconnected_policy,
    component_labels,
    directed_lists,
    searched_neighbors,
    subgraph,
    union,
)
from .laplacian import DivergentClasses, DivergentEdges, Heat, spectrum_results, warn_of_alternating

_JOINS = np.log(1e12)  # an edge that weighs less than 1e-12 of the heaviest joins nothing


class _Scale(Parameter):
    def _accepted(self, name: str, value: Any) -> Any:
        checked_scale(value)
        return value


class DivergentMap(NystromMap):
    """The out-of-sample map of stochastic Laplacian eigenmaps."""

    edges: Annotated[DivergentEdges, Sub(DivergentEdges)]


class StochasticLE(Embedder):
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
        What to do about a disconnected graph, of edges that weigh at least 1e-12 of the heaviest: join them
        by their shortest edges, which weigh as the median edge; leave them, each a point in the layout of
        their means; fit the largest and place the others as new rows; or refuse.
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
        Coordinates that only separate groups of rows that the graph hardly connects. A warning reports them.
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

    _learns_from_y = True
    divergences_: Annotated[np.ndarray, Array("c", "c", least=0)]
    scale_: Annotated[float, Double(0)]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    _map: Annotated[DivergentMap, Sub(DivergentMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        alpha: Annotated[float | None, Real("a number in [0, 1] or None", most=1, optional=True)] = 0.5,
        t: Heat = "auto",
        divergence: Annotated[str, Choice(*EDGE_DIVERGENCES)] = "kl",
        scale: Annotated[str | None, _Scale()] = "match",
        unlabelled: Unlabelled = "posterior",
        on_disconnected: Annotated[str, Choice(*POLICIES)] = "bridge",
        n_jobs: NJobs = None,
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
        data, d, n_jobs = labelled_training_data(self, X, y), self.n_components, self.n_jobs
        graph, policy = plain_graph(data.X, self.n_neighbors, n_jobs), self.on_disconnected
        classes = DivergentClasses.fit(data, len(self.classes_), self.divergence, self.unlabelled,
                                       self.n_neighbors, n_jobs)  # fmt: skip
        scale = 1.0 if self.scale is None else matched_scale(graph, data.labels, classes.divergences)
        share, class_share = (1.0, 1.0) if self.alpha is None else (float(self.alpha), 1.0 - self.alpha)
        width, factor = heat_width(graph, self.t) / share if share > 0 else np.inf, class_share * scale
        exponents = partial(edge_exponents, classes=classes, factor=factor, width=width)
        graph, rows = joined(graph, data.X, exponents, policy, n_jobs)
        W = exponential_weights(graph, exponents(graph, rows))
        degrees = np.asarray(W.sum(axis=1)).ravel()
        if policy == "points" and graph.n_components > 1:
            warn_of_point_components(graph.n_components, d)
            changes, vectors = slowest_of_components(W, degrees, data.X[rows], graph.components, d)
        else:
            changes, vectors = slowest(W, degrees, d)
        results = spectrum_results(changes, vectors.shape[1], d, size=2.0)
        edges = DivergentEdges(EmbeddedRows(data, rows), graph, Knn(self.n_neighbors), classes, factor)
        Z = initial_coordinates(edges, vectors * np.sqrt(degrees.sum() / degrees)[:, None], d)
        new_rows = DivergentMap(edges, Z, width, 1.0 - results["eigenvalues_"], None)
        new_rows = complete_embedding(new_rows, rows, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, divergences_=classes.divergences, scale_=scale,
                             graph_=graph, **results)  # fmt: skip


def plain_graph(X: np.ndarray, n_neighbors: int, n_jobs: int | None) -> NeighborGraph:
    """The neighbor graph, not repaired."""
    found = searched_neighbors(X, Knn(n_neighbors), n_jobs=n_jobs)
    directed = directed_lists(found.indices, found.distances)
    indptr, indices, lengths = union(directed, average=False, n_jobs=n_jobs)
    whole = np.zeros(len(X), np.int32)
    return NeighborGraph(indptr, indices, lengths, "knn", whole, exact=found.exact, recall=found.recall)


def matched_scale(graph: NeighborGraph, labels: np.ndarray, divergences: np.ndarray) -> float:
    """The factor that makes the mean divergence over edges between classes 1."""
    heads, tails = labels[_heads(graph)], labels[graph.indices]
    apart = (heads != tails) & (heads >= 0) & (tails >= 0)
    if apart.any():
        mean = float(divergences[heads[apart], tails[apart]].mean())
    else:  # of all pairs: no edge has a divergence, but one of a new row may
        mean = mean_between(divergences, np.bincount(labels[labels >= 0]))
    return 1.0 / mean if mean > 0 else 1.0


def edge_exponents(
    graph: NeighborGraph, rows: np.ndarray, *, classes: DivergentClasses, factor: float, width: float
) -> np.ndarray:
    """Negative exponents of the weights of edges; ``rows`` are those of the graph."""
    apart = classes.between_rows(rows[_heads(graph)], rows[graph.indices])
    return (graph.weights / np.sqrt(width)) ** 2 + factor * apart


def joined(
    graph: NeighborGraph, X: np.ndarray, exponents: Callable[..., np.ndarray], policy: str, n_jobs: int | None
) -> tuple[NeighborGraph, np.ndarray]:
    """The graph of edges with a positive weight, repaired as the policy says, and its rows."""
    rows = np.arange(len(X))
    values = exponents(graph, rows)
    graph = _of_edges(graph, values - values.min() <= _JOINS)
    if policy == "points":
        return graph, rows
    graph = apply_disconnected_policy(graph, X, policy, n_jobs=n_jobs)
    if policy == "largest" and graph.n_components > 1:
        rows = np.flatnonzero(graph.components == 0)
        graph = subgraph(graph, rows)
    return graph, rows


def exponential_weights(graph: NeighborGraph, exponents: np.ndarray) -> csr_array:
    """Weights of edges; a bridge weighs as the median edge, a row without edges is its own neighbour."""
    bridges = bridging_edges(graph)
    weights = np.exp(exponents[~bridges].min(initial=np.inf) - exponents)
    if bridges.any():
        weights[bridges] = np.median(weights[~bridges])
    W = csr_array((weights, graph.indices, graph.indptr), shape=(graph.n_rows, graph.n_rows))
    lonely = np.asarray(np.diff(graph.indptr) == 0, float)
    return csr_array(W + diags_array(lonely)) if lonely.any() else W


def slowest(W: csr_array, degrees: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs of the Laplacian after the constant; one value more than vectors if there is one."""
    count = min(n_components, len(degrees) - 1)
    values, vectors = leading_eigenpairs(normalized_adjacency(W)[0], count, known=np.sqrt(degrees))
    warn_of_alternating(values[:count])
    return 1.0 - values, vectors


def slowest_of_components(
    W: csr_array, degrees: np.ndarray, X: np.ndarray, parts: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`slowest` for a disconnected graph: the null space is the layout of the components."""
    operator = csr_array(eye_array(len(X)) - normalized_adjacency(W)[0])
    return component_eigenvectors(operator, X, parts, min(n_components, len(X) - 1), degrees)


def _heads(graph: NeighborGraph) -> np.ndarray:
    return np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))


def _of_edges(graph: NeighborGraph, kept: np.ndarray) -> NeighborGraph:
    """The graph of some of the edges, with its components."""
    counts = np.bincount(_heads(graph)[kept], minlength=graph.n_rows)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = graph.indices[kept]
    return replace(graph, indptr=indptr, indices=indices, weights=graph.weights[kept],
                   components=component_labels(indptr, indices))  # fmt: skip
