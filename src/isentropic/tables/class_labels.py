"""Class labels and targets: what a class is, what marks a row as unlabelled, and how targets are coded.

Unlabelled are None, NaN, NaT, pd.NA, empty text and what a masked array hides; and the number -1, as in
scikit-learn and umap-learn, where rows can be left out (:func:`half_labelled`). Where each row must have a
class (:func:`class_codes`), -1 is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from .._core.errors import (
    InvalidInputError,
    IsentropicWarning,
    is_real,
    listing,
    message,
    notice,
    require,
    warn,
)
from .._core.values import Integers
from .prepare.columns import Column, describe, encode, is_number, level_text

Labels = npt.NDArray[Any]
NO_CLASSES = "A target of numbers has no classes: leave it out."


def class_codes(
    y: Any, n_rows: int, hint: str = NO_CLASSES, hint_for_missing: str = "Leave these rows out."
) -> Integers:
    """Classes as 0, 1, 2, ... in sorted order. Every row must have one; -1 is a class.

    >>> class_codes(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    y = as_labels(y)
    require(y.shape == (n_rows,), "y", f"one class for each of the {n_rows} rows", y.shape)
    lost = int(np.count_nonzero(missing_classes(y)))
    must_be = "classes as text or whole numbers for" if y.dtype.kind == "f" else "a class for"
    require(lost == 0, "y", f"{must_be} every row", f"{lost} without one", hint_for_missing)
    if y.dtype.kind == "f":
        whole = bool(np.isfinite(y).all() and (y == np.round(y)).all())
        require(whole, "y", "classes as text or whole numbers", "other numbers", hint)
    names = np.array(list(map(_text, y))) if y.dtype == object else y
    codes: Integers = np.unique(names, return_inverse=True)[1]
    return codes


def half_labelled(y: Any, n_rows: int, hint: str = NO_CLASSES) -> tuple[Labels, Integers]:
    """The classes of ``y``, sorted, and the number of each row's, -1 where it is unlabelled.

    >>> half_labelled(["b", None, "a"], 3)[1].tolist()
    [1, -1, 0]
    >>> half_labelled([7, -1, 5], 3)[1].tolist()
    [1, -1, 0]
    """
    y = as_labels(y)
    require(len(y) == n_rows, "y", f"one class, or a missing one, for each of the {n_rows} rows", y.shape)
    marked = _minus_ones(y)
    names, codes = _codes_of(y, missing_classes(y) | marked, hint)
    count = int(np.count_nonzero(marked))
    if count and len(names) == 1:
        got = f"-1 in {count} of {n_rows} rows and {names.tolist()[0]!r} in the others"
        hint = "If -1 is a class, give the labels as text: y.astype(str). To map all rows alike, give no y."
        must_be = "at least two classes beside -1, which marks unlabelled rows"
        raise InvalidInputError(message("y", must_be, got, hint))
    if count and _is_scale(names, count, n_rows):
        warn(
            f"y has -1 in {count} of {n_rows} rows: they are fitted as unlabelled. Give NaN there instead, "
            "or the labels as text, y.astype(str), if -1 is a class.",
            IsentropicWarning,
        )
    _warn_of_text(names, codes)
    return names, codes


def compared_classes(y: Any, n_rows: int) -> tuple[Labels, Integers]:
    """As :func:`half_labelled`, but -1 and one other number are two classes: one alone has no measure."""
    y = as_labels(y)
    others = np.unique(y[~(missing_classes(y) | _minus_ones(y))])
    return _codes_of(y, missing_classes(y), NO_CLASSES) if len(others) == 1 else half_labelled(y, n_rows)


def unlabelled_as_nan(y: Labels, codes: Integers) -> Labels:
    """The same labels where -1 is none of them; else codes, NaN for a row without a class: all read it alike.

    >>> unlabelled_as_nan(np.array([7, -1, 5]), np.array([1, -1, 0])).tolist()
    [1.0, nan, 0.0]
    """
    return np.where(codes < 0, np.nan, codes) if _minus_ones(y).any() else y


def warn_of_minus_one(names: Labels, codes: Integers, method: str) -> None:
    """Say that -1 is a class where a method needs one for each row, and -1 may mean that it has none."""
    which = np.flatnonzero(_minus_ones(names))
    if len(which) and len(names) > 2:
        warn(
            f"y has -1 in {np.count_nonzero(codes == which[0])} of {len(codes)} rows: {method} takes it as a "
            "class, as it needs one for every row. Leave these rows out if they are unlabelled.",
            IsentropicWarning,
        )
    _warn_of_text(names, codes)


def as_labels(y: Any) -> Labels:
    """``y`` as an array with one label a row: numbers, flags, dates or text; objects where some have none."""
    from sklearn.utils import column_or_1d

    if isinstance(y, np.ma.MaskedArray):
        hidden, y = np.ma.getmaskarray(y), y.data.astype(object)
        y[hidden] = None
    try:
        y = np.asarray(column_or_1d(y.astype(object) if _is_text_of_numpy_2(y) else y, warn=True))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(message("y", "one label a row", type(y).__name__, f"{error}")) from None
    require(y.dtype.kind != "V", "y", "one label a row", f"records of {y.dtype}", "Give one of their fields.")
    if y.dtype.kind == "S":
        y = y.astype(object)
    if y.dtype != object:
        return y
    given = y[~missing_classes(y)]
    if len(given) and all(is_real(value) for value in given):
        return np.array(given.tolist()) if len(given) == len(y) else y
    y = y.copy()
    y[~missing_classes(y)] = [value if _is_minus_one(value) else _text(value) for value in given]
    return y if len(given) < len(y) or _minus_ones(y).any() else y.astype(str)


def missing_classes(y: Labels) -> npt.NDArray[np.bool_]:
    """Which rows have none: None, NaN, NaT, pd.NA, or text that is empty."""
    if y.dtype == object:
        import pandas as pd

        empty = [isinstance(one, str | bytes) and not one for one in y]
        return np.asarray(pd.isna(y)) | np.array(empty, np.bool_)
    if y.dtype.kind in "US":
        return np.char.str_len(y) == 0
    if y.dtype.kind in "mM":
        return np.isnat(y)
    return np.isnan(y) if y.dtype.kind in "fc" else np.zeros(len(y), np.bool_)


def _codes_of(y: Labels, left_out: npt.NDArray[np.bool_], hint: str) -> tuple[Labels, Integers]:
    """The classes of the other rows, and the number of each row's."""
    given = y[~left_out]
    must_be, next_step = "a class for at least two rows", "Label some rows, or take a map of all."
    require(len(given) >= 2, "y", must_be, f"{len(given)} with one", next_step)
    given = as_labels(given)
    codes = np.full(len(y), -1)
    codes[~left_out] = class_codes(given, len(given), hint)
    return given[np.unique(codes[~left_out], return_index=True)[1]], codes


def _minus_ones(y: Labels) -> npt.NDArray[np.bool_]:
    if y.dtype == object:
        return np.array([_is_minus_one(value) for value in y], np.bool_)
    return np.asarray(y == -1) if y.dtype.kind in "if" else np.zeros(len(y), np.bool_)


def _is_minus_one(value: object) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool) and value == -1


