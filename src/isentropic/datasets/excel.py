"""Excel workbooks, through openpyxl: names in the first row that is not empty, values as they were saved."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from .._errors import FileFormatError, InvalidInputError, nearest
from .._extras import require_extra
from .._runtime import require_memory
from .cells import frame_of
from .delimited import MISSING_MARKS
from .notices import listed, notice, plural
from .raw import RawTable, require_distinct
from .streams import opened, read_as

_MISSING = frozenset(MISSING_MARKS)
_ERRORS = frozenset({"#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!"})
_PER_CELL = 80  # bytes of a value of Python and its place in a row
_ROWS = 5_000  # after which the budget is asked again
_OLD = b"\xd0\xcf\x11\xe0"  # how .xls files begin, and .xlsx files with a password
_HINT = "Keep fewer columns or rows in the sheet."


def read_excel(path: Path, sheet: str | None, name: str) -> RawTable:
    """The table in a sheet, the first if none is named; rows with nothing in them are no rows."""
    require_extra("excel", "An Excel workbook")
    again = "Save it again as .xlsx."
    with read_as(path, "an Excel workbook", again), opened(path) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of drop-down lists and colours, which are no data
        _require_archive(stream, path)
        import openpyxl

        with closing(openpyxl.load_workbook(stream, read_only=True, data_only=True)) as book:
            titles = [one.title for one in book.worksheets]
            title = _chosen(titles, sheet, path)
            rows = list(_filled(book[title], path))
    if sheet is None and len(titles) > 1:
        notice(
            f"{path.name} has {len(titles)} sheets, and {title!r}, the first, is read. {path.name}#NAME "
            f"reads another: {listed(titles[1:])}."
        )
    return RawTable(frame_of(_columns(rows, path)), name)


def _require_archive(stream: Any, path: Path) -> None:
    """Raise for other files, and for sheets that do not fit the budget once they are unpacked."""
    start = stream.read(4)
    if start == _OLD:
        raise FileFormatError(
            f"{path} must be an .xlsx workbook, got an old .xls or one with a password. Save it as .xlsx "
            "without a password."
        )
    stream.seek(0)
    with zipfile.ZipFile(stream) as archive:
        size = sum(item.file_size for item in archive.infolist() if item.filename.endswith(".xml"))
    require_memory(size, f"the workbook {path.name}", _HINT)
    stream.seek(0)


def _chosen(titles: list[str], sheet: str | None, path: Path) -> str:
    if not titles:
        raise FileFormatError(f"{path} must have a sheet with cells, got none. Save it again.")
    if sheet is not None and sheet not in titles:
        raise InvalidInputError(
            f"the sheet must be one of {path.name}, got {sheet!r}. {nearest(sheet, titles)}The sheets are "
            f"{listed(titles)}."
        )
    return titles[0] if sheet is None else sheet


def _filled(sheet: Any, path: Path) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The rows that hold anything, with their numbers."""
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    n_cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        n_cells += len(row)
        if number % _ROWS == 0:
            require_memory(_PER_CELL * n_cells, f"the sheet {sheet.title!r} of {path.name}", _HINT)
        if any(cell is not None for cell in row):
            yield number, row


def _columns(rows: list[tuple[int, tuple[Any, ...]]], path: Path) -> dict[str, list[Any]]:
    _, header = rows[0] if rows else (0, ())
    if not header:
        raise FileFormatError(
            f"{path} must have names of columns in the first row of the sheet, got an empty sheet. Name "
            f"another: {path.name}#SHEET."
        )
    cells: list[list[Any]] = [[] for _ in header]
    n_errors = 0
    for number, row in rows[1:]:
        beyond = next((j for j in range(len(header), len(row)) if row[j] is not None), None)
        if beyond is not None:
            raise FileFormatError(
                f"{path} must have a name above every value, got {row[beyond]!r} in row {number}, beyond the "
                f"{plural(len(header), 'name')} of the first. Give the sheet nothing but the table."
            )
        for column, value in zip(cells, (*row, *[None] * (len(header) - len(row))), strict=False):
            is_text = isinstance(value, str)
            n_errors += is_text and value in _ERRORS
            word = value.strip() if is_text else value
            column.append(None if is_text and (word in _MISSING or word in _ERRORS) else word)
    if n_errors:
        notice(f"{path.name} has {plural(n_errors, 'cell')} whose formula failed; they count as missing.")
    names = [str(name).strip() if name is not None else "" for name in header]
    named = {
        name or f"Unnamed: {j}": column
        for j, (name, column) in enumerate(zip(names, cells, strict=True))
        if name or any(cell is not None for cell in column)
    }
    require_distinct([name for name in names if name], path.name)
    return named
