"""Lengths of paths blended with what lies between the classes of their ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core.runtime import row_blocks
from ...dissimilarities import expected_shares

_PAIRS_AT_ONCE = 2**22  # entries of the triangle in a block of rows


@dataclass(frozen=True, slots=True)
class ClassBlend:
    """``alpha G + (1 - alpha) s p' DE q``, p and q the shares of classes of two rows. In place, no other n×n.

    Shares are 1 for the class of a row that has one; all 0 leave the term of the classes out.
    """

    alpha: float
    between: np.ndarray  # (c, c): (1 - alpha) s DE
    shares: np.ndarray  # (g, c) of the rows of a graph

    def of_pairs(self, G: np.ndarray) -> None:
        """Condensed distances between all rows of the graph."""
        n = len(self.shares)
        G *= self.alpha
        start = 0
        for block in row_blocks(n - 1, "classes", size=max(1, _PAIRS_AT_ONCE // n)):
            for i in range(block.start, block.stop):
                mine = expected_shares(self.shares[i : i + 1], self.between)
                G[start : start + n - 1 - i] += summed(mine, self.shares[i + 1 :])[0]
                start += n - 1 - i

    def of_rows(self, G: np.ndarray, shares: np.ndarray | None, references: np.ndarray | None = None) -> None:
        """Distances (b, r) of any rows, by their shares, to rows of the graph, all or some of them."""
        G *= self.alpha
        if shares is not None:
            others = self.shares if references is None else self.shares[references]
            G += summed(expected_shares(shares, self.between), others)


def summed(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """``rows @ others.T``, one class after the other: no batch changes a bit."""
    total = np.zeros((len(rows), len(others)))
    for c in range(others.shape[1]):
        total += rows[:, c, None] * others[:, c]
    return total


def mean_of_pairs(G: np.ndarray, codes: np.ndarray) -> float:
    """Mean of condensed distances over the pairs of rows of two classes; 0 where there is none."""
    n, start, total, count = len(codes), 0, 0.0, 0
    for i in range(n - 1):
        apart = (codes[i + 1 :] != codes[i]) & (codes[i + 1 :] >= 0) & (codes[i] >= 0)
        total += float(G[start : start + n - 1 - i][apart].sum())
        count += int(np.count_nonzero(apart))
        start += n - 1 - i
    return total / count if count else 0.0


def mean_of_rows(G: np.ndarray, heads: np.ndarray, tails: np.ndarray) -> float:
    """The same of distances (b, r) from rows of classes ``heads`` to those of classes ``tails``."""
    apart = (heads[:, None] != tails) & (heads[:, None] >= 0) & (tails >= 0)
    return float(G[apart].mean()) if apart.any() else 0.0
