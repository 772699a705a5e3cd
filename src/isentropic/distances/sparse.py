"""Sparse rows compared by cosine, in the bits of no batch: what measures them, and which are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.errors import InvalidInputError, message
from .._core.sparse_rows import SPARSE_METRIC, SparseRows
from .._core.values import Floats, Integers
from ..kernels._jit import threads
from ..kernels.distances.sparse_directions import sparse_norms, sparse_pairs, sparse_rows, sparse_units
from .cosine_distances import UNDIRECTED
from .metrics import Metric, metric_name

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
