"""Merged cells of a sheet: their value counts for each of them, and headers of several rows become one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._core.errors import FileFormatError
from ..notices import listed, notice, plural

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
    """Say that merged cells below the names were filled."""
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
               f"{listed(row[0] for row in sheet.rows[:n_titles])}.")  # fmt: skip
    depth = _depth(sheet, n_titles, file)
    levels = sheet.rows[n_titles : n_titles + depth]
    if depth <= 1:
        return levels[0] if levels else [], n_titles + depth
    names = []
    for j in range(max(map(len, levels))):
        words = [str(row[j]).strip() for row in levels if j < len(row) and row[j] is not None]
        names.append(" ".join(dict.fromkeys(words)) or None)
    notice(f"{file} has names of columns in {depth} rows, merged; they are joined: {listed(names)}.")
    return names, n_titles + depth


def _titles(sheet: Sheet) -> int:
    """How many rows at the top are one merged cell as wide as the row below it."""
    for i, (number, row) in enumerate(zip(sheet.numbers, sheet.rows, strict=True)):
        width = len(sheet.rows[i + 1]) if i + 1 < len(sheet.rows) else 0
        wide = [part for part in sheet.merged if part.top <= number <= part.bottom and part.left == 1]
        if not any(1 < width <= part.right and len(row) == part.right for part in wide):
            return i
    return 0


def _depth(sheet: Sheet, start: int, file: str) -> int:
    """How many rows the names take: as far as cells are merged downwards, one more below merged columns."""
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
