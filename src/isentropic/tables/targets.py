"""Targets: classes coded 0..c-1, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from .._core.errors import InvalidInputError
from .notices import listing, notice
from .prepare.columns import Column, describe, encode, is_number, level_text

MAX_WHOLE_CLASSES = 100  # more distinct whole numbers than this are a quantity


def class_names(series: pd.Series) -> tuple[str, ...]:
    """The classes of a target in their order, or nothing when it is a quantity.

    Classes are text, booleans, the categories that occur, and up to ``MAX_WHOLE_CLASSES`` whole
    numbers. Declared categories keep their order, numbers go by size, words by the alphabet.
    """
    present = series.dropna()
    if isinstance(series.dtype, pd.CategoricalDtype):
        return tuple(map(level_text, present.cat.remove_unused_categories().cat.categories))
    if types.is_bool_dtype(series.dtype) or is_number(series.dtype):
        return _number_classes(present.unique())
    if describe(series, str(series.name), "coded").kind == "date":
        return ()
    words = [word for word in map(level_text, present.unique()) if word]
    return in_order(words)


def notice_of_minus_one(series: pd.Series | None, classes: tuple[str, ...]) -> None:
    """Say that -1 is a class, where several others make it look like the mark of rows without one."""
    if series is not None and "-1" in classes and len(classes) > 2:
        count = int((series.map(level_text, na_action="ignore") == "-1").sum())
        notice(
            f"target {series.name!r} has -1 in {count} of {len(series)} rows, which is read as a class. "
            "If these rows are unlabelled, leave their cells empty."
        )


def in_order(words: list[str]) -> tuple[str, ...]:
    """Numbers by size, words by the alphabet."""
    if pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").notna().all():
        return tuple(sorted(set(words), key=lambda word: (float(word), word)))
    return tuple(sorted(set(words)))


def _number_classes(values: Any) -> tuple[str, ...]:
    is_integer = types.is_integer_dtype(values)
    # integers as they are: beyond 2^53 a float would make two classes one
    numbers = np.sort(np.asarray(values, dtype=None if is_integer else np.float64))
    whole = np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()
    if not whole or len(numbers) > MAX_WHOLE_CLASSES:
        return ()
    if types.is_bool_dtype(values):
        return tuple(str(bool(number)) for number in numbers)
    return tuple(map(level_text, numbers))


def encode_target(series: pd.Series, classes: tuple[str, ...]) -> npt.NDArray[Any]:
    """Codes of the classes or numbers, as floats: NaN where missing; raises for infinite numbers."""
    name = str(series.name)
    if classes:
        return encode(series, Column(name, "nominal", classes))
    column = describe(series, name, "coded")
    if column.kind == "nominal":  # the fitted table had numbers there
        raise InvalidInputError(
            f"target {name!r} must be numbers, as in the fitted table, got {listing(column.levels)}. Correct "
            "it, or leave the column out: its rows are placed without a target."
        )
    y = encode(series, column)
    if np.isinf(y).any():
        raise InvalidInputError(
            f"target {name!r} must be finite, got {np.isinf(y).sum()} infinite values. Correct them in the "
            "source."
        )
    return y


def with_new_classes(series: pd.Series, classes: tuple[str, ...]) -> tuple[str, ...]:
    """The fitted classes, and after them those that only the new rows have."""
    if not classes:
        return classes
    new = in_order([word for word in map(level_text, series.dropna().unique()) if word not in (*classes, "")])
    if new:
        notice(f"target {series.name!r} has classes that the fitted table had not: {listing(new)}.")
    return (*classes, *new)
