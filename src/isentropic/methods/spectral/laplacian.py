"""Laplacian methods: slow coordinates of a random walk over a neighbor graph. They differ in the walk."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..._core.errors import IsentropicWarning, require, warn
from ..._core.parameters import Choice, Parameter
from ..._core.values import NeighborGraph, NeighborRule
from ...affinities import checked_heat
from ...embedding.maps.nystrom import ALTERNATES
from ...linalg.spectrum import eigengap, padded, separating
from ...neighbors import as_rule, distance_graph, subgraph


class HeatWidth(Parameter):
    """The width of Gaussian weights: ``"auto"``, or a positive number in squared units of the data."""

    def _accepted(self, name: str, value: Any) -> Any:
        return checked_heat(value, name)


Heat = Annotated[Any, HeatWidth()]
_NO_DISTANCES = "A graph in parts has no distances here that could be inflated."
OnDisconnected = Annotated[str, Choice("bridge", "largest", "raise", hint=_NO_DISTANCES)]


def embedded_graph(
    X: np.ndarray, rule: NeighborRule, on_disconnected: str, n_jobs: int | None
) -> tuple[NeighborGraph, np.ndarray]:
    """The neighbor graph, of its largest part where that is the policy, and the rows in it."""
    graph = distance_graph(X, rule, on_disconnected=on_disconnected, n_jobs=n_jobs)
    if on_disconnected != "largest" or graph.n_components == 1:
        return graph, np.arange(len(X))
    rows = np.flatnonzero(graph.components == 0)
    return subgraph(graph, rows), rows


def graph_rule(n_neighbors: Any, neighbors: Any) -> NeighborRule:
    """The rule of a graph: ``neighbors``, or so many nearest ones."""
    return as_rule(n_neighbors if neighbors is None else neighbors)


def spectrum_results(changes: np.ndarray, count: int, n_components: int, *, size: float) -> dict[str, Any]:
    """Public results of the eigenvalues of a Laplacian, smallest first, one more than ``count`` if there is.

    ``size`` is that of the operator.
    """
    return {
        "eigenvalues_": padded(changes[:count], n_components),
        "n_separating_": separating(changes, count, size=size),
        "eigengap_": eigengap(changes, count),
    }


def require_degrees(degrees: np.ndarray, graph: NeighborGraph, t: Any) -> None:
    """Refuse a width by which the weights of a row are all 0."""
    lonely = int(np.count_nonzero(degrees == 0))
    median = float(np.median(graph.weights)) ** 2
    must_be = f"so large that every row has a weight (the median squared edge is {median:.4g})"
    hint = f"All weights of {lonely} rows are 0. Take t='auto', a larger t, or t=inf; or leave out far rows."
    require(lonely == 0, "t", must_be, t, hint)


def warn_of_alternating(walk: np.ndarray) -> None:
    """Warn of coordinates in which neighbors lie apart, not together."""
    count = int(np.count_nonzero(walk <= ALTERNATES))
    if count:
        warn(
            f"The last {count} of {len(walk)} coordinates alternate between neighbours: new rows get the "
            "mean of theirs. Take fewer components.",
            IsentropicWarning,
        )
