"""Groups that one column alone makes: a column of few values tells them, and without it they are gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._core.values import Floats, Table
from ..explain.explained_columns import Column, columns_of
from .halves import LEAST, Embed, jaccard, map_tree
from .tree import Flags

_TELLS = 0.98  # balanced accuracy from which a column tells a group from the rest
_FEW_VALUES = 10
_NEARLY_ALL = 0.95


def columns_that_make(X: Floats, table: Any, members: Flags, embed: Embed) -> list[str | None]:
    """For each group (n, g) the column that alone makes it, or None.

    Such a column is of levels or has at most 10 values, which tell the group from the rest with a balanced
    accuracy of at least .98. And a map of the rows has no cluster that shares .65 of the group (Jaccard) if
    the column is constant there, with all others that say the same: those that tell the group as well and
    have one value in it or outside, such as an amount that is zero where a flag is "no". One fit for each
    group that a column tells.
    """
    columns = list(_columns_with_features(X, table))
    return [_maker(X, columns, flags, embed) for flags in members.T]


def _maker(X: Floats, columns: Sequence[tuple[Column, slice]], flags: Flags, embed: Embed) -> str | None:
    tells = [(_accuracy(column, flags), column, features) for column, features in columns]
    few = [(accuracy, column) for accuracy, column, _ in tells if accuracy >= _TELLS and _has_few(column)]
    if not few:
        return None
    without = X.copy()
    for accuracy, column, features in tells:
        if accuracy >= _TELLS and (_has_few(column) or _is_constant(column, flags)):
            without[:, features] = 0.0
    shared = jaccard(flags[:, None], map_tree(without, embed).members)
    if shared.max(initial=0.0) >= LEAST:
        return None
    return max(few, key=lambda one: one[0])[1].name


def _has_few(column: Column) -> bool:
    return bool(column.levels) or len(np.unique(column.values)) <= _FEW_VALUES


def _is_constant(column: Column, flags: Flags) -> bool:
    """Whether nearly all rows on one side have one value."""
    sides = (np.unique(column.values[side], return_counts=True)[1] for side in (flags, ~flags))
    return any(counts.max() >= _NEARLY_ALL * counts.sum() for counts in sides)


def _accuracy(column: Column, flags: Flags) -> float:
    """Balanced accuracy of the best rule by the values of a column, or by a threshold of its numbers."""
    _, codes = np.unique(column.values, return_inverse=True)
    inside = np.bincount(codes[flags], minlength=codes.max() + 1) / max(1, flags.sum())
    outside = np.bincount(codes[~flags], minlength=codes.max() + 1) / max(1, (~flags).sum())
    if _has_few(column):
        return float(np.maximum(inside, outside).sum() / 2)
    return 0.5 + float(np.abs(np.cumsum(inside - outside)).max()) / 2


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
