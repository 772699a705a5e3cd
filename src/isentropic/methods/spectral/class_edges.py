"""Edges of new rows, which have no class, to training rows that have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.specs import OneOf, StateError, Whole
from ..._core.state import Sub, Value
from ...dissimilarities import Added, Exponential, Shrunk
from ...embedding.classes.class_model import ClassModel
from ...embedding.maps.embedded_rows import EmbeddedRows
from ...embedding.part import Part
from ...embedding.training_data import TrainingData
from ...neighbors import Entries


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

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> tuple[Entries, Any]:
        """Edges of new rows by their distances."""
        return Entries(*self.query.index.nearest(X, self.k, n_jobs=n_jobs)), 0.0


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

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> tuple[Entries, Any]:
        """Edges of new rows by their expected dissimilarities."""
        shares = self.classes.shares(X, n_jobs)
        near, values = self.classes.labelled_index.nearest(X, self.k, self.measure, shares, n_jobs)
        return Entries(near, values), 0.0

    def _require_sound(self) -> None:
        if self.data.metric != "euclidean" or self.data.X is None:
            raise StateError("classes.data.metric", "must be euclidean, of rows that are kept")
        if self.k > len(self.rows):
            raise StateError("k", "must be at most the number of rows with a class")
