"""Files by suffix. A file is read whole or refused; nothing is truncated or unpickled."""

from __future__ import annotations

import re
from pathlib import Path

from .._errors import InvalidInputError, printable
from .raw import RawTable
from .streams import require_file

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
    return printable(Path(plain).stem if Path(plain).suffix.lower() in SUFFIXES else plain)


def read_file(path: Path, target: str | None, text_columns: frozenset[str]) -> RawTable:
    """The table in a file; ``text_columns`` are kept to the letter where the format leaves a choice."""
    require_file(path)
    kind, name = kind_of_file(path), table_name(path)
    if kind in DELIMITERS:
        from .delimited import read_delimited

        return RawTable(read_delimited(path, DELIMITERS[kind], text_columns), name)
    if kind in (".parquet", ".pq"):
        from .parquet import read_parquet

        return read_parquet(path, name)
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
