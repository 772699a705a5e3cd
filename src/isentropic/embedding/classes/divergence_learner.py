"""Methods with a Gaussian for each class: divergences between classes, and what is guessed of other rows."""

from __future__ import annotations

import numpy as np

from ..._core.state import Array, Double, State
from ...dissimilarities import checked_scale, class_gaussians, expected_shares
from .class_divergences import checked_divergence, class_divergences
from .supervised import ClassLearner


class DivergenceLearner(ClassLearner):
    """Keeps divergences between classes, a scale of them, and for each fitted row a share of every class.

    The share is 1 for the class of a row. Rows without one have what is guessed of them, as new rows have:
    so they take part in a graph, and the divergence between two rows is an expectation, ``p' DE q``.
    """

    _state = State(
        divergences_=Array("c", "c", least=0), scale_=Double(0), _row_shares=Array("n", "c", least=0)
    )

    def _checked_divergence(self) -> None:
        checked_divergence(self.divergence)
        checked_scale(self.scale)

    def _diverge(self, X: np.ndarray, codes: np.ndarray) -> None:
        """Find the divergences, and what rows without a class are; parameters are checked before."""
        labelled, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        gaussians = class_gaussians(X[labelled], codes[labelled])
        self.divergences_ = class_divergences(gaussians, self.divergence)
        self._learn(X, codes, self.n_neighbors, self.unlabelled, gaussians)
        self._remember(X)
        shares = np.zeros((len(X), len(self.classes_)))
        shares[labelled, codes[labelled]] = 1.0
        guessed = self._shares(X[others]) if len(others) else None
        if guessed is not None:
            shares[others] = guessed
        self._row_shares = shares

    def _between_rows(self, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """``p' DE q`` of pairs of fitted rows, the same in both directions."""
        expected = expected_shares(self._row_shares, self.divergences_)
        total, back = np.zeros((2, len(heads)))
        for c in range(len(self.classes_)):
            total += expected[heads, c] * self._row_shares[tails, c]
            back += expected[tails, c] * self._row_shares[heads, c]
        return (total + back) / 2

    def _to_rows(self, shares: np.ndarray | None, near: np.ndarray) -> np.ndarray:
        """``p' DE q`` of new rows, by their shares, to fitted rows ``near``, (b, k); 0 without shares."""
        total = np.zeros(near.shape)
        if shares is not None:
            expected = expected_shares(shares, self.divergences_)
            for c in range(len(self.classes_)):
                total += expected[:, c, None] * self._row_shares[near, c]
        return total
