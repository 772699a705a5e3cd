"""Training rows that an embedding is made of, where others are placed by its out-of-sample map.

Outside the largest part of a neighbor graph, or without a class, a training row has no coordinates of its
own: :func:`complete_embedding` gives it those of a new row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..._core.errors import IsentropicWarning, warn
from ..._core.specs import Array, StateError
from ..._core.state import Sub
from ...neighbors import RowIndex
from ..training_data import Part, TrainingData


@dataclass(frozen=True, eq=False)
class EmbeddedRows(Part):
    """The training rows that have coordinates of their own, to be searched."""

    data: Annotated[TrainingData, Sub(TrainingData)]
    rows: Annotated[np.ndarray, Array("g", dtype=np.int64, below="n")]

    def nearest(self, X: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
        """Positions, in ``rows``, of the ``k`` nearest to each new row."""
        return self.index.nearest(X, k, n_jobs=n_jobs)[0]

    @cached_property
    def index(self) -> RowIndex:
        """These rows, prepared for the search of nearest neighbors."""
        if np.array_equal(self.rows, np.arange(self.data.n)):
            return self.data.index
        return RowIndex(self.data.X[self.rows], self.data.metric)

    def _require_sound(self) -> None:
        if self.data.metric != "euclidean" or self.data.X is None:
            raise StateError("data.metric", "must be euclidean, of rows that are kept")


def initial_coordinates(query: Any, Z: np.ndarray, n_components: int) -> np.ndarray:
    """Coordinates of all training rows, zero where they are not embedded or have too few coordinates.

    ``query`` has the ``rows`` that ``Z`` are the coordinates of, and the training ``data``.
    """
    n, count = Z.shape
    if count < n_components:
        lost = f"the last {n_components - count} of {n_components} coordinates are zero"
        warn(f"X has {n} rows: {lost}.", IsentropicWarning)
    out = np.zeros((query.data.n, n_components))
    out[query.rows, :count] = Z
    return out


def complete_embedding(new_rows: Any, rows: np.ndarray, n_jobs: int | None) -> Any:
    """The same map with coordinates ``Z`` for all training rows; equal rows get the mean of theirs.

    Those that are not among the embedded ``rows`` are placed by the map, as new rows are.
    """
    data, Z = new_rows.data, new_rows.Z
    others = np.setdiff1d(np.arange(data.n), rows)
    if len(others):
        Z[others] = new_rows.transform(data.X[others], n_jobs)
    return replace(new_rows, Z=data.merge_duplicates(Z))
