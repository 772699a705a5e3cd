"""How a table lies in text or in a sheet: what separates its fields, and whether its first row holds names.

Both are decided here, by the first lines, unless the caller says; each decision that is not the plain one is
a notice with the option that overrules it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

from ..._core.errors import FileFormatError, require, require_count
from ..notices import listed, notice
from .cells import is_missing, is_number
from .headers import n_titles

SEPARATORS = (",", ";", "\t", "|")
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # says which it is, above the names
SAMPLE = 100  # rows below the first that are looked at
SPACES = " "  # any number of spaces and tabs
_WORDS = {"tab": "\t", "\\t": "\t", "space": SPACES, "whitespace": SPACES}  # what a shell can say
_WHOLE = re.compile(r"\d+", re.ASCII)
_YEARS = range(1000, 3000)
_FEWEST_STEPS = 3  # numbers with equal steps between them are names of columns, as wavelengths are
_FEWEST_FRACTIONS = 5  # and fractions, of which few may lie so by chance


@dataclass(frozen=True, slots=True)
class Layout:
    """What the caller says of separators and names; None is for the file to show."""

    separator: str | None = None
    header: bool | None = None
    skip: int | None = None  # lines before the names, whatever they are

    @classmethod
    def of(cls, separator: Any, header: Any, skip: Any = None) -> Self:
        """The choices, checked: one character, True or False, a number of lines."""
        mark = _WORDS.get(separator, separator) if isinstance(separator, str) else separator
        is_mark = isinstance(mark, str) and len(mark) == 1 and mark.isascii() and mark not in '"\r\n\0'
        require(mark is None or is_mark, "separator", "one character, as ';' or '|', tab or space", separator)
        require(header is None or type(header) is bool, "header", "True, False or None", header)
        if skip is not None:
            require_count("skip_lines", skip, least=0)
        return cls(mark, header, skip)

    def require_none(self, source: str, *, but_header: bool = False) -> None:
        """Raise where a source leaves no such choice."""
        hint = "Leave it out."
        require(self.separator is None, "separator", f"None for {source}", self.separator, hint)
        require(but_header or self.header is None, "header", f"None for {source}", self.header, hint)
        require(but_header or self.skip is None, "skip_lines", f"None for {source}", self.skip, hint)

    @property
    def is_plain(self) -> bool:
        """Whether the caller says where the names are, so that no titles are looked for."""
        return self.header is not None or self.skip is not None


AUTO = Layout()


# ---- separators --------------------------------------------------------------------------------


def records(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The filled rows in lines of text, each as its fields."""
    return [row for row in fields_of(lines, separator) if any(field.strip() for field in row)]


def fields_of(lines: Iterable[str], separator: str, *, to_the_letter: bool = False) -> Any:
    """A reader of rows; of those between spaces, however many, or between one separator."""
    if separator == SPACES:
        return csv.reader((line.replace("\t", " ").rstrip(" \r\n") for line in lines), delimiter=" ",
                          skipinitialspace=True)  # fmt: skip
    return csv.reader(lines, delimiter=separator, skipinitialspace=not to_the_letter)


def separator_of(
    lines: Sequence[str], usual: str, file: str, *, spaces: bool = False, titles: bool = True
) -> str:
    """The separator that cuts all of the first lines into the most fields; ``usual`` where none does.

    ``spaces`` may separate, too, where nothing else does; ``titles`` above the names do not count.
    """
    widths = {mark: _widths(lines, mark, titles) for mark in {usual, *SEPARATORS}}
    even = {mark: found[0] for mark, found in widths.items() if len(set(found)) == 1 and found[0] > 1}
    most = max(even.values(), default=0)
    best = [mark for mark in even if even[mark] == most]
    if usual in best or (not best and widths[usual][:1] != [1] and not spaces):
        return usual
    if len(best) == 1:
        notice(
            f"{file} has its fields separated by {best[0]!r}, {most} in each line, and is read so. "
            f"separator={usual!r} reads it otherwise."
        )
        return best[0]
    if spaces and not best and _cut_by_spaces(between := _widths(lines, SPACES, titles)):
        notice(
            f"{file} has its fields separated by spaces, {between[1]} in each line, and is read so. "
            f"separator={usual!r} reads it otherwise."
        )
        return SPACES
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
            "between them. For columns, choose separator='space'."
        )


def _cut_by_spaces(widths: Sequence[int]) -> bool:
    """Whether all lines have as many fields, or all but the names, which may lack that of the rows' names."""
    return (
        len(widths) > 1
        and widths[1] > 1
        and set(widths[1:]) == {widths[1]}
        and widths[1] - widths[0] in (0, 1)
    )


def _widths(lines: Sequence[str], separator: str, titles: bool) -> list[int]:
    try:
        rows = records(lines, separator)
        return [len(row) for row in rows[n_titles(rows) if titles else 0 :]]
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
