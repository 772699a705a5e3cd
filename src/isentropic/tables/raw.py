"""The value that readers hand to preparation: columns as they were read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from .._core.errors import InvalidInputError, listing

HALF = re.compile("[\ud800-\udfff]")
_MOST_COLUMNS = 200_000  # of a text file


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """Columns as a source gives them: numbers, booleans, dates, text, categories; NaN or NA is missing.

    The index of ``frame`` names the rows. A categorical column is declared nominal, its levels in
    order. ``target`` is the column that the source knows as its target; ``has_labels`` says that
    the reader has put the labels asked for into that column already.
    """

    frame: pd.DataFrame
    name: str
    target: str | None = None
    one_unit: bool = False  # all features share one unit: scaling "auto" leaves them as they are
    has_labels: bool = False
    reduction: Any = None  # of a sparse table: what made it these columns
    declared: bool = False  # the source says which columns are features: none is taken for names of rows


def require_readable(raw: RawTable) -> RawTable:
    """The table with text for column names; raises unless they differ and there is a row."""
    names = [str(name) for name in raw.frame.columns]
    require_whole(names, f"the names of the columns of {raw.name}")
    frame = raw.frame.set_axis(names, axis=1)
    require_distinct(list(frame.columns), raw.name)
    require_whole(frame.index if is_object_dtype(frame.index) else (), f"the names of the rows of {raw.name}")
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        cells = dtype.categories if isinstance(dtype, pd.CategoricalDtype) else frame[name]
        if is_object_dtype(cells.dtype):  # text of pandas itself is whole
            require_whole(cells, f"column {name!r}")
    if not len(frame):
        raise InvalidInputError(
            f"{raw.name} must have at least one row, got none. Check that the source holds more than column "
            "names."
        )
    return replace(raw, frame=frame)


def require_whole(cells: Iterable[Any], what: str) -> None:
    """Raise for text with half of a pair of surrogates: no file and no figure could hold it."""
    half = next((cell for cell in cells if isinstance(cell, str) and HALF.search(cell)), None)
    if half is not None:
        raise InvalidInputError(
            f"{what} must be text of whole characters, got half of one in {half!r}. Decode it again, or "
            "replace it: text.encode('utf-8', 'replace').decode()."
        )


def require_few(n_columns: int, path: Path) -> None:
    """Raise for more columns than text is a way to keep them: each of them takes 0.1 ms, however short."""
    if n_columns > _MOST_COLUMNS:
        raise InvalidInputError(
            f"{path} must have at most {_MOST_COLUMNS:,} columns, got {n_columns:,}. Are its rows and "
            "columns exchanged? If not, write it as numpy.save(path, X) and read the .npy file."
        )


def require_distinct(names: list[str], table: str) -> None:
    """Raise when two columns share a name."""
    if len(set(names)) < len(names):
        unique, counts = np.unique(np.array(names, dtype=object), return_counts=True)
        raise InvalidInputError(
            f"{table} must have column names that differ, got {listing(unique[counts > 1])} more than once. "
            "Rename them. If the first row of a file holds data and no names, choose header=False."
        )
