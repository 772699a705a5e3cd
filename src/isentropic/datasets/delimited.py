"""CSV and TSV: UTF-8 text, names in the first line, the same number of fields in every line."""

from __future__ import annotations

import csv
import re
import warnings
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._errors import FileFormatError
from .notices import listed, notice
from .precision import LARGEST, exact_number
from .raw import require_distinct, require_few
from .streams import opened, require_text

# 'None' is not among them: it is a category in well-known tables.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "?")
_FRACTION = re.compile(r"\s*[+-]?\d*[.]\d+([eE][+-]?\d+)?\s*")
_LONGEST_NAME = 10_000  # letters of the name of a column
_OTHER_WAY = "If it differs on purpose, read it with pandas.read_csv and load the frame."


def read_delimited(
    path: Path,
    delimiter: str,
    text_columns: frozenset[str] = frozenset(),
    missing_marks: tuple[str, ...] = MISSING_MARKS,
) -> pd.DataFrame:
    """The frame of a file, every line of it; ``text_columns`` stay text."""
    require_text(path, delimiter)
    try:
        names, n_before = _header(path, delimiter)
        options = _options(delimiter, names, n_before, text_columns, missing_marks)
        frame = _exact(_parsed(path, options), path, options)
        if len(frame) and frame.iloc[:, -1].isna().any():  # where pandas hides that a line is too short
            _require_even(path, delimiter, len(names))
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} must be UTF-8 text, got byte 0x{error.object[error.start]:02x}. Save it as UTF-8, or "
            "read it with pandas.read_csv(path, encoding='latin-1') and load the frame."
        ) from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as error:
        text = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise FileFormatError(
            f"{path} must have as many fields in every line as names in the first, got: {text}. "
            f"Correct the line. {_OTHER_WAY}"
        ) from error
    return frame


def _header(path: Path, delimiter: str) -> tuple[list[str], int]:
    """The names, and how many lines come before them."""
    with opened(path) as stream, TextIOWrapper(stream, encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        filled = ((n, row) for n, row in enumerate(rows) if any(field.strip() for field in row))
        n_before, header = next(filled, (0, []))
    names = [field.strip() or f"Unnamed: {position}" for position, field in enumerate(header)]
    if not header:
        raise FileFormatError(
            f"{path} must have names of columns in the first line, got an empty file. Write it again."
        )
    other = next((mark for mark in ";\t," if len(names) == 1 and mark in names[0]), None)
    if other is not None:
        raise FileFormatError(
            f"{path} must have fields separated by {delimiter!r}, got {other!r} in {names[0]!r}. "
            f"Read it with pandas.read_csv(path, sep={other!r}) and load the frame."
        )
    require_few(len(names), path)
    longest = max(map(len, names))
    if longest > _LONGEST_NAME:
        raise FileFormatError(
            f"{path} must have names of at most {_LONGEST_NAME:,} letters, got one of {longest:,}. "
            "Is a quote left open in the first line?"
        )
    require_distinct(names, path.name)
    fractions = [name for name in names if _FRACTION.fullmatch(name)]
    if fractions:
        notice(
            f"{path.name} has numbers for names of columns: {listed(fractions)}. If its first line holds "
            "data, read it with pandas.read_csv(path, header=None) and load the frame."
        )
    return names, n_before


def _options(
    delimiter: str,
    names: list[str],
    n_before: int,
    text_columns: frozenset[str],
    missing_marks: tuple[str, ...],
) -> dict[str, Any]:
    marks = frozenset(missing_marks)

    # Not dtype=str: its table of words takes the square of their number where their hashes are made to meet.
    def as_text(word: str) -> Any:
        return np.nan if word in marks else word

    return {
        "sep": delimiter,
        "skiprows": n_before,
        "header": 0,
        "names": names,
        "index_col": False,
        "converters": {name: as_text for name in names if name in text_columns},
        "keep_default_na": False,
        "na_values": list(missing_marks),
        "skipinitialspace": True,
        "skip_blank_lines": len(names) > 1,  # of one column it is a row: one whose value is missing
        "low_memory": False,
        "encoding": "utf-8",
    }


def _parsed(path: Path, options: dict[str, Any]) -> pd.DataFrame:
    with opened(path) as stream, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # it would drop the fields that are too many
        return pd.read_csv(stream, **options)


def _exact(frame: pd.DataFrame, path: Path, options: dict[str, Any]) -> pd.DataFrame:
    """The frame, with whole numbers that pandas has rounded beside missing ones or fractions as they were."""
    floats = frame.select_dtypes("float")
    large = floats.columns[((floats.abs() >= LARGEST) & np.isfinite(floats)).any().to_numpy(dtype=bool)]
    if not len(large):
        return frame
    texts = _parsed(path, {**options, "usecols": list(large), "converters": dict.fromkeys(large, str)})
    for name in large:
        numbers = [np.nan if text in options["na_values"] else exact_number(text) for text in texts[name]]
        if any(isinstance(number, int) for number in numbers):
            frame[name] = pd.Series(numbers, frame.index, dtype=object)
    return frame


def _require_even(path: Path, delimiter: str, n_fields: int) -> None:
    with opened(path) as stream, TextIOWrapper(stream, encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        for row in rows:
            if row and len(row) < n_fields:
                raise csv.Error(f"Expected {n_fields} fields in line {rows.line_num}, saw {len(row)}")
