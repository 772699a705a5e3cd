"""Rows with the same values. They are set aside before a search, and listed again after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.placement import row_hashes


def hashes_of(X: np.ndarray) -> np.ndarray:
    """A 64-bit hash of every row; rows with equal values have equal ones."""
    return row_hashes(X.view(np.uint64))


def same_values(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two tables have the same values; a missing one is the same as another."""
    return (one == other) | ((one != one) & (other != other))


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


def distinct_rows(X: np.ndarray) -> Distinct | None:
    """Group equal rows; None when no two are equal, which is found in ``O(n m + n log n)``."""
    hashes = np.sort(hashes_of(X))
    if (hashes[1:] != hashes[:-1]).all():
        return None
    _, first, group = np.unique(_comparable(X), axis=0, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return None
    # Values in the order of their first rows, so that ties between them go by index too.
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = rank[group.ravel()]
    members = np.argsort(group, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=len(first)))])
    return Distinct(np.sort(first), indptr, members)
