"""Extend eigenvectors of a random walk to new rows (Nyström): one step of the walk, divided by eigenvalues.

:class:`NystromMap` asks its ``edges`` which training rows a new row steps to, and how far they are. Methods
differ in these edges, and in the walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import row_blocks
from ..._core.specs import Array, Double, Maybe, OneOf, Size, StateError
from ..._core.state import Sub, Value
from ..._core.values import Knn, NeighborGraph, Percentile, Radius
from ...affinities import InnerProduct, step_weights
from ...distances import LARGEST, rows_per_block
from ...kernels._jit import threads
from ...kernels.rows.projections import project_centred
from ...neighbors import QueryEdges, query_edges, warn_of_isolated
from ..components import EmbeddedRows
from ..training_data import Part, TrainingData

ALTERNATES = 1e-6  # an eigenvalue of the walk below this one has no step that could be undone


@dataclass(frozen=True, eq=False)
class GraphEdges(Part):
    """The edges by which new rows enter a neighbor graph, by the rule of the graph."""

    query: Annotated[EmbeddedRows, Sub(EmbeddedRows)]
    graph: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    rule: Annotated[Any, OneOf(Value(Knn), Value(Radius), Value(Percentile))]

    @property
    def data(self) -> TrainingData:
        return self.query.data

    @property
    def rows(self) -> np.ndarray:
        """The training rows in the graph."""
        return self.query.rows

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> tuple[QueryEdges, Any]:
        """Edges of new rows, and terms added to the exponents of their weights."""
        return query_edges(X, self.query.index, self.graph, self.rule, n_jobs=n_jobs), 0.0

    def _require_sound(self) -> None:
        if not self.graph.is_distance:
            raise StateError("graph.kind", "must be one whose weights are distances")


@dataclass(frozen=True, eq=False)
class NystromMap(Part):
    """A new row is the mean of its near rows by the weights of a step, over the eigenvalues of the walk.

    A method says in a subclass which part ``edges`` is: ``edges.rows`` are training rows, and
    ``edges.of_new(X, n_jobs)`` the edges of new rows to these. A step weighs ``exp(-d^2 / width)``, times the
    ``shares`` of the training rows.
    """

    edges: Any
    Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
    width: Annotated[float, Double(above=0, infinite=True)]
    walk: Annotated[np.ndarray, Array("d")]  # eigenvalues
    shares: Annotated[Any, Maybe(Array("g", above=0))]

    @property
    def data(self) -> TrainingData:
        """The training data."""
        found: TrainingData = self.edges.data
        return found

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows."""
        return self.step(X, self.Z[self.edges.rows], n_jobs)[0] / undone(self.walk)

    def step(self, X: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The mean of ``Z`` over the edges of new rows, by the weights of a step, and the sums of those.

        One sum after the other, so that it has the same bits however long the lists of other rows are.
        """
        means, degrees, isolated = np.empty((len(X), Z.shape[1])), np.empty(len(X)), 0
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(Z))):
            entries, terms = self.edges.of_new(X[block], n_jobs)
            isolated += entries.isolated
            weights, least = step_weights(entries.distances, self.width, terms)
            weights *= 1.0 if self.shares is None else self.shares[entries.indices]
            sums = np.cumsum(weights, axis=1)[:, -1]
            near = Z[entries.indices]
            means[block] = np.cumsum(weights[:, :, None] * near, axis=1)[:, -1] / sums[:, None]
            degrees[block] = sums * np.exp(-least)
        warn_of_isolated(isolated, len(X))
        return means, degrees


class GraphWalkMap(NystromMap):
    """The map of a walk over a neighbor graph."""

    edges: Annotated[GraphEdges, Sub(GraphEdges)]


def undone(walk: np.ndarray) -> np.ndarray:
    """Divisors of the mean of a step; 1 for coordinates that alternate between neighbors."""
    return np.where(walk > ALTERNATES, walk, 1.0)


# ---- Project new rows by their kernels to training rows (Nyström) --------------------------------


@dataclass(frozen=True, eq=False)
class KernelMap(Part):
    """``z = A' (k(x) - means)``, k(x) the kernels of a row to the references: the same sums in any batch."""

    data: Annotated[TrainingData, Sub(TrainingData)]  # without rows: a training row is placed as any other
    n_features: Annotated[int, Size("m")]  # of new rows
    product: Annotated[InnerProduct, Value(InnerProduct, columns="columns")]
    references: Annotated[np.ndarray, Array("r", "columns", within=LARGEST, empty=True)]  # training rows
    means: Annotated[np.ndarray, Array("r")]  # of the kernels to each reference
    projection: Annotated[np.ndarray, Array("r", "d")]  # A
    landmarks: Annotated[Any, Maybe(Array("r", dtype=np.int64, below="n"))] = (
        None  # references; None: all rows
    )

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of rows; where kernels are given, of rows of these."""
        Z = np.empty((len(X), self.projection.shape[1]))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(self.means))):
            K = self.product.between(X[block], self.references, n_jobs)
            with threads(n_jobs):
                Z[block] = project_centred(K, self.means, self.projection)
        return Z

    def _require_sound(self) -> None:
        if self.landmarks is None and len(self.means) != self.data.n:
            raise StateError("means", "must be one for each row, where these are no landmarks")
        given, columns = self.product.kind == "precomputed", self.references.shape[1]
        if columns != (0 if given else self.n_features):
            raise StateError("references", f"must have the features of new rows, got {columns}")
        if given and len(self.means) != self.n_features:
            raise StateError("means", "must be one for each kernel of a new row")
