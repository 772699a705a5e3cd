"""Gower's distance: which columns are what, rows in the units of the fitted ones, and what measures them.

Rows enter by :func:`in_units`, or by the :class:`GowerUnits` of a fit: numbers from 0 to 1, levels as whole
numbers. All else takes them as they are then. Rows of a whole table that are in its units stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from .._core.errors import TableWarning, is_real, is_whole, require, warn
from .._core.state import Array, Starts
from .._core.values import Gower
from ..kernels._jit import threads
from ..kernels.distances.euclidean import TILE
from ..kernels.distances.gower_distances import gower_pairs, gower_rows
from .metrics import is_gower

_GROUP = 16  # queries that are measured together
_WORTH_THREADS = 1_000_000  # differences: below that, waking threads costs more than the work
_BINARY_PLACES = 40  # of a weight, the largest being 1: sums of thousands of them are exact
_PATTERNS = 2048  # of holes, that are compared with each other


def gower_of(metric: str | Gower, n_columns: int) -> Gower:
    """The value of the metric, checked against a table of so many columns."""
    value = metric if isinstance(metric, Gower) else Gower()
    for name, columns in (("levels", value.levels), ("ordered", value.ordered)):
        hint = f"Columns are counted from 0; the table has {n_columns}."
        sound = isinstance(columns, tuple) and all(is_whole(c) and 0 <= c < n_columns for c in columns)
        require(sound, f"{name} of Gower", "a tuple of numbers of columns", columns, hint)
    both = sorted({*value.levels} & {*value.ordered})
    require(not both, "ordered of Gower", "other columns than its levels", both)
    weights = value.weights
    if weights is not None:
        must_be = f"{n_columns} numbers of at least 0, one above it, or None"
        sound = isinstance(weights, tuple) and len(weights) == n_columns
        sound = sound and all(is_real(w) and 0 <= w < np.inf for w in weights) and max(weights, default=0) > 0
        require(sound, "weights of Gower", must_be, weights)
    return value


def weights_of(metric: str | Gower, n_columns: int) -> np.ndarray:
    """Weight of each column, the largest 1, in so few binary digits that sums are exact in any order."""
    given = gower_of(metric, n_columns).weights
    if given is None:
        return np.ones(n_columns)
    weights = np.asarray(given, float) / max(given)
    return np.ldexp(np.round(np.ldexp(weights, _BINARY_PLACES)), -_BINARY_PLACES)


@dataclass(frozen=True, slots=True)
class GowerUnits:
    """Units of the columns of fitted rows: ranges of numbers, and known levels."""

    low: Annotated[np.ndarray, Array("m")]  # (m,) least number of a column; 0 where there is none
    span: Annotated[np.ndarray, Array("m", least=0)]  # (m,) its range; 0 where it is constant
    # where the levels of each column begin; numbers have none
    starts: Annotated[np.ndarray, Starts("m", "levels")]
    values: Annotated[np.ndarray, Array("levels", empty=True)]  # levels in order

    @classmethod
    def of(cls, X: np.ndarray, metric: str | Gower) -> GowerUnits:
        gower, m = gower_of(metric, X.shape[1]), X.shape[1]
        low, high = np.zeros(m), np.zeros(m)
        levels: list[np.ndarray] = [np.empty(0)] * m
        for f in range(m):
            there = X[~np.isnan(X[:, f]), f]
            if f in gower.levels or f in gower.ordered:
                levels[f] = np.unique(there)
            elif len(there):
                low[f], high[f] = there.min(), there.max()
        starts = np.concatenate([[0], np.cumsum([len(one) for one in levels])]).astype(np.int64)
        return cls(low, high - low, starts, np.concatenate([*levels, np.empty(0)]))

    def rows(self, X: np.ndarray, metric: str | Gower) -> np.ndarray:
        """Rows in these units: a copy. One that has no value at all is refused."""
        gower, weights = gower_of(metric, X.shape[1]), weights_of(metric, X.shape[1])
        out = X - self.low
        for f in range(X.shape[1]):
            levels = self.values[self.starts[f] : self.starts[f + 1]]
            column = out[:, f]
            if weights[f] == 0:
                column[:] = 0.0  # it counts for nothing, as if all had it and the same
            elif f in gower.levels:
                column[:] = _codes(X[:, f], levels)
            elif f in gower.ordered:
                column[:] = _ranks(X[:, f], levels)
            elif self.span[f] == 0:
                column *= 0.0  # holes stay
            else:
                column /= self.span[f]
                np.clip(column, -1.0, 2.0, out=column)  # beyond that, all differences are 1 anyhow
        out += 0.0  # no -0.0
        out[np.isnan(out)] = np.nan  # of one pattern of bits
        empty = np.isnan(out[:, weights > 0]).all(axis=1)
        require(not empty.any(), f"Row {int(empty.argmax())} of X", "a row with a value in some column",
                "none", "Leave out the rows without any value.")  # fmt: skip
        return out


def _codes(column: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Number of each value among the levels, one beyond them for any other; NaN stays."""
    place = np.searchsorted(levels, column)
    known = place < len(levels)
    known[known] = levels[place[known]] == column[known]
    return np.where(np.isnan(column), np.nan, np.where(known, place, len(levels)))


