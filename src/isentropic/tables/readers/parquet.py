"""Parquet, through pyarrow. Pages that carry a checksum are verified; those without cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from ..._core.extras import require_extra
from ..._core.runtime import require_memory
from ..prepare.precision import LARGEST
from ..raw import RawTable, require_distinct
from .streams import opened, read_as

_BATCH = 16_384  # rows that are unpacked before the budget is asked again


def read_parquet(path: Path, name: str) -> RawTable:
    """The columns of a file; an index with a name is a column too."""
    require_extra("parquet", "A Parquet file")  # pandas would say less well what is missing
    import pyarrow.parquet

    with read_as(path, "a Parquet file"), opened(path) as stream:
        file = pyarrow.parquet.ParquetFile(stream, page_checksum_verification=True)
        table = _table(file, path)
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


def _table(file: Any, path: Path) -> Any:
    """All rows, unpacked in parts: a page of few bytes may stand for any number of rows and letters."""
    import pyarrow

    head = file.metadata
    what, hint = f"reading {path.name}", "Keep fewer columns or rows in the file."
    require_memory(8 * head.num_rows * head.num_columns, what, hint)
    parts, size = [], 0
    for batch in file.iter_batches(_BATCH):
        size += batch.nbytes
        require_memory(size, what, hint)
        parts.append(batch)
    return pyarrow.Table.from_batches(parts, file.schema_arrow)


def frame_of_table(table: Any) -> pd.DataFrame:
    """As pandas has it, but for whole numbers beside missing ones: pandas would round those beyond 2^53."""
    import pyarrow

    frame: pd.DataFrame = table.to_pandas(date_as_object=False)  # which ends in the year 9999
    for field in table.schema:
        column = table[field.name] if table.schema.names.count(field.name) == 1 else None
        if column is None or not (pyarrow.types.is_integer(field.type) and column.null_count):
            continue
        if field.name in frame.columns and frame[field.name].abs().max() >= LARGEST:
            frame[field.name] = column.to_pandas(integer_object_nulls=True).to_numpy()
    return frame
