"""Rows with the same values. They are set aside before a search, and listed again after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.sparse_rows import SparseRows
from ..kernels.rows.placement import row_hashes


def hashes_of(X: np.ndarray | SparseRows) -> np.ndarray:
    """A 64-bit hash of every row; rows with equal values have equal ones."""
    if isinstance(X, SparseRows):
        return X.hashes()
    return row_hashes(X.view(np.uint64))


def same_rows(one: Any, other: Any) -> np.ndarray:
    """Of each row, whether it has the values of that of the other table in its place: (n,)."""
    if isinstance(one, SparseRows):
        return one.equals(other)
    alike = (one == other) | ((one != one) & (other != other))  # a missing value is the same as another
    return np.asarray(alike.all(axis=1))


def _comparable(X: np.ndarray) -> np.ndarray:
    """The table with a number in place of NaN that it has nowhere else."""
    holes = np.isnan(X)
    return np.where(holes, np.inf, X) if holes.any() else X


@dataclass(frozen=True, slots=True)
class Distinct:
    """The rows that differ from all before them, and which rows are like each: CSR, in row order."""

    rows: np.ndarray  # (u,) first row of each value, ascending
    indptr: np.ndarray  # (u + 1,)
    members: np.ndarray  # (n,)


def _grouped(X: np.ndarray | SparseRows) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each value, and of each row which value it has."""
    if isinstance(X, SparseRows):
        keys: dict[bytes, int] = {}
        ends = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
        entries = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in ends)
        group = np.array([keys.setdefault(key, len(keys)) for key in entries])
        return np.unique(group, return_index=True)[1], group
    _, first, group = np.unique(_comparable(X), axis=0, return_index=True, return_inverse=True)
    return first, group.ravel()


def are_all_equal(X: np.ndarray | SparseRows) -> bool:
    """Whether a table repeats one row; told by its first and last in most cases."""
    if not same_rows(X[:1], X[-1:]).all():
        return False
    distinct = distinct_rows(X)
    return distinct is not None and len(distinct.rows) == 1


def distinct_rows(X: np.ndarray | SparseRows) -> Distinct | None:
    """Group equal rows; None when no two are equal, which is found in ``O(n m + n log n)``."""
    hashes = np.sort(hashes_of(X))
    if (hashes[1:] != hashes[:-1]).all():
        return None
    first, group = _grouped(X)
    if len(first) == len(X):
        return None
    # Values in the order of their first rows, so that ties between them go by index too.
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = rank[group]
    members = np.argsort(group, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=len(first)))])
    return Distinct(np.sort(first), indptr, members)
