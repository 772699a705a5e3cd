"""Duplicate rows of a table, which are mapped and scored once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..._core.values import Floats, Integers
from ...distances import distinct_rows

if TYPE_CHECKING:
    from .runs import Run

_FEWEST = 4  # different rows that are compared; of fewer the table stays as it is


@dataclass(frozen=True, slots=True, eq=False)
class DuplicateRows:
    """The distinct rows of a table, and how often each occurs.

    ``rows`` increases; of rows that are identical in all features it holds the first one, with classes the
    first one of the class that most of them have.
    """

    rows: Integers  # (u,) positions in the table
    row_of: Integers  # (n,) which of them each row of the table is equal to
    counts: Integers  # (u,) at least 1

    @classmethod
    def of(cls, X: Floats, classes: Integers | None = None) -> DuplicateRows | None:
        """Find duplicates; None without any, or with fewer than four distinct rows. ``O(n m + n log n)``.

        >>> import numpy as np
        >>> found = DuplicateRows.of(np.array([[1.0], [2], [1], [3], [4]]), np.array([0, 0, 1, 1, 1]))
        >>> found.rows.tolist(), found.row_of.tolist(), found.counts.tolist()
        ([0, 1, 3, 4], [0, 1, 0, 2, 3], [2, 1, 1, 1])
        """
        distinct = distinct_rows(canonical_rows(X))
        if distinct is None or len(distinct.rows) < _FEWEST:
            return None
        counts = np.diff(distinct.indptr)
        group = np.empty(len(X), np.int64)
        group[distinct.members] = np.repeat(np.arange(len(counts)), counts)
        rows = (
            distinct.rows
            if classes is None
            else _rows_of_majority_class(group, np.asarray(classes), len(counts))
        )
        order = np.argsort(rows)
        rank = np.empty(len(rows), np.int64)
        rank[order] = np.arange(len(rows))
        return cls(rows[order].astype(np.int64), rank[group], counts[order])

    def in_table(self, run: Run) -> Run:
        """A Run of the distinct rows, or of a sample of them, as a Run of rows of the table."""
        if run.rows is None:
            return replace(run, copies=self.counts)
        return replace(run, rows=self.rows[run.rows], copies=self.counts[run.rows])

    def message(self) -> str:
        """A sentence on what was done about duplicates.

        >>> DuplicateRows(np.arange(42), np.arange(600) % 42, np.ones(42, int)).message()
        '600 rows are 42 different ones: identical rows are mapped and scored once.'
        """
        n, u = len(self.row_of), len(self.rows)
        return f"{n:,} rows are {u:,} different ones: identical rows are mapped and scored once."


def canonical_rows(X: Floats) -> Floats:
    """Rows in which equal cells have equal bits: no -0.0, and one NaN."""
    X = np.ascontiguousarray(X, float) + 0.0
    X[np.isnan(X)] = np.nan
    return X


def _rows_of_majority_class(group: Integers, classes: Integers, n_groups: int) -> Integers:
    """First row of the most frequent class in each group; of equally frequent classes the first.

    Rows without a class, -1, count only where no other is there.
    """
    named = classes >= 0
    codes = classes - min(0, int(classes.min()))
    pairs, first, counts = np.unique(
        group * (int(codes.max()) + 1) + codes, return_index=True, return_counts=True
    )
    places = pairs // (int(codes.max()) + 1)
    weight = counts * named[first]
    order = np.lexsort((codes[first], -weight, places))  # by group, then the most frequent class
    starts = np.searchsorted(places[order], np.arange(n_groups))
    return first[order][starts]
