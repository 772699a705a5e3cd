"""Edges of new rows, which have no class, to training rows that have one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..._core.specs import Array, Double, OneOf, StateError, Whole
from ..._core.state import Sub, Value
from ...dissimilarities import Added, Exponential, Shrunk, class_gaussians, expected_shares
from ...embedding.class_divergences import class_divergences
from ...embedding.class_model import ClassModel
from ...embedding.maps.embedded_rows import EmbeddedRows
from ...embedding.maps.nystrom import GraphEdges
from ...embedding.training_data import Part, TrainingData
from ...neighbors import QueryEdges


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
        """``p' DE q`` of new rows to training rows ``near`` them, (b, k); 0 where nothing is guessed."""
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
        """(n, c): 1 for the class of a training row, or what is guessed of it."""
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
