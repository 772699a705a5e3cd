"""Columns on the page, in their own units: for colours, tooltips, and explanations of selections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pandas.api.types import is_datetime64_any_dtype

from ..._core.values import Floats, Integers, Table
from ...comparison.explain.source_columns import Column, columns_of
from ...tables.prepare.dates import days
from .packed_arrays import pack

MOST_BYTES = 2_800_000  # that the columns take together, a third less than their text
_FEW_VALUES = 512  # of a column, where all values of all columns are too many
_LONGEST_LEVEL = 60
_NAMING = 0.5  # share of rows with a level of their own from which on a text column names rows


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column of the drawn rows. A code is the rank of a value among those that occur, or of its level."""

    name: str
    kind: str  # "u1" or "u2"; the largest code says that a value is missing
    codes: Integers
    n: int  # different values, or levels
    values: Floats  # of some codes, evenly by rank, the first and the last among them
    levels: tuple[str, ...] = ()
    dates: bool = False
    role: str = "feature"

    @property
    def is_feature(self) -> bool:
        return self.role == "feature"

    @property
    def missing(self) -> int:
        return int(np.iinfo(self.kind).max)

    @property
    def n_bytes(self) -> int:
        held = sum(map(len, self.levels)) if self.levels else 8 * len(self.values)
        return len(self.codes) * np.dtype(self.kind).itemsize + held

    def codes_of(self, column: Column) -> Integers:
        """Codes of other rows in this column: of the nearest value that is known here, or of the level."""
        there = ~np.isnan(column.values)
        codes = np.full(len(column.values), self.missing)
        if self.levels:
            at = {level: code for code, level in enumerate(self.levels)}
            code_of = np.array([*(at.get(_short(level), self.missing) for level in column.levels), 0])
            codes[there] = code_of[column.values[there].astype(int)]
        elif self.n:
            middles = (self.values[1:] + self.values[:-1]) / 2
            ranks = np.searchsorted(middles, column.values[there])
            codes[there] = np.rint(ranks * (self.n - 1) / max(1, len(self.values) - 1))
        return codes


def code_columns(table: Table, rows: Integers) -> tuple[list[CodedColumn], int]:
    """Codes of the drawn rows in every column that fits, and how many columns there are.

    Features come first, then a target of numbers and columns that are no features. What does not fit is
    left out: first the values between every few hundredth, then columns, those that vary least first.
    ``O(n m log n)``.
    """
    columns, others = columns_of(table), other_columns(table)
    coded = [_code(column, rows) for column in columns]
    roles = {one.name: one.role for one in _summaries(table)}
    coded += [replace(_code(column, rows), role=roles.get(column.name, "other")) for column in others]
    if sum(one.n_bytes for one in coded) > MOST_BYTES:
        coded = [_thin(one, _FEW_VALUES) for one in coded]
    retained = _fitting(coded, _variances(table, [*columns, *others]))
    return [coded[j] for j in retained], len(columns) + len(others)


def pack_columns(coded: Sequence[CodedColumn], n_all: int) -> dict[str, Any]:
    return {"columns": [_pack(one) for one in coded], "n_all": n_all}


def other_columns(table: Table) -> list[Column]:
    """Columns that are no features but colour the maps: a target of numbers first, then labels and others.

    Text that names most rows is left out, and so is a target of classes, which has its own colours.
    """
    target, features = target_name(table), {column.name for column in columns_of(table)}
    found = [column for column in _unused_columns(table) if column.name not in features]
    labels = [column for column in found if column.name != target and not _names_rows(column)]
    if table.y is None or table.class_names:
        return labels
    dates = any(column.name == target and column.dates for column in found)
    return [Column(target, np.asarray(table.y, float), dates=dates), *labels]


def _unused_columns(table: Table) -> Iterator[Column]:
    """The columns of the source that are no features, where the table holds them."""
    frame: Any = getattr(table, "other_columns", None)
    kinds = {one.name: one.kind for one in _summaries(table)}
    for name in () if frame is None else frame.columns:
        series = frame[name]
        if kinds.get(name) == "date" and not is_datetime64_any_dtype(series.dtype):
            yield Column(str(name), days(series, str(name)), dates=True)
        else:
            yield columns_of(frame[[name]])[0]


def _summaries(table: Table) -> Sequence[Any]:
    """What the table says of each column of the source."""
    found: Sequence[Any] = getattr(table, "columns", ())
    return found


def target_name(table: Table) -> str:
    """As the table calls it."""
    return getattr(table.preparation, "target", None) or "target"


def _names_rows(column: Column) -> bool:
    return len(column.levels) > max(2.0, _NAMING * len(column.values))


def _short(level: str) -> str:
    return level if len(level) <= _LONGEST_LEVEL else level[: _LONGEST_LEVEL - 1] + "…"


def _code(column: Column, rows: Integers) -> CodedColumn:
    shown_rows = column.values[rows]
    there = ~np.isnan(shown_rows)
    values: Floats = np.arange(float(len(column.levels)))
    codes = shown_rows
    if not column.levels:
        values, ranks = np.unique(shown_rows[there], return_inverse=True)
        codes = np.zeros(len(shown_rows))
        codes[there] = ranks
    kind = "u1" if len(values) < 256 else "u2"
    integer_codes: Integers = np.where(there, np.nan_to_num(codes), np.iinfo(kind).max).astype(np.int64)
    levels = tuple(_short(level) for level in column.levels)
    return CodedColumn(column.name, kind, integer_codes, len(values), values, levels, column.dates)


def _thin(one: CodedColumn, most: int) -> CodedColumn:
    """With ``most`` values evenly by rank, the first and the last among them."""
    if one.n <= most or one.levels:
        return one
    return replace(one, values=one.values[np.linspace(0, one.n - 1, most).round().astype(int)])


def _variances(table: Table, columns: Sequence[Column]) -> Floats:
    """Of the numbers that were embedded; columns of levels, and those that are no features, come first."""
    at = {name: j for j, name in enumerate(table.feature_names)}
    variances = np.nan_to_num(table.X.var(axis=0), nan=np.inf)  # with holes
    return np.array(
        [
            np.inf if column.levels or column.name not in at else variances[at[column.name]]
            for column in columns
        ]
    )


def _fitting(coded: Sequence[CodedColumn], variances: Floats) -> list[int]:
    order = np.argsort(-variances, kind="stable")
    room = np.cumsum([coded[j].n_bytes for j in order]) <= MOST_BYTES
    return sorted(order[room].tolist())


def _pack(one: CodedColumn) -> dict[str, Any]:
    held: Mapping[str, Any] = (
        {"levels": list(one.levels)} if one.levels else {"values": pack(one.values, "f8")}
    )
    flags = {"dates": one.dates, "other": not one.is_feature, "label": one.role == "label"}
    return {
        "name": one.name, "kind": one.kind, "n": one.n, "codes": pack(one.codes, one.kind), **held,
        **{name: True for name, holds in flags.items() if holds},
    }  # fmt: skip
