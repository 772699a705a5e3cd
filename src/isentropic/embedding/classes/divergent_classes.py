"""Divergences between the Gaussians of classes, as expectations for pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from ..._core.specs import Array
from ..._core.state import Sub
from ...dissimilarities import class_gaussians, expected_shares
from ..part import Part
from ..training_data import TrainingData
from .class_divergences import class_divergences
from .class_model import ClassModel


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

    @cached_property
    def _row_shares(self) -> np.ndarray:
        """(n, c): 1 for the class of a training row, or what is guessed of it."""
        return self.classes.training.shares(np.arange(self.classes.data.n))
