"""Groups that few columns alone define: their levels tell the group, and without them it is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.runtime import one_blas_thread
from ..._core.values import Floats, Integers, Table
from ..._core.workers import map_in_workers
from ..explain.source_columns import Column, columns_of
from .cluster_tree import FEWEST, LEAST, Embed, Flags, jaccard, map_tree, on_threads

_TELLS = 0.95  # balanced accuracy from which columns tell a group from the rest
_GAIN = 0.02  # of that accuracy, which one more column must bring
_MOST_COLUMNS = 3
_FREQUENT = 0.05  # share of the rows of a level that another column can tell
_FEW_VALUES = 10
_SPIKE = 0.25  # share of the rows with one value: such a number says first of all whether it is that value


@dataclass(frozen=True, slots=True, eq=False)
class _Levels:
    """A column of few levels, or a number of which many rows have one value, such as an amount of zero."""

    name: str
    codes: Integers  # (n,)
    features: slice  # where it stands in X


def defining_columns(X: Floats, table: Any, members: Flags, embed: Embed) -> list[tuple[str, ...]]:
    """For each group (n, g) the columns that alone define it, at most three; none where it is more.

    Such columns are of levels, have at most 10 values, or have one value in a quarter of the rows. Their
    combined levels tell the group from the other groups, or from the rest if it is the only one, with a
    balanced accuracy of at least .95 on held-out rows. And a map of the rows has no cluster that shares .65
    of the group (Jaccard) if they are constant there, with all others that say the same: an amount that is
    zero where a flag is "no". What takes more than half of the columns is no group of few columns.
    ``O(g n m)`` for g groups, and one fit for each that is told so.
    """
    if not members.shape[1]:
        return []
    columns = list(_columns_of_levels(X, table))
    compared = np.asarray(members.any(axis=1) if members.shape[1] > 1 else np.ones(len(members), bool))

    def calls(n_threads: int | None) -> list[tuple[Any, ...]]:
        given = on_threads(embed, n_threads)
        return [(X, columns, np.ascontiguousarray(flags), compared, given) for flags in members.T]

    with one_blas_thread():
        return list(map_in_workers(f"{__name__}:{defining_columns_of.__name__}", calls))


def defining_columns_of(
    X: Floats, columns: Sequence[_Levels], flags: Flags, compared: Flags, embed: Embed
) -> tuple[str, ...]:
    """The columns that alone define one group."""
    defining = _telling(columns, flags, compared)
    same = [
        column for column in columns if any(column is one or _says_the_same(column, one) for one in defining)
    ]
    without = X.copy()
    for column in same:
        without[:, column.features] = 0.0
    if not defining or 2 * np.count_nonzero(np.ptp(without, axis=0) > 0) < np.count_nonzero(
        np.ptp(X, axis=0) > 0
    ):
        return ()
    try:
        again = map_tree(without, embed).members
    except Exception:  # a method may refuse constant columns: then nothing is known of them
        return ()
    shared = jaccard(flags[:, None], again)
    return () if shared.max(initial=0.0) >= LEAST else tuple(c.name for c in columns if c in defining)


def _telling(columns: Sequence[_Levels], flags: Flags, compared: Flags) -> list[_Levels]:
    """The fewest columns whose combined levels tell a group, the best one first; none where they do not."""
    found: list[_Levels] = []
    cells: Integers = np.zeros(len(flags), np.int64)
    accuracy = 0.5
    while accuracy < _TELLS and len(found) < _MOST_COLUMNS:
        joined = [(_combine(cells, column.codes), column) for column in columns]
        scored = [(_accuracy(codes[compared], flags[compared]), column) for codes, column in joined]
        best, column = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        if column is None or best < accuracy + _GAIN:
            return []
        accuracy, found, cells = best, [*found, column], _combine(cells, column.codes)
    return found if accuracy >= _TELLS else []


def _combine(cells: Integers, codes: Integers) -> Integers:
    return np.unique(cells * (codes.max() + 1) + codes, return_inverse=True)[1]


def _accuracy(codes: Integers, flags: Flags) -> float:
    """Balanced accuracy of the best rule by the levels, learnt on half of the rows, tried on the others."""
    order = np.random.default_rng(0).permutation(len(codes))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    return float(np.mean([_right(codes, flags, *pair) for pair in (halves, halves[::-1])]))


def _right(codes: Integers, flags: Flags, learnt: Integers, tried: Integers) -> float:
    """Balanced accuracy on ``tried`` of the levels that are more frequent inside in ``learnt``."""
    inside, outside = (
        np.bincount(codes[learnt[side]], minlength=codes.max() + 1) / max(1, side.sum())
        for side in (flags[learnt], ~flags[learnt])
    )
    guessed, own = (inside > outside)[codes[tried]], flags[tried]
    if own.all() or not own.any():
        return 0.0
    return float(guessed[own].mean() + (~guessed[~own]).mean()) / 2


def _says_the_same(column: _Levels, other: _Levels) -> bool:
    """Whether either column tells a level of the other one; rare levels say nothing."""
    for codes, levels in ((column.codes, other.codes), (other.codes, column.codes)):
        frequent = np.flatnonzero(np.bincount(levels) >= max(FEWEST, _FREQUENT * len(levels)))
        if any(_accuracy(codes, levels == level) >= _TELLS for level in frequent):
            return True
    return False


def _columns_of_levels(X: Floats, table: Any) -> Iterator[_Levels]:
    """Columns with levels, and where they stand in X; none where X is not the table's."""
    columns = columns_of(X if table is None else table)
    widths = _widths(columns, table)
    if sum(widths) != X.shape[1]:
        return
    first = 0
    for column, width in zip(columns, widths, strict=True):
        codes = _codes(column)
        if codes is not None:
            yield _Levels(column.name, codes, slice(first, first + width))
        first += width


def _codes(column: Column) -> Integers | None:
    """Levels of a column; whether it is its most frequent value, where many rows have that; else None."""
    values, codes, counts = np.unique(column.values, return_inverse=True, return_counts=True)
    if column.levels or len(values) <= _FEW_VALUES:
        return codes
    if counts.max() >= _SPIKE * len(codes):
        return np.asarray(codes == counts.argmax(), np.int64)
    return None


def _widths(columns: Sequence[Column], table: Any) -> list[int]:
    if isinstance(table, Table) and table.preparation is not None:
        prepared = table.preparation
        return [len(column.feature_names(prepared.nominal)) for column in prepared.columns]
    return [1] * len(columns)