def _ranks(column: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Rank of each value among the levels, from 0 to 1; between two for one between them; NaN stays."""
    if len(levels) < 2:
        return column * 0.0
    return np.interp(column, levels, np.arange(len(levels))) / (len(levels) - 1)


def in_units(X: np.ndarray, metric: Any) -> np.ndarray:
    """The rows of a whole table, ready to be measured by any metric: for Gower's, in their own units."""
    if not is_gower(metric):
        return X
    largest = np.abs(X).max(axis=0, initial=0.0, where=~np.isnan(X))
    X = np.where(largest > 1e300, np.ldexp(X, -4), X)  # so that no range of a column overflows
    rows = GowerUnits.of(X, metric).rows(X, metric)
    warn_of_disjoint_rows(rows, metric)
    return rows


def warn_of_disjoint_rows(rows: np.ndarray, metric: str | Gower) -> None:
    """Warn of rows that have no column in common, judged by the first patterns of missing values."""
    holes = np.isnan(rows[:, weights_of(metric, rows.shape[1]) > 0])
    if not holes.any():
        return
    packed = np.unique(np.packbits(~holes, axis=1), axis=0)[:_PATTERNS]
    there = np.unpackbits(packed, axis=1).astype(np.float32)
    shared = there @ there.T
    if not shared.all():
        warn(
            "Some rows have no column in common with others: their Gower distance is taken as 1, the "
            "largest there is. Leave out rows or columns that have few values.",
            TableWarning,
        )


@dataclass(frozen=True, slots=True)
class GowerRows:
    """Rows in units, laid out for the kernels that measure others against them. The table, twice."""

    held: np.ndarray  # (n, m), each column times its weight
    tiles: np.ndarray  # (n / TILE, m, TILE), filled up with zeros
    weights: np.ndarray  # (m,)
    holed: np.ndarray  # (m,) whether a column has holes
    n_jobs: int | None

    @classmethod
    def of(cls, rows: np.ndarray, metric: str | Gower, n_jobs: int | None) -> GowerRows:
        weights = weights_of(metric, rows.shape[1])
        return cls._in_tiles(_weighed(rows, weights), weights, n_jobs)

    @classmethod
    def _in_tiles(cls, held: np.ndarray, weights: np.ndarray, n_jobs: int | None) -> GowerRows:
        n, m = held.shape
        tiles = np.zeros((-(-n // TILE), m, TILE))
        for t in range(len(tiles)):
            part = held[t * TILE : (t + 1) * TILE]
            tiles[t, :, : len(part)] = part.T
        return cls(held, tiles, weights, np.isnan(held).any(axis=0), n_jobs)

    def select(self, order: np.ndarray) -> GowerRows:
        """The same with row ``order[i]`` in place i."""
        return self._in_tiles(self.held[order], self.weights, self.n_jobs)

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Distances of rows of the table, by their numbers, to all rows: (b, n)."""
        return self._to_all(self.held[numbers])

    def of_new(self, queries: np.ndarray) -> np.ndarray:
        """Distances of other rows, in the same units, to all rows: (b, n)."""
        return self._to_all(_weighed(queries, self.weights))

    def pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Distances of single pairs of rows of the table."""
        out = np.empty(len(first))
        with threads(self._workers(len(first))):
            gower_pairs(self.held, first.astype(np.int64), second.astype(np.int64), self.weights, out)
        return out

    def _to_all(self, queries: np.ndarray) -> np.ndarray:
        out = np.empty((len(queries), len(self.held)))
        with threads(self._workers(out.size)) as workers:
            group = max(1, min(_GROUP, -(-len(queries) // workers)))
            gower_rows(queries, self.tiles, self.weights, self.holed, group, out)
        return out

    def _workers(self, n_pairs: int) -> int | None:
        return self.n_jobs if n_pairs * self.held.shape[1] > _WORTH_THREADS else 1


def _weighed(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Rows times weights: if all are 1 the rows themselves, contiguous and writeable as kernels know them."""
    if (weights != 1).any():
        return rows * weights
    rows = np.ascontiguousarray(rows)
    return rows if rows.flags.writeable else rows.copy()