def _is_text_of_numpy_2(y: Any) -> bool:
    """Which scikit-learn does not read."""
    return isinstance(getattr(y, "dtype", None), np.dtypes.StringDType)


def _text(value: Any) -> str:
    """A label among others of another kind, as text: 1, 1.0 and "1" are one class."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(int(value)) if isinstance(value, float | np.floating) and value == int(value) else str(value)


def _is_scale(names: Labels, count: int, n_rows: int) -> bool:
    """Whether -1 may well be one of the classes: others are below 0, or it is the lowest of -1, 0 and 1."""
    if names.dtype.kind not in "if":
        return False
    return bool((names < 0).any()) or (names.tolist() == [0, 1] and count < n_rows / 2)


def _warn_of_text(names: Labels, codes: Integers) -> None:
    """Say that the text "-1" is a class, where other classes are words: an array of both makes it of -1."""
    if names.dtype.kind != "U" or len(names) < 3 or "-1" not in names:
        return
    if not all(name.lstrip("-").isdigit() for name in names):
        count = np.count_nonzero(codes == int(np.flatnonzero(names == "-1")[0]))
        warn(
            f'y has the text "-1" in {count} of {len(codes)} rows: it is a class. Give None there if these '
            "rows are unlabelled.",
            IsentropicWarning,
        )


# ---- Row names: the index of a table, as text ----------------------------------------------------


Names = npt.NDArray[np.object_]


def row_names(X: Any) -> Names | None:
    """The index of a pandas table as text; None for anything else, which has no names.

    >>> import pandas as pd
    >>> row_names(pd.DataFrame({"area": [30.0, 44.0]}, index=["f01", "f02"])).tolist()
    ['f01', 'f02']
    """
    if not (hasattr(X, "iloc") and hasattr(X, "index")):
        return None
    return np.array([str(name) for name in X.index], object)


def has_default_index(X: Any) -> bool:
    """Whether the index of a pandas table only counts its rows, as it does where nobody gave another."""
    index = X.index
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def matched_names(names: Sequence[str] | Names, known: Sequence[str] | Names, what: str) -> Integers:
    """The place of each name among those that are ``known``, -1 for one that is new; no name may repeat."""
    for several in (known, names):
        require_distinct(several, what)
    places = {name: place for place, name in enumerate(known)}
    return np.array([places.get(name, -1) for name in names], np.int64)


def require_distinct(names: Sequence[str] | Names, what: str) -> None:
    """Raise where two rows have one name."""
    if len(set(names)) < len(names):
        name, count = Counter(names).most_common(1)[0]
        hint = "Leave out all but one of these rows, or name them apart."
        require(False, what, "different for every row", f"{name!r} {count} times", hint)


# ---- Targets of tables ---------------------------------------------------------------------------


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
    """Warn that -1 is read as a class, where it may be meant as the mark of unlabelled rows."""
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
