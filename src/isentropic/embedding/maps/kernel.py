"""Project new rows by their kernels to training rows (Nyström)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import row_blocks
from ..._core.specs import Array, Maybe, Size, StateError
from ..._core.state import Sub, Value
from ...affinities import InnerProduct
from ...distances import LARGEST, rows_per_block
from ...kernels._jit import threads
from ...kernels.rows.placement import project_centred
from ..part import Part
from ..training_data import TrainingData


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
