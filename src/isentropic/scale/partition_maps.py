"""``map_rows``: every row of a folder of files mapped, one output file for each input file.

The tasks are independent: each reads its file in batches, maps them by :func:`map_batch` and writes one
Parquet file in one step. The file says by a key which model and which content it was made from, so that the
same call goes on where an interrupted one ended.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .. import __version__
from .._core.errors import (
    FileFormatError,
    IsentropicError,
    notice,
    plural,
    require_extra,
)
from .._core.files import atomic_write, path_of
from .._core.runtime import checked_jobs, get_config
from ..tables.partitions import Partition, batch_rows, partitions_of, require_alike
from ..tables.readers.layout import AUTO, Layout
from .batch_mapping import ModelFile, map_batch, read_once
from .map_folders import (
    FORMAT,
    KEY,
    Manifest,
    ManifestFile,
    make_folder,
    output_metadata,
    read_manifest,
    remove_outputs_without_source,
    require_output_folder,
)

_MOST_WARNINGS = 20  # different ones of a file


@dataclass(frozen=True, slots=True)
class MapTask:
    """One file to map: all that another process needs to know."""

    model: ModelFile
    partition: Partition
    out: str
    missing: str
    n_jobs: int | None


@dataclass(frozen=True, slots=True)
class MappedPartition:
    """What became of a file."""

    name: str
    source: str  # name of the file
    sha256: str = ""
    output: str = ""
    rows: int = 0  # that were mapped
    left_out: int = 0  # with missing values
    was_there: bool = False
    error: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MappedSource:
    """What became of all files of a source."""

    folder: Path
    columns: tuple[str, ...]  # of coordinates
    partitions: tuple[MappedPartition, ...]

    @property
    def n_rows(self) -> int:
        """Rows that have coordinates."""
        return sum(one.rows for one in self.partitions)

    @property
    def failed(self) -> tuple[MappedPartition, ...]:
        """Files that could not be mapped."""
        return tuple(one for one in self.partitions if one.error)

    @property
    def files(self) -> list[Path]:
        """The output files, in the order of the input."""
        return [self.folder / one.output for one in self.partitions if one.output]

    def raise_failed(self) -> None:
        """Raise if a file could not be mapped; all others are kept."""
        if self.failed:
            n = plural(len(self.failed), "file")
            reasons = " ".join(one.error for one in self.failed[:3])
            more = f" And {len(self.failed) - 3} more." if len(self.failed) > 3 else ""
            raise IsentropicError(
                f"{n} of {len(self.partitions)} could not be mapped; the others are in {self.folder}. "
                f"{reasons}{more} Correct them and say the same again: what is done is kept."
            )


def map_rows(
    model: str | Path | ModelFile,
    source: Any,
    out: str | Path,
    *,
    missing: str = "raise",
    layout: Layout = AUTO,
    n_jobs: int | None = None,
    client: Any = None,
) -> MappedSource:
    """Map every row of a source that need not fit into memory.

    Parameters
    ----------
    model : path or ModelFile
        A file that ``isentropic embed --save`` wrote.
    source : folder, pattern, file or list of files
        Parquet, Arrow, CSV and NPY files. All are checked before the first is mapped: each has the columns
        of the fitted table, in any order.
    out : path
        A folder, made if missing. It gets a Parquet file for each input file, under its name, and
        ``manifest.json``. Files that are there for the same model and the same input are kept; those of
        inputs that are gone are removed. A folder with the map of another model is refused.
    missing : {"raise", "drop", "mean", "keep"}
        What is done about missing values.
    layout : Layout
        Separator and names of columns of text files; by default each file decides.
    n_jobs : int, optional
        Threads. In a cluster each task has one.
    client : distributed.Client, optional
        A Dask cluster that maps the files; its workers read the model, the source and ``out`` by their
        paths. Without one, this process maps them, one after the other.

    Returns
    -------
    MappedSource
        Files and rows. Call ``raise_failed()`` to raise if a file could not be mapped; the others are mapped
        all the same.

    Notes
    -----
    Coordinates are the same bits for any number of files, batch size, threads and workers. Memory is that of
    one batch for each task, at most 4 million numbers and the work on them.
    """
    model = model if isinstance(model, ModelFile) else ModelFile.of(model)
    saved = read_once(model, checked_jobs(n_jobs))
    saved.require_rule(missing)
    require_extra("parquet", "Mapping files")
    partitions = partitions_of(source, layout)
    require_alike(partitions, [column.name for column in saved.preparation.columns])
    require_output_folder(path_of(out), source, partitions, model.sha256)
    folder = make_folder(out)
    earlier = read_manifest(folder)
    threads = n_jobs if client is None else 1
    tasks = [MapTask(model, one, str(folder), missing, threads) for one in partitions]
    if client is None:
        found = _reported(map(map_partition, tasks), len(tasks))
    else:
        from .cluster import run_tasks

        found = _reported(run_tasks(client, map_partition, tasks, _without_result, model=model), len(tasks))
    order = {one.name: place for place, one in enumerate(partitions)}
    done = tuple(sorted(found, key=lambda one: order[one.name]))
    columns = tuple(map(str, saved.estimator.get_feature_names_out()))
    remove_outputs_without_source(folder, earlier, [f"{one.name}.parquet" for one in partitions])
    listed = tuple(
        ManifestFile(one.name, one.source, one.sha256, one.output, one.rows, one.left_out, one.error)
        for one in done
    )
    Manifest(saved.method, Path(model.path).name, model.sha256, missing, columns, listed).write(folder)
    for text in dict.fromkeys(text for one in done for text in one.warnings):
        notice(text)
    return MappedSource(folder, columns, done)


def _reported(found: Iterable[MappedPartition], total: int) -> Iterator[MappedPartition]:
    for number, one in enumerate(found):
        progress = get_config().progress
        if progress is not None:
            progress("mapping files", number + 1, total)
        yield one


def _without_result(task: MapTask, reason: str) -> MappedPartition:
    """What to say of a file that could not be mapped, or whose workers died."""
    file = task.partition.path.name
    return MappedPartition(task.partition.name, file, error=f"{file}: {reason}")


# ---- one file ------------------------------------------------------------------------------------


def map_partition(task: MapTask) -> MappedPartition:
    """Map a file and write its coordinates, unless they are there; an error is part of what is returned."""
    partition = task.partition
    output = f"{partition.name}.parquet"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            sha256 = partition.digest()
            key = _key_of(task, sha256)
            path = Path(task.out) / output
            there = _rows_of_earlier_run(path, key)
            rows, left_out = there or _write_rows(task, path, key)
        except Exception as error:  # whatever a damaged file raises, the others are mapped
            _remove_outdated(Path(task.out) / output)
            return _without_result(task, str(error) or type(error).__name__)
    texts = tuple(dict.fromkeys(str(one.message) for one in caught))[:_MOST_WARNINGS]
    return MappedPartition(
        partition.name, partition.path.name, sha256, output, rows, left_out, there is not None, "", texts
    )


def _key_of(task: MapTask, sha256: str) -> str:
    """Hash of all that the coordinates depend on."""
    what = [FORMAT, __version__, task.model.sha256, sha256, task.missing, asdict(task.partition.layout)]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def _write_rows(task: MapTask, path: Path, key: str) -> tuple[int, int]:
    """Rows that were mapped, and that were left out for missing values."""
    import pyarrow
    import pyarrow.parquet

    saved = read_once(task.model, task.n_jobs)
    names = list(map(str, saved.estimator.get_feature_names_out()))
    row = _row_column(task, names)
    row_kind = pyarrow.int64() if row[1] is None else pyarrow.string()
    fields = [(row[0], row_kind), *((name, pyarrow.float64()) for name in names)]
    rows = left_out = 0
    make_folder(path.parent)
    schema, open_writer = pyarrow.schema(fields), pyarrow.parquet.ParquetWriter
    with (
        atomic_write(path, at_once=True) as file,
        open_writer(file, schema, write_page_checksum=True) as writer,
    ):
        for batch in _batches(task):
            Z = _map_or_name_row(task, batch)
            called = Z.index if row[1] is None else batch.loc[Z.index, row[1]].astype(str)
            columns = [pyarrow.array(called, row_kind), *(pyarrow.array(Z[name]) for name in names)]
            writer.write_table(pyarrow.table(columns, schema=schema))
            rows, left_out = rows + len(Z), left_out + len(batch) - len(Z)
        said = {"key": key, "model": task.model.sha256, "left_out": left_out}
        writer.add_key_value_metadata({KEY: json.dumps(said)})
    return rows, left_out


def _row_column(task: MapTask, taken: Sequence[str]) -> tuple[str, str | None]:
    """Name of the column that names the rows, in the output and in the input: None where they are counted."""
    from ..tables.map_files import free_name

    index = read_once(task.model, task.n_jobs).preparation.index
    is_there = index is not None and index in task.partition.columns()
    return free_name(str(index) if is_there else "row", taken), index if is_there else None


def _batches(task: MapTask) -> Iterator[pd.DataFrame]:
    saved = read_once(task.model, task.n_jobs)
    preparation = saved.preparation
    there = task.partition.columns()
    wanted = [column.name for column in preparation.columns]
    wanted += [preparation.index] if preparation.index in there else []
    yield from task.partition.batches(batch_rows(len(wanted)), wanted, saved.text_columns)


def _map_or_name_row(task: MapTask, batch: pd.DataFrame) -> pd.DataFrame:
    """Coordinates of a batch; an error names the first row that is refused."""
    try:
        return _mapped(task, batch)
    except (IsentropicError, ValueError) as error:
        row, reason = _first_refused(task, batch, error)
        raise FileFormatError(f"row {row} is refused: {reason}") from error


def _mapped(task: MapTask, batch: pd.DataFrame) -> pd.DataFrame:
    found: pd.DataFrame = map_batch(task.model, batch, missing=task.missing, n_jobs=task.n_jobs)
    return found


def _first_refused(task: MapTask, batch: pd.DataFrame, error: Exception) -> tuple[int, Exception]:
    """The number of the first row that cannot be mapped by itself, found by halves, and why."""
    while len(batch) > 1:
        half = batch.iloc[: len(batch) // 2]
        try:
            _mapped(task, half)
        except (IsentropicError, ValueError) as found:
            batch, error = half, found
        else:
            batch = batch.iloc[len(half) :]
            try:
                _mapped(task, batch)
            except (IsentropicError, ValueError) as found:
                error = found
    return int(batch.index[0]), error


def _rows_of_earlier_run(path: Path, key: str) -> tuple[int, int] | None:
    said = output_metadata(path) if path.exists() else None
    return (said["rows"], said["left_out"]) if said is not None and said["key"] == key else None


def _remove_outdated(path: Path) -> None:
    """Remove what an earlier run made of a file that cannot be mapped now."""
    if path.exists() and output_metadata(path) is not None:
        path.unlink()
