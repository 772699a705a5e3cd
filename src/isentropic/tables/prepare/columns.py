"""Columns: what kind each is, and how it becomes numbers, alike for the fitted table and for new rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from ..._core.errors import InvalidInputError, listing, notice
from ..._core.values import Floats
from ..cells import GROUPED, MONEY, SPACE, number_in
from .dates import are_dates, days, texts_of
from .tails import Transform

Kind = Literal["number", "date", "nominal"]
KINDS = get_args(Kind)
MAX_LEVELS = 100  # a text column with more levels is not one-hot coded unless it was declared nominal
FEW_WORDS = 20  # beside numbers: a column with more of them is text
UNSEEN = -1.0  # code of a level that the fitted table did not have

_NUMBERS = ("boolean", "integer", "floating", "mixed-integer-float", "decimal", "empty")
_DATES = ("date", "datetime", "datetime64")
_MIXTURES = ("mixed-integer", "mixed")
_NEARLY = 0.95  # share of amounts that makes a text column one of them
_AMOUNT = re.compile(
    rf"[(+-]?{SPACE}*{MONEY}?{SPACE}*[+-]?(?:{GROUPED}|\d+)(?:[.,]\d+)?{SPACE}*(?:{MONEY}|[%‰])?[)]?"
)
_AMOUNT_SIGN = re.compile(rf"{MONEY}|[%‰(]|{GROUPED}")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: a number, a date (in days since 1970) or one of the named levels."""

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    flag: bool = False  # one more feature says whether the value was missing
    cycles: tuple[str, ...] = ()  # of a date: two more features for each, its place on a circle
    ordered: bool = False  # of levels: they rise in this order, in equal steps
    transform: Transform | None = None  # of numbers: what is done to them before they are scaled
    style: str = ""  # how text is a number (decimal mark and unit, as ",€") or a date ("dmy" or "mdy")
    marks: tuple[str, ...] = ()  # words and codes that count as missing

    def feature_names(self, nominal: str) -> tuple[str, ...]:
        """Names of the features that the column becomes: itself, or ``column=level`` for each level.

        A date with cycles adds ``column:year-sin``, ``column:year-cos`` and the like. The last is
        ``column=(missing)`` where missing values have a flag.
        """
        mark = "(missing)" if "(missing)" not in self.levels else "(no value)"
        flag = (f"{self.name}={mark}",) if self.flag else ()
        if self.has_levels(nominal):
            return (*(f"{self.name}={level}" for level in self.levels), *flag)
        circles = (f"{self.name}:{cycle}-{axis}" for cycle in self.cycles for axis in ("sin", "cos"))
        return (self.name, *circles, *flag)

    def has_levels(self, nominal: str) -> bool:
        """Whether it becomes one feature for each level; ordered levels are one number."""
        return self.kind == "nominal" and nominal == "onehot" and not self.ordered


def first_features(columns: Sequence[Column], nominal: str) -> npt.NDArray[np.int64]:
    """Number of the first feature that each column became."""
    widths = [len(column.feature_names(nominal)) for column in columns]
    return np.cumsum([0, *widths[:-1]], dtype=np.int64)


def is_number(dtype: Any) -> bool:
    """Whether a column of this type holds numbers; booleans are 0 and 1."""
    return types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)


# ---- what kind a column is ---------------------------------------------------------------------


def describe(series: pd.Series, name: str, nominal: str) -> Column:
    """The kind of a column and its levels; raises where a next step is up to the analyst."""
    if is_number(series.dtype):
        return Column(name, "number")
    if types.is_datetime64_any_dtype(series.dtype):
        return Column(name, "date")
    if isinstance(series.dtype, pd.CategoricalDtype) and len(series.cat.categories):
        levels = _distinct(series.cat.categories, name)
        return Column(name, "nominal", levels, ordered=bool(series.cat.ordered))
    content = types.infer_dtype(series, skipna=True)
    if content in _NUMBERS:
        return Column(name, "number")
    if content in _DATES:
        return Column(name, "date")
    is_mixture = content in _MIXTURES and all(isinstance(value, (str, Number)) for value in series.dropna())
    if content == "string" or is_mixture:
        return _describe_text(series, name, nominal)
    raise InvalidInputError(
        f"column {name!r} must be numbers, booleans, dates or text, got {content} ({series.dtype}). "
        f"Convert it, or leave it out: drop=[{name!r}]."
    )


