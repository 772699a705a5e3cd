"""Laplacian methods: slow coordinates of a walk over the neighbour graph. They differ in the walk.

A method of this family takes its graph from :meth:`LaplacianEmbedder._graph_of_fitted`, finds coordinates,
and hands them to :meth:`SpectralEmbedder._keep`. New rows are placed by one step of the walk (Nyström).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.errors import IsentropicWarning, require, warn
from ..._core.runtime import row_blocks
from ..._core.state import Double, OneOf, State, StateError, Value
from ..._core.values import Knn, NeighborGraph, NeighborRule, Percentile, Radius
from ...affinities import step_weights
from ...distances import rows_per_block
from ...embedding.maps.spectral import SpectralEmbedder, eigengap, separating
from ...neighbors import as_rule, distance_graph, entry_lists, subgraph, warn_of_isolated

_ALTERNATES = 1e-6  # an eigenvalue of the walk below this one has no step that could be undone


class LaplacianEmbedder(SpectralEmbedder):
    """Eigenvectors of a walk over the neighbour graph, and where one step of it leads from a new row."""

    metric = "euclidean"
    _state = State(  # g rows are in the graph, the others placed
        graph_=Value(NeighborGraph, n="g"),
        _fit_rule=OneOf(Value(Knn), Value(Radius), Value(Percentile)),
        _width=Double(above=0, infinite=True),
    )

    def _graph_of_fitted(self, X: np.ndarray) -> tuple[NeighborGraph, np.ndarray, NeighborRule]:
        """The neighbour graph of the rows that are fitted, these rows, and the rule."""
        rule = as_rule(self.n_neighbors if self.neighbors is None else self.neighbors)
        graph = distance_graph(X, rule, on_disconnected=self.on_disconnected, n_jobs=self.n_jobs)
        fitted = np.arange(len(X))
        if self.on_disconnected == "largest" and graph.n_components > 1:
            fitted = np.flatnonzero(graph.components == 0)
            graph = subgraph(graph, fitted)
        return graph, fitted, rule

    def _told(self, changes: np.ndarray, count: int, *, size: float) -> dict[str, Any]:
        """What the eigenvalues of the Laplacian say, smallest first, with one more if there is one."""
        separate = separating(changes, count, size=size)
        return {"eigengap_": eigengap(changes, count), "n_separating_": separate}

    def _step(self, X: np.ndarray, Z: np.ndarray, rule, shares: np.ndarray | None, terms=None) -> tuple:
        """The mean of ``Z`` over the neighbours of new rows, by the weights of a step, and the sums of those.

        ``shares`` weigh the fitted rows beside the heat, and ``terms(rows, near)`` come to its exponent. One
        sum after the other, so that it has the same bits however long the lists of other rows are.
        """
        means, degrees, isolated = np.empty((len(X), Z.shape[1])), np.empty(len(X)), 0
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(Z))):
            entries = entry_lists(X[block], self._rows_fitted(), self.graph_, rule, n_jobs=self.n_jobs)
            isolated += entries.isolated
            near = entries.indices
            more = 0.0 if terms is None else terms(X[block], near)
            weights, least = step_weights(entries.distances, self._width, more)
            weights *= 1.0 if shares is None else shares[near]
            sums = np.cumsum(weights, axis=1)[:, -1]
            means[block] = np.cumsum(weights[:, :, None] * Z[near], axis=1)[:, -1] / sums[:, None]
            degrees[block] = sums * np.exp(-least)
        warn_of_isolated(isolated, len(X))
        return means, degrees

    def _require_sound(self) -> None:
        super()._require_sound()
        if not self.graph_.is_distance:
            raise StateError("graph_.kind", "must be one whose weights are distances")
        if self._fit_metric != "euclidean":
            raise StateError("_fit_metric", "must be euclidean")


def require_degrees(degrees: np.ndarray, graph: NeighborGraph, t: Any) -> None:
    """Refuse a width by which the weights of a row are all 0."""
    lonely = int(np.count_nonzero(degrees == 0))
    median = float(np.median(graph.weights)) ** 2
    must_be = f"so large that every row has a weight (the median squared edge is {median:.4g})"
    hint = f"All weights of {lonely} rows are 0. Take t='auto', a larger t, or t=inf; or leave out far rows."
    require(lonely == 0, "t", must_be, t, hint)


def undone(walk: np.ndarray) -> np.ndarray:
    """What the mean of a step is divided by; 1 for coordinates that alternate between neighbours."""
    return np.where(walk > _ALTERNATES, walk, 1.0)


def tell_of_alternating(walk: np.ndarray) -> None:
    """Warn of coordinates in which neighbours lie apart, not together."""
    count = int(np.count_nonzero(walk <= _ALTERNATES))
    if count:
        warn(
            f"The last {count} of {len(walk)} coordinates alternate between neighbours: new rows get the "
            "mean of theirs. Take fewer components.",
            IsentropicWarning,
        )
