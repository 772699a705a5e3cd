"""Groups that one column alone makes: a column of few values tells them, and without it they are gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._values import Floats, Table
from ..explained_columns import Column, columns_of
from .halves import LEAST, Embed, jaccard, map_tree
from .tree import Flags

_TELLS = 0.98  # balanced accuracy from which a column tells a group from the rest
_FEW_VALUES = 10


def columns_that_make(X: Floats, table: Any, members: Flags, embed: Embed) -> list[str | None]:
    """For each group (n, g) the column that alone makes it, or None.

    Such a column is of levels or has at most 10 values, which tell the group from the rest with a balanced
    accuracy of at least .98; and a map of the rows in which the column is constant has no cluster that shares
    .7 of the group (Jaccard). One fit for each column that tells a group.
    """
    made_by: list[str | None] = [None] * members.shape[1]
    for column, features in _columns_with_features(X, table):
        codes = _codes(column)
        if codes is None:
            continue
        told = [
            place for place in range(len(made_by)) if balanced_accuracy(codes, members[:, place]) >= _TELLS
        ]
        if not told:
            continue
        without = X.copy()
        without[:, features] = 0.0
        shared = jaccard(members, map_tree(without, embed).members)
        for place in told:
            if made_by[place] is None and shared[place].max(initial=0.0) < LEAST:
                made_by[place] = column.name
    return made_by


def balanced_accuracy(codes: Any, members: Any) -> float:
    """Of the best rule that says for each value whether its rows are in: ``sum max(p_in, p_out) / 2``."""
    inside = np.bincount(codes[members], minlength=codes.max() + 1) / max(1, members.sum())
    outside = np.bincount(codes[~members], minlength=codes.max() + 1) / max(1, (~members).sum())
    return float(np.maximum(inside, outside).sum() / 2)


def _codes(column: Column) -> Any:
    """Which of few values each row has; None where there are many. A missing value is one of them."""
    values, codes = np.unique(column.values, return_inverse=True)
    if len(values) < 2 or (not column.levels and len(values) > _FEW_VALUES):
        return None
    return codes


def _columns_with_features(X: Floats, table: Any) -> Iterator[tuple[Column, slice]]:
    """Each column of the table, and where it stands in X; none where X is not the table's."""
    columns = columns_of(X if table is None else table)
    widths = _widths(columns, table)
    if sum(widths) != X.shape[1]:
        return
    first = 0
    for column, width in zip(columns, widths, strict=True):
        yield column, slice(first, first + width)
        first += width


def _widths(columns: Sequence[Column], table: Any) -> list[int]:
    if isinstance(table, Table) and table.preparation is not None:
        prepared = table.preparation
        return [len(column.feature_names(prepared.nominal)) for column in prepared.columns]
    return [1] * len(columns)
