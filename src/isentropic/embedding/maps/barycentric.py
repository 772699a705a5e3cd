"""Map new rows to weighted sums of near training rows, by the weights that reconstruct them in the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.specs import Array, Double, Flag, StateError, Whole
from ..._core.state import Sub
from ...affinities import barycentric_weights
from ...neighbors import RowIndex
from ..components import EmbeddedRows
from ..training_data import Part, TrainingData


@dataclass(frozen=True, eq=False)
class RowsOfParts(EmbeddedRows):
    """Embedded rows of a disconnected graph whose components are mapped separately."""

    parts: Annotated[np.ndarray, Array("g", dtype=np.int64, below="g")]

    def nearest(self, X: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
        """Positions of the ``k`` nearest to each new row, in the component of the nearest."""
        parts = self.parts[super().nearest(X, 1, n_jobs)[:, 0]]
        near = np.empty((len(X), k), np.int64)
        for part in np.unique(parts):
            members, those = np.flatnonzero(self.parts == part), parts == part
            index = RowIndex(self.data.X[self.rows[members]], self.data.metric)
            near[those] = members[index.nearest(X[those], k, n_jobs=n_jobs)[0]]
        return near


@dataclass(frozen=True, eq=False)
class BarycentricWeights(Part):
    """Weights, of sum 1, by which a new row is a sum of its ``k`` nearest rows."""

    k: Annotated[int, Whole(1, below="g + 1")]
    regularization: Annotated[float, Double(above=0)]
    convex: Annotated[bool, Flag()] = False  # negative ones become 0

    def of_new(self, X: np.ndarray, near: np.ndarray, data: TrainingData) -> np.ndarray:
        """Weights (b, k) of the training rows ``near`` each new row."""
        weights = barycentric_weights(X, near, data.X, self.regularization)
        if not self.convex:
            return weights
        weights = np.maximum(weights, 0.0)  # they are of sum 1: some are positive
        return weights / weights.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class BarycentricMap(Part):
    """A new row is the same sum of its near rows in the embedding as in the data."""

    query: Annotated[Any, Sub(EmbeddedRows, RowsOfParts)]
    weights: Annotated[BarycentricWeights, Sub(BarycentricWeights)]
    Z: Annotated[np.ndarray, Array("n", "d")]

    @property
    def data(self) -> TrainingData:
        """The training data."""
        found: TrainingData = self.query.data
        return found

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows."""
        near = self.query.rows[self.query.nearest(X, self.weights.k, n_jobs)]
        weights = self.weights.of_new(X, near, self.data)
        found: np.ndarray = (weights[:, :, None] * self.Z[near]).sum(axis=1)
        return found

    def _require_sound(self) -> None:
        if isinstance(self.query, RowsOfParts):
            sizes = np.unique(self.query.parts, return_counts=True)[1]
            if sizes.min() < self.weights.k:
                raise StateError("query.parts", "must have as many rows each as a new row has neighbors")
