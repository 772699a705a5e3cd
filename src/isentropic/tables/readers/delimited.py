"""CSV and TSV: UTF-8 text, the same number of fields in every line."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..._errors import FileFormatError
from ..prepare.precision import LARGEST, exact_number
from ..raw import require_distinct, require_few
from .layout import AUTO, MISSING_MARKS, SAMPLE, SEPARATOR_LINE, Layout, has_header, records, separator_of
from .streams import opened, require_text

_LONGEST_NAME = 10_000  # letters of the name of a column
_OTHER_WAY = "If it differs on purpose, read it with pandas.read_csv and load the frame."


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the first lines of a file show."""

    separator: str
    names: list[str]
    n_before: int  # lines before the first row that is read
    has_header: bool


def read_delimited(
    path: Path,
    usual: str,
    text_columns: frozenset[str] = frozenset(),
    missing_marks: tuple[str, ...] = MISSING_MARKS,
    layout: Layout = AUTO,
) -> pd.DataFrame:
    """The frame of a file, every line of it; ``text_columns`` stay text."""
    require_text(path, layout.separator or usual)
    with _clear_errors(path):
        shape = _shape(path, usual, layout)
        options = _options(shape, text_columns, missing_marks)
        frame = _exact(_parsed(path, options), path, options)
        if len(frame) and frame.iloc[:, -1].isna().any():  # where pandas hides that a line is too short
            _require_even(path, shape.separator, len(shape.names))
    return frame


def first_fields(path: Path, usual: str) -> list[str]:
    """The first field of every line below the names, to the letter: NA is a name, and so is a space."""
    with _clear_errors(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is decided was said when the file was read
        shape = _shape(path, usual, AUTO)
        with _lines(path) as lines:
            rows = csv.reader(lines, delimiter=shape.separator)
            found = [row[0] for row in islice(rows, shape.n_before, None) if len(row) > 1]
    return found[shape.has_header :]


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} must be UTF-8 text, got byte 0x{error.object[error.start]:02x}. Save it as UTF-8, or "
            "read it with pandas.read_csv(path, encoding='latin-1') and load the frame."
        ) from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as error:
        text = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
        if isinstance(error, pd.errors.ParserWarning):  # which speaks of pandas' options
            text = "a line with more fields"
        raise FileFormatError(
            f"{path} must have as many fields in every line as in the first, got: {text}. "
            f"Correct the line. {_OTHER_WAY}"
        ) from error


@contextmanager
def _lines(path: Path) -> Iterator[TextIOWrapper]:
    with opened(path) as stream, TextIOWrapper(stream, encoding="utf-8-sig", newline="") as lines:
        yield lines


def _shape(path: Path, usual: str, layout: Layout) -> _Shape:
    """The separator and the names, by the first lines; ``usual`` is what the suffix says."""
    n_before, lines, is_whole = _first_lines(path, layout.separator or usual)
    said = SEPARATOR_LINE.fullmatch(lines[0].strip())  # as Excel writes and reads it
    if said is not None and len(lines) > 1:
        n_before, lines, layout = (
            n_before + 1,
            lines[1:],
            replace(layout, separator=layout.separator or said[1]),
        )
    separator = layout.separator or separator_of(lines, usual, path.name)
    rows = records(lines, separator)
    first, below = rows[0], rows[1:] if is_whole else rows[1:-1]  # the last may be cut within its quotes
    require_few(len(first), path)
    if not has_header(first, below, layout, path.name):
        return _Shape(separator, [f"x{j}" for j in range(len(first))], n_before, False)
    names = [field.strip() or f"Unnamed: {position}" for position, field in enumerate(first)]
    longest = max(map(len, names))
    if longest > _LONGEST_NAME:
        raise FileFormatError(
            f"{path} must have names of at most {_LONGEST_NAME:,} letters, got one of {longest:,}. "
            "Is a quote left open in the first line?"
        )
    require_distinct(names, path.name)
    return _Shape(separator, names, n_before, True)


def _first_lines(path: Path, separator: str) -> tuple[int, list[str], bool]:
    """How many lines come before the first with a field in it, that line and some more; if these are all."""
    with _lines(path) as lines:
        for n_before, first in enumerate(lines):
            if any(field.strip() for field in next(csv.reader([first], delimiter=separator), [])):
                sample = list(chain([first], islice(lines, SAMPLE)))
                return n_before, sample, next(lines, None) is None
    raise FileFormatError(
        f"{path} must have names of columns in the first line, got an empty file. Write it again."
    )


def _options(shape: _Shape, text_columns: frozenset[str], missing_marks: tuple[str, ...]) -> dict[str, Any]:
    names, marks = shape.names, frozenset(missing_marks)

    # Not dtype=str: its table of words takes the square of their number where their hashes are made to meet.
    def as_text(word: str) -> Any:
        return np.nan if word in marks else word

    return {
        "sep": shape.separator,
        "skiprows": shape.n_before,
        "header": 0 if shape.has_header else None,
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


def _require_even(path: Path, separator: str, n_fields: int) -> None:
    with _lines(path) as lines:
        rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        for row in rows:
            if row and len(row) < n_fields:
                raise csv.Error(f"Expected {n_fields} fields in line {rows.line_num}, saw {len(row)}")
