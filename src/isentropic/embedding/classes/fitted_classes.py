"""How likely two rows are of one class, where some of them have none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core.runtime import row_blocks
from ..._core.state import Array, Maybe, State, StateError
from ...dissimilarities import class_gaussians, posterior, votes
from ...neighbors import RowIndex
from ..input_rows import checked_components, metric_of_rows
from .supervised import ClassLearner

_NUMBERS_AT_ONCE = 2**21  # shares of the pairs of a block


@dataclass(frozen=True, slots=True)
class FittedClasses:
    """The classes of fitted rows, and what is guessed of those that have none.

    >>> import numpy as np
    >>> some = FittedClasses(np.array([0, 1, -1]), 2, np.array([[0.25, 0.75]]))
    >>> some.same(np.array([0, 0, 2]), np.array([1, 2, 1])).tolist()
    [0.0, 0.25, 0.75]
    """

    codes: np.ndarray  # (n,), -1 where a row has no class
    count: int  # of classes
    guessed: np.ndarray | None = (
        None  # (u, c) shares of the rows without one, in their order; None: nothing is
    )

    def same(self, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """Probability that both rows of each pair are of one class; 1 where nothing is guessed of a row."""
        out = np.ones(len(heads))
        for block in row_blocks(len(heads), "classes", size=max(1, _NUMBERS_AT_ONCE // self.count)):
            a, b = self.codes[heads[block]], self.codes[tails[block]]
            equal = (a == b).astype(float)
            some = (a < 0) | (b < 0)
            equal[some] = 1.0
            if self.guessed is not None and some.any():
                equal[some] = (self.shares(heads[block][some]) * self.shares(tails[block][some])).sum(axis=1)
            out[block] = equal
        return out

    def same_as_new(self, shares: np.ndarray | None, near: np.ndarray) -> np.ndarray:
        """Probability, (b, k), that new rows, whose shares (b, c) are guessed, have the class of others."""
        if shares is None:
            return np.ones(near.shape)
        codes = self.codes[near]
        out = np.take_along_axis(shares, np.maximum(codes, 0), axis=1)
        new, which = np.nonzero(codes < 0)
        if len(new):
            out[new, which] = (shares[new] * self.shares(near[new, which])).sum(axis=1)
        return out

    def shares(self, rows: np.ndarray) -> np.ndarray:
        """(r, c): 1 for the class of a row, or what is guessed of one that has none."""
        out = (self.codes[rows][:, None] == np.arange(self.count)).astype(float)
        open_ones = self.codes[rows] < 0
        if self.guessed is not None and open_ones.any():
            number = np.cumsum(self.codes < 0) - 1
            out[open_ones] = self.guessed[number[rows[open_ones]]]
        return out


class PairClasses(ClassLearner):
    """A method that asks of pairs of rows whether they are of one class; rows without one take part."""

    _state = State(_guessed=Maybe(Array("u", "c", least=0)))
    _guessed: np.ndarray | None

    def _taught(self, X, y, *, metric="euclidean") -> tuple[np.ndarray, np.ndarray]:
        checked_components(self.n_components)
        return super()._taught(X, y, metric=metric)

    def _classes_of(self, X: np.ndarray, codes: np.ndarray, n_votes: int) -> FittedClasses:
        """The classes of all rows: for those without one, what is guessed of new rows."""
        count = len(self.classes_)
        open_rows, labelled = np.flatnonzero(codes < 0), np.flatnonzero(codes >= 0)
        if len(open_rows) == 0 or self.unlabelled == "neutral":
            return FittedClasses(codes, count)
        rows, new = X[labelled], X[open_rows]
        if self.unlabelled == "posterior":
            return FittedClasses(codes, count, posterior(new, class_gaussians(rows, codes[labelled])))
        metric = metric_of_rows(self.metric)
        if metric == "precomputed":
            new = np.ascontiguousarray(new[:, labelled])
        k = min(n_votes, len(labelled))
        near = RowIndex(rows, metric).nearest(new, k, n_jobs=self.n_jobs)[0]
        return FittedClasses(codes, count, votes(codes[labelled[near]], count))

    def _learn_pairs(self, X: np.ndarray, classes: FittedClasses, n_votes: int) -> None:
        """Keep the classes, and what tells those of new rows."""
        self._learn(X, classes.codes, n_votes, self.unlabelled)
        self._guessed = classes.guessed

    def _same_as_new(self, X: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Probability, (b, k), that new rows have the class of the fitted rows ``near`` them."""
        classes = FittedClasses(self._codes, len(self.classes_), self._guessed)
        return classes.same_as_new(self._shares(X), near)

    def _require_sound(self) -> None:
        super()._require_sound()
        guessed = self._guessed if self._has_classes else None
        if guessed is not None and len(guessed) != np.count_nonzero(self._codes < 0):
            raise StateError("_guessed", "must be there for each row without a class")
