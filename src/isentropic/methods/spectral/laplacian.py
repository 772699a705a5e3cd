"""Stages of Laplacian methods: graphs, spectra, directions, and the edges by which new rows enter a graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.linalg import svd
from scipy.sparse import csr_array

from ..._core.arguments import Choice, Parameter
from ..._core.errors import IsentropicWarning, require, warn
from ..._core.specs import Array, Double, OneOf, StateError, Whole
from ..._core.state import Sub, Value
from ..._core.values import NeighborGraph, NeighborRule
from ...affinities import checked_heat
from ...dissimilarities import Added, Exponential, Shrunk, class_gaussians, expected_shares
from ...embedding.class_model import ClassModel, class_divergences
from ...embedding.components import EmbeddedRows
from ...embedding.maps.nystrom import ALTERNATES, GraphEdges
from ...embedding.training_data import Part, TrainingData
from ...linalg import eigenpairs_by_rank
from ...linalg.centering import RANK
from ...linalg.eigen import count_separating_coordinates, eigengap, padded
from ...neighbors import QueryEdges, as_rule, graph_of_rows, subgraph


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
    """The neighbor graph, or its largest component if that is the policy, and its rows."""
    graph = graph_of_rows(X, rule, on_disconnected=on_disconnected, n_jobs=n_jobs)
    if on_disconnected != "largest" or graph.n_components == 1:
        return graph, np.arange(len(X))
    rows = np.flatnonzero(graph.components == 0)
    return subgraph(graph, rows), rows


def graph_rule(n_neighbors: Any, neighbors: Any) -> NeighborRule:
    """The rule of a graph: ``neighbors``, or the nearest ``n_neighbors``."""
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
    """Warn of coordinates that alternate between neighbors."""
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
    """Directions that change least along the edges of a graph."""

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


@dataclass(frozen=True, eq=False)
class NearestEdges(Part):
    """Edges to the ``k`` nearest embedded rows."""

    query: Annotated[EmbeddedRows, Sub(EmbeddedRows)]
    k: Annotated[int, Whole(1, below="g + 1")]

    @property
    def data(self) -> TrainingData:
        return self.query.data

    @property
    def rows(self) -> np.ndarray:
        return self.query.rows

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> tuple[QueryEdges, Any]:
        """Edges of new rows by their distances."""
        return QueryEdges(*self.query.index.nearest(X, self.k, n_jobs=n_jobs)), 0.0


@dataclass(frozen=True, eq=False)
class DissimilarEdges(Part):
    """Edges to the ``k`` rows with a class that are nearest by a dissimilarity.

    That of a new row is the expectation over the classes that it may have.
    """

    classes: Annotated[ClassModel, Sub(ClassModel)]
    measure: Annotated[Any, OneOf(Value(Exponential), Value(Shrunk), Value(Added, c="c"))]
    k: Annotated[int, Whole(1, below="n + 1")]

    @property
    def data(self) -> TrainingData:
        return self.classes.data

    @property
    def rows(self) -> np.ndarray:
        return self.data.labelled

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> tuple[QueryEdges, Any]:
        """Edges of new rows by their expected dissimilarities."""
        shares = self.classes.shares(X, n_jobs)
        near, values = self.classes.labelled_index.nearest(X, self.k, self.measure, shares, n_jobs)
        return QueryEdges(near, values), 0.0

    def _require_sound(self) -> None:
        if self.data.metric != "euclidean" or self.data.X is None:
            raise StateError("classes.data.metric", "must be euclidean, of rows that are kept")
        if self.k > len(self.rows):
            raise StateError("k", "must be at most the number of rows with a class")


@dataclass(frozen=True, eq=False)
class DivergentClasses(Part):
    """Divergences between classes, and between rows by the classes that they have, or may have.

    The share of a class is 1 for a row that has it. Rows without one have what is guessed of them, as new
    rows have: the divergence between two rows is an expectation, ``p' DE q``.
    """

    classes: Annotated[ClassModel, Sub(ClassModel)]
    divergences: Annotated[np.ndarray, Array("c", "c", least=0)]

    @classmethod
    def fit(
        cls, data: TrainingData, n_classes: int, divergence: str, rule: str, n_votes: int, n_jobs: int | None
    ) -> DivergentClasses:
        """A Gaussian for each class, their divergences, and guesses for training rows without a class."""
        gaussians = class_gaussians(data.X[data.labelled], data.labels[data.labelled])
        divergences = class_divergences(gaussians, divergence)
        return cls(ClassModel.fit(data, n_classes, rule, n_votes, n_jobs, gaussians), divergences)

    def between_rows(self, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """``p' DE q`` of pairs of training rows, the same in both directions."""
        expected = expected_shares(self._row_shares, self.divergences)
        total, back = np.zeros((2, len(heads)))
        for c in range(len(self.divergences)):
            total += expected[heads, c] * self._row_shares[tails, c]
            back += expected[tails, c] * self._row_shares[heads, c]
        return (total + back) / 2

    def of_new(self, X: np.ndarray, near: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """``p' DE q`` of new rows to training rows ``near`` them, (b, k); 0 where no class is estimated."""
        total, shares = np.zeros(near.shape), self.classes.shares(X, n_jobs)
        if shares is not None:
            expected = expected_shares(shares, self.divergences)
            for c in range(len(self.divergences)):
                total += expected[:, c, None] * self._row_shares[near, c]
        return total

    def _require_sound(self) -> None:
        self.classes.require_guesses()

    @cached_property
    def _row_shares(self) -> np.ndarray:
        """Class probabilities (n, c): 1 for the class of a training row, or estimates."""
        return self.classes.training.shares(np.arange(self.classes.data.n))


@dataclass(frozen=True, eq=False)
class DivergentEdges(GraphEdges):
    """Edges by which new rows enter a neighbor graph, weaker the more their classes diverge."""

    classes: Annotated[DivergentClasses, Sub(DivergentClasses)]
    factor: Annotated[float, Double(0)]  # of the divergences

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> tuple[QueryEdges, Any]:
        """Edges of new rows, and expected divergences, which come to the exponents of their weights."""
        entries, _ = super().of_new(X, n_jobs)
        return entries, self.factor * self.classes.of_new(X, self.rows[entries.indices], n_jobs)
