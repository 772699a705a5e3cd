"""JSON: records, rows or columns of one document (.json), and one record a line (.jsonl, .ndjson)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from ..._core.errors import FileFormatError, listing, notice
from ..._core.runtime import require_memory
from ..raw import HALF, RawTable, require_few
from .layout import frame_of
from .streams import open_stream, require_text

_PER_VALUE = 80  # bytes of a value of Python and its places in lists
_PER_COLUMN = 2_000  # bytes of an empty one
_PER_CELL = 16  # bytes of a cell of the frame, and of the list that it is made from
_STEP = 16 * 2**20  # bytes after which the budget is asked again


def read_jsonl(path: Path, name: str) -> RawTable:
    """The records of a file, columns in the order in which they come up; what a record lacks is missing."""
    require_text(path, ",")
    columns: dict[str, list[Any]] = {}
    count = n_values = asked = 0
    try:
        with open_stream(path) as stream, TextIOWrapper(stream, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                _add(columns, _record(line, number, path), count)
                count, n_values = count + 1, n_values + line.count(":")
                # a cell that no record has takes room, too, so the product is what counts
                size = _PER_CELL * count * len(columns) + _PER_VALUE * n_values + _PER_COLUMN * len(columns)
                if size > asked:
                    require_few(len(columns), path)
                    require_memory(size, f"reading {path.name}", "Keep fewer columns.")
                    asked = size + _STEP
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} must be UTF-8 text, got byte 0x{error.object[error.start]:02x}. Save it as UTF-8."
        ) from error
    require_few(len(columns), path)
    for cells in columns.values():
        cells.extend([None] * (count - len(cells)))
    return RawTable(frame_of(columns), name)


def _record(line: str, number: int, path: Path) -> dict[str, Any]:
    try:
        pairs = json.loads(line, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(": line")[0] or "too many brackets"
        raise FileFormatError(
            f"{path} must hold one JSON record on every line, got in line {number}: {reason}. Correct the "
            "line; a JSON document of several lines goes through pandas.read_json."
        ) from error
    is_record = isinstance(pairs, _Pairs)
    nested = [key for key, value in pairs if isinstance(value, list)] if is_record else []
    if not is_record or nested:
        got = f"a list or record in {nested[0]!r}" if nested else f"a {type(pairs).__name__}"
        raise FileFormatError(
            f"{path} must hold flat records, got {got} in line {number}. Flatten it with "
            "pandas.json_normalize(records) and load the frame."
        )
    halves = [text for pair in pairs for text in pair if isinstance(text, str) and HALF.search(text)]
    if halves:
        raise FileFormatError(
            f"{path} must hold whole characters, got half a pair of surrogates in line {number}: "
            f"{halves[0]!r}. Write the text again as UTF-8."
        )
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1)
        raise FileFormatError(
            f"{path} must have each key once in a record, got {twice!r} twice in line {number}. Rename one."
        )
    return record


class _Pairs(list[Any]):
    """Keys and values of a record, a key that comes twice among them; a plain list is an array."""


def _add(columns: dict[str, list[Any]], record: dict[str, Any], count: int) -> None:
    for key, value in record.items():
        cells = columns.setdefault(key, [])
        cells.extend([None] * (count - len(cells)))
        cells.append(value)


# ---- one document --------------------------------------------------------------------------------


_PER_BYTE = 12  # bytes of memory for each of the document: values, their places in lists and records
_PLAIN = (str, int, float, bool, type(None))


def read_json(path: Path, name: str) -> RawTable:
    """The table of a document; one record on every line is read, too."""
    require_text(path, ",")
    try:
        with open_stream(path) as stream, TextIOWrapper(stream, encoding="utf-8-sig") as lines:
            text = lines.read()
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} must be UTF-8 text, got byte 0x{error.object[error.start]:02x}. Save it as UTF-8."
        ) from error
    require_memory(_PER_BYTE * len(text), f"reading {path.name}", "Keep fewer columns or rows in the file.")
    if _is_lines(text):
        return read_jsonl(path, name)
    columns = _columns(_document(text, path), path)
    require_few(len(columns), path)
    return RawTable(frame_of(columns), name)


def _is_lines(text: str) -> bool:
    """Whether the first line is a record by itself, and there are more."""
    first, _, rest = text.strip().partition("\n")
    if not (first.startswith("{") and first.rstrip().endswith("}") and rest.strip()):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _document(text: str, path: Path) -> Any:
    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            twice = next(key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1)
            raise FileFormatError(
                f"{path} must have each key once in a record, got {twice!r} twice. Rename one."
            )
        return record

    try:
        return json.loads(text, object_pairs_hook=distinct)
    except FileFormatError:
        raise
    except (ValueError, RecursionError) as error:
        reason = str(error)[:200] or "too many brackets"
        raise FileFormatError(
            f"{path} must hold a JSON document, got {reason}. Correct it, or write it again."
        ) from error


def _columns(document: Any, path: Path) -> dict[str, list[Any]]:
    found = _table(document)
    if found is None and isinstance(document, Mapping):
        inner = {key: _table(value) for key, value in document.items() if isinstance(value, (list, dict))}
        tables = [key for key, value in inner.items() if value]
        if len(tables) == 1:
            rest = [key for key in document if key != tables[0]]
            if rest:
                notice(f"{path.name} has a table under {tables[0]!r}; left out beside it: {listing(rest)}.")
            found = inner[tables[0]]
    if not found:
        raise FileFormatError(
            f"{path} must hold a list of flat records, or lists by the names of columns, got "
            f"{_shape(document)}. Flatten it with pandas.json_normalize(records) and load the frame."
        )
    _require_plain(found, path)
    return found


def _shape(document: Any) -> str:
    if isinstance(document, Mapping):
        return f"a record of {listing(document)}" if document else "an empty record"
    if isinstance(document, list):
        kinds = sorted({type(value).__name__ for value in document})
        return f"a list of {', '.join(kinds)}" if kinds else "an empty list"
    return f"a {type(document).__name__}"


def _table(value: Any) -> dict[str, list[Any]] | None:
    """Columns of records, of lists by name, of pandas' "split" and "index"; None for anything else."""
    if isinstance(value, list):
        return _of_records(value)
    if not isinstance(value, Mapping) or not value:
        return None
    names, rows = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        return _of_rows(names, rows)
    parts = list(value.values())
    if all(isinstance(part, list) for part in parts) and len({len(part) for part in parts}) == 1:
        is_flat = all(isinstance(cell, _PLAIN) for part in parts for cell in part)
        return {name: list(part) for name, part in value.items()} if is_flat and parts[0] else None
    if all(isinstance(part, Mapping) and part for part in parts):
        keys = list(dict.fromkeys(key for part in parts for key in part))
        if all(list(part) == keys for part in parts):  # as pandas writes columns, by row
            return {name: [part[key] for key in keys] for name, part in value.items()}
    return None


def _of_records(records: Sequence[Any]) -> dict[str, list[Any]] | None:
    if not records or not all(isinstance(record, Mapping) for record in records):
        return None
    names = dict.fromkeys(key for record in records for key in record)
    return {name: [record.get(name) for record in records] for name in names}


def _of_rows(names: Sequence[Any], rows: Sequence[Any]) -> dict[str, list[Any]] | None:
    is_even = all(isinstance(row, list) and len(row) == len(names) for row in rows)
    texts = [str(name) for name in names]
    if not rows or not is_even or len(set(texts)) < len(texts):
        return None
    return {name: [row[j] for row in rows] for j, name in enumerate(texts)}


def _require_plain(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    for name, cells in columns.items():
        odd = next((cell for cell in cells if not isinstance(cell, _PLAIN)), None)
        if odd is not None:
            raise FileFormatError(
                f"{path} must hold flat records, got a list or record in {name!r}. Flatten it with "
                "pandas.json_normalize(records) and load the frame."
            )
        half = next((text for text in (name, *cells) if isinstance(text, str) and HALF.search(text)), None)
        if half is not None:
            raise FileFormatError(
                f"{path} must hold whole characters, got half a pair of surrogates: {half!r}. Write the text "
                "again as UTF-8."
            )
