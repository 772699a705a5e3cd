"""The out-of-sample map of a neighbor graph: classical scaling of shortest paths (Gower's formula)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import row_blocks
from ..._core.specs import Array, Double, Maybe, OneOf, StateError
from ..._core.state import Sub, Value
from ..._core.values import Knn, NeighborGraph, Percentile, Radius
from ...geodesics import from_neighbors, from_rows
from ...kernels._jit import threads
from ...kernels.rows.projections import through_neighbors
from ...linalg import Scaling
from ...neighbors import QueryEdges, RowIndex, conformal_query_edges, query_edges, warn_of_isolated
from ..training_data import Part, TrainingData

_ROWS = 256  # new rows whose distances to all rows of the graph are held together


@dataclass(frozen=True, eq=False)
class GeodesicMap(Part):
    """A graph of training rows, and the scaling of its shortest paths. A new row enters the graph by edges.

    A method says in a subclass which part ``edges`` is: ``edges.of_new(X, paths, n_jobs)`` gives the edges
    by which new rows enter the graph of ``paths``, this map. ``lengths.of_new(X, G, n_jobs)`` changes the
    lengths of their paths in place, where a method has it.
    """

    data: Annotated[TrainingData, Sub(TrainingData)]
    graph: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    nodes: Annotated[np.ndarray, Array("g", dtype=np.int64, below="n")]  # rows that are in the graph
    edges: Any
    scaling: Annotated[Scaling, Value(Scaling, n="r", d="d")]
    unreachable: Annotated[float, Double(0, infinite=True)]  # length of a path that there is not
    landmarks: Annotated[Any, Maybe(Array("r", dtype=np.int64, below="g"))] = None  # None: all nodes
    lengths: Annotated[Any, Maybe(Sub())] = None  # none, unless a subclass says which part

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows."""
        X = self.to_nodes(X)
        Z, isolated = np.empty((len(X), self.scaling.embedding.shape[1])), 0
        for block in row_blocks(len(X), "placing rows", size=_ROWS):
            edges = self.edges.of_new(X[block], self, n_jobs)
            isolated += edges.isolated
            G = self._paths(edges, n_jobs)
            G[np.isinf(G)] = self.unreachable
            if self.lengths is not None:
                self.lengths.of_new(X[block], G, n_jobs)
            Z[block] = self.scaling.place(G, n_jobs=n_jobs)
        warn_of_isolated(isolated, len(X))
        return Z

    def to_nodes(self, X: np.ndarray) -> np.ndarray:
        """Select the distances to the nodes from precomputed ones; return other rows unchanged."""
        every = not self.data.precomputed or len(self.nodes) == X.shape[1]
        return X if every else np.ascontiguousarray(X[:, self.nodes])

    def complete(self, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of all training rows: those outside the graph as new ones, duplicates at one place."""
        data = self.data
        if len(self.nodes) < data.n:
            others = np.setdiff1d(np.arange(data.n), self.nodes)
            found, Z = Z, np.empty((data.n, Z.shape[1]))
            Z[self.nodes], Z[others] = found, self.transform(data.table[others], n_jobs)
        return data.merge_duplicates(Z)

    @cached_property
    def index(self) -> RowIndex:
        """The nodes, prepared for the search of neighbors among them."""
        if len(self.nodes) == self.data.n and self.data.X is not None:
            return self.data.index
        rows = np.empty((len(self.nodes), 0)) if self.data.X is None else self.data.X[self.nodes]
        return RowIndex(rows, self.data.metric)

    @cached_property
    def landmark_geodesics(self) -> np.ndarray:
        """Lengths of the paths from landmarks to all nodes."""
        G = from_rows(self.graph, self.landmarks, n_jobs=None)
        G[np.isinf(G)] = self.unreachable
        return G

    def _paths(self, edges: QueryEdges, n_jobs: int | None) -> np.ndarray:
        if self.landmarks is None:
            return from_neighbors(self.graph, edges.indices, edges.distances, n_jobs=n_jobs)
        G = np.empty((len(edges.indices), len(self.landmarks)))
        with threads(n_jobs):
            through_neighbors(edges.indices, edges.distances, self.landmark_geodesics, G)
        return G

    def _require_sound(self) -> None:
        if not self.graph.is_distance:
            raise StateError("graph.kind", "must be one whose weights are distances")
        if self.landmarks is None and len(self.scaling.means) != self.graph.n_rows:
            raise StateError("scaling.means", "must be one for each row of the graph")
        if not self.data.precomputed and self.data.X is None:
            raise StateError("data.X", "must be there, for new rows to enter the graph")


@dataclass(frozen=True, eq=False)
class NeighborEdges(Part):
    """A new row enters the graph at its neighbors by a rule; a conformal graph scales their distances."""

    rule: Annotated[Any, OneOf(Value(Knn), Value(Radius), Value(Percentile))]
    scales: Annotated[Any, Maybe(Array("g", above=0))] = None  # mean distance of a node to its neighbors

    def of_new(self, X: np.ndarray, paths: GeodesicMap, n_jobs: int | None) -> QueryEdges:
        """The edges of new rows."""
        edges = query_edges(X, paths.index, paths.graph, self.rule, n_jobs=n_jobs)
        return edges if self.scales is None else conformal_query_edges(edges, self.scales)


class NeighborGeodesicMap(GeodesicMap):
    """The out-of-sample map of ISOMAP."""

    edges: Annotated[NeighborEdges, Sub(NeighborEdges)]
