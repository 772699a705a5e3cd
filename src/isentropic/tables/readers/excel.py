"""Excel workbooks (.xlsx, .xlsm): one sheet as a table, with merged cells and multi-line headers.

Names stand in the first row that is not empty; values are as they were saved (through openpyxl). The value of
merged cells counts for each of them, and headers of several rows become one.
"""

from __future__ import annotations

import warnings
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..._core.errors import (
    FileFormatError,
    InvalidInputError,
    listing,
    nearest,
    notice,
    plural,
    require_extra,
)
from ..._core.runtime import require_memory
from ..raw import RawTable, require_distinct
from .layout import (
    AUTO,
    MISSING_MARKS,
    SAMPLE,
    Layout,
    frame_of,
    has_header,
    n_titles,
    notice_joined_header,
    notice_titles,
    two_line_header,
)
from .streams import open_stream, read_as

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of a sheet of Excel
_DEEPEST = 5  # rows of a header


@dataclass(frozen=True, slots=True)
class Range:
    """Merged cells, ends included; rows and columns count from 1 as in the sheet."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class Sheet:
    """The filled rows of a sheet with their numbers, and its merged cells."""

    numbers: list[int] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    merged: list[Range] = field(default_factory=list)
    n_formulas: int = 0  # that were saved without a value

    def rows_of(self, part: Range) -> range:
        """Positions of the filled rows that merged cells reach."""
        return range(bisect_left(self.numbers, part.top), bisect_right(self.numbers, part.bottom))


def fill_merged(sheet: Sheet, file: str) -> None:
    """Give every merged cell of a filled row the value that the sheet shows over all of them."""
    n_cells = sum(len(sheet.rows_of(part)) * (part.right - part.left + 1) for part in sheet.merged)
    if n_cells > MOST_COLUMNS * len(sheet.rows):
        raise FileFormatError(
            f"{file} must have merged cells that do not overlap, got overlaps. Unmerge them."
        )
    for part in sheet.merged:
        reached = sheet.rows_of(part)
        anchor = sheet.rows[reached[0]] if reached and sheet.numbers[reached[0]] == part.top else []
        value = anchor[part.left - 1] if part.left <= len(anchor) else None
        for i in reached if value is not None else ():
            row = sheet.rows[i]
            row.extend([None] * (part.right - len(row)))
            row[part.left - 1 : part.right] = [value] * (part.right - part.left + 1)


def name_merged(sheet: Sheet, n_header: int, file: str) -> None:
    """Warn that merged cells below the names were filled."""
    first = sheet.numbers[n_header] if n_header < len(sheet.numbers) else MOST_ROWS
    n_below = sum(part.top >= first for part in sheet.merged)
    if n_below:
        notice(
            f"{file} has {plural(n_below, 'merged cell')} among its values; each row and column under one "
            "has its value. Unmerge it where that is not meant."
        )


def split_header(sheet: Sheet, file: str) -> tuple[list[Any], int]:
    """The names in the first rows, and how many rows they take; fill the merged cells before."""
    n_titles = _titles(sheet)
    if n_titles:
        notice(f"{file} begins with {plural(n_titles, 'title')} over all columns, left out: "
               f"{listing(row[0] for row in sheet.rows[:n_titles])}.")  # fmt: skip
    depth = _depth(sheet, n_titles, file)
    levels = sheet.rows[n_titles : n_titles + depth]
    if depth <= 1:
        return levels[0] if levels else [], n_titles + depth
    names = []
    for j in range(max(map(len, levels))):
        words = [str(row[j]).strip() for row in levels if j < len(row) and row[j] is not None]
        names.append(" ".join(dict.fromkeys(words)) or None)
    notice(f"{file} has names of columns in {depth} rows, merged; they are joined: {listing(names)}.")
    return names, n_titles + depth


def _titles(sheet: Sheet) -> int:
    """Number of rows at the top that are one merged cell as wide as the row below it."""
    for i, (number, row) in enumerate(zip(sheet.numbers, sheet.rows, strict=True)):
        width = len(sheet.rows[i + 1]) if i + 1 < len(sheet.rows) else 0
        wide = [part for part in sheet.merged if part.top <= number <= part.bottom and part.left == 1]
        if not any(1 < width <= part.right and len(row) == part.right for part in wide):
            return i
    return 0


def _depth(sheet: Sheet, start: int, file: str) -> int:
    """Number of rows of names: as far as cells are merged downwards, one more below merged columns."""
    numbers = sheet.numbers[start : start + _DEEPEST]
    if not numbers:
        return 0
    last = numbers[0]
    for number in numbers:
        here = [part for part in sheet.merged if part.top <= number <= part.bottom]
        last = max([last, *(part.bottom for part in here if number <= last)])
        wide = [part for part in here if part.right > part.left and part.bottom == last == number]
        if wide:
            last = _next_names(sheet, number, wide, file)
        if number >= last:
            break
    return sum(number <= last for number in numbers)


def _next_names(sheet: Sheet, number: int, wide: Sequence[Range], file: str) -> int:
    """The number of the row that names the columns under merged cells."""
    i = sheet.numbers.index(number) + 1
    row = sheet.rows[i] if i < len(sheet.rows) else []
    below = [cell for part in wide for cell in row[part.left - 1 : part.right]]
    if len(below) < len(wide) + 1 or not all(isinstance(cell, str) for cell in below):
        over = sheet.rows[i - 1][wide[0].left - 1]
        raise FileFormatError(
            f"{file} must have a name for each column, got {over!r} merged over "
            f"{wide[0].right - wide[0].left + 1} columns in row {number}, and no names in the row below it. "
            "Unmerge the cell and name each column."
        )
    return sheet.numbers[i]


# ---- reading a workbook --------------------------------------------------------------------------


_MISSING = frozenset(MISSING_MARKS)
_ERRORS = frozenset({"#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!"})
_PER_CELL = 80  # bytes of a value of Python and its place in a row
_ROWS = 5_000  # after which the budget is asked again
_OLD = b"\xd0\xcf\x11\xe0"  # how .xls files begin, and .xlsx files with a password
_EXACT = 10**15  # Excel keeps 15 digits of a number
_HINT = "Keep fewer columns or rows in the sheet."


def read_excel(path: Path, sheet: str | None, name: str, layout: Layout = AUTO) -> RawTable:
    """The table in a sheet, the first if none is named; rows with nothing in them are no rows."""
    require_extra("excel", "An Excel workbook")
    again = "Save it again as .xlsx."
    with read_as(path, "an Excel workbook", again), open_stream(path) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of drop-down lists and colours, which are no data
        _require_archive(stream, path)
        import openpyxl

        with closing(openpyxl.load_workbook(stream, read_only=True, data_only=True)) as book:
            titles = [one.title for one in book.worksheets]
            title = _chosen(titles, sheet, path)
            cells = _cells(book[title], path)
    if sheet is None and len(titles) > 1:
        notice(
            f"{path.name} has {len(titles)} sheets, and {title!r}, the first, is read. {path.name}#NAME "
            f"reads another: {listing(titles[1:])}."
        )
    fill_merged(cells, path.name)
    if cells.n_formulas:
        notice(
            f"{path.name} has {plural(cells.n_formulas, 'formula')} saved without a value; they count as "
            "missing. Open the file in Excel and save it again."
        )
    columns = _columns(cells, path, layout)
    _name_long_numbers(columns, path)
    return RawTable(frame_of(columns), name)


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
            f"{listing(titles)}."
        )
    return titles[0] if sheet is None else sheet


def _cells(sheet: Any, path: Path) -> Sheet:
    """The rows that hold anything, and the merged cells, which openpyxl leaves out where it only reads."""
    from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

    found, n_cells, last = Sheet(), 0, 0

    class Parser(WorkSheetParser):
        def parse_cell(self, element: Any) -> Any:
            cell = super().parse_cell(element)
            found.n_formulas += cell["value"] is None and element.find(FORMULA_TAG) is not None
            return cell

    book = sheet.parent
    with sheet._get_source() as source:
        parser = Parser(
            source,
            sheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        for number, cells in parser.parse():
            places = [cell["column"] for cell in cells]
            _require_order(last, number, places, path)
            last = number
            if any(cell["value"] is not None for cell in cells):
                width = places[-1]
                n_cells += width
                if len(found.rows) % _ROWS == 0 or width > _ROWS:
                    require_memory(_PER_CELL * n_cells, f"the sheet {sheet.title!r} of {path.name}", _HINT)
                found.numbers.append(number)
                found.rows.append(_row(cells, width))
    merged = parser.merged_cells.mergeCell if parser.merged_cells is not None else ()
    found.merged = [Range(part.min_row, part.min_col, part.max_row, part.max_col) for part in merged]
    return found


def _require_order(last: int, number: int, places: list[int], path: Path) -> None:
    """Raise for rows and cells that come twice or lie beyond a sheet: values would be lost, or time."""
    in_order = last < number <= MOST_ROWS and all(a < b for a, b in pairwise([0, *places]))
    if not in_order or places[-1:] > [MOST_COLUMNS]:
        raise FileFormatError(
            f"{path} must have rows and cells in their order, up to {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
            f"columns, got row {number:,} after row {last:,}. Save it again in Excel."
        )


def _row(cells: Iterable[dict[str, Any]], width: int) -> list[Any]:
    row = [None] * width
    for cell in cells:
        row[cell["column"] - 1] = cell["value"]
    return row


def _columns(sheet: Sheet, path: Path, layout: Layout) -> dict[str, list[Any]]:
    header, n_header = _header(sheet, path, layout)
    if not header:
        raise FileFormatError(
            f"{path} must have names of columns in the first row of the sheet, got an empty sheet. Name "
            f"another: {path.name}#SHEET."
        )
    name_merged(sheet, n_header, path.name)
    rows = sheet.rows[n_header:]
    if n_header == 1 and not has_header(
        _texts(header), [_texts(row) for row in rows[:SAMPLE]], layout, path.name
    ):
        rows, header = sheet.rows, [f"x{j}" for j in range(len(header))]
    rows, numbers = _once(rows, sheet.numbers[len(sheet.rows) - len(rows) :], header, path.name)
    cells: list[list[Any]] = [[] for _ in header]
    n_errors = 0
    for number, row in zip(numbers, rows, strict=True):
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
    return _named(header, cells, path)


def _header(sheet: Sheet, path: Path, layout: Layout) -> tuple[list[Any], int]:
    """The names of the columns, and how many rows they and the titles above them take."""
    if layout.skip is not None:
        retained = [i for i, number in enumerate(sheet.numbers) if number > layout.skip]
        sheet.rows, sheet.numbers = [sheet.rows[i] for i in retained], [sheet.numbers[i] for i in retained]
    header, n_header = split_header(sheet, path.name)
    if n_header != 1 or layout.is_plain:
        return header, n_header
    width = max(map(len, sheet.rows[: SAMPLE + 1]))
    rows = [_texts([*row, *[None] * (width - len(row))]) for row in sheet.rows[: SAMPLE + 1]]
    start = n_titles(rows)
    if start:
        notice_titles(rows[:start], path.name)
    two = two_line_header(rows[start:])
    if two is not None:
        notice_joined_header(*two, path.name)
        return [name or None for name in two[0]], start + two[1]
    return sheet.rows[start], start + 1


def _once(
    rows: Sequence[list[Any]], numbers: Sequence[int], header: Sequence[Any], file: str
) -> tuple[list[list[Any]], list[int]]:
    """The rows and their numbers without those that hold the names again."""
    again = [len(header) > 1 and list(row) == list(header) for row in rows]
    if any(again):
        notice(f"{file} has the names of its columns again in {plural(sum(again), 'row')}, left out.")
    retained = [i for i, is_again in enumerate(again) if not is_again]
    return [rows[i] for i in retained], [numbers[i] for i in retained]


def _named(header: Sequence[Any], cells: Sequence[list[Any]], path: Path) -> dict[str, list[Any]]:
    names = [str(name).strip() if name is not None else "" for name in header]
    named = [
        (name or f"Unnamed: {j}", column)
        for j, (name, column) in enumerate(zip(names, cells, strict=True))
        if name or any(cell is not None for cell in column)
    ]
    require_distinct([name for name, _ in named], path.name)  # a sheet may call a column Unnamed: 0
    return dict(named)


def _texts(row: Sequence[Any]) -> list[str]:
    """Cells as a CSV file has them."""
    return ["" if cell is None else repr(cell) if type(cell) in (int, float) else str(cell) for cell in row]


def _name_long_numbers(columns: dict[str, list[Any]], path: Path) -> None:
    long = [name for name, cells in columns.items() if any(map(_is_long, cells))]
    if long:
        notice(
            f"{path.name} has whole numbers of more than 15 digits: {listing(long)}. Excel keeps 15, so that "
            "the last ones may be lost already. Keep such numbers as text in the sheet."
        )


def _is_long(cell: Any) -> bool:
    return type(cell) in (int, float) and abs(cell) >= _EXACT and cell == cell // 1
