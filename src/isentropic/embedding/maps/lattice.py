"""Place rows on a lattice whose nodes stand for rows of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import row_blocks
from ..._core.specs import Array, Double, Maybe
from ..._core.state import Sub
from ...distances import rows_per_block
from ...kernels._jit import threads
from ...kernels.networks import expected_places
from ...linalg.centering import CentredRows
from ...neighbors import RowIndex
from ..training_data import Part, TrainingData


@dataclass(frozen=True, eq=False)
class LatticeMap(Part):
    """A row stands where its nearest node does, or at the mean of all of them, weighted by how near they are.

    A node at squared distance ``s`` weighs ``exp(-precision s / 2)``. Nodes are in units around the mean.
    """

    data: Annotated[TrainingData, Sub(TrainingData)]  # without rows: a training row is placed as any other
    mean: Annotated[np.ndarray, Array("m")]
    unit: Annotated[float, Double(above=0)]
    nodes: Annotated[np.ndarray, Array("r", "m")]
    places: Annotated[np.ndarray, Array("r", "d")]
    precision: Annotated[Any, Maybe(Double(0))] = None  # None: the nearest node alone

    @classmethod
    def of(
        cls, rows: CentredRows, nodes: np.ndarray, places: np.ndarray, precision: float | None
    ) -> LatticeMap:
        """With nodes as they were fitted, in units around the mean."""
        data = TrainingData(len(rows.rows), None, "euclidean")
        return cls(data, rows.mean, rows.unit, np.ascontiguousarray(nodes), places, precision)

    @property
    def codebook(self) -> np.ndarray:
        """The row of the table that each node stands for."""
        return self.mean + self.nodes * self.unit

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of rows."""
        rows = (X - self.mean) / self.unit
        if self.precision is None:
            return self.places[RowIndex(self.nodes).nearest(rows, 1, n_jobs=n_jobs)[0][:, 0]]
        out = np.empty((len(X), self.places.shape[1]))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(self.nodes)), adapt=True):
            with threads(n_jobs):
                expected_places(rows[block], self.nodes, self.places, self.precision, out[block])
        return out
