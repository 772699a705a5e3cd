"""Files of maps and scores: delimited text, Parquet, Feather, h5ad; formulas in cells are escaped.

A file is written completely or not at all. In CSV and TSV files, text cells and names of columns that a
spreadsheet would run as formulas have a quote before them, unless ``raw_text`` asks for them as they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from gzip import GzipFile
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pandas as pd

from .._core.errors import require_extra
from .._core.files import atomic_write

__all__ = ["MapsFrame", "free_name", "quoting_of", "write_frame", "write_maps"]


# ---- Maps as h5ad, the file of AnnData: what scanpy and its kin open -----------------------------
#
# The layout is AnnData's own, version 0.1.0 of the file and 0.2.0 of its arrays and frames: ``X`` the
# features,
# ``obs`` what is known of each row, ``obsm["X_isentropic_NAME"]`` the coordinates of each map.


PREFIX = "X_isentropic_"


def write_h5ad(
    file: IO[bytes],
    rows: pd.DataFrame,
    maps: Mapping[str, np.ndarray],
    X: np.ndarray | None = None,
    feature_names: Sequence[str] = (),
    about: Mapping[str, str] | None = None,
) -> None:
    """Write coordinates ``maps`` of the rows whose names are the first column of ``rows``, the others beside.

    Names of rows that repeat are written as they are; AnnData warns of them.
    """
    require_extra("h5ad", "An h5ad file")
    import h5py

    buffer = BytesIO()  # h5py leaves a broken file open where a disk is full
    with h5py.File(buffer, "w") as store:
        _marked(store, "anndata", "0.1.0")
        if X is not None:
            _write_array(store, "X", np.asarray(X, float))
        _write_frame(store, "obs", rows.iloc[:, 1:], [str(name) for name in rows.iloc[:, 0]])
        features = feature_names if X is not None else ()
        _write_frame(store, "var", pd.DataFrame(index=range(len(features))), list(features))
        obsm = _group(store, "obsm")
        for name, coordinates in maps.items():
            _write_array(obsm, _key(PREFIX + name), coordinates)
        for name in ("layers", "obsp", "varm", "varp"):
            _group(store, name)
        about_group = _group(_group(store, "uns"), "isentropic")
        for name, text in (about or {}).items():
            _marked(about_group.create_dataset(name, data=text, dtype=h5py.string_dtype()), "string", "0.2.0")
    file.write(buffer.getbuffer())


def free_name(name: str, taken: Container[str]) -> str:
    """``name`` for a column beside those that are taken, with ``_`` at its end where it is one of them.

    >>> free_name("row", ["row", "row_"])
    'row__'
    """
    while name in taken:
        name += "_"
    return name


def _key(name: str) -> str:
    """A name without the mark of folders in HDF5."""
    return name.replace("/", "_")


def _marked(part: Any, kind: str, version: str) -> Any:
    part.attrs["encoding-type"], part.attrs["encoding-version"] = kind, version
    return part


def _group(parent: Any, name: str) -> Any:
    return _marked(parent.create_group(name), "dict", "0.1.0")


def _write_array(parent: Any, name: str, values: np.ndarray) -> None:
    _marked(parent.create_dataset(name, data=values, compression="gzip"), "array", "0.2.0")


def _write_words(parent: Any, name: str, words: Sequence[str]) -> None:
    import h5py

    kind = h5py.string_dtype()
    # half a character, as a damaged name may end in, is no UTF-8
    safe = [word.encode(errors="backslashreplace").decode() for word in words]
    _marked(
        parent.create_dataset(name, data=np.array(safe, object), shape=(len(safe),), dtype=kind),
        "string-array",
        "0.2.0",
    )


def _write_frame(store: Any, name: str, frame: pd.DataFrame, index: Sequence[str]) -> None:
    """Columns of numbers, flags or classes; words are classes, in their order, as AnnData keeps them."""
    import h5py

    group = _marked(store.create_group(name), "dataframe", "0.2.0")
    group.attrs["_index"] = "_index"
    columns: list[str] = []
    for column in frame.columns:
        columns.append(free_name(_key(str(column)), ["_index", *columns]))  # the word is AnnData's
    group.attrs.create("column-order", np.array(columns, object), dtype=h5py.string_dtype())
    _write_words(group, "_index", index)
    for column, (_, values) in zip(columns, frame.items(), strict=True):
        if values.dtype.kind in "iufb":
            _write_array(group, column, values.to_numpy())
            continue
        codes, classes = pd.factorize(values.astype(object), sort=False)
        words = [str(one) for one in classes]
        order = np.argsort(words, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        part = _marked(group.create_group(column), "categorical", "0.2.0")
        part.attrs["ordered"] = False
        _write_array(part, "codes", np.where(codes < 0, -1, place[codes]) if len(order) else codes)
        _write_words(part, "categories", [words[i] for i in order])


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
    """Quoting for the standard library's writer, which leaves a carriage return unquoted."""
    is_bare = any("\r" in cell for cell in cells if isinstance(cell, str))
    return csv.QUOTE_NONNUMERIC if is_bare else csv.QUOTE_MINIMAL
