"""Cells: which text is a plain number or missing; columns of plain Python values become those of a frame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..prepare.precision import LARGEST

# 'None' is not among them: it is a category in well-known tables.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "?")
_MARKS = frozenset(MISSING_MARKS)
_NUMBER = re.compile(r"[+-]?(\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?", re.ASCII)


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def is_missing(cell: str) -> bool:
    """Whether a cell has no value."""
    return cell.strip() in _MARKS


def frame_of(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """A frame of columns of equal length; None is missing, whole numbers beyond 2^53 stay exact."""
    return pd.DataFrame({name: _series(cells) for name, cells in columns.items()}, copy=False)


def _series(cells: Sequence[Any]) -> pd.Series:
    kinds = {type(cell) for cell in cells} - {type(None)}
    if int in kinds and (len(kinds) > 1 or None in cells):
        is_exact = kinds <= {int, float} and all(abs(cell) < LARGEST for cell in cells if type(cell) is int)
        return pd.Series(cells, dtype="float64" if is_exact else object)
    if kinds == {int} and not all(-(2**63) <= cell < 2**64 for cell in cells):
        return pd.Series(cells, dtype=object)
    return pd.Series(cells)
