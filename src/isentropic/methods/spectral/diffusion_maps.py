"""Diffusion maps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array

from ..._core.arguments import Count, Real
from ..._core.errors import IsentropicWarning, require, warn
from ..._core.specs import Array, Double, Number, Whole
from ..._core.state import Sub, Value
from ..._core.values import DistanceRows, Knn, NeighborGraph, NeighborRule
from ...affinities import heat_walk, heat_width
from ...distances import DiffusionDistances
from ...embedding.components import EmbeddedRows, complete_embedding, initial_coordinates
from ...embedding.embedder import Embedder
from ...embedding.maps.nystrom import GraphEdges, GraphWalkMap
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import leading_eigenpairs, least_eigenvalue
from ...linalg.eigen import padded
from .laplacian import Heat, OnDisconnected, embedded_graph, graph_rule, spectrum_results, warn_of_alternating


@dataclass(frozen=True, eq=False)
class DiffusionMap(GraphWalkMap):
    """The out-of-sample map of diffusion maps, and what their diffusion distances are made of."""

    alpha: Annotated[float, Double(0)]
    steps: Annotated[int, Whole(0)]

    def distances(self) -> DistanceRows:
        """Diffusion distances of the rows in the graph."""
        walk, degrees, _ = heat_walk(self.edges.graph, self.width, self.alpha)
        return DiffusionDistances(walk, degrees, self.steps).source()


class DiffusionMaps(Embedder):
    """Diffusion maps: distances compare how random walks of t steps spread from two rows.

    Weights ``W = exp(-d^2 / sigma)`` of the edges and of each row with itself, over ``(q_i q_j)^alpha``, q
    their sums; the walk is ``P = D^-1 W``, D the sums of what is left. Coordinates are ``lambda^t psi``, for
    its d largest eigenvalues after 1 and its eigenvectors psi, of mean square 1 weighted by D. All n - 1 of
    them would have the diffusion distances, ``sum_l (P^t_il - P^t_jl)^2 / phi_l`` with phi = D / sum D, for
    their squared distances. A new row is placed by one step over its neighbours, which a fitted row would
    undo (Nyström): ``psi = sum_j p_j psi_j / lambda``; a fitted one has its own coordinates.

    Cost: the search of neighbours, and a sparse factorisation of ``I - P`` or, where that would fill up, some
    hundreds of products with it; ``O(n k)`` memory beside the factors.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row; the graph joins two rows if either is one of the other. With all other rows,
        n - 1, it is the complete graph of the original method, of ``O(n^2)`` memory.
    n_components : int
        Dimension of the map.
    neighbors : Knn, Radius or Percentile, optional
        The rule of the graph, instead of ``n_neighbors``.
    sigma : "auto" or float
        Width of the weights, in squared units of the data. ``"auto"`` is the mean squared length of an edge,
        and infinity weighs all edges alike.
    alpha : float
        How much of the density of the rows is taken out: 0 nothing, 1/2 as much as a diffusion in the
        potential of the density needs, 1 all of it (the Laplace-Beltrami operator, however rows are sampled).
    t : int
        Steps of the walk; 0 leaves the eigenvectors unweighted.
    on_disconnected : {"bridge", "largest", "raise"}
        What to do about a disconnected graph: join them by their shortest edges, which weigh as the median
        edge; fit the largest and place the others as new rows (both with a warning); or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Of the walk, largest first, the 1 of the constant left out.
    eigengap_ : float
        How far 1 less the last eigenvalue is below 1 less the next one, as a share of that: a small gap means
        that another row could turn the map.
    left_out_ : float
        Share of the squared diffusion distances, on the average, that the map does not show; for t above 1
        the share is at most this.
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects: their eigenvalues are
        more than 100 times nearer to 1 than the next, or 1. A warning reports them.
    graph_ : NeighborGraph
        Of the rows that were fitted; its weights are distances.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Coifman and Lafon (2006).

    Examples
    --------
    >>> from isentropic import DiffusionMaps, datasets, quality
    >>> roll = datasets.load("builtin:swiss-roll", n_samples=300)
    >>> maps = DiffusionMaps(t=100).fit(roll.X)
    >>> maps.embedding_.shape
    (300, 2)
    >>> bool(quality.kendall_tau(maps.diffusion_distances(), maps.embedding_).value > 0.7)
    True
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    left_out_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    _map: Annotated[DiffusionMap, Sub(DiffusionMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        neighbors: Any = None,
        sigma: Heat = "auto",
        alpha: Annotated[float, Real("a number from 0 to 1", most=1.0)] = 0.0,
        t: Annotated[int, Count("a number of steps, an integer of at least 0", least=0)] = 1,
        on_disconnected: OnDisconnected = "bridge",
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.neighbors = neighbors
        self.sigma = sigma
        self.alpha = alpha
        self.t = t
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Graph, weights, the walk, its eigenvectors, times their eigenvalues to the power t.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        alpha, steps = float(self.alpha), int(self.t)
        rule = graph_rule(self.n_neighbors, self.neighbors)
        graph, rows = embedded_graph(data.X, rule, self.on_disconnected, n_jobs)
        width = heat_width(graph, self.sigma)
        walk, degrees, shares = heat_walk(graph, width, alpha)
        count = min(d, graph.n_rows - 1)
        values, vectors = leading_eigenpairs(walk, count, known=np.sqrt(degrees))
        left_out = left_out_share(walk, values[:count], steps)
        psi = vectors * np.sqrt(degrees.sum() / degrees)[:, None]
        results = spectrum_results(1.0 - values, count, d, size=2.0)
        results |= {"eigenvalues_": padded(values[:count], d), "left_out_": left_out}
        edges = GraphEdges(EmbeddedRows(data, rows), graph, one_more(rule))
        Z = initial_coordinates(edges, psi * values[:count] ** steps, d)
        new_rows = DiffusionMap(edges, Z, width, results["eigenvalues_"], shares, alpha, steps)
        new_rows = complete_embedding(new_rows, rows, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, graph_=graph, **results)

    def diffusion_distances(self) -> DistanceRows:
        """The diffusion distances of the fitted rows, for ``isentropic.quality``: all coordinates, not d.

        ``O(n t k)`` time a row, and once ``O(n^2 t k)`` for the lengths of all.
        """
        hint = "Rows in separate parts have no diffusion distance."
        everyone = self.graph_.n_rows == len(self.embedding_)
        require(everyone, "on_disconnected", "'bridge' or 'raise'", "largest", hint)
        return self._map.distances()


def one_more(rule: NeighborRule) -> NeighborRule:
    """The rule with one neighbor more: a row that moves onto a training row sees it and its neighbors."""
    return replace(rule, k=rule.k + 1) if isinstance(rule, Knn) else rule


def left_out_share(walk: csr_array, values: np.ndarray, steps: int) -> float:
    """The share that the map leaves out; warns if that is more than it shows."""
    kept = float((values ** (2 * steps)).sum())
    rest = float(walk.shape[0] - 1 - len(values))
    if steps:
        rest = max(float((walk.data**2).sum() - 1.0 - (values**2).sum()), 0.0)
        least = least_eigenvalue(walk)
        rest *= max(-least, float(values[-1])) ** (2 * (steps - 1))
        if -least > values[-1] + 1e-9 and len(values) < walk.shape[0] - 1:
            warn(
                f"The walk has an eigenvalue of {least:.3g}, of more weight in diffusion distances than "
                f"the last coordinate ({values[-1]:.3g}): the map leaves it out. Take fewer components, "
                "or a smaller sigma.",
                IsentropicWarning,
            )
    warn_of_alternating(values)
    return rest / (kept + rest) if kept + rest > 0 else 0.0
