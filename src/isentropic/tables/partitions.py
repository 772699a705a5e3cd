"""Tables in many files, or too large for memory: read one batch of rows after the other.

A source is a folder, a pattern such as ``big/*.parquet``, a file, or several of these. Its files are its
partitions, in the order of their names; rows are counted from 0 through all of them.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._core.errors import FileFormatError, InvalidInputError, listing, notice, require_extra
from .._core.files import path_of
from .readers.layout import AUTO, Layout
from .readers.streams import read_as
from .readers.table_files import DELIMITERS, kind_of_file, without_sheet

_PARQUET, _ARROW, _ARRAY = (".parquet", ".pq"), (".feather", ".arrow", ".ipc"), ".npy"
KINDS = (*_PARQUET, *_ARROW, *DELIMITERS, _ARRAY)  # of files that are read in batches
_CELLS = 2**22  # of a batch: 32 MiB of numbers
_FEWEST, _MOST = 256, 65_536  # rows of a batch
_BLOCK = 2**22  # bytes that are hashed at a time
_BUFFER = 2**20  # bytes of a column that are read at a time
_PATTERN = frozenset("*?[")
_WILDCARDS = ("*", "?", "]")  # ends of a pattern
_SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


@dataclass(frozen=True, slots=True)
class Partition:
    """A file of a source."""

    name: str  # of its own among the partitions: its path below the folder of all, without suffix
    path: Path
    layout: Layout = AUTO

    @property
    def kind(self) -> str:
        """The suffix that says how it is read."""
        kind = kind_of_file(self.path)
        assert kind in KINDS
        return str(kind)

    def columns(self) -> dict[str, str]:
        """Names of the columns, each with its kind: number, text, date, or any where only values tell."""
        with read_as(self.path, f"a whole {self.kind} file"):
            if self.kind in _PARQUET:
                import pyarrow.parquet

                return _arrow_kinds(pyarrow.parquet.read_schema(self.path))
            if self.kind in _ARROW:
                with _arrow_file(self.path) as file:
                    return _arrow_kinds(file.schema)
            if self.kind == _ARRAY:
                return dict.fromkeys(_array_columns(self._array()), "number")
        from .readers.delimited import column_names

        return dict.fromkeys(column_names(self.path, DELIMITERS[self.kind], self.layout), "any")

    def count_rows(self, kinds: dict[str, set[str]] | None = None) -> int:
        """Number of rows; a text file is read for it, which adds to ``kinds`` what its columns look like.

        A column looks like numbers, like truth values or like text, in each batch by itself. Of other files
        those columns are added that are declared as text.
        """
        if kinds is not None and self.kind not in DELIMITERS:
            for name in (name for name, kind in self.columns().items() if kind == "text"):
                kinds.setdefault(name, set()).add("text")
        with read_as(self.path, f"a whole {self.kind} file"):
            if self.kind in _PARQUET:
                import pyarrow.parquet

                return int(pyarrow.parquet.read_metadata(self.path).num_rows)
            if self.kind == _ARRAY:
                return len(self._array())
            if self.kind in _ARROW:
                with _arrow_file(self.path) as file:
                    return sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
        n_rows = 0
        for batch in self.batches(_MOST):
            n_rows += len(batch)
            if kinds is not None:
                for name in batch.columns:
                    kinds.setdefault(name, set()).update(_looks_like(batch[name]))
        return n_rows

    def batches(
        self, size: int, columns: Sequence[str] | None = None, texts: frozenset[str] = frozenset()
    ) -> Iterator[pd.DataFrame]:
        """Frames of at most ``size`` rows, whose index has the rows' numbers in the file.

        ``columns`` are those that are wanted; ``texts`` are kept to the letter where text leaves a choice.
        """
        start = 0
        for frame in self._frames(size, columns, texts):
            for first in range(0, len(frame), size):
                part = frame.iloc[first : first + size]
                yield part.set_axis(pd.RangeIndex(start, start + len(part)))
                start += len(part)

    def digest(self) -> str:
        """SHA-256 of the bytes of the file."""
        found = hashlib.sha256()
        with self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
        return found.hexdigest()

    def _frames(
        self, size: int, columns: Sequence[str] | None, texts: frozenset[str]
    ) -> Iterator[pd.DataFrame]:
        if self.kind in DELIMITERS:
            from .readers.delimited import delimited_batches

            usual = DELIMITERS[self.kind]
            yield from delimited_batches(self.path, usual, size, columns, texts, self.layout)
            return
        with read_as(self.path, f"a whole {self.kind} file"):
            if self.kind == _ARRAY:
                yield from _array_frames(self._array(), size, columns)
            else:
                yield from _arrow_frames(self.path, self.kind, size, columns)

    def _array(self) -> np.ndarray:
        X: np.ndarray = np.load(self.path, mmap_mode="r", allow_pickle=False)
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise FileFormatError(
                f"{self.path} must hold rows of numbers, got shape {X.shape} of {X.dtype}. Save a table "
                "of rows and columns."
            )
        return X


def batch_rows(n_columns: int) -> int:
    """Rows of a batch: 4 million numbers, from 256 to 65,536 rows.

    >>> batch_rows(20), batch_rows(784)
    (65536, 5349)
    """
    return int(np.clip(_CELLS // max(n_columns, 1), _FEWEST, _MOST))


# ---- finding them --------------------------------------------------------------------------------


def is_partitioned(source: Any) -> bool:
    """Whether a source is a folder, a pattern or several files, and no table by itself."""
    if isinstance(source, str) and source.startswith(("builtin:", "openml:")):
        return False
    if isinstance(source, str | os.PathLike):
        path = path_of(source)
        return os.path.isdir(path) or _is_pattern(os.fspath(source), path)
    return isinstance(source, list | tuple)


def _is_pattern(text: str, path: Path) -> bool:
    """Whether a path is no file, and a pattern of files that are read in batches, or of folders.

    ``data [2024]/book.xlsx#Sold`` is a sheet of a file, there or not.
    """
    if not _PATTERN & set(text) or os.path.exists(path) or os.path.exists(without_sheet(path)[0]):
        return False
    if kind_of_file(path) in KINDS or _PATTERN & set(path.suffix) or text.endswith(_WILDCARDS):
        return True
    return _names_folders(text, path)


def _names_folders(text: str, path: Path) -> bool:
    return text.endswith(_SEPARATORS) or any(map(os.path.isdir, glob.iglob(str(path))))


def partitions_of(source: Any, layout: Layout = AUTO) -> tuple[Partition, ...]:
    """The files of a source, in the order of their names; a list of files keeps its own order.

    Paths are absolute, as they are read by processes that may run in another folder. A file may be named
    several times in a list, and then counts as often.
    """
    given = list(source) if isinstance(source, list | tuple) else [source]
    paths = [path for one in given for path in _files_of(one)]
    if not paths:
        raise InvalidInputError(
            f"source must be files of rows, got none in {str(source)!r}. Name a folder, a pattern in quotes "
            f"such as 'big/*.parquet', or a file; the suffix is one of {', '.join(KINDS)}."
        )
    if any(kind_of_file(path) in (*_PARQUET, *_ARROW) for path in paths):
        require_extra("parquet", "A source of Parquet or Arrow files")
    return tuple(Partition(n, p, layout) for n, p in zip(_names_of(paths), paths, strict=True))


def _files_of(source: str | os.PathLike[str]) -> list[Path]:
    path = path_of(source).absolute()
    if path.is_dir():
        found = sorted(one for one in path.rglob("*") if one.is_file() and not _is_hidden(one, path))
        return [one for one in found if _in_batches(one)]
    if path.exists():
        if not _in_batches(path):
            raise InvalidInputError(
                f"{path} must be a file that is read in batches, {', '.join(KINDS)}, got "
                f"{path.suffix or 'no suffix'!r}. Write it as Parquet, or embed it as one table."
            )
        return [path]
    found = sorted(map(Path, glob.iglob(str(path), recursive=True)))
    files = [one for one in found if _in_batches(one)]
    return files or [file for folder in found if folder.is_dir() for file in _files_of(folder)]


def _in_batches(path: Path) -> bool:
    """Whether a file is of a kind that is read in batches; text may be packed."""
    return path.is_file() and kind_of_file(path) in KINDS


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def _names_of(paths: Sequence[Path]) -> list[str]:
    """Paths below the folder that all are in, without suffix; numbered where two would be the same."""
    folder = os.path.commonpath([path.absolute().parent for path in paths])
    names = [path.absolute().relative_to(folder).with_suffix("").as_posix() for path in paths]
    if len(set(names)) == len(names):
        return names
    digits = len(str(len(names) - 1))
    return [f"{name}-{number:0{digits}}" for number, name in enumerate(names)]


# ---- checks before the work ----------------------------------------------------------------------


def require_alike(partitions: Sequence[Partition], needed: Iterable[str] | None = None) -> dict[str, str]:
    """The columns of the first file; raises where another lacks one, or has it in another kind.

    With ``needed``, the columns that count. Their order may differ; columns that only some files have are
    named in a notice.
    """
    first = partitions[0].columns()
    names = list(first if needed is None else needed)
    _require_columns(partitions[0], first, names)
    kinds = {name: first[name] for name in names}
    more: dict[str, str] = {}
    for partition in partitions[1:]:
        found = partition.columns()
        _require_columns(partition, found, names)
        for name, kind in kinds.items():
            if kind == "any":
                kinds[name] = found[name]
            elif found[name] not in ("any", kind):
                raise FileFormatError(
                    f"{partition.path} must have a {kind} in column {name!r}, as {partitions[0].path.name} "
                    f"has, got a {found[name]}. Write both files alike."
                )
        if needed is None:
            more |= {name: partition.path.name for name in found if name not in first}
    if more:
        notice(f"columns that only some files have are left out: {listing(more)}.")
    return {name: first[name] for name in names}


def _require_columns(partition: Partition, found: dict[str, str], needed: Sequence[str]) -> None:
    lacking = [name for name in needed if name not in found]
    if lacking:
        raise InvalidInputError(
            f"{partition.path} must have the columns of all files, got none called {listing(lacking)}. Its "
            f"columns are {listing(found)}."
        )


def _looks_like(column: pd.Series) -> set[str]:
    """What the values of a batch of text were read as; nothing where all are missing."""
    values = column if column.dtype != object else column.dropna()
    found = pd.api.types.infer_dtype(values, skipna=True)
    if found == "boolean":
        return {"boolean"}
    is_number = pd.api.types.is_numeric_dtype(column.dtype)
    if found == "empty" or (is_number and not column.notna().any()):
        return set()
    return {"number" if is_number else "text"}


# ---- Arrow, Parquet and arrays -------------------------------------------------------------------


def _arrow_kinds(schema: Any) -> dict[str, str]:
    return {field.name: _arrow_kind(field.type) for field in schema if not _is_counted(field.name)}


def _is_counted(name: str) -> bool:
    return name == "__index_level_0__"  # what pandas calls an index without a name


def _arrow_kind(kind: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _arrow_kind(kind.value_type)
    if types.is_null(kind):
        return "any"
    if types.is_temporal(kind):
        return "date"
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return "number" if is_number or types.is_decimal(kind) else "text"


def _arrow_file(path: Path) -> Any:
    import pyarrow

    return pyarrow.ipc.open_file(pyarrow.memory_map(str(path)))


def _arrow_frames(path: Path, kind: str, size: int, columns: Sequence[str] | None) -> Iterator[pd.DataFrame]:
    import pyarrow
    import pyarrow.parquet

    from .readers.arrow import frame_of_table

    if kind in _PARQUET:
        # Of a buffer of its own size and on one thread: else earlier and later row groups are held as well.
        options = {"page_checksum_verification": True, "pre_buffer": False, "buffer_size": _BUFFER}
        with pyarrow.parquet.ParquetFile(path, **options) as file:
            for batch in file.iter_batches(
                size, columns=None if columns is None else list(columns), use_threads=False
            ):
                yield frame_of_table(_plain(pyarrow.Table.from_batches([batch])))
        return
    with _arrow_file(path) as file:
        for number in range(file.num_record_batches):
            table = _plain(pyarrow.Table.from_batches([file.get_batch(number)]))
            yield frame_of_table(table if columns is None else table.select(list(columns)))


def _plain(table: Any) -> Any:
    """Without what pandas wrote of its index; checked, as the offsets of damaged text would lead anywhere."""
    table.validate(full=True)
    return table.select([n for n in table.column_names if not _is_counted(n)]).replace_schema_metadata(None)


def _array_columns(X: np.ndarray) -> list[str]:
    return [f"x{j}" for j in range(X.shape[1])]


def _array_frames(X: np.ndarray, size: int, columns: Sequence[str] | None) -> Iterator[pd.DataFrame]:
    names = _array_columns(X)
    for start in range(0, len(X), size):
        frame = pd.DataFrame(np.array(X[start : start + size]), columns=names)
        yield frame if columns is None else frame[list(columns)]
