"""What stands above the values: titles, comments, and names of columns in two lines.

Rows are lists of text, as CSV has them; an empty field is ''.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..cells.amounts import is_missing_word
from ..notices import listed, notice, plural
from .cells import is_missing, is_number

MOST_TITLES = 20  # lines above the names
_YEARS = range(1900, 2101)
JOINT = " / "  # between the names of two lines


def n_titles(rows: Sequence[Sequence[str]]) -> int:
    """How many rows at the top are titles or comments: one filled field, or ``#``, above wider rows.

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
    """A mark by itself: ``#id`` may be a name."""
    return row[0].strip() == "#" or row[0].lstrip().startswith(("# ", "##"))


def say_titles(rows: Sequence[Sequence[str]], file: str) -> None:
    """Name the lines that are left out."""
    lines = [" ".join(field for field in row if field.strip()) for row in rows]
    notice(
        f"{file} begins with {plural(len(rows), 'line')} above the names of its columns, left out: "
        f"{listed(lines)}. header=True takes the first line for names."
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


def say_joined(names: Sequence[str], depth: int, file: str) -> None:
    """Name the columns whose names were joined."""
    notice(
        f"{file} has names of columns in {depth} lines; they are joined: "
        f"{listed([name for name in names if name])}. header=True takes the first line alone."
    )
