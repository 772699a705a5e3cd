"""Diffusion maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import IsentropicWarning, require, require_count, require_number, warn
from ..._core.state import Array, Double, Number, State, Whole
from ..._core.values import DistanceRows, Knn
from ...affinities import checked_heat, heat_walk, heat_width
from ...distances import Walks
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.spectral import padded
from ...embedding.side_by_side import checked_parts
from ...linalg import leading_eigenpairs, least_eigenvalue
from .laplacian import LaplacianEmbedder, tell_of_alternating, undone


class DiffusionMaps(LaplacianEmbedder):
    """Distances between rows are how differently random walks from them spread in t steps.

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
        What to do about a graph in parts: join them by their shortest edges, which weigh as the median edge;
        fit the largest and place the others as new rows (both with a warning); or refuse.
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
        Coordinates that only separate groups of rows which the graph hardly joins: their eigenvalues are more
        than 100 times nearer to 1 than the next, or 1. A warning tells of them.
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

    _state = State(
        left_out_=Number(0),
        _shares=Array("g", above=0),
        _fit_alpha=Double(0),
        _steps=Whole(0),
    )

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        neighbors=None,
        sigma="auto",
        alpha=0.0,
        t=1,
        on_disconnected="bridge",
        n_jobs=None,
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
        n_components, sigma = checked_components(self.n_components), checked_heat(self.sigma, "sigma")
        steps = require_count("t", self.t, "a number of steps, an integer of at least 0", least=0)
        alpha = require_number("alpha", self.alpha, "a number from 0 to 1", most=1.0)
        checked_parts(self.on_disconnected)
        X = checked_rows(self, X)
        graph, fitted, rule = self._graph_of_fitted(X)
        width = heat_width(graph, sigma)
        walk, degrees, shares = heat_walk(graph, width, alpha)
        count = min(n_components, graph.n_rows - 1)
        values, vectors = leading_eigenpairs(walk, count, known=np.sqrt(degrees))
        left_out = _left_out(walk, values[:count], steps)
        psi = vectors * np.sqrt(degrees.sum() / degrees)[:, None]
        self._keep(
            X, fitted, psi * values[:count] ** steps, n_components, graph_=graph, _fit_rule=rule,
            _width=width, _shares=shares, _fit_alpha=alpha, _steps=steps, left_out_=left_out,
            eigenvalues_=padded(values[:count], n_components), **self._told(1.0 - values, count, size=2.0),
        )  # fmt: skip
        return self

    def diffusion_distances(self) -> DistanceRows:
        """The diffusion distances of the fitted rows, for ``isentropic.quality``: all coordinates, not d.

        ``O(n t k)`` time a row, and once ``O(n^2 t k)`` for the lengths of all.
        """
        hint = "Rows in separate parts have no diffusion distance."
        everyone = len(self._fitted) == len(self.embedding_)
        require(everyone, "on_disconnected", "'bridge' or 'raise'", "largest", hint)
        walk, degrees, _ = heat_walk(self.graph_, self._width, self._fit_alpha)
        return Walks(walk, degrees, self._steps).source()

    def _place(self, X: np.ndarray) -> np.ndarray:
        # One neighbour more: a row that moves onto a fitted one sees it and its neighbours.
        rule = self._fit_rule
        rule = replace(rule, k=rule.k + 1) if isinstance(rule, Knn) else rule
        means, _ = self._step(X, self.embedding_[self._fitted], rule, self._shares)
        return means / undone(self.eigenvalues_)


def _left_out(walk: csr_array, values: np.ndarray, steps: int) -> float:
    """What share the map leaves out, and a warning where that is more than it shows."""
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
    tell_of_alternating(values)
    return rest / (kept + rest) if kept + rest > 0 else 0.0
