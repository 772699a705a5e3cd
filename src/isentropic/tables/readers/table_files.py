"""Table files by suffix, ZIP archives included. Nothing is truncated or unpickled."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from ..._core.errors import FileFormatError, InvalidInputError, listing, notice, printable
from ..._core.files import atomic_write
from ..._core.runtime import require_memory
from ..raw import RawTable
from .layout import AUTO, Layout
from .streams import PACKINGS, open_stream, packing_of, read_as, require_file

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": ",", ".dat": ","}
_JSON, _EXCEL, _ARROW = (".jsonl", ".ndjson"), (".xlsx", ".xlsm"), (".feather", ".arrow", ".ipc")
_OTHERS = (".json", ".parquet", ".pq", ".arff", ".npy", ".npz", ".idx", ".zip")
SUFFIXES = (*DELIMITERS, *_JSON, *_EXCEL, *_ARROW, *_OTHERS)
SHEETS = (*DELIMITERS, *_JSON, *_EXCEL, ".json", ".zip")  # which people and programs write, with empty rows
_BY_NAME = {  # modules and functions that take a path and the name of the table
    **dict.fromkeys((".parquet", ".pq"), ("arrow", "read_parquet")),
    **dict.fromkeys(_JSON, ("json_documents", "read_jsonl")),
    **dict.fromkeys(_ARROW, ("arrow", "read_arrow")),
    ".json": ("json_documents", "read_json"),
}
LOOSE = (".txt", ".dat", ".json", ".zip")  # which also hold other things than tables
PACKED = (*DELIMITERS, *_JSON, ".json", ".arff", ".idx")  # what may also come packed
_IDX_NAME = re.compile(r".*(idx\d*|idx\d*-\w+|ubyte)")  # train-images-idx3-ubyte, digits.idx


def kind_of_file(path: Path) -> str | None:
    """The suffix that says how to read a file (``.idx`` for every IDX name), or None."""
    name = without_sheet(path)[0].name.lower()
    packing = packing_of(Path(name))
    plain = name.removesuffix(packing or "")
    suffix = ".idx" if _IDX_NAME.fullmatch(plain) else Path(plain).suffix
    known = SUFFIXES if packing is None else PACKED
    return suffix if suffix in known else None


def without_sheet(path: Path) -> tuple[Path, str | None]:
    """``book.xlsx`` and the sheet of ``book.xlsx#Sheet``, or any other path and None."""
    file, mark, sheet = str(path).rpartition("#")
    is_sheet = bool(mark) and Path(file).suffix.lower() in _EXCEL
    return (Path(file), sheet) if is_sheet else (path, None)


def table_name(path: Path) -> str:
    """The file's name without what says how to read it."""
    path, sheet = without_sheet(path)
    plain = path.name.removesuffix(path.suffix) if packing_of(path) else path.name
    if sheet is not None:
        return printable(f"{path.stem} {sheet}")
    return printable(Path(plain).stem if Path(plain).suffix.lower() in SUFFIXES else plain)


def read_file(
    path: Path, target: str | None, text_columns: frozenset[str], layout: Layout = AUTO
) -> RawTable:
    """The table in a file; ``text_columns`` are kept to the letter where the format leaves a choice."""
    kind, name = kind_of_file(path), table_name(path)
    path, sheet = without_sheet(path)
    require_file(path)
    if kind == ".zip":
        return _read_zip(path, target, text_columns, layout)
    if kind not in DELIMITERS:
        layout.require_none(f"a {kind} file", but_header=kind in _EXCEL)
    if kind in DELIMITERS:
        from .delimited import read_delimited

        return RawTable(read_delimited(path, DELIMITERS[kind], text_columns, layout=layout), name)
    if kind in _EXCEL:
        from .excel import read_excel

        return read_excel(path, sheet, name, layout)
    if kind in _BY_NAME:
        module, function = _BY_NAME[kind]
        found: RawTable = getattr(import_module(f".{module}", __package__), function)(path, name)
        return found
    if kind == ".arff":
        from .arff import read_arff

        return RawTable(read_arff(path), name)
    if kind == ".idx":
        from .arrays import read_images

        return read_images(path, target, name)
    if kind in (".npy", ".npz"):
        from .arrays import read_npy, read_npz

        return (read_npy if kind == ".npy" else read_npz)(path, target, name)
    raise InvalidInputError(
        f"source must be a file whose name ends in one of {', '.join(SUFFIXES)} (text and .idx also packed: "
        f"{', '.join(PACKINGS)}), got {path.name!r}. Rename it, or read it with pandas and load the frame."
    )


def _read_zip(path: Path, target: str | None, text_columns: frozenset[str], layout: Layout) -> RawTable:
    from .table_files import unzip_member

    with unzip_member(path, lambda file: kind_of_file(file) not in (None, ".zip")) as file:
        return replace(read_file(file, target, text_columns, layout), name=table_name(path))


# ---- ZIP archives --------------------------------------------------------------------------------


_CHUNK = 1 << 20


@contextmanager
def unzip_member(path: Path, is_table: Callable[[Path], bool]) -> Iterator[Path]:
    """The one table of an archive, in a folder of its own that is removed afterwards."""
    with TemporaryDirectory() as folder:
        with read_as(path, "a ZIP archive"), open_stream(path) as stream, zipfile.ZipFile(stream) as archive:
            member = _member(archive, is_table, path)
            require_memory(member.file_size, f"{member.filename} in {path.name}", "Keep fewer rows in it.")
            file = Path(folder) / (PurePosixPath(member.filename).name or "table")
            _unpack(archive, member, file, path)
        yield file


def _member(archive: zipfile.ZipFile, is_table: Callable[[Path], bool], path: Path) -> zipfile.ZipInfo:
    """The table among the files; what is left out beside it is named."""
    files = [item for item in archive.infolist() if not item.is_dir() and not _is_hidden(item.filename)]
    tables = [item for item in files if is_table(Path(item.filename))]
    if len(tables) != 1:
        got = listing(item.filename for item in tables or files) if files else "an empty one"
        raise FileFormatError(
            f"{path} must be an archive with one table in it, got {got}. Unpack it and name a file."
        )
    if tables[0].flag_bits & 1:
        raise FileFormatError(
            f"{path} must be an archive without a password, got one with. Unpack it and name the file."
        )
    others = [item.filename for item in files if item is not tables[0]]
    beside = f" Left out beside it: {listing(others)}." if others else ""
    notice(f"{path.name} is an archive, of which {tables[0].filename!r} is read.{beside}")
    return tables[0]


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: Path, path: Path) -> None:
    """Write a member to a file, no more than it claims to be."""
    n_bytes = 0
    with archive.open(member) as source, atomic_write(file, at_once=True) as target:
        while chunk := _next_chunk(source, path):
            n_bytes += len(chunk)
            if n_bytes > member.file_size:
                raise FileFormatError(
                    f"{path} must be a whole archive, got more than it says. Write it again."
                )
            target.write(chunk)


def _next_chunk(source: IO[bytes], path: Path) -> bytes:
    with read_as(path, "a ZIP archive"):  # what is damaged is the archive, not the file that is written
        return source.read(_CHUNK)