def _distinct(categories: Iterable[Any], name: str) -> tuple[str, ...]:
    levels = tuple(map(level_text, categories))
    if len(set(levels)) < len(levels):
        raise InvalidInputError(
            f"column {name!r} must have levels that differ as text, got {listing(levels)}. Rename its "
            "categories."
        )
    return levels


def _describe_text(series: pd.Series, name: str, nominal: str) -> Column:
    counts = word_counts(series)
    words = pd.Series(counts.index.astype(object))
    is_numeric = pd.to_numeric(words, errors="coerce").notna()
    if is_numeric.all():
        if len(words):
            notice(
                f"column {name!r} holds numbers written as text; they are read as numbers. "
                "For levels, give the column pandas' dtype 'category'."
            )
        return Column(name, "number")
    if are_dates(words, counts.to_numpy()):
        return Column(name, "date")
    if not _are_amounts(words, counts.to_numpy(), name, nominal):
        share = counts.to_numpy()[is_numeric].sum() / counts.sum()
        _question_levels(words, is_numeric, share, name, nominal)
    return Column(name, "nominal", tuple(sorted(words)))


def word_counts(series: pd.Series) -> pd.Series:
    """Count of each word of a text column, the most frequent first; empty text is missing."""
    return series.map(level_text, na_action="ignore").replace("", np.nan).value_counts()


def _are_amounts(words: pd.Series, counts: np.ndarray, name: str, nominal: str) -> bool:
    """Whether words are amounts in several units or styles: levels, and named so."""
    signed = words[words.str.contains(_AMOUNT_SIGN).to_numpy(dtype=bool) & look_like_amounts(words)]
    share = counts[look_like_amounts(words)].sum() / max(counts.sum(), 1)
    if not len(signed) or share < _NEARLY:
        return False
    remedy = "For numbers, write them in one unit, without %, signs of money and thousands, as 1234.5."
    if nominal == "onehot" and len(words) > MAX_LEVELS:
        raise InvalidInputError(
            f"column {name!r} must be numbers or have at most {MAX_LEVELS} levels, got {len(words)} amounts "
            f"written as text, as {signed.iloc[0]!r}. {remedy} Or leave it out: drop=[{name!r}]."
        )
    notice(
        f"column {name!r} holds amounts written as text, as {signed.iloc[0]!r}, and is read as levels. "
        f"{remedy}"
    )
    return True


def look_like_amounts(words: pd.Series) -> npt.NDArray[np.bool_]:
    """Flags of words that are numbers, also with a sign for percent, money or thousands."""
    return words.str.fullmatch(_AMOUNT).to_numpy(dtype=bool)


def _question_levels(words: pd.Series, is_numeric: pd.Series, share: float, name: str, nominal: str) -> None:
    others = words[~is_numeric]
    mostly_numbers = share >= 0.5 and len(others) <= FEW_WORDS
    noun = "word" if len(others) == 1 else "words"
    strays = f"numbers in {share:.0%} of the rows, and the {noun} {listing(others)}"
    if nominal == "onehot" and len(words) > MAX_LEVELS:
        got = strays if mostly_numbers else f"{len(words)} levels ({listing(words[:3])} ...)"
        remedy = f"For numbers, leave the {noun} empty. Else choose" if mostly_numbers else "Choose"
        raise InvalidInputError(
            f"column {name!r} must be numbers or have at most {MAX_LEVELS} levels, got {got}. {remedy} "
            f"drop=[{name!r}], index={name!r} if it names the rows, nominal='coded', or pandas' dtype "
            "'category' if every level counts."
        )
    if mostly_numbers:
        notice(
            f"column {name!r} looks numeric but is read as {len(words)} levels: it has {strays}. "
            f"For numbers, leave the {noun} empty, which is a missing value."
        )


