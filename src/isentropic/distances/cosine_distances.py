"""Distances between directions: cosine and correlation, each pair by itself.

The libraries multiply whole matrices, and round a row otherwise in another batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.errors import InvalidInputError, message
from .._core.sparse_rows import SPARSE_METRIC, SparseRows
from .._core.values import Floats, Integers
from ..kernels._jit import threads
from ..kernels.distances.directions import (
    LANES,
    direction_pairs,
    direction_rows,
    direction_tiles,
    sparse_norms,
    sparse_pairs,
    sparse_rows,
    sparse_units,
)
from .metrics import Metric, metric_name

DIRECTIONS = ("cosine", "correlation")
# Distances where neither row, or one of them only, has a direction: a row of zeros, or without variance.
UNDIRECTED = {"cosine": (0.0, 1.0), "correlation": (np.nan, np.nan)}
_WORTH_THREADS = 1_000_000  # products: below that, waking threads costs more than the work


@dataclass(frozen=True, slots=True)
class Directions:
    """The rows of a table as directions, laid out for the kernels. As much memory as the table."""

    tiles: np.ndarray  # (n / LANES, m, LANES), filled up with zeros
    norms: np.ndarray  # (n / LANES, LANES), squared
    metric: str
    n_jobs: int | None

    @classmethod
    def of(cls, X: np.ndarray, metric: str, n_jobs: int | None) -> Directions:
        tiles = np.empty((-(-len(X) // LANES), X.shape[1], LANES))
        norms = np.empty((len(tiles), LANES))
        with threads(n_jobs):
            direction_tiles(X, metric == "correlation", tiles, norms)
        return cls(tiles, norms, metric, n_jobs)

    def pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Distances of rows, one by one, in the bits of :func:`between_directions`."""
        out = np.empty(len(first))
        with threads(self.n_jobs):
            direction_pairs(self.tiles, self.norms, first, second, *UNDIRECTED[self.metric], out)
        return out


def has_directions(X: Any, metric: Any) -> bool:
    """Whether a metric compares the directions of these rows, which are dense."""
    return isinstance(X, np.ndarray) and isinstance(metric, str) and metric in DIRECTIONS


def unit_directions(X: np.ndarray, metric: str, n_jobs: int | None) -> np.ndarray:
    """Rows of length 1, (n, m + 1), whose squared Euclidean distances are twice those by the metric.

    Up to rounding: the last column is 1 for rows without a direction, which are perpendicular to all others.
    """
    found, (n, m) = Directions.of(X, metric, n_jobs), X.shape
    lengths = np.sqrt(found.norms.ravel()[:n])
    out = np.zeros((n, m + 1))
    out[:, :m] = (
        found.tiles.transpose(0, 2, 1).reshape(-1, m)[:n] / np.where(lengths > 0, lengths, 1)[:, None]
    )
    out[:, m] = lengths == 0
    return out


def between_directions(queries: np.ndarray, data: np.ndarray, metric: str, n_jobs: int | None) -> np.ndarray:
    """Distances of every query to every row of ``data``. ``O(b n m)`` time, ``8 (b + n) m`` bytes."""
    n_jobs = n_jobs if len(queries) * data.size > _WORTH_THREADS else 1
    own, others = (Directions.of(X, metric, n_jobs) for X in (queries, data))
    out = np.empty((len(queries), len(data)))
    with threads(n_jobs):
        direction_rows(own.tiles, own.norms, others.tiles, others.norms, *UNDIRECTED[metric], out)
    return out


# --------------------------------------------------------------------------------------------------
# Sparse rows compared by cosine, in the bits of no batch: what measures them, and which are refused.


_NONE, _ONE = UNDIRECTED[SPARSE_METRIC]  # an empty row is at distance 1 from all but other empty ones


def checked_sparse(X: Any, metric: Metric, *, name: str = "X") -> SparseRows:
    """The rows of a sparse table, which are compared by cosine; raises for another metric."""
    if isinstance(metric, str) and metric == SPARSE_METRIC:
        return SparseRows.of(X, name=name)
    must_be = f"a dense array for the metric {metric_name(metric)!r}"
    hint = (
        "Sparse rows are compared by metric='cosine'. Reduce them: isentropic.datasets.load(X, rank=50).X; "
        "or call X.toarray() if that fits into memory."
    )
    raise InvalidInputError(message(name, must_be, f"a sparse one of shape {X.shape}", hint))


@dataclass(frozen=True, slots=True, eq=False)
class SparseDirections:
    """Sparse rows prepared to be measured, also by columns: ``24 nnz`` bytes beside the table."""

    table: SparseRows  # in units
    norms: Floats  # (n,) squared
    columns: SparseRows  # the same, transposed
    n_jobs: int | None

    @classmethod
    def of(cls, X: SparseRows, n_jobs: int | None) -> SparseDirections:
        table, norms = _directed(X, n_jobs)
        turned = table.tocsr().T.tocsr()  # rows ascending in each column
        indptr, indices = turned.indptr.astype(np.int64), turned.indices.astype(np.int32)
        return cls(table, norms, SparseRows(indptr, indices, turned.data, len(X)), n_jobs)

    def __call__(self, numbers: Integers) -> Floats:
        """Of rows of the table, by their numbers, to all: (b, n)."""
        return self._to_all(self.table[numbers], self.norms[numbers])

    def of_new(self, queries: SparseRows) -> Floats:
        """Of other rows to all: (b, n)."""
        return self._to_all(*_directed(queries, self.n_jobs))

    def _to_all(self, own: SparseRows, norms: Floats) -> Floats:
        """``O(b n)``, and a step for each two entries that meet in a column."""
        by_column = (self.columns.indptr, self.columns.indices, self.columns.data)
        out = np.empty((len(own), len(self.table)))
        with threads(self.n_jobs):
            sparse_rows(own.indptr, own.indices, own.data, norms, *by_column, self.norms, _NONE, _ONE, out)
        return out

    def pairs(self, first: Integers, second: Integers) -> Floats:
        """Of rows of the table to others, one by one, in the bits of whole rows."""
        out, t = np.empty(len(first)), self.table
        with threads(self.n_jobs):
            sparse_pairs(t.indptr, t.indices, t.data, self.norms, first, second, _NONE, _ONE, out)
        return out


def _directed(X: SparseRows, n_jobs: int | None) -> tuple[SparseRows, Floats]:
    data, norms = np.empty_like(X.data), np.empty(len(X))
    with threads(n_jobs):
        sparse_units(X.indptr, X.data, data)
        sparse_norms(X.indptr, X.indices, data, norms)
    return SparseRows(X.indptr, X.indices, data, X.m), norms
