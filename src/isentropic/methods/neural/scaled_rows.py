"""Rows of a table for a network: moved and divided by one number, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._core.runtime import row_blocks
from ...embedding.maps.network import scaled

_BLOCK = 2**18  # numbers that are read at once


@dataclass(frozen=True, slots=True)
class ScaledRows:
    """``(x - origin) / unit`` for any rows x of a table, which stays as it is and where it lies.

    The unit is one for all features: distances keep their proportions.
    """

    X: np.ndarray  # (n, m), single or double precision
    origin: np.ndarray  # (m,)
    unit: float
    dtype: type = np.float64  # of what is given

    @classmethod
    def standard(cls, X: np.ndarray, dtype: type = np.float64) -> ScaledRows:
        """Around the mean, in the root mean square of what is left: two passes over the table."""
        first = X[0].astype(np.float64)  # from which an offset of the columns costs no digits
        total, largest = np.zeros(X.shape[1]), 0.0
        for block in _doubles(X):
            away = block - first
            total += away.sum(axis=0)
            largest = max(largest, float(np.abs(away).max()))
        middle = total / len(X)
        exponent = int(np.frexp(largest)[1])  # no square overflows or vanishes
        squares = 0.0
        for block in _doubles(X):
            squares += float((np.ldexp(block - first - middle, -exponent) ** 2).sum())
        unit = float(np.ldexp(np.sqrt(squares / X.size), exponent))
        return cls(X, first + middle, unit or 1.0, dtype)

    @classmethod
    def within_one(cls, X: np.ndarray, dtype: type = np.float64) -> ScaledRows:
        """From 0 to 1: above the least of each feature, in the longest of their ranges."""
        low, high = X[0].astype(np.float64), X[0].astype(np.float64)
        for block in _doubles(X):
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        return cls(X, low, float((high - low).max()) or 1.0, dtype)

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: np.ndarray | slice) -> np.ndarray:
        """Some of the rows, by their numbers."""
        return scaled(self.X[rows], self.origin, self.unit).astype(self.dtype, copy=False)

    def blocks(self) -> Iterator[np.ndarray]:
        """All rows in order, in blocks."""
        for first in range(0, len(self.X), size := _rows_at_once(self.X)):
            yield self.take(slice(first, first + size))


def _doubles(X: np.ndarray) -> Iterator[np.ndarray]:
    for block in row_blocks(len(X), "reading rows", size=_rows_at_once(X)):
        yield np.ascontiguousarray(X[block], np.float64)  # sums follow the layout, bits must not


def _rows_at_once(X: np.ndarray) -> int:
    return max(1, _BLOCK // X.shape[1])
