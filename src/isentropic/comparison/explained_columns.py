"""Columns of a table, frame or array, as selections are compared by them: numbers, or codes of levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._errors import require
from .._values import Floats, Table

_ROUNDING = 1e-15  # of the centre: what is left of a zero that was centred, scaled and taken back


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one column: numbers, or codes of its levels; NaN where missing."""

    name: str
    values: Floats
    levels: tuple[str, ...] = ()  # none: numbers


def columns_of(table: Any) -> list[Column]:
    """Its columns, at least one."""
    columns = list(_columns(table))
    require(len(columns) > 0, "table", "of at least one column", "none")
    return columns


def _columns(table: Any) -> Iterator[Column]:
    if isinstance(table, Table):
        yield from _of_table(table)
        return
    frame = table if isinstance(table, pd.DataFrame) else _as_frame(table)
    for name in frame.columns:
        series = frame[name]
        if pd.api.types.is_datetime64_any_dtype(series.dtype):
            series = series.astype("int64").where(series.notna())
        if pd.api.types.is_numeric_dtype(series.dtype):
            yield Column(str(name), series.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            codes, levels = pd.factorize(series, sort=False)
            yield Column(str(name), np.where(codes < 0, np.nan, codes), tuple(map(str, levels)))


def _as_frame(table: Any) -> pd.DataFrame:
    X = np.asarray(table)
    require(X.ndim == 2, "table", "a Table, a DataFrame or an array (n, m)", f"{X.ndim} dimensions")
    return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])


def _of_table(table: Table) -> Iterator[Column]:
    """Its columns in their own units; what was flagged as missing, or is a mean of levels, is missing."""
    prepared = table.preparation
    if prepared is None:
        for name, values in zip(table.feature_names, table.X.T, strict=True):
            yield Column(name, values)
        return
    first = 0
    for column in prepared.columns:
        width = len(column.feature_names(prepared.nominal))
        features = slice(first, first + width)
        centre = prepared.scale.centre[features]
        values = table.X[:, features] * prepared.scale.scale[features] + centre
        values[np.abs(values) <= _ROUNDING * np.abs(centre)] = 0.0
        first += width
        if column.kind == "nominal" and prepared.nominal == "coded":
            yield Column(column.name, np.where(values[:, 0] >= 0, values[:, 0], np.nan), column.levels)
            continue
        if not column.has_levels(prepared.nominal):
            was_there = values[:, -1] < 0.5 if column.flag else True
            yield Column(column.name, np.where(was_there, values[:, 0], np.nan))
            continue
        values = values[:, : len(column.levels)]
        has_level = np.isclose(values.max(axis=1), 1.0)
        yield Column(column.name, np.where(has_level, values.argmax(axis=1), np.nan), column.levels)
