"""JSON lines: one flat record on every line."""

from __future__ import annotations

import json
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from ..._core.errors import FileFormatError
from ..._core.runtime import require_memory
from ..raw import HALF, RawTable, require_few
from .cells import frame_of
from .streams import opened, require_text

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
        with opened(path) as stream, TextIOWrapper(stream, encoding="utf-8-sig") as lines:
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