def level_text(value: Any) -> str:
    """The name of a level: text as it is, 1.0 as ``1``."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


# ---- how it becomes numbers --------------------------------------------------------------------


def encode(series: pd.Series, column: Column) -> Floats:
    """Numbers, days or codes of levels; NaN where missing, ``UNSEEN`` for a level that is not known."""
    if column.marks:
        series = without_marks(series, column.marks)
    if column.kind == "nominal":
        return _codes(series, column.levels)
    absent = series.isna().to_numpy()
    if absent.all():
        return np.full(len(series), np.nan)
    if column.kind == "date":
        return days(series, column.name, column.style)
    if types.is_datetime64_any_dtype(series.dtype):
        raise _not_of_kind(column.name, "numbers", series)
    if is_number(series.dtype):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return _styled_numbers(series, column) if column.style else _parsed_numbers(series, column.name)


def without_marks(series: pd.Series, marks: tuple[str, ...]) -> pd.Series:
    """The column with words and codes that count as missing left out."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.where(~series.map(level_text).isin(marks).to_numpy(dtype=bool))
    if is_number(series.dtype):
        codes = [float(mark) for mark in marks if _is_float(mark)]
        return series.astype(np.float64).where(~series.isin(codes).to_numpy(dtype=bool))
    words = series.map(level_text, na_action="ignore")
    return series.where(~words.isin(marks).to_numpy(dtype=bool))


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _styled_numbers(series: pd.Series, column: Column) -> Floats:
    """Numbers in the style of the fitted table, each different word once."""
    codes, cells = pd.factorize(series.where(series.astype(object) != ""))
    values = np.array([*(cell_number(cell, column.style) for cell in cells), np.nan])
    distinct = pd.Series(cells, dtype=object)
    strays = np.isnan(values[:-1])
    if strays.any():
        raise _not_of_kind(column.name, f"numbers, as {_example(column.style)!r}", distinct[strays])
    return np.asarray(values[codes])


def cell_number(cell: Any, style: str) -> float:
    """The number in a cell: text in a style, or a number as it is; NaN where it is none."""
    return number_in(cell.strip(), style) if isinstance(cell, str) else float(cell)


def _example(style: str) -> str:
    return f"1234{style[0]}5 {style[1:]}".strip()


def _codes(series: pd.Series, levels: tuple[str, ...]) -> Floats:
    with np.errstate(over="ignore"):  # of long doubles
        codes, uniques = pd.factorize(series)
    position = {level: float(code) for code, level in enumerate(levels)}
    is_dates = types.is_datetime64_any_dtype(series.dtype)
    texts = texts_of(uniques) if is_dates else [level_text(value) for value in uniques]
    known = [np.nan if text == "" else position.get(text, UNSEEN) for text in texts]
    by_code: Floats = np.array([*known, np.nan])  # factorize codes a missing value as -1: the last one
    return np.asarray(by_code[codes])


def _parsed_numbers(series: pd.Series, name: str) -> Floats:
    if types.infer_dtype(series, skipna=True) == "complex":
        raise _not_of_kind(name, "numbers", series)  # to be cut to their real parts without a word
    values = np.full(len(series), np.nan)
    present = series.notna().to_numpy() & (series.astype(object) != "").to_numpy(dtype=bool)
    try:
        values[present] = series[present].astype(np.float64)
    except OverflowError:
        raise _not_of_kind(name, "numbers up to 1.8e308", series[present]) from None
    except (ValueError, TypeError):
        strays = pd.to_numeric(series[present].astype(str), errors="coerce").isna()
        raise _not_of_kind(name, "numbers", series[present][strays.to_numpy()]) from None
    return values


def _not_of_kind(name: str, must_be: str, strays: pd.Series) -> InvalidInputError:
    return InvalidInputError(
        f"column {name!r} must be {must_be}, got {listing(texts_of(strays.dropna().unique()))}. "
        "Correct the values, or leave them empty and choose missing='drop' or 'median'."
    )
