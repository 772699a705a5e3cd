"""How a table lies in text or in a sheet: what separates its fields, and whether its first row holds names.

Both are decided here, by the first lines, unless the caller says; each decision that is not the plain one is
a notice with the option that overrules it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

from ..._errors import FileFormatError, require
from ..notices import listed, notice

SEPARATORS = (",", ";", "\t", "|")
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # says which it is, above the names
SAMPLE = 100  # rows below the first that are looked at
# 'None' is not among them: it is a category in well-known tables.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "?")
_WORDS = {"tab": "\t", "\\t": "\t"}  # what a shell can say
_MARKS = frozenset(MISSING_MARKS)
_NUMBER = re.compile(r"[+-]?(\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"\d+", re.ASCII)
_YEARS = range(1000, 3000)
_FEWEST_STEPS = 3  # numbers with equal steps between them are names of columns, as wavelengths are
_FEWEST_FRACTIONS = 5  # and fractions, of which few may lie so by chance


@dataclass(frozen=True, slots=True)
class Layout:
    """What the caller says of separators and names; None is for the file to show."""

    separator: str | None = None
    header: bool | None = None

    @classmethod
    def of(cls, separator: Any, header: Any) -> Self:
        """The choices, checked: one character, True or False."""
        mark = _WORDS.get(separator, separator) if isinstance(separator, str) else separator
        is_mark = isinstance(mark, str) and len(mark) == 1 and mark.isascii() and mark not in '"\r\n\0 '
        require(mark is None or is_mark, "separator", "one character, as ';' or '|', or tab", separator)
        require(header is None or type(header) is bool, "header", "True, False or None", header)
        return cls(mark, header)

    def require_none(self, source: str, *, but_header: bool = False) -> None:
        """Raise where a source leaves no such choice."""
        hint = "Leave it out."
        require(self.separator is None, "separator", f"None for {source}", self.separator, hint)
        require(but_header or self.header is None, "header", f"None for {source}", self.header, hint)


AUTO = Layout()


# ---- separators --------------------------------------------------------------------------------


def records(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The filled rows in lines of text, each as its fields."""
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [row for row in rows if any(field.strip() for field in row)]


def separator_of(lines: Sequence[str], usual: str, file: str) -> str:
    """The separator that cuts all of the first lines into the most fields; ``usual`` where none does."""
    widths = {mark: _widths(lines, mark) for mark in {usual, *SEPARATORS}}
    even = {mark: found[0] for mark, found in widths.items() if len(set(found)) == 1 and found[0] > 1}
    most = max(even.values(), default=0)
    best = [mark for mark in even if even[mark] == most]
    if usual in best or (not best and widths[usual][:1] != [1]):
        return usual
    if len(best) == 1:
        notice(
            f"{file} has its fields separated by {best[0]!r}, {most} in each line, and is read so. "
            f"separator={usual!r} reads it otherwise."
        )
        return best[0]
    marks = best or [mark for mark in SEPARATORS if widths[mark][:1] > [1]]
    if marks:
        raise FileFormatError(
            f"{file} must have fields separated by {usual!r}, got {' and '.join(map(repr, marks))} in its "
            f"first line. Say which it is: separator={marks[0]!r}, or separator={usual!r} for one column."
        )
    _notice_of_spaces(lines, file)
    return usual


def _notice_of_spaces(lines: Sequence[str], file: str) -> None:
    """Say that lines are read as one column, though spaces cut them all into as many numbers."""
    first, *below = (line.split() for line in lines if line.strip())
    if len(first) > 1 and below and all(len(row) == len(first) and all(map(is_number, row)) for row in below):
        notice(
            f"{file} is read as one column of text, though each line holds {len(first)} numbers with spaces "
            r"between them. For columns, read it with pandas.read_csv(path, sep=r'\s+') and load the frame."
        )


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    try:
        return [len(row) for row in records(lines, separator)]
    except csv.Error:  # a field of more letters than fields may have
        return []


# ---- names -------------------------------------------------------------------------------------


def has_header(first: Sequence[str], below: Sequence[Sequence[str]], layout: Layout, file: str) -> bool:
    """Whether the first row names the columns; where it holds numbers, a notice says what was decided."""
    if layout.header is not None:
        return layout.header
    numbers = [j for j, cell in enumerate(first) if is_number(cell)]
    if not numbers:
        return True
    is_data = _holds_data(first, below, numbers)
    all_numbers = all(is_number(cell) or is_missing(cell) for cell in first)
    if is_data:
        notice(
            f"the first row of {file} holds data, and no names ({listed(first)}): columns are called 'x0', "
            "'x1' and so on. header=True takes it for names."
        )
    elif all_numbers or not _are_labels([first[j] for j in numbers]):
        notice(
            f"{file} has numbers for names of columns: {listed([first[j] for j in numbers])}. If its first "
            "row holds data, choose header=False."
        )
    return not is_data


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def is_missing(cell: str) -> bool:
    """Whether a cell has no value."""
    return cell.strip() in _MARKS


def _holds_data(first: Sequence[str], below: Sequence[Sequence[str]], numbers: Sequence[int]) -> bool:
    """Numbers over numbers that are no labels, and words that come again: what a row of data looks like."""
    labels = [first[j] for j in numbers]
    second = [below[0][j] for j in numbers if j < len(below[0])] if below else []
    if _are_labels(labels) and not (len(second) == len(labels) and _are_labels(second)):
        return False
    for j, cell in enumerate(first):
        column = [row[j] for row in below if j < len(row) and not is_missing(row[j])]
        if is_number(cell):
            if not all(map(is_number, column)):
                return False
        elif not is_missing(cell) and cell.strip() not in {value.strip() for value in column}:
            return False
    return True


def _are_labels(cells: Sequence[str]) -> bool:
    """Whether numbers look like names of columns: years, 0 to m - 1, 1 to m, or equal steps."""
    if not all(map(is_number, cells)):
        return False
    values = [float(cell) for cell in cells]
    steps = [b - a for a, b in pairwise(values)]
    if any(step <= 0 for step in steps):
        return False
    whole = all(_WHOLE.fullmatch(cell.strip()) for cell in cells)
    if whole and all(value in _YEARS for value in values):
        return True
    if whole and values[0] in (0, 1) and values[-1] - values[0] == len(values) - 1:
        return True
    fewest = _FEWEST_STEPS if whole else _FEWEST_FRACTIONS
    return len(values) >= fewest and max(steps) - min(steps) <= 1e-9 * values[-1]
