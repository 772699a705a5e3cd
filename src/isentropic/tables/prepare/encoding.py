"""Encoding: a frame becomes a matrix, one feature per number, date or level; NaN marks what is missing."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from ..._core.errors import InvalidInputError, TableWarning, count_text, listing, notice, plural
from ..._core.runtime import require_memory
from ..._core.values import Floats
from ..cells import LARGEST, is_whole
from .column_scaling import Part
from .columns import UNSEEN, Column, describe, encode, is_number
from .dates import cycles_of, on_circle
from .tails import notice_raised


def describe_columns(frame: pd.DataFrame, nominal: str, dates: str) -> tuple[Column, ...]:
    """The kind of each column, in order; ``dates`` says whether those have cycles."""
    columns = (
        Column(name, "number") if is_number(dtype) else describe(frame[name], name, nominal)
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
    )
    if dates == "number":
        return tuple(columns)
    return tuple(
        replace(column, cycles=_cycles(frame[column.name], column)) if column.kind == "date" else column
        for column in columns
    )


def _cycles(series: pd.Series, column: Column) -> tuple[str, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)  # what is no date is named when the column is encoded
        return cycles_of(encode(series, column))


@dataclass(frozen=True, slots=True)
class Encoded:
    """The matrix of a table before scaling, and which features each column became."""

    X: Floats  # (n, m), NaN where missing
    firsts: npt.NDArray[np.int64]  # (n_columns,) the first feature of each column
    columns: tuple[Column, ...]
    nominal: str

    def groups(self) -> list[tuple[Part, ...]]:
        """The features of each column that became more than a number, which weigh together as one."""
        spans = zip(self.columns, self.firsts.tolist(), strict=True)
        groups = (parts_of(column, first, self.nominal) for column, first in spans)
        return [parts for parts in groups if parts[0].kind != "number" or len(parts) > 1]

    def flagged(self) -> Encoded:
        """The same with a feature for each column that has holes: 1 where the value is missing."""
        holes = self.missing_counts()
        if not holes:
            return self
        columns = tuple(replace(column, flag=column.name in holes) for column in self.columns)
        firsts, m = _layout(columns, self.nominal)
        X = np.empty((len(self.X), m))
        for column, old, new in zip(columns, self.firsts, firsts, strict=True):
            width = len(column.feature_names(self.nominal)) - column.flag
            X[:, new : new + width] = self.X[:, old : old + width]
            if column.flag:
                X[:, new + width] = np.isnan(self.X[:, old])
        return Encoded(X, firsts, columns, self.nominal)

    def missing_counts(self) -> dict[str, int]:
        """Missing values of each column that has any."""
        return self._counts(np.isnan(self.X[:, self.firsts]))

    def require_finite(self, table: str) -> None:
        """Raise when a value is infinite: that is an error of the source, not a missing value."""
        infinite = self._counts(np.isinf(self.X[:, self.firsts]))
        if infinite:
            raise InvalidInputError(
                f"{table} must be finite, got {plural(sum(infinite.values()), 'infinite value')}: "
                f"{count_text(infinite)}. Correct them in the source, or leave them empty and choose "
                "missing='drop' or 'median'."
            )

    def _counts(self, flags: npt.NDArray[np.bool_]) -> dict[str, int]:
        totals = flags.sum(axis=0)
        return {column.name: int(n) for column, n in zip(self.columns, totals, strict=True) if n}


def encode_columns(
    frame: pd.DataFrame, columns: Sequence[Column], nominal: str, table: str, *, unseen_differ: bool = False
) -> Encoded:
    """``O(n m)``; the memory of the matrix is asked for before it is spent.

    Codes of levels that were not seen before are refused, unless they are to differ from all others; among
    ordered levels they are missing then.
    """
    firsts, m = _layout(columns, nominal)
    n = len(frame)
    require_memory(
        16 * n * m,
        f"{table} as {n} x {m} numbers",
        "Leave out columns: drop=[...], or choose nominal='coded'.",
    )
    warn_of_rounded_numbers(frame, columns)
    kinds = dict(zip(frame.columns, frame.dtypes, strict=True))
    if all(column == Column(column.name, "number") and is_number(kinds[column.name]) for column in columns):
        names = [column.name for column in columns]
        chosen = frame if names == list(frame.columns) else frame[names]
        X = chosen.to_numpy(dtype=np.float64, na_value=np.nan)
        return Encoded(np.array(X, order="C"), firsts, tuple(columns), nominal)
    X = np.empty((n, m))
    for column, first in zip(columns, firsts, strict=True):
        values = encode(frame[column.name], column)
        is_code = nominal == "coded" or column.ordered
        _question_unseen(frame[column.name], values, column, refused=is_code and not unseen_differ)
        if column.transform is not None:
            notice_raised(column, values)
            values = column.transform.apply(values)
        if column.ordered and unseen_differ:
            values[values == UNSEEN] = np.nan  # it has no place among ranks
        features = _features(values, column, nominal)
        X[:, first : first + features.shape[1]] = features
    return Encoded(X, firsts, tuple(columns), nominal)


def _layout(columns: Sequence[Column], nominal: str) -> tuple[npt.NDArray[np.int64], int]:
    """The first feature of each column, and the number of all features."""
    ends = np.cumsum([len(column.feature_names(nominal)) for column in columns])
    return np.concatenate([[0], ends[:-1]]), int(ends[-1])


def parts_of(column: Column, first: int, nominal: str) -> tuple[Part, ...]:
    """The features of a column, in order; a flag of missing values is one more level."""
    end = first + len(column.feature_names(nominal))
    if column.has_levels(nominal):
        return (Part("levels", slice(first, end)),)
    circles = (Part("cycle", slice(a, a + 2)) for a in range(first + 1, end - column.flag, 2))
    flag = (Part("flag", slice(end - 1, end)),) if column.flag else ()
    return (Part("number", slice(first, first + 1)), *circles, *flag)


def _features(values: Floats, column: Column, nominal: str) -> Floats:
    """The features of numbers, days or codes of levels, NaN where missing."""
    if column.has_levels(nominal):
        pieces = [_one_hot(values, len(column.levels))]
    else:
        pieces = [values[:, None], *(on_circle(values, cycle) for cycle in column.cycles)]
    if column.flag:
        pieces.append(np.isnan(values)[:, None].astype(np.float64))
    return np.concatenate(pieces, axis=1)


def _one_hot(codes: Floats, width: int) -> Floats:
    rows: Floats = (codes[:, None] == np.arange(width)).astype(np.float64)
    rows[np.isnan(codes)] = np.nan
    return rows


def _question_unseen(series: pd.Series, codes: Floats, column: Column, *, refused: bool) -> None:
    unseen = (codes == UNSEEN) & (column.kind == "nominal")
    if not unseen.any():
        return
    strays = f"{listing(series[unseen].unique())} in {plural(int(unseen.sum()), 'row')}"
    if refused:
        other = f"levels=[{column.name!r}]" if column.ordered else "nominal='onehot'"
        raise InvalidInputError(
            f"column {column.name!r} must hold the levels of the fitted table ({listing(column.levels)}), "
            f"got {strays}. Correct them, leave them empty and choose missing='drop' or 'median', or fit "
            f"with {other}."
        )
    notice(
        f"column {column.name!r} has levels that the fitted table had not: {strays}. "
        "They count as none of the known levels."
    )


# ---- Whole numbers that float64 rounds -----------------------------------------------------------


_MOST_DIGITS = 400  # more are no float


def warn_of_rounded_numbers(frame: pd.DataFrame, columns: Sequence[Column]) -> None:
    """Warn of columns whose whole numbers a float64 cannot hold: those that differ may become equal."""
    rounded: dict[str, int] = {}
    kinds = dict(zip(frame.columns, frame.dtypes, strict=True))
    for column in columns:
        kind = kinds[column.name]
        if column.kind == "number" and not (
            types.is_float_dtype(kind) or types.is_datetime64_any_dtype(kind)
        ):
            count = sum(map(_is_rounded, _large(frame[column.name])))
            rounded |= {column.name: count} if count else {}
    if rounded:
        notice(
            "whole numbers beyond 2^53 are rounded, so that different ones may become equal: "
            f"{count_text(rounded)}. Where they name the rows, say index=...; where they measure nothing, "
            "drop=[...]."
        )


def _large(series: pd.Series) -> list[int]:
    """The whole numbers beyond 2^53 of a column: integers, also as objects or text."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biu":
        values = series.to_numpy()
        if values.dtype.itemsize < 8 or not len(values):
            return []
        if -LARGEST <= int(values.min()) and int(values.max()) <= LARGEST:
            return []
        return list(values.tolist())
    return [number for number in map(_whole_number, series.dropna()) if abs(number) > LARGEST]


def _whole_number(value: Any) -> int:
    if isinstance(value, str):
        return int(value) if len(value) < _MOST_DIGITS and is_whole(value) else 0
    return int(value) if isinstance(value, int | np.integer) else 0


def _is_rounded(value: int) -> bool:
    try:
        return int(float(value)) != value
    except OverflowError:  # infinite, which is refused elsewhere
        return False
