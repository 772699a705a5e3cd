"""Laplacian methods: slow coordinates of a random walk over a neighbor graph. They differ in the walk."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.linalg import svd
from scipy.sparse import csr_array

from ..._core.arguments import Choice, Parameter
from ..._core.errors import IsentropicWarning, require, warn
from ..._core.values import NeighborGraph, NeighborRule
from ...affinities import checked_heat
from ...embedding.maps.nystrom import ALTERNATES
from ...linalg import eigenpairs_by_rank
from ...linalg.centering import RANK
from ...linalg.eigen import count_separating_coordinates, eigengap, padded
from ...neighbors import as_rule, graph_of_rows, subgraph


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
    graph = graph_of_rows(X, rule, on_disconnected=on_disconnected, n_jobs=n_jobs)
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
        "n_separating_": count_separating_coordinates(changes, count, size=size),
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


# --------------------------------------------------------------------------------------------------
# Locality preserving directions: Laplacian eigenmaps restricted to linear functions of some features.


class Directions(NamedTuple):
    """What changes least along the edges of a graph."""

    centre: np.ndarray  # (m,) the mean weighted by the degrees
    components: np.ndarray  # (d, m), zero beyond the rank
    eigenvalues: np.ndarray  # (d,) smallest first, zero beyond the rank
    rank: int
    n_separating: int


def locality_directions(
    X: np.ndarray, adjacency: csr_array, degrees: np.ndarray, n_components: int
) -> Directions:
    """``X' L X a = lambda X' D X a``, X centred by D, a of mean square 1 weighted by D.

    ``I - U' D^-1/2 W D^-1/2 U`` is the problem in the singular vectors U of ``D^1/2 X``: no squared condition
    number, and any rank. ``O(n m min(n, m) + nnz r)`` time.
    """
    middle, total = X.mean(axis=0), degrees.sum()
    centre = middle + degrees @ (X - middle) / total
    U, spreads, axes = svd(np.sqrt(degrees / total)[:, None] * (X - centre), full_matrices=False)
    rank = int(np.count_nonzero(spreads > RANK * spreads[0]))
    count = min(n_components, rank)
    eigenvalues, components = np.zeros(n_components), np.zeros((n_components, X.shape[1]))
    n_separating = 0
    if count:
        U = U[:, :rank]
        last = min(count, rank - 1)  # one more, to see the gap behind the last
        values, vectors = eigenpairs_by_rank(np.eye(rank) - U.T @ (adjacency @ U), 0, last)
        eigenvalues[:count] = values[:count]
        components[:count] = (vectors[:, :count] / spreads[:rank, None]).T @ axes[:rank]
        n_separating = count_separating_coordinates(values, count, size=1.0)
    return Directions(centre, components, eigenvalues, rank, n_separating)
