"""Optimize the coordinates of new rows against a fixed embedding, each by itself.

:class:`RowOptimizer` asks its ``affinities`` which training rows are near a new row and what they weigh, and
its ``layout`` for the coordinates of least cost among them. Methods differ in these two parts, and in the
``query`` that finds near rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import row_blocks
from ..._core.specs import Maybe, StateError
from ..._core.state import Sub, Value
from ..._core.values import GraphMetric, NeighborGraph
from ...distances import rows_per_block
from ...neighbors import lists_in_rows
from ..row_distances import Distances, GraphDistances, fit_graph_distances, graph_distances
from ..training_data import Part, TrainingData

_ROWS = 1024  # new rows at a time


@dataclass(frozen=True, eq=False)
class NearestRows(Part):
    """Finds the training rows nearest to new ones, by the metric of the training data or over its graph."""

    data: Annotated[TrainingData, Sub(TrainingData)]
    graph: Annotated[Any, Maybe(Value(NeighborGraph, n="n"))] = None  # of a Geodesic or Diffusion metric

    @classmethod
    def fit(cls, data: TrainingData, random_state: Any, n_jobs: int | None) -> NearestRows:
        """With the neighbor graph that a metric over a graph needs."""
        if not isinstance(data.metric, GraphMetric):
            return cls(data)
        over = fit_graph_distances(data.table, data.metric, random_state=random_state, n_jobs=n_jobs)
        query = cls(data, over.graph)
        vars(query)["_over"] = over
        return query

    def distances(self, n_jobs: int | None) -> Distances:
        """Distances between training rows, and of new rows to them."""
        return Distances(self.data.table, self.data.row_metric, self._over, n_jobs)

    def nearest(self, X: np.ndarray, k: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` training rows nearest to each new row, and how far they are; each row by itself."""
        if not self.data.precomputed and self.graph is None:
            return self.data.index.nearest(X, k, n_jobs=n_jobs)
        distances = self.distances(n_jobs)
        indices, near = np.empty((len(X), k), np.int32), np.empty((len(X), k))
        for block in row_blocks(len(X), "neighbours", size=rows_per_block(self.data.n)):
            D = np.ascontiguousarray(distances.to_references(X[block], slice(None)))
            lists_in_rows(D, np.full(len(D), -1), indices[block], near[block], n_jobs)
        return indices, near

    @cached_property
    def _over(self) -> GraphDistances | None:
        return None if self.graph is None else graph_distances(self.data.X, self.data.metric, self.graph)

    def _require_sound(self) -> None:
        if (self.graph is None) == isinstance(self.data.metric, GraphMetric):
            raise StateError("graph", "must be there for distances over a graph, and for no others")
        if self.graph is not None and not self.graph.is_distance:
            raise StateError("graph.kind", "must be one whose weights are distances")


@dataclass(frozen=True, eq=False)
class RowOptimizer(Part):
    """The coordinates of a new row minimize its own part of the cost, with the training rows fixed.

    A method says in a subclass which parts these are: ``query.nearest(X, k, n_jobs)`` gives near training
    rows and their distances, ``affinities.of_new(X, query, n_jobs)`` near rows and their weights, and
    ``layout.optimize(rows, weights, n_jobs)`` coordinates.
    """

    query: Any
    affinities: Any
    layout: Any

    @property
    def data(self) -> TrainingData:
        """The training data."""
        found: TrainingData = self.query.data
        return found

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows."""
        out = np.empty((len(X), self.layout.Z.shape[1]))
        for block in row_blocks(len(X), "placing rows", size=_ROWS):
            rows, weights = self.affinities.of_new(X[block], self.query, n_jobs)
            out[block] = self.layout.optimize(rows, weights, n_jobs)
        return out
