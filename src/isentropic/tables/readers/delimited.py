"""CSV, TSV and other text: the same number of fields in every line below the names."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import StringIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..._core.errors import FileFormatError, notice, plural
from ..cells import LARGEST, exact_number
from ..raw import require_distinct, require_few
from .layout import (
    AUTO,
    MISSING_MARKS,
    SAMPLE,
    SEPARATOR_LINE,
    SPACES,
    Layout,
    fields_of,
    has_header,
    n_titles,
    notice_joined_header,
    notice_titles,
    separator_of,
    two_line_header,
)
from .streams import open_stream, plain_suffix, text_encoding

SPACED = (".txt", ".dat")  # suffixes of files whose fields may lie between spaces
_ENCODINGS = {"cp1252": "Windows-1252", "utf-16": "UTF-16"}
_LONGEST_NAME = 10_000  # letters of the name of a column
_OTHER_WAY = "If it differs on purpose, read it with pandas.read_csv and load the frame."


@dataclass(frozen=True, slots=True)
class _Shape:
    """Shape of a file, from its first lines."""

    separator: str
    names: list[str]
    n_before: int  # rows, empty ones too, before the first that is read
    encoding: str


def read_delimited(
    path: Path,
    usual: str,
    text_columns: frozenset[str] = frozenset(),
    missing_marks: tuple[str, ...] = MISSING_MARKS,
    layout: Layout = AUTO,
) -> pd.DataFrame:
    """The frame of a file, every line of it; ``text_columns`` stay text."""
    encoding = text_encoding(path, layout.separator or usual)
    with _clear_errors(path):
        shape = _shape(path, usual, layout, encoding)
        options = _options(shape, text_columns, missing_marks)
        frame = _parsed(path, options)
        if len(frame) and frame.iloc[:, -1].isna().any():  # where pandas hides that a line is too short
            _require_even(path, shape)
        _notice_encoding(encoding, path)
        again = _is_header_again(frame)
        if again.any():
            _notice_headers(int(again.sum()), path)
            return _without_headers(frame, again, options)
        return _exact(frame, path, options)


def column_names(path: Path, usual: str, layout: Layout = AUTO) -> list[str]:
    """Names of the columns of a file, by its first lines."""
    with _clear_errors(path):
        encoding = text_encoding(path, layout.separator or usual, in_parts=True)
        return _shape(path, usual, layout, encoding).names


def delimited_batches(
    path: Path,
    usual: str,
    size: int,
    columns: Sequence[str] | None = None,
    text_columns: frozenset[str] = frozenset(),
    layout: Layout = AUTO,
) -> Iterator[pd.DataFrame]:
    """The frames of a file, ``size`` lines each: as of :func:`read_delimited`, in the memory of one."""
    with _clear_errors(path):
        encoding = text_encoding(path, layout.separator or usual, in_parts=True)
        _notice_encoding(encoding, path)
        shape = _shape(path, usual, layout, encoding)
        options, is_even, n_headers = _options(shape, text_columns, MISSING_MARKS), False, 0
        with open_stream(path) as stream:
            frames = pd.read_csv(stream, **options, chunksize=size)
            while (frame := _next_of(frames)) is not None:
                if (
                    not is_even and frame.iloc[:, -1].isna().any()
                ):  # where pandas hides a line that is too short
                    _require_even(path, shape)
                    is_even = True
                again = _is_header_again(frame)
                if again.any():
                    n_headers += int(again.sum())
                    frame = _without_headers(frame, again, options)
                yield frame if columns is None else frame[list(columns)]
        if n_headers:
            _notice_headers(n_headers, path)


def _next_of(frames: Iterator[pd.DataFrame]) -> pd.DataFrame | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # it would drop the fields that are too many
        return next(frames, None)


def first_fields(path: Path, usual: str) -> list[str]:
    """The first field of every line below the names, to the letter: NA is a name, and so is a space."""
    with _clear_errors(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is decided was said when the file was read
        shape = _shape(path, usual, AUTO, text_encoding(path, usual))
        with _lines(path, shape.encoding) as lines:
            rows = fields_of(lines, shape.separator, to_the_letter=True)
            return [row[0] for row in islice(rows, shape.n_before, None) if len(row) > 1]


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
def _lines(path: Path, encoding: str) -> Iterator[TextIOWrapper]:
    python_name = "utf-8-sig" if encoding == "utf-8" else encoding
    with open_stream(path) as stream, TextIOWrapper(stream, encoding=python_name, newline="") as lines:
        yield lines


def _shape(path: Path, usual: str, layout: Layout, encoding: str) -> _Shape:
    """The separator and the names, by the first lines; ``usual`` is what the suffix says."""
    n_before, lines, is_whole = _first_lines(path, layout.separator or usual, encoding, layout.skip or 0)
    declared = SEPARATOR_LINE.fullmatch(lines[0].strip())  # as Excel writes and reads it
    if declared is not None and len(lines) > 1:
        n_before, lines, layout = (
            n_before + 1,
            lines[1:],
            replace(layout, separator=layout.separator or declared[1]),
        )
    separator = layout.separator or separator_of(
        lines, usual, path.name, spaces=plain_suffix(path) in SPACED, titles=not layout.is_plain
    )
    numbered = _numbered_rows(lines, separator)
    rows = [row for _, row in numbered]
    rows = rows if is_whole else rows[:-1] or rows  # the last may be cut within its quotes
    require_few(max(map(len, rows[:1])), path)
    names, n_rows = _names(rows, separator, layout, path)
    ends = numbered[n_rows - 1][0] + 1 if n_rows else 0
    longest = max(map(len, names))
    if longest > _LONGEST_NAME:
        raise FileFormatError(
            f"{path} must have names of at most {_LONGEST_NAME:,} letters, got one of {longest:,}. "
            "Is a quote left open in the first line?"
        )
    return _Shape(separator, names, n_before + ends, encoding)


def _names(rows: list[list[str]], separator: str, layout: Layout, path: Path) -> tuple[list[str], int]:
    """The names of the columns, and how many of the filled rows are above the values."""
    start = 0 if layout.is_plain else n_titles(rows)
    if start:
        notice_titles(rows[:start], path.name)
    first, below = rows[start], rows[start + 1 :]
    two = None if layout.is_plain else two_line_header(rows[start:])
    if two is not None:
        names, depth = two
        notice_joined_header(names, depth, path.name)
        return _all_named(names, path), start + depth
    if not has_header(first, below[:SAMPLE], layout, path.name):
        return [f"x{j}" for j in range(len(first))], start
    lacks_one = separator == SPACES and below and all(len(row) == len(first) + 1 for row in below)
    return _all_named(["", *first] if lacks_one else first, path), start + 1


def _all_named(fields: list[str], path: Path) -> list[str]:
    names = [field.strip() or f"Unnamed: {position}" for position, field in enumerate(fields)]
    require_distinct(names, path.name)
    return names


def _numbered_rows(lines: list[str], separator: str) -> list[tuple[int, list[str]]]:
    """The filled rows with their numbers, empty rows counted, as pandas counts what it skips."""
    rows = enumerate(fields_of(lines, separator))
    return [(number, row) for number, row in rows if any(field.strip() for field in row)]


def _first_lines(path: Path, separator: str, encoding: str, skip: int) -> tuple[int, list[str], bool]:
    """Number of empty lines at the top, the first lines with fields, and whether these are all."""
    with _lines(path, encoding) as lines:
        for n_before, first in enumerate(lines):
            if n_before < skip:
                continue
            if any(field.strip() for field in next(fields_of([first], separator), [])):
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
        "sep": r"\s+" if shape.separator == SPACES else shape.separator,
        "skiprows": shape.n_before,
        "header": None,
        "names": names,
        "index_col": False,
        "converters": {name: as_text for name in names if name in text_columns},
        "keep_default_na": False,
        "na_values": list(missing_marks),
        "skipinitialspace": True,
        "skip_blank_lines": len(names) > 1,  # of one column it is a row: one whose value is missing
        "low_memory": False,
        "encoding": shape.encoding,
    }


def _parsed(path: Path, options: dict[str, Any]) -> pd.DataFrame:
    with open_stream(path) as stream, warnings.catch_warnings():
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


def _require_even(path: Path, shape: _Shape) -> None:
    with _lines(path, shape.encoding) as lines:
        rows = fields_of(lines, shape.separator)
        for number, row in enumerate(rows):
            if number >= shape.n_before and row and len(row) < len(shape.names):
                raise csv.Error(f"Expected {len(shape.names)} fields in line {rows.line_num}, saw {len(row)}")


def _is_header_again(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Rows that hold the names of the columns once more, as in files that were put together."""
    again = np.ones(len(frame), dtype=bool)
    for name in frame.columns:
        if not again.any() or is_numeric_dtype(frame[name].dtype):
            return np.zeros(len(frame), dtype=bool)
        again &= (frame[name] == name).to_numpy(dtype=bool)
    return again & (len(frame.columns) > 1)


def _without_headers(
    frame: pd.DataFrame, again: npt.NDArray[np.bool_], options: dict[str, Any]
) -> pd.DataFrame:
    """The frame without them, its cells read again, as numbers where they are."""
    if again.all():
        return frame[~again]
    text = StringIO()
    frame[~again].to_csv(text, index=False, header=False)
    text.seek(0)
    return pd.read_csv(text, **{**options, "sep": ",", "skiprows": 0, "encoding": None})


def _notice_headers(count: int, path: Path) -> None:
    notice(f"{path.name} has the names of its columns again in {plural(count, 'row')}, left out.")


def _notice_encoding(encoding: str, path: Path) -> None:
    if encoding != "utf-8":
        text = _ENCODINGS[encoding]
        notice(f"{path.name} is read as {text} text. Save it as UTF-8 if letters look wrong.")
