"""Training of a network: epochs of Adam until rows that are held back say that it is enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from ..._core.errors import require
from ..._core.runtime import one_blas_thread, row_blocks
from ...embedding.maps.network import scaled
from ...optim import Adam

_RUN, _WINDOW = 256, 2**17  # rows that lie together, and that are mixed with each other, in a large table


class Lesson(Protocol):
    """What a network learns from."""

    def batches(self, random: np.random.RandomState) -> Iterator[Any]:
        """The batches of one epoch."""
        ...

    def slopes(self, batch: Any) -> np.ndarray:
        """The gradient of the cost of a batch by the parameters, as one vector."""
        ...

    def error(self) -> float:
        """How far the network is off on rows that it does not learn from: the least is the best."""
        ...


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long to train: at one rate after the other, from the best parameters so far."""

    max_epochs: int
    patience: int = 5  # epochs without progress that end a rate
    rates: tuple[float, ...] = (1e-3, 1e-4)  # the second takes the noise of the first out
    anew: bool = False  # Adam begins anew with every epoch: longer steps, which a small network gains from


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training went; the parameters are those of its best epoch."""

    error: float  # of the best epoch
    errors: tuple[float, ...]  # of every epoch

    @property
    def n_epochs(self) -> int:
        return len(self.errors)


def train(vector: np.ndarray, lesson: Lesson, schedule: Schedule, random: np.random.RandomState) -> Trained:
    """Change the parameters ``vector`` of a network in place until it has learnt; the best epoch counts.

    BLAS runs on one thread, so that the bits depend on the seed alone.
    """
    errors: list[float] = []
    best, least = vector.copy(), np.inf
    epochs = row_blocks(schedule.max_epochs, "epochs", size=1)
    with one_blas_thread():
        for rate in schedule.rates:
            vector[:] = best
            adam, idle = Adam(vector, rate), 0
            while idle < schedule.patience and next(epochs, None) is not None:
                adam = Adam(vector, rate) if schedule.anew else adam
                for batch in lesson.batches(random):
                    adam.step(lesson.slopes(batch))
                errors.append(lesson.error())
                idle += 1
                if errors[-1] < least:
                    least, idle = errors[-1], 0
                    best[:] = vector
    vector[:] = best
    hint = "The training runs away: rescale the features, or take fewer and smaller layers."
    require(bool(np.isfinite(least)), "The error of the network", "finite", errors[-1], hint)
    return Trained(least, tuple(errors))


def held_and_learnt(
    n: int, share: float, random: np.random.RandomState, *, fewest: int, most: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of rows that are held back and of the others; of fewer than ``fewest`` rows all are both."""
    order = random.permutation(n)
    if n < fewest:
        return order, order
    n_held = min(int(np.ceil(share * n)), n if most is None else most)
    learnt = order[n_held:]
    return order[:n_held], np.sort(learnt) if n > _WINDOW else learnt  # in the order in which they lie


def drawn_batches(rows: np.ndarray, size: int, random: np.random.RandomState) -> Iterator[np.ndarray]:
    """All of ``rows``, numbers, in batches that are drawn anew.

    Of a table of many rows, which may lie on a disk, runs of rows that lie together come in a drawn order,
    and windows of some of them are mixed: as good as drawn at will, and read as fast as in order.
    """
    if len(rows) <= _WINDOW:
        mixed = random.permutation(rows)
    else:
        starts = random.permutation(np.arange(0, len(rows), _RUN))
        mixed = np.concatenate([rows[start : start + _RUN] for start in starts])
        for first in range(0, len(mixed), _WINDOW):
            random.shuffle(mixed[first : first + _WINDOW])
    # A last batch of a few rows would be mostly noise: such rows join the one before.
    edges = [*range(0, max(len(mixed) - (size - 1) // 2, 1), size), len(mixed)]
    for first, last in pairwise(edges):
        yield mixed[first:last]


# ---- Rows of a table for a network: moved and divided by one number, a batch at a time -----------


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
