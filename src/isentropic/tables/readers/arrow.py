"""Feather and Arrow IPC files, through pyarrow. They carry no checksums, but their offsets are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from ..._core.errors import FileFormatError, InvalidInputError
from ..._core.extras import require_extra
from ..._core.runtime import require_memory
from ..raw import RawTable
from .parquet import frame_of_table, with_index_columns
from .streams import opened, read_as

_HINT = "Keep fewer columns or rows in the file."


def read_arrow(path: Path, name: str) -> RawTable:
    """The columns of a file or stream of record batches."""
    require_extra("parquet", "A Feather or Arrow file")
    with read_as(path, "a Feather or Arrow file"), opened(path) as stream:
        start = stream.read(6)
        stream.seek(0)
        _require_second(start, path)
        table = _table(stream, start, path)
        table.validate(full=True)  # offsets of damaged text would lead out of its bytes
        frame = frame_of_table(table)
    return RawTable(with_index_columns(frame, path.name), name)


def frame_of_stream(source: Any) -> pd.DataFrame:
    """A frame that is no pandas', through Arrow: the same columns, kinds and holes."""
    require_extra("parquet", f"A frame of {type(source).__module__.partition('.')[0]}")
    import pyarrow

    try:
        return frame_of_table(pyarrow.table(source))
    except (pyarrow.ArrowException, ValueError) as error:
        raise _unknown_columns(error) from error


def without_arrow_types(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose columns of Arrow's types are pandas' own: these hold dates of any year, and lists."""
    places = [j for j, dtype in enumerate(frame.dtypes) if isinstance(dtype, pd.ArrowDtype)]
    if not places:
        return frame
    import pyarrow

    columns = [frame.iloc[:, j].array.__arrow_array__() for j in places]
    try:
        plain = frame_of_table(pyarrow.table(columns, names=list(map(str, places))))
    except (pyarrow.ArrowException, ValueError) as error:
        raise _unknown_columns(error) from error
    every = [frame.iloc[:, j].set_axis(range(len(frame))) for j in range(frame.shape[1])]
    for j in places:
        every[j] = plain[str(j)]
    return pd.concat(every, axis=1).set_axis(frame.index).set_axis(frame.columns, axis=1)


def _unknown_columns(error: Exception) -> InvalidInputError:
    reason = str(error).partition("\n")[0]
    return InvalidInputError(
        f"source must have columns that pandas can hold, got one that it cannot: {reason}. Convert the "
        "column to numbers, text or dates."
    )


def _table(stream: Any, start: bytes, path: Path) -> Any:
    """All batches, the budget asked after each: one of few bytes may stand for any number of rows."""
    import pyarrow
    from pyarrow import ipc

    reader = ipc.open_file(stream) if start == b"ARROW1" else ipc.open_stream(stream)
    batches = map(reader.get_batch, range(reader.num_record_batches)) if start == b"ARROW1" else iter(reader)
    parts, size = [], 0
    for batch in batches:
        size += batch.nbytes
        require_memory(size, f"reading {path.name}", _HINT)
        parts.append(batch)
    return pyarrow.Table.from_batches(parts, reader.schema)


def _require_second(start: bytes, path: Path) -> None:
    if start.startswith(b"FEA1"):
        raise FileFormatError(
            f"{path} must be of the second version of Feather, got the first. Read it with "
            "pandas.read_feather and write it again, or as Parquet."
        )
