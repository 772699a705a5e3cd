"""What the cells of a column mean: amounts, dates, ordered levels, codes of missing values.

Columns are interpreted before they get their roles. Each decision is one notice that names the columns, and
the option that takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types

from ..._core.errors import listing, no_such_column, notice, plural
from ..._core.values import Floats
from ..cells import FEWEST_LEVELS, NumberReading, is_missing_word, ordered_levels, read_numbers
from ..raw import RawTable
from .columns import Column, is_number, level_text, word_counts
from .dates import are_dates, date_order, moments_of

_FEWEST = 3  # times that a code occurs, all codes of a column together
_NINES = re.compile(r"-?(9{2,}|9{2,}[.]9+|9[.]9+|-9)")  # 99, 999, 99.9, -9 and so on
_BESIDE = re.compile(r"-?(9*[678]|8{2,}|7{2,}|6{2,})")  # 98 and 97 beside 99; 88, 77
_FAR = 2.0  # times the range of all other values, between them and a code
_VERY_FAR = 10.0  # and of 99.99 and the like, which may be a price
_FEWEST_OTHERS = 5  # different values beside -1 and -9, which may be values themselves


def missing_codes(values: Floats, known: Sequence[float] = ()) -> tuple[float, ...]:
    """The codes for missing values in a column of numbers, NaN left aside; ``O(n log n)``.

    A code is the lowest or the highest value, written in nines (or -1), and stands out in one of two ways:
    it is negative where all other values are not; or its distance to the other values is more than twice
    their range (ten times for fractions, as 99.99 may be a price). It occurs at least three times, or
    once where it is ``known`` from another column.
    """
    present = values[np.isfinite(values)]
    if not len(present) or not _may_have(float(present.min()), float(present.max())):
        return ()
    distinct, counts = np.unique(present, return_counts=True)
    for side in (1, -1):
        codes = _at_end(distinct[::side], counts[::side], known)
        if codes:
            return codes
    return ()


def _may_have(low: float, high: float) -> bool:
    return low == -1.0 or any(_NINES.fullmatch(_text(end)) for end in (low, high))


def _text(value: float) -> str:
    return f"{value:.10g}"


def _at_end(distinct: Floats, counts: np.ndarray, known: Sequence[float]) -> tuple[float, ...]:
    """Codes among the first values; ``distinct`` begins at the end that is looked at."""
    n_codes = 0
    while n_codes < len(distinct) and _is_form(distinct[n_codes], with_beside=True):
        n_codes += 1
    for size in range(n_codes, 0, -1):  # 97, 98 and 99 together, or 99 alone
        codes, others = distinct[:size], distinct[size:]
        has_nines = any(_is_form(code, with_beside=False) for code in codes)
        often = counts[:size].sum() >= _FEWEST or bool(np.isin(codes, known).all())
        if has_nines and often and len(others) > 1 and _stands_out(codes, others):
            return tuple(float(code) for code in codes)
    return ()


def _is_form(value: float, *, with_beside: bool) -> bool:
    text = _text(float(value))
    if value == -1.0 or _NINES.fullmatch(text):
        return True
    return with_beside and _BESIDE.fullmatch(text) is not None


def _stands_out(codes: Floats, others: Floats) -> bool:
    low, high = float(others.min()), float(others.max())
    gap = max(float(codes.min()) - high, low - float(codes.max()))
    if codes.max() < 0.0 <= low:
        is_digit = codes.min() > -10.0  # which differences and scores around 0 have, too
        return not is_digit or (len(others) >= _FEWEST_OTHERS and low > 0.0)
    is_whole = bool((codes == np.floor(codes)).all())
    far = _FAR if is_whole else _VERY_FAR
    return float(np.abs(codes).max()) >= 99.0 and gap > far * (high - low)


# ---- interpreting columns ------------------------------------------------------------------------


CODES = ("missing", "keep")
_BACK = "levels=[...] reads a column as unordered levels."
_LOOK = 1_000  # different words that are looked at before all are


class Meaning(NamedTuple):
    """The reading of a column that new rows need; see :class:`Column`."""

    style: str = ""
    marks: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """Decisions by column, as the notices state them."""

    meanings: dict[str, Meaning] = field(default_factory=dict)
    amounts: list[str] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    ordered: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    unsure_dates: list[str] = field(default_factory=list)

    def say(self) -> None:
        """One notice for each kind of decision."""
        sentences = (
            (self.amounts, "amounts written as text are read as numbers: {}. " + _BACK),
            (
                self.ambiguous,
                "one sign may separate thousands or decimals, and is read as thousands: {}. Write the "
                "numbers without it, or with a decimal point, where that is wrong.",
            ),
            (self.marked, "values with a mark are read as the number in them: {}. " + _BACK),
            (self.strays, "words in columns of numbers or ordered words count as missing: {}. " + _BACK),
            (self.ordered, "ordered words count as numbers in equal steps: {}. " + _BACK),
            (self.dates, "only one order of day and month fits all dates, and is read: {}."),
            (
                self.unsure_dates,
                "dates fit both orders of day and month: {}. Write them as YYYY-MM-DD where that is wrong.",
            ),
        )
        for columns, text in sentences:
            if columns:
                notice(text.format("; ".join(columns)))


def interpret(
    raw: RawTable, target: str | None, untouched: Collection[str], levels: Sequence[str], codes: str
) -> tuple[RawTable, dict[str, Meaning]]:
    """The table with cells as what they mean, and what new rows need to be read so; ``O(n m)``.

    Of a target only amounts and dates are read. ``levels`` become unordered ones, and columns in
    ``untouched`` stay as they are.
    """
    if raw.one_unit or raw.reduction is not None:
        return raw, {}
    found, changed = _Found(), {}
    if raw.declared:  # the source says what its columns are
        untouched, codes = set(raw.frame.columns), "keep"
    for name, dtype in zip(raw.frame.columns, raw.frame.dtypes, strict=True):
        if name in levels:
            changed[name] = _as_levels(raw.frame[name])
        elif name not in untouched and _is_text(raw.frame[name], dtype):
            new = _interpret_text(raw.frame[name], found, is_target=name == target)
            changed |= {} if new is None else {name: new}
    found.say()
    frame = _with_columns(raw.frame, changed)
    if codes == "missing":
        frame = _without_codes(frame, {*untouched, *levels, target}, found.meanings)
    return replace(raw, frame=frame), found.meanings


def require_levels(raw: RawTable, levels: Iterable[str]) -> None:
    """Raise for a column to read as levels that is not there."""
    for name in levels:
        if name not in raw.frame.columns:
            raise no_such_column("levels", raw.name, name, raw.frame.columns)


def with_meanings(columns: Iterable[Column], meanings: Mapping[str, Meaning]) -> tuple[Column, ...]:
    """The columns, each with what new rows need to be read as its own were."""
    return tuple(
        replace(column, style=meanings[column.name].style, marks=meanings[column.name].marks)
        if column.name in meanings
        else column
        for column in columns
    )


def _with_columns(frame: pd.DataFrame, changed: Mapping[str, pd.Series]) -> pd.DataFrame:
    if not changed:
        return frame
    columns = {name: changed.get(name, frame[name]) for name in frame.columns}
    return pd.DataFrame(columns, index=frame.index, copy=False)


def _as_levels(series: pd.Series) -> pd.Series:
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.as_unordered()
    words = series.map(level_text, na_action="ignore").replace("", np.nan)
    return words.astype(pd.CategoricalDtype(sorted(words.dropna().unique())))


def _is_text(series: pd.Series, dtype: object) -> bool:
    if is_number(dtype) or isinstance(dtype, pd.CategoricalDtype) or types.is_datetime64_any_dtype(dtype):
        return False
    content = types.infer_dtype(series, skipna=True)
    if content == "string":
        return True
    return content in ("mixed", "mixed-integer") and all(
        isinstance(value, (str, Number)) and not isinstance(value, complex) for value in series.dropna()
    )


def _interpret_text(series: pd.Series, found: _Found, *, is_target: bool) -> pd.Series | None:
    """The column as numbers, moments or ordered levels; None where it stays as it is."""
    name, counts = str(series.name), word_counts(series)
    words = pd.Series(counts.index.astype(object))
    if pd.to_numeric(words, errors="coerce").notna().all() or are_dates(words, counts.to_numpy()):
        return None
    order = date_order(words, series)
    if order is not None:
        return _as_moments(series, name, *order, found)
    is_text = series.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
    plain = [float(cell) for cell in series[~is_text].dropna()]
    in_text = counts if not plain else word_counts(series[is_text])
    reading = read_numbers({word: int(n) for word, n in in_text.items()}, plain)
    if reading is not None and not (is_target and reading.strays):
        return _as_numbers(series, name, reading, counts, found)
    return None if is_target else _as_ordered(series, name, counts, found)


def _as_moments(series: pd.Series, name: str, order: str, certain: bool, found: _Found) -> pd.Series:
    first = {"dmy": "the day", "mdy": "the month"}[order]
    moments = moments_of(series, order)
    found.meanings[name] = Meaning(order)
    example = series.dropna().iloc[0]
    (found.dates if certain else found.unsure_dates).append(
        f"{name!r} with {first} first, so that {str(example)!r} is {moments.dropna().iloc[0].date()}"
    )
    return moments


def _as_numbers(
    series: pd.Series, name: str, reading: NumberReading, counts: pd.Series, found: _Found
) -> pd.Series:
    found.meanings[name] = Meaning(reading.style, reading.strays)
    said_below = {*reading.strays, *reading.marked}
    unusual = [word for word in reading.values if word not in said_below]
    plain = pd.to_numeric(pd.Series(unusual, dtype=object), errors="coerce").notna()
    signed = [word for word, is_plain in zip(unusual, plain, strict=True) if not is_plain]
    if signed:
        example = f"{name!r} ({signed[0]!r} is {reading.values[signed[0]]:.12g})"
        (found.ambiguous if reading.is_ambiguous else found.amounts).append(example)
    if reading.marked:
        found.marked.append(f"{name!r} ({listing(reading.marked)})")
    if reading.strays:
        found.strays.append(_strays(name, reading.strays, counts))

    def value(cell: Any) -> Any:
        if isinstance(cell, str):
            return reading.values.get(cell.strip(), np.nan)
        return np.nan if pd.isna(cell) else cell

    return series.astype(object).map(value).astype(np.float64)


def _strays(name: str, words: Sequence[str], counts: pd.Series) -> str:
    return f"{name!r} ({listing(words)} in {plural(int(counts[list(words)].sum()), 'row')})"


def _as_ordered(series: pd.Series, name: str, counts: pd.Series, found: _Found) -> pd.Series | None:
    marks = tuple(word for word in counts.index[:_LOOK] if is_missing_word(word))
    words = [word for word in counts.index if word not in marks]
    levels = ordered_levels(words) if len(words) >= FEWEST_LEVELS else None
    if levels is None:
        return None
    found.ordered.append(f"{name!r} ({' < '.join(levels[:3])}{' < ...' if len(levels) > 3 else ''})")
    found.meanings[name] = Meaning("", marks)
    if marks:
        found.strays.append(_strays(name, marks, counts))
    texts = series.map(level_text, na_action="ignore")
    return texts.where(texts.isin(levels)).astype(pd.CategoricalDtype(levels, ordered=True))


# ---- codes -------------------------------------------------------------------------------------


def _without_codes(
    frame: pd.DataFrame, untouched: Collection[str | None], meanings: dict[str, Meaning]
) -> pd.DataFrame:
    """The table with codes for missing values left out, and named."""
    numbers = {
        name: frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        if is_number(dtype) and not types.is_bool_dtype(dtype) and name not in untouched
    }
    codes = {name: one for name, values in numbers.items() if (one := missing_codes(values))}
    if not codes:
        return frame
    known = sorted({code for one in codes.values() for code in one if abs(code) >= 99})
    codes |= {
        name: one
        for name, values in numbers.items()
        if name not in codes and known and (one := missing_codes(values, known))
    }
    codes_found, changed = [], {}
    for name, one in codes.items():
        is_code = np.isin(numbers[name], one)
        changed[name] = pd.Series(np.where(is_code, np.nan, numbers[name]), frame.index)
        marks = tuple(f"{code:.10g}" for code in one)
        old = meanings.get(name, Meaning())
        meanings[name] = old._replace(marks=(*old.marks, *marks))
        codes_found.append(f"{name!r} ({', '.join(marks)} in {plural(int(is_code.sum()), 'row')})")
    notice(
        "codes for missing values, far from all other values, count as missing: "
        f"{'; '.join(codes_found[:8])}{f' and {len(codes_found) - 8} more' if len(codes_found) > 8 else ''}. "
        "codes='keep' reads them as numbers."
    )
    return _with_columns(frame, changed)
