"""Columns of a table, frame or array in their own units: numbers, or codes of levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from scipy import sparse

from ..._core.errors import InvalidInputError, require
from ..._core.values import ColumnSummary, Floats, Table
from ...tables.prepare.columns import is_number, level_text
from ...tables.prepare.dates import days
from ...tables.readers.arrow import frame_of_stream

_FEW_LEVELS = 20  # of a label: fewer are compared in the smallest table
_NUMBERS = (
    "boolean",
    "integer",
    "floating",
    "mixed-integer-float",
    "decimal",
)  # of objects, in pandas' words
_DATES = ("date", "datetime", "datetime64", "period")


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one column: numbers, or codes of its levels; NaN where missing."""

    name: str
    values: Floats
    levels: tuple[str, ...] = ()  # none: numbers
    dates: bool = False  # the numbers are days since 1970
    label: bool = False  # it is no part of the distance between rows


def columns_of(table: Any, *, labels: bool = False) -> list[Column]:
    """Columns of a table, at least one; of a :class:`Table` its features, and with ``labels`` its labels."""
    columns = list(_columns(table))
    if labels and isinstance(table, Table):
        columns += label_columns(table)
    require(len(columns) > 0, "table", "of at least one column", "none")
    return columns


def _columns(table: Any) -> Iterator[Column]:
    if isinstance(table, Table):
        yield from _of_table(table)
        return
    frame = _as_frame(table)
    for place, name in enumerate(frame.columns):
        yield _of_series(frame.iloc[:, place], str(name))


def _as_frame(table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "__arrow_c_stream__") and hasattr(table, "columns"):  # polars, Arrow
        return frame_of_stream(table)
    must_be, got = "a Table, a frame or an array (n, m)", type(table).__name__
    hint = "Load it: datasets.load(table) takes sparse matrices." if sparse.issparse(table) else ""
    is_array = isinstance(table, np.ndarray)
    require(is_array or isinstance(table, list | tuple), "table", must_be, got, hint)
    require(not is_array or table.ndim == 2, "table", must_be, f"shape {getattr(table, 'shape', '')}")
    frame = pd.DataFrame(table)
    return frame.set_axis([f"column {j}" for j in range(frame.shape[1])], axis=1)


def _of_series(series: pd.Series, name: str) -> Column:
    """Numbers and dates in their order, anything else by its levels, which are those of `datasets.load`."""
    if types.is_complex_dtype(series.dtype):
        raise InvalidInputError(
            f"column {name!r} must be real numbers, dates or levels, got {series.dtype}. Give its parts, or "
            "its size, as columns."
        )
    content = types.infer_dtype(series, skipna=True) if series.dtype == object else ""
    if isinstance(series.dtype, pd.PeriodDtype) or content == "period":
        series = pd.Series(pd.PeriodIndex(series).to_timestamp())
    if types.is_datetime64_any_dtype(series.dtype) or content in _DATES:
        return Column(name, days(series, name), dates=True)
    if types.is_timedelta64_dtype(series.dtype):
        series = series / pd.Timedelta(days=1)
    if is_number(series.dtype) or content in _NUMBERS:
        return Column(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    words = series.astype(object).map(level_text, na_action="ignore").replace("", np.nan)
    codes, levels = pd.factorize(words, sort=False)
    return Column(name, np.where(codes < 0, np.nan, codes), tuple(levels))


def label_columns(table: Table) -> list[Column]:
    """The labels of a table as columns; text that hardly repeats tells no group of rows from another."""
    names = [one for one in table.columns if one.role == "label" and table.other_columns is not None]
    found = [_of_label(table.other_columns[one.name], one) for one in names]
    return [one for one in found if 2 * len(one.levels) <= max(len(one.values), _FEW_LEVELS)]


def _of_label(series: pd.Series, summary: ColumnSummary) -> Column:
    is_date = summary.kind == "date" and not types.is_datetime64_any_dtype(series.dtype)
    if is_date:
        return Column(summary.name, days(series, summary.name), dates=True, label=True)
    return replace(_of_series(series, summary.name), label=True)


def _of_table(table: Table) -> Iterator[Column]:
    """Its columns in their own units; what was flagged as missing, or is a mean of levels, is missing."""
    prepared = table.preparation
    if prepared is None:
        for name, values in zip(table.feature_names, table.X.T, strict=True):
            yield Column(name, values)
        return
    given = prepared.in_given_units(table.X)
    first = 0
    for column in prepared.columns:
        width = len(column.feature_names(prepared.nominal))
        values = given[:, first : first + width]
        first += width
        if column.kind == "nominal" and prepared.nominal == "coded":
            yield Column(column.name, np.where(values[:, 0] >= 0, values[:, 0], np.nan), column.levels)
            continue
        if not column.has_levels(prepared.nominal):
            was_there = values[:, -1] < 0.5 if column.flag else True
            there = np.where(was_there, values[:, 0], np.nan)
            yield Column(column.name, there, dates=column.kind == "date")
            continue
        values = values[:, : len(column.levels)]
        has_level = np.isclose(values.max(axis=1), 1.0)
        yield Column(column.name, np.where(has_level, values.argmax(axis=1), np.nan), column.levels)
