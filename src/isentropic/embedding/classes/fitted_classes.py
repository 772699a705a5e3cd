"""How likely two rows are of one class, where some of them have none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core.runtime import row_blocks

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
