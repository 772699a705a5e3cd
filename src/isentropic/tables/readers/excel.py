"""Excel workbooks, through openpyxl: names in the first row that is not empty, values as they were saved."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..._core.errors import FileFormatError, InvalidInputError, nearest
from ..._core.extras import require_extra
from ..._core.runtime import require_memory
from ..notices import listed, notice, plural
from ..raw import RawTable, require_distinct
from .cells import MISSING_MARKS, frame_of
from .excel_merges import MOST_COLUMNS, MOST_ROWS, Range, Sheet, fill_merged, name_merged, split_header
from .headers import n_titles, say_joined, say_titles, two_line_header
from .layout import AUTO, SAMPLE, Layout, has_header
from .streams import opened, read_as

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
    with read_as(path, "an Excel workbook", again), opened(path) as stream, warnings.catch_warnings():
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
            f"reads another: {listed(titles[1:])}."
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
            f"{listed(titles)}."
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
        kept = [i for i, number in enumerate(sheet.numbers) if number > layout.skip]
        sheet.rows, sheet.numbers = [sheet.rows[i] for i in kept], [sheet.numbers[i] for i in kept]
    header, n_header = split_header(sheet, path.name)
    if n_header != 1 or layout.is_plain:
        return header, n_header
    width = max(map(len, sheet.rows[: SAMPLE + 1]))
    rows = [_texts([*row, *[None] * (width - len(row))]) for row in sheet.rows[: SAMPLE + 1]]
    start = n_titles(rows)
    if start:
        say_titles(rows[:start], path.name)
    two = two_line_header(rows[start:])
    if two is not None:
        say_joined(*two, path.name)
        return [name or None for name in two[0]], start + two[1]
    return sheet.rows[start], start + 1


def _once(
    rows: Sequence[list[Any]], numbers: Sequence[int], header: Sequence[Any], file: str
) -> tuple[list[list[Any]], list[int]]:
    """The rows and their numbers without those that hold the names again."""
    again = [len(header) > 1 and list(row) == list(header) for row in rows]
    if any(again):
        notice(f"{file} has the names of its columns again in {plural(sum(again), 'row')}, left out.")
    kept = [i for i, is_again in enumerate(again) if not is_again]
    return [rows[i] for i in kept], [numbers[i] for i in kept]


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
            f"{path.name} has whole numbers of more than 15 digits: {listed(long)}. Excel keeps 15, so that "
            "the last ones may be lost already. Keep such numbers as text in the sheet."
        )


def _is_long(cell: Any) -> bool:
    return type(cell) in (int, float) and abs(cell) >= _EXACT and cell == cell // 1
