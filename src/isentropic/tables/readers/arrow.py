"""Parquet, Feather and Arrow files, and frames of other libraries by the Arrow interface.

Arrow files carry no checksums, but their offsets are checked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from ..._core.errors import FileFormatError, InvalidInputError, require_extra
from ..._core.runtime import memory_budget, require_memory
from ..cells import LARGEST
from ..raw import RawTable, require_distinct
from .arrow_sizes import BATCH_ROWS, MAGIC, batch_sizes, require_room
from .streams import open_stream, read_as

_HINT = "Keep fewer columns or rows in the file."


def read_parquet(path: Path, name: str) -> RawTable:
    """The columns of a file; an index with a name is a column too."""
    require_extra("parquet", "A Parquet file")  # pandas would say less well what is missing
    import pyarrow.parquet

    with read_as(path, "a Parquet file"), open_stream(path) as stream:
        file = pyarrow.parquet.ParquetFile(stream, page_checksum_verification=True)
        table = _parquet_table(file, stream, path)
        table.validate(full=True)  # text that is none would fail later, wherever it is first looked at
        frame = frame_of_table(table)
    return RawTable(with_index_columns(frame, path.name), name)


def with_index_columns(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """The frame with each part of its index that has a name as a column."""
    named = [level for level, name in enumerate(frame.index.names) if name is not None]
    if not named:
        return frame
    require_distinct([str(name) for name in (*frame.index.names, *frame.columns) if name is not None], file)
    return frame.reset_index(level=named)


def _parquet_table(file: Any, stream: Any, path: Path) -> Any:
    """All rows, unpacked in parts: a page of few bytes may stand for any number of rows and letters."""
    import pyarrow

    def require(n_bytes: int) -> None:
        require_memory(n_bytes, f"reading {path.name}", _HINT)

    require(8 * file.metadata.num_rows * file.metadata.num_columns)
    require_room(file, stream, memory_budget(), require)
    parts, size = [], 0
    for batch in file.iter_batches(BATCH_ROWS):
        size += batch.nbytes
        require(size)
        parts.append(batch)
    return pyarrow.Table.from_batches(parts, file.schema_arrow)


def frame_of_table(table: Any) -> pd.DataFrame:
    """A pandas frame in which whole numbers beyond 2^53 stay exact next to missing values."""
    import pyarrow

    frame: pd.DataFrame = table.to_pandas(date_as_object=False)  # which ends in the year 9999
    for field in table.schema:
        column = table[field.name] if table.schema.names.count(field.name) == 1 else None
        if column is None or not (pyarrow.types.is_integer(field.type) and column.null_count):
            continue
        if field.name in frame.columns and frame[field.name].abs().max() >= LARGEST:
            frame[field.name] = column.to_pandas(integer_object_nulls=True).to_numpy()
    return frame


# ---- Feather, Arrow, and other frames ------------------------------------------------------------


def read_arrow(path: Path, name: str) -> RawTable:
    """The columns of a file or stream of record batches."""
    require_extra("parquet", "A Feather or Arrow file")
    with read_as(path, "a Feather or Arrow file"), open_stream(path) as stream:
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
    """All batches, once the budget is asked: one of few bytes may stand for any number of rows."""
    import pyarrow
    from pyarrow import ipc

    is_file = start == MAGIC
    reader = ipc.open_file(stream) if is_file else ipc.open_stream(stream)
    place = stream.tell()
    _require_room(stream, reader.schema, path)
    stream.seek(place)
    batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
    parts, size = [], 0
    for batch in batches:
        size += batch.nbytes
        require_memory(size, f"reading {path.name}", _HINT)
        parts.append(batch)
    return pyarrow.Table.from_batches(parts, reader.schema)


def _require_room(stream: Any, schema: Any, path: Path) -> None:
    """Ask for the memory of all batches before the first is unpacked; a column of nulls takes none there."""
    import pyarrow

    n_nulls = sum(map(pyarrow.types.is_null, schema.types))
    size = 0
    for batch in batch_sizes(stream):
        size += batch.n_bytes + 8 * n_nulls * batch.n_rows
        require_memory(size, f"reading {path.name}", _HINT)


def _require_second(start: bytes, path: Path) -> None:
    if start.startswith(b"FEA1"):
        raise FileFormatError(
            f"{path} must be of the second version of Feather, got the first. Read it with "
            "pandas.read_feather and write it again, or as Parquet."
        )
