"""Whole numbers beyond 2^53, which float64 rounds: read exactly, then named in a notice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from ..notices import count_text, notice
from ..prepare.columns import Column

LARGEST = 2**53  # up to here every whole number is a float64
_MOST_DIGITS = 400  # more are no float
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")


def exact_number(text: str) -> int | float:
    """A number, as an int where it is whole and a float would round it; raises ValueError for words."""
    number = float(text)
    return int(text) if abs(number) >= LARGEST and is_whole(text) and np.isfinite(number) else number


def is_whole(text: str) -> bool:
    """Whether text is a whole number written with digits alone."""
    return _WHOLE.fullmatch(text) is not None


def name_rounded(frame: pd.DataFrame, columns: Sequence[Column]) -> None:
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
