"""Files of maps and scores: delimited text, Parquet, Feather, h5ad; formulas in cells are escaped.

A file is written completely or not at all. In CSV and TSV files, text cells and names of columns that a
spreadsheet would run as formulas have a quote before them, unless ``raw_text`` asks for them as they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from gzip import GzipFile
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal

import pandas as pd

from ..._core.files import atomic_write
from .h5ad import free_name, write_h5ad

# what OWASP lists: the signs, also in full width, and characters that a spreadsheet skips at the start
_FORMULA = re.compile(r"'*[=+\-@＝＋－＠\t\r\n].*", re.DOTALL)
_NUMBER = re.compile(r"'*[+-](\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?", re.ASCII)


def is_formula(text: str) -> bool:
    """Whether text begins, after any quotes, like a formula and is no plain number."""
    return _FORMULA.fullmatch(text) is not None and _NUMBER.fullmatch(text) is None


def escape_formula(cell: Any) -> Any:
    """A cell as a spreadsheet may open it; :func:`unescape_formula` is the exact inverse.

    >>> [escape_formula(cell) for cell in ("=1+1", "'=1+1", "'tis", "-5", -5)]
    ["'=1+1", "''=1+1", "'tis", '-5', -5]
    """
    return f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell


def unescape_formula(text: str) -> str:
    """The text without the quote that :func:`escape_formula` put before it.

    >>> [unescape_formula(text) for text in ("'=1+1", "''=1+1", "'tis", "-5", "=1+1")]
    ['=1+1', "'=1+1", "'tis", '-5', '=1+1']
    """
    return text[1:] if text.startswith("'") and is_formula(text) else text


# ---- frames of maps ------------------------------------------------------------------------------


__all__ = ["MapsFrame", "free_name", "quoting_of", "write_frame", "write_maps"]


@dataclass(frozen=True, slots=True, eq=False)
class MapsFrame:
    """Maps of a table as columns: names of the rows first, then targets, coordinates and scores."""

    frame: pd.DataFrame
    maps: Mapping[str, Sequence[str]]  # by the name of the map, its columns of coordinates
    X: Any = None  # (n, m) what was embedded, where a format holds it
    feature_names: Sequence[str] = ()
    about: Mapping[str, str] = field(default_factory=dict)


def write_maps(maps: MapsFrame, path: Path, *, raw_text: bool = False) -> None:
    """Write coordinates and scores by the suffix; numbers keep every bit."""
    if path.suffix.lower() != ".h5ad":
        write_frame(maps.frame, path, raw_text=raw_text)
        return
    coordinates = {name: maps.frame[list(columns)].to_numpy(float) for name, columns in maps.maps.items()}
    others = maps.frame.drop(columns=[column for columns in maps.maps.values() for column in columns])
    with atomic_write(path) as file:
        write_h5ad(file, others, coordinates, maps.X, maps.feature_names, maps.about)


def write_frame(frame: pd.DataFrame, path: Path, *, raw_text: bool = False) -> None:
    """Write CSV, TSV, Parquet or Feather, by the suffix; numbers keep every bit."""
    with atomic_write(path) as file:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(file, index=False, write_page_checksum=True)
        elif path.suffix.lower() == ".feather":
            frame.to_feather(file)
        else:
            _write_text(frame if raw_text else _escaped(frame), path.name.lower(), file)


def _escaped(frame: pd.DataFrame) -> pd.DataFrame:
    columns = {
        escape_formula(name): values if values.dtype.kind in "biuf" else values.map(escape_formula)
        for name, values in frame.items()
    }
    return pd.DataFrame(columns)


def _write_text(frame: pd.DataFrame, name: str, file: IO[bytes]) -> None:
    texts = (values for _, values in frame.items() if values.dtype.kind == "O")
    quoting = quoting_of(chain(frame.columns, *texts))
    separator = "\t" if ".tsv" in name else ","
    # without a name and a time of its own, so that equal rows are equal bytes
    packed = GzipFile("", "wb", fileobj=file, mtime=1) if name.endswith(".gz") else nullcontext(file)
    with packed as stream:
        frame.to_csv(stream, sep=separator, index=False, mode="wb", lineterminator="\n", quoting=quoting)


def quoting_of(cells: Iterable[object]) -> Literal[0, 2]:
    """How the standard library quotes cells, so that each stays one: it leaves a carriage return bare."""
    is_bare = any("\r" in cell for cell in cells if isinstance(cell, str))
    return csv.QUOTE_NONNUMERIC if is_bare else csv.QUOTE_MINIMAL
