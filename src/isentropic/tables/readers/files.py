"""Files by suffix. A file is read whole or refused; nothing is truncated or unpickled."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from ..._core.errors import InvalidInputError, printable
from ..raw import RawTable
from .layout import AUTO, Layout
from .packing import PACKINGS, packing_of
from .streams import require_file

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": ",", ".dat": ","}
_JSON, _EXCEL, _ARROW = (".jsonl", ".ndjson"), (".xlsx", ".xlsm"), (".feather", ".arrow", ".ipc")
_OTHERS = (".json", ".parquet", ".pq", ".arff", ".npy", ".npz", ".idx", ".zip")
SUFFIXES = (*DELIMITERS, *_JSON, *_EXCEL, *_ARROW, *_OTHERS)
SHEETS = (*DELIMITERS, *_JSON, *_EXCEL, ".json", ".zip")  # which people and programs write, with empty rows
_BY_NAME = {  # modules and functions that take a path and the name of the table
    **dict.fromkeys((".parquet", ".pq"), ("parquet", "read_parquet")),
    **dict.fromkeys(_JSON, ("jsonl", "read_jsonl")),
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
        from .idx import read_images

        return read_images(path, target, name)
    if kind in (".npy", ".npz"):
        from .arrays import read_npy, read_npz

        return (read_npy if kind == ".npy" else read_npz)(path, target, name)
    raise InvalidInputError(
        f"source must be a file whose name ends in one of {', '.join(SUFFIXES)} (text and .idx also packed: "
        f"{', '.join(PACKINGS)}), got {path.name!r}. Rename it, or read it with pandas and load the frame."
    )


def _read_zip(path: Path, target: str | None, text_columns: frozenset[str], layout: Layout) -> RawTable:
    from .zipped import unzipped

    with unzipped(path, lambda file: kind_of_file(file) not in (None, ".zip")) as file:
        return replace(read_file(file, target, text_columns, layout), name=table_name(path))
