"""Rows that are none: empty ones, and totals in the last row."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from .._core.values import Floats
from .cells.amounts import read_numbers
from .notices import notice, plural
from .raw import RawTable

_TOTAL = re.compile(
    r"(?i:(grand |overall |sub)?(total|sum|mean|average|avg)s?[:.]?|gesamt|summe|mittelwert|durchschnitt|∑)"
    r"(?: .{0,30})?"
)
_FEWEST = 3  # rows above a total
_CLOSE = 1e-4  # relative: totals are often rounded


def tidied(raw: RawTable) -> RawTable:
    """The table without empty rows and without a last row of totals, each named in a notice."""
    return without_total(without_empty_rows(raw))


def without_empty_rows(raw: RawTable) -> RawTable:
    """The table without rows that hold no value; of one column they are missing values. ``O(n)`` mostly."""
    frame = raw.frame
    if frame.shape[1] < 2 or raw.reduction is not None:
        return raw
    empty = np.arange(len(frame))
    for j in range(frame.shape[1]):
        cells = frame.iloc[empty, j]
        is_blank = cells.isna().to_numpy(dtype=bool)
        if not types.is_numeric_dtype(cells.dtype):
            is_blank = is_blank | (cells.astype(object) == "").to_numpy(dtype=bool)
        empty = empty[is_blank]
        if not len(empty):
            return raw
    if len(empty) == len(frame):
        return raw
    notice(f"{raw.name} has {plural(len(empty), 'empty row')} of {len(frame)}, left out.")
    return _without_rows(raw, empty)


def without_total(raw: RawTable) -> RawTable:
    """The table without a last row that is called a total, or a mean, and is that of the rows above."""
    frame = raw.frame
    if len(frame) <= _FEWEST:
        return raw
    last = frame.iloc[-1]
    words = [cell.strip() for cell in last if isinstance(cell, str) and cell.strip()]
    if not words or _TOTAL.fullmatch(words[0]) is None:
        return raw
    columns = [values for name in frame.columns if (values := _numbers(frame[name])) is not None]
    totals = [values for values in columns if not np.isnan(values[-1])]
    for what, of in (("sum", np.nansum), ("mean", np.nanmean)):
        if totals and all(np.isclose(of(v[:-1]), v[-1], rtol=_CLOSE, atol=0.0) for v in totals):
            notice(
                f"the last row of {raw.name}, {words[0]!r}, is the {what} of the rows above in "
                f"{plural(len(totals), 'column')}, and is left out. Rename it to keep it."
            )
            return _without_rows(raw, np.array([len(frame) - 1]))
    return raw


def _numbers(series: pd.Series) -> Floats | None:
    """The numbers in a column, also in text; None where it has none above its last row."""
    if types.is_bool_dtype(series.dtype) or isinstance(series.dtype, pd.CategoricalDtype):
        return None
    if types.is_numeric_dtype(series.dtype) and not types.is_complex_dtype(series.dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return None if np.isnan(values[:-1]).all() else values
    if types.infer_dtype(series, skipna=True) != "string":
        return None
    words = series.map(str.strip, na_action="ignore")
    counts = words[words != ""].value_counts()
    reading = read_numbers({str(word): int(n) for word, n in counts.items()})
    return None if reading is None or reading.strays else words.map(reading.values).to_numpy(dtype=np.float64)


def _without_rows(raw: RawTable, rows: npt.NDArray[np.intp]) -> RawTable:
    frame = raw.frame.iloc[np.setdiff1d(np.arange(len(raw.frame)), rows)]
    is_counted = isinstance(raw.frame.index, pd.RangeIndex)
    return replace(raw, frame=frame.reset_index(drop=True) if is_counted else frame)
