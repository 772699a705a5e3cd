"""Files by suffix. A file is read whole or refused; nothing is truncated or unpickled."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .._errors import FileFormatError, InvalidInputError
from .._extras import require_extra
from .._runtime import require_memory
from .raw import RawTable

DELIMITERS = {".csv": ",", ".tsv": "\t"}
SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".arff", ".npy", ".npz", ".idx")
_PACKED = (".csv", ".tsv", ".arff", ".idx")  # what may also come as .gz
_IDX_NAME = re.compile(r".*(idx\d*|idx\d*-\w+|ubyte)")  # train-images-idx3-ubyte, digits.idx


def kind_of_file(path: Path) -> str | None:
    """The suffix that says how to read a file (``.idx`` for every IDX name), or None."""
    name = path.name.lower()
    plain = name.removesuffix(".gz")
    suffix = ".idx" if _IDX_NAME.fullmatch(plain) else Path(plain).suffix
    known = _PACKED if plain != name else SUFFIXES
    return suffix if suffix in known else None


def table_name(path: Path) -> str:
    """The file's name without what says how to read it."""
    plain = re.sub(r"(?i)\.gz$", "", path.name)
    return Path(plain).stem if Path(plain).suffix.lower() in SUFFIXES else plain


def read_file(path: Path, target: str | None, text_columns: frozenset[str]) -> RawTable:
    """The table in a file; ``text_columns`` are kept to the letter where the format leaves a choice."""
    require_file(path)
    kind, name = kind_of_file(path), table_name(path)
    if kind in DELIMITERS:
        from .delimited import read_delimited

        return RawTable(read_delimited(path, DELIMITERS[kind], text_columns), name)
    if kind in (".parquet", ".pq"):
        return _read_parquet(path, name)
    if kind == ".arff":
        from .arff import read_arff

        return RawTable(read_arff(path), name)
    if kind == ".idx":
        from .idx import read_images

        return read_images(path, target, name)
    if kind in (".npy", ".npz"):
        from .arrays import read_npy, read_npz

        return (read_npy if kind == ".npy" else read_npz)(path, target, name)
    raise InvalidInputError(
        f"source must be a file whose name ends in one of {', '.join(SUFFIXES)} (.csv, .tsv, .arff and .idx "
        f"also .gz), got {path.name!r}. Rename it, or read it with pandas and load the frame."
    )


def require_file(path: Path) -> None:
    """Raise unless the path is a file, not empty, that can fit into memory."""
    try:
        is_folder, size = path.is_dir(), path.stat().st_size
    except OSError as error:
        raise FileFormatError(f"{path} must be a file, got {error.strerror}. Check the path.") from error
    if is_folder:
        raise FileFormatError(f"{path} must be a file, got a folder. Name a file in it.")
    if not size:
        raise FileFormatError(f"{path} must hold a table, got an empty file. Write or download it again.")
    require_memory(size, f"reading {path.name}", "Keep fewer columns or rows in the file.")


def _is_packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked when its name ends in .gz; what goes wrong becomes a clear error."""
    try:
        stream: BinaryIO = gzip.open(path) if _is_packed(path) else path.open("rb")  # type: ignore[assignment] # noqa: SIM115
    except OSError as error:
        raise FileFormatError(
            f"{path} must be readable, got {error.strerror}. Check its permissions."
        ) from error
    with stream:
        try:
            yield stream
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileFormatError(
                f"{path} must be a whole gzip file, got one that is cut off or damaged ({error}). Download "
                "it again."
            ) from error


def require_start(path: Path, magic: bytes, what: str) -> None:
    """Raise unless the file starts with the bytes that mark its kind."""
    with opened(path) as stream:
        start = stream.read(len(magic))
    if start != magic:
        raise FileFormatError(
            f"{path} must be {what}, which starts with {magic!r}, got {start!r}. Give it the suffix of what "
            "it is."
        )


def _read_parquet(path: Path, name: str) -> RawTable:
    require_extra("parquet", "A Parquet file")  # pandas would say less well what is missing
    import pandas as pd
    import pyarrow
    import pyarrow.parquet

    try:
        with opened(path) as stream:
            frame = pd.read_parquet(stream, engine="pyarrow")
    except (pyarrow.ArrowException, ValueError, OSError) as error:
        raise FileFormatError(
            f"{path} must be a Parquet file, got {error}. Write or download it again."
        ) from error
    is_column = frame.index.name is not None
    return RawTable(frame.reset_index() if is_column else frame, name)
