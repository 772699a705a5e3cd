"""Sparse tables, of which most values are zero: rows by their entries, never made dense."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from .errors import require
from .state import Array, Size, Starts

SPARSE_METRIC = "cosine"  # by which such rows are compared
LARGEST = 1e150  # number whose square, and sums of such, are finite
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Rows of a sparse table: the columns and values of their entries, columns ascending, no zeros.

    Rows are taken as those of an array, ``X[rows]`` and ``len(X)``, so that what works from distances need
    not know how they are held: in ``12 nnz`` bytes.
    """

    indptr: Annotated[np.ndarray, Starts("n", "entries")]
    indices: Annotated[np.ndarray, Array("entries", dtype=np.int32, below="m", empty=True)]  # (nnz,) int32
    data: Annotated[np.ndarray, Array("entries", within=LARGEST, empty=True)]
    m: Annotated[int, Size("m")]

    @classmethod
    def of(cls, X: Any, *, name: str = "X") -> SparseRows:
        """The rows of a sparse matrix of scipy, copied; entries of one place are added up."""
        if isinstance(X, SparseRows):
            return X
        from scipy.sparse import csr_array

        require(X.ndim == 2, name, "a table with rows and columns", X.shape)
        rows = csr_array(X, dtype=np.float64, copy=True)
        rows.sum_duplicates()  # which sorts the columns, too
        rows.eliminate_zeros()
        amiss = int(np.count_nonzero(~np.isfinite(rows.data)))
        require(amiss == 0, name, "finite everywhere", f"{amiss} entries that are not", "Correct X.data.")
        largest = float(np.abs(rows.data).max(initial=0.0))
        require(largest < LARGEST, name, f"of magnitude below {LARGEST:.0e}", largest, "Rescale it.")
        return cls(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, X.shape[1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), self.m

    @property
    def n_empty(self) -> int:
        """Rows without an entry: they have no direction."""
        return int(np.count_nonzero(np.diff(self.indptr) == 0))

    def __getitem__(self, rows: slice | np.ndarray | Sequence[int]) -> SparseRows:
        """Some rows, in that order."""
        numbers = np.arange(len(self))[rows]
        lengths = np.diff(self.indptr)[numbers]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[numbers] - indptr[:-1], lengths)
        return SparseRows(indptr, self.indices[places], self.data[places], self.m)

    def copy(self) -> SparseRows:
        return SparseRows(self.indptr.copy(), self.indices.copy(), self.data.copy(), self.m)

    def tocsr(self) -> Any:
        """The rows as ``scipy.sparse.csr_array``."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def hashes(self) -> np.ndarray:
        """A 64-bit hash of every row; equal rows have equal ones."""
        with np.errstate(over="ignore"):
            mixed = (
                self.data.view(np.uint64) ^ (self.indices.astype(np.uint64) + np.uint64(1)) * _MIX
            ) * _MIX
            mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed ^ (mixed >> np.uint64(29)))])
            return sums[self.indptr[1:]] - sums[self.indptr[:-1]]

    def equals(self, others: SparseRows) -> np.ndarray:
        """Whether each row equals the row of ``others`` at the same position: (n,)."""
        same = np.diff(self.indptr) == np.diff(others.indptr)
        one, other = self[np.flatnonzero(same)], others[np.flatnonzero(same)]
        differ = (one.indices != other.indices) | (one.data != other.data)
        sums = np.concatenate([[0], np.cumsum(differ)])
        same[same] = sums[one.indptr[1:]] == sums[one.indptr[:-1]]
        return same


def is_sparse(X: Any) -> bool:
    """Whether a table is sparse: rows as above, or a matrix of scipy."""
    from scipy.sparse import issparse

    return isinstance(X, SparseRows) or issparse(X)
