"""Layout of text files: separators, header rows, titles, comments, numbers and missing values.

Separator and header are decided by the first lines, unless the caller says; each decision that is not the
plain one is a notice with the option that overrules it. Rows are lists of text, as CSV has them; an empty
field is ''.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import pandas as pd

from ..._core.errors import FileFormatError, listing, notice, plural, require, require_count
from ..cells import LARGEST, is_missing_word

# 'None' is not among them: it is a category in well-known tables.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "?")
_MARKS = frozenset(MISSING_MARKS)
_NUMBER = re.compile(r"[+-]?(\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?", re.ASCII)


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def is_missing(cell: str) -> bool:
    """Whether a cell has no value."""
    return cell.strip() in _MARKS


def frame_of(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """A frame of columns of equal length; None is missing, whole numbers beyond 2^53 stay exact."""
    return pd.DataFrame({name: _series(cells) for name, cells in columns.items()}, copy=False)


def _series(cells: Sequence[Any]) -> pd.Series:
    kinds = {type(cell) for cell in cells} - {type(None)}
    if int in kinds and (len(kinds) > 1 or None in cells):
        is_exact = kinds <= {int, float} and all(abs(cell) < LARGEST for cell in cells if type(cell) is int)
        return pd.Series(cells, dtype="float64" if is_exact else object)
    if kinds == {int} and not all(-(2**63) <= cell < 2**64 for cell in cells):
        return pd.Series(cells, dtype=object)
    return pd.Series(cells)


# ---- headers -------------------------------------------------------------------------------------


MOST_TITLES = 20  # lines above the names
_YEARS = range(1900, 2101)
JOINT = " / "  # between the names of two lines


def n_titles(rows: Sequence[Sequence[str]]) -> int:
    """Number of rows at the top that are titles or comments: one filled field, or ``#``, above wider rows.

    The row below them must look like names, unless they are comments.
    """
    if not rows:
        return 0
    width = Counter(map(len, rows)).most_common(1)[0][0]
    count = 0
    while count < min(MOST_TITLES, len(rows) - 1) and _is_title(rows[count], width):
        count += 1
    if not count or any(len(row) != width for row in rows[count + 1 :]):
        return 0
    names = rows[count]
    is_comment = all(_is_comment(row) for row in rows[:count])
    is_named = sum(map(bool, map(str.strip, names))) > 1 and not any(map(is_number, names))
    return count if is_named or (is_comment and len(names) == width) else 0


def _is_title(row: Sequence[str], width: int) -> bool:
    filled = [j for j, field in enumerate(row) if field.strip()]
    if len(row) == width:
        return (width > 2 and filled == [0]) or (width > 1 and _is_comment(row))
    return filled == [0] or _is_comment(row)


def _is_comment(row: Sequence[str]) -> bool:
    """Whether a field is a comment mark: ``#id`` may be a name."""
    return row[0].strip() == "#" or row[0].lstrip().startswith(("# ", "##"))


def notice_titles(rows: Sequence[Sequence[str]], file: str) -> None:
    """Name the lines that are left out."""
    lines = [" ".join(field for field in row if field.strip()) for row in rows]
    notice(
        f"{file} begins with {plural(len(rows), 'line')} above the names of its columns, left out: "
        f"{listing(lines)}. header=True takes the first line for names."
    )


def two_line_header(rows: Sequence[Sequence[str]]) -> tuple[list[str], int] | None:
    """Names of columns in the first two rows, joined, and how many rows they take; None where one has them.

    The second row is one of names if it has a word above each column of numbers, of which there are two or
    more: the second level of a pivot, or units. A pivot's third row may name the columns of its rows.
    """
    if len(rows) < 4 or len(rows[0]) != len(rows[1]) or list(rows[0]) == list(rows[1]):
        return None
    top, second, third = ([field.strip() for field in row] for row in rows[:3])
    numeric = _numeric_columns(rows[3:], len(top))
    if len(numeric) < 2 or not _are_names([second[j] for j in numeric]):
        return None
    has_third = len(third) == len(top) and any(third) and not any(third[j] for j in numeric)
    depth = 3 if has_third else 2
    full = _filled(top, numeric)
    names = [
        (third[j] if has_third and third[j] else "") or JOINT.join(dict.fromkeys(filter(None, pair)))
        for j, pair in enumerate(zip(full, second, strict=True))
    ]
    filled = [name for name in names if name]
    return (names, depth) if len(set(filled)) == len(filled) else None


def _numeric_columns(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    even = [row for row in rows if len(row) == width]
    return [
        j
        for j in range(width)
        if any(is_number(row[j]) for row in even)
        and all(is_number(row[j]) or is_missing(row[j]) for row in even)
    ]


def _are_names(cells: Sequence[str]) -> bool:
    if any(not cell or is_missing_word(cell) or is_missing(cell) for cell in cells):
        return False
    years = all(is_number(cell) and cell.isdigit() and int(cell) in _YEARS for cell in cells)
    return years or not any(map(is_number, cells))


def _filled(top: Sequence[str], numeric: Sequence[int]) -> list[str]:
    """The first row, a name above columns of numbers standing for the empty fields to its right, too."""
    full, last = list(top), ""
    for j in numeric:
        last = full[j] = full[j] or last
    return full


def notice_joined_header(names: Sequence[str], depth: int, file: str) -> None:
    """Name the columns whose names were joined."""
    notice(
        f"{file} has names of columns in {depth} lines; they are joined: "
        f"{listing([name for name in names if name])}. header=True takes the first line alone."
    )


# ---- layout --------------------------------------------------------------------------------------


SEPARATORS = (",", ";", "\t", "|")
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # says which it is, above the names
SAMPLE = 100  # rows below the first that are looked at
SPACES = " "  # any number of spaces and tabs
_WORDS = {"tab": "\t", "\\t": "\t", "space": SPACES, "whitespace": SPACES}  # what a shell can say
_WHOLE = re.compile(r"\d+", re.ASCII)
_YEAR_VALUES = range(1000, 3000)
_FEWEST_STEPS = 3  # numbers with equal steps between them are names of columns, as wavelengths are
_FEWEST_FRACTIONS = 5  # and fractions, of which few may lie so by chance


@dataclass(frozen=True, slots=True)
class Layout:
    """Separators and names that the caller gives; None means that the file decides."""

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
    """Warn that lines are read as one column, though spaces cut them all into as many numbers."""
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
            f"the first row of {file} holds data, and no names ({listing(first)}): columns are called 'x0', "
            "'x1' and so on. header=True takes it for names."
        )
    elif all_numbers or not _are_labels([first[j] for j in numbers]):
        notice(
            f"{file} has numbers for names of columns: {listing([first[j] for j in numbers])}. If its first "
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
    if whole and all(value in _YEAR_VALUES for value in values):
        return True
    if whole and values[0] in (0, 1) and values[-1] - values[0] == len(values) - 1:
        return True
    fewest = _FEWEST_STEPS if whole else _FEWEST_FRACTIONS
    return len(values) >= fewest and max(steps) - min(steps) <= 1e-9 * values[-1]
