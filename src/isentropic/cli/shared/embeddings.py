"""Maps read back from the files that ``isentropic embed`` writes, row by row beside the table they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..._core.errors import FileFormatError, InvalidInputError, require
from .output import TABLES, require_suffix

if TYPE_CHECKING:
    import pandas as pd

    from ..._core.values import Table

_MOST_DIGITS = 9  # of the running number of a column


@dataclass(frozen=True, slots=True)
class Embedding:
    """Coordinates in columns, and the names of the rows where the file has them."""

    coordinates: pd.DataFrame
    row_names: tuple[str, ...] | None  # without the quotes that stop formulas
    written_names: tuple[str, ...] | None  # as the file has them
    named_by: str  # the column that they come from

    def names_in(self, table: Table) -> tuple[str, ...] | None:
        """The names as the table has them, whether the file was written with ``--raw-text`` or not.

        A quote before a formula makes longer names, so that both ways cannot give those of the table.
        """
        is_raw = self.written_names is not None and set(self.written_names) == set(table.row_names)
        return self.written_names if is_raw else self.row_names


def read_coordinates(table: Table, path: Path, called: str = "EMBEDDING") -> pd.DataFrame:
    """The coordinates in a file, in the order of the table's rows; ``called`` is its name in errors."""
    preparation = table.preparation
    return match_rows(read_embedding(path, preparation.target, preparation.index, called), table, called)


def read_embedding(
    path: Path, target: str | None = None, index: str | None = None, called: str = "EMBEDDING"
) -> Embedding:
    """The map in a file of coordinates: numbered columns, as ``isomap0`` and ``isomap1``, else all numbers.

    The first column names the rows, unless it is a coordinate too; the target is none.
    """
    import numpy as np

    from ...tables.map_files import escape_formula, unescape_formula
    from ...tables.raw import require_readable
    from ...tables.readers.table_files import DELIMITERS, kind_of_file, read_file

    require_suffix(called, path, TABLES)
    named = index or "row"
    frame = require_readable(read_file(path, None, frozenset({named, escape_formula(named)}))).frame
    plain = [unescape_formula(name) for name in frame.columns]
    frame = frame.set_axis(plain, axis=1) if len(set(plain)) == len(plain) else frame
    columns = list(frame.columns)
    no_coordinate = {target or "target", f"{target}_"}
    numeric = [name for name in columns if frame[name].dtype.kind in "iuf" and name not in no_coordinate]
    chosen = _numbered(columns, numeric) or _numbers(frame, numeric)
    if not chosen:
        raise FileFormatError(
            f"{path} must have columns of coordinates, got {', '.join(columns)}. "
            "Write one with 'isentropic embed'."
        )
    coordinates = frame[chosen].astype(float)
    lost = int(np.count_nonzero(~np.isfinite(coordinates)))
    require(lost == 0, f"the coordinates in {called}", "finite everywhere", f"{lost} that are not")
    if columns[0] in chosen:
        return Embedding(coordinates, None, None, columns[0])
    written = _written_names(path, frame[columns[0]])
    is_text = kind_of_file(path) in DELIMITERS
    names = tuple(map(unescape_formula, written)) if is_text else written
    return Embedding(coordinates, names, written, columns[0])


def _written_names(path: Path, column: pd.Series) -> tuple[str, ...]:
    """Names of rows to the letter, where text leaves a choice: NA, spaces, 007."""
    from ...tables.readers.delimited import first_fields
    from ...tables.readers.table_files import DELIMITERS, kind_of_file

    kind = kind_of_file(path)
    fields = first_fields(path, DELIMITERS[kind]) if kind in DELIMITERS else []
    return tuple(fields if len(fields) == len(column) else map(str, column))


def _numbered(columns: Sequence[str], numeric: Sequence[str]) -> list[str]:
    """The longest run of columns of numbers that are called the same but for a running number."""
    runs: list[list[str]] = []
    known = set(numeric)
    before: tuple[str, int] | None = None
    for column in columns:
        found = _name_and_number(column) if column in known else None
        if found is not None and before is not None and found == (before[0], before[1] + 1):
            runs[-1].append(column)
        elif found is not None:
            runs.append([column])
        before = found
    return max(reversed(runs), key=len, default=[])


def _name_and_number(column: str) -> tuple[str, int] | None:
    name = column.rstrip("0123456789")
    digits = column[len(name) :]
    return (name, int(digits)) if 1 <= len(digits) <= _MOST_DIGITS else None


def _numbers(frame: pd.DataFrame, numeric: Sequence[str]) -> list[str]:
    """All columns of numbers but a first one of whole numbers, which names the rows."""
    first = frame.columns[0]
    return [name for name in numeric if name != first or bool((frame[name] % 1 != 0).any())]


def match_rows(embedding: Embedding, table: Table, called: str = "EMBEDDING") -> pd.DataFrame:
    """The coordinates in the order of the table's rows, by name where both have names."""
    coordinates, names, n = embedding.coordinates, embedding.names_in(table), len(table.row_names)
    must_be = f"a map of the {n} rows of DATA"
    hint = "Were rows left out? Give the options that DATA was embedded with."
    require(len(coordinates) == n, called, must_be, f"{len(coordinates)} rows", hint)
    numbers = tuple(map(str, range(n)))
    if names is None or names == table.row_names:
        return coordinates
    # Names that happen to count the rows are names all the same, in whatever order either file has them.
    named_alike = embedding.named_by == (table.preparation.index or "row")
    same_names = named_alike and set(names) == set(table.row_names)
    if (names == numbers and not same_names) or (table.row_names == numbers and not named_alike):
        return coordinates
    strangers = sorted(set(table.row_names) - set(names))
    if strangers:
        raise InvalidInputError(
            f"{called} must be a map of the rows of DATA, but has no row {strangers[0]!r}. "
            "Say with --index which column names the rows, or leave the names out of the file."
        )
    places = {name: place for place, name in enumerate(names)}
    must_be = "a map whose rows are in the order of DATA, or have a name of their own"
    require(len(places) == n, called, must_be, "names that repeat")
    return coordinates.iloc[[places[name] for name in table.row_names]].reset_index(drop=True)
