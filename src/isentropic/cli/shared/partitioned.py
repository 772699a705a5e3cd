"""Sources of many files: a model fitted to a sample of their rows, every row mapped to a folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._core.errors import plural, printable, require
from .output import Output, require_outputs
from .process import computing
from .table_options import TABLE_DEFAULTS, TableOptions
from .terminal import show_json

if TYPE_CHECKING:
    import pandas as pd

    from ..._core.values import Table
    from ...scale.partition_maps import MappedSource
    from ...scale.sample_fits import SourceFit
    from ...scale.saved_model import SavedModel
    from ...tables.readers.layout import Layout

MODEL = "model.isentropic"  # in the folder of the map

FitRows = Annotated[
    str | None,
    typer.Option(
        "--fit-rows",
        metavar="N",
        help="Of many files: rows that are fitted. A number, all, or auto: more until more do not help.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="WHERE", help="Map files on Dask: local:N processes, or tcp://HOST:PORT."
    ),
]


def is_mapped_in_files(source: str, out: Path) -> bool:
    """Whether the map is a folder of files: that of a folder or a pattern, or where --out has no suffix."""
    from ...tables.partitions import is_partitioned

    return is_partitioned(source) or not out.suffix


def require_files(
    source: str,
    out: Path,
    cluster: str | None,
    *,
    fit_rows: str | None = None,
    save: Path | None = None,
    plot: Path | None = None,
    raw_text: bool = False,
) -> None:
    """Refuse a file as the place of many, a folder whose files would be lost, and options that are none."""
    from ...scale.cluster import require_cluster
    from ...scale.map_folders import require_output_folder
    from ...tables.partitions import partitions_of

    hint = "Draw a map of rows that stand for all with 'isentropic quality SOURCE MAP --plot FILE'."
    require(plot is None, "--plot", "left out for a source of many files", str(plot), hint)
    hint = "Parquet files have no formulas: text in them is as it was read."
    require(not raw_text, "--raw-text", "left out for a source of many files", raw_text, hint)

    hint = "Each input file has a file of coordinates in it."
    fits = out.is_dir() or not (out.suffix or out.exists())
    require(fits, "--out", "a folder for a source of many files", str(out), hint)
    partitions = partitions_of(source)
    require_output_folder(out, source, partitions)
    if save is not None:
        _require_model_place(save, out, [one.path for one in partitions], [one.name for one in partitions])
    _fit_rows(fit_rows)
    if cluster is not None:
        require_cluster(cluster)


def _require_model_place(model: Path, out: Path, inputs: Sequence[Path], names: Sequence[str]) -> None:
    """Refuse a place of the model that is read, or that has or will have another file."""
    from ..._core.files import file_identity
    from ...scale.map_folders import MANIFEST, require_model_place

    made = {file_identity(out / name) for name in (MANIFEST, *(f"{name}.parquet" for name in names))}
    must_be = "another file than those of the map"
    require(file_identity(model) not in made, "--save", must_be, str(model))
    if model.parent.exists():
        require_outputs([Output("--save", model)], inputs)
    require_model_place(model)


def _fit_rows(text: str | None) -> int | str:
    from ...scale.sample_fits import checked_fit_rows

    asked: Any = text or "auto"
    return checked_fit_rows(int(asked) if asked.isdecimal() else asked)


def fit_files(
    estimator: Any,
    method: str,
    source: str,
    table_options: TableOptions,
    fit_rows: str | None,
    seed: int | None,
    model: Path,
    out: Path,
) -> SourceFit:
    """Fit to a sample, and write the model; one that is there and was made from the same is kept.

    Where ``out`` has the map of another model, nothing is written.
    """
    from ...scale.map_folders import make_folder
    from ...scale.sample_fits import fit_source

    with computing(method):
        found = fit_source(
            estimator, method, source, _of_frames(table_options).load, fit_rows=_fit_rows(fit_rows),
            random_state=seed or 0, layout=layout_of(table_options), texts=_texts(table_options),
            earlier=model,
        )  # fmt: skip
    if not found.was_there:
        _require_same_model(found.model, source, out)
        make_folder(model.parent)
        found.model.write(model)
    return found


def _require_same_model(model: SavedModel, source: str, out: Path) -> None:
    from ...scale.batch_mapping import ModelFile
    from ...scale.map_folders import require_output_folder
    from ...tables.partitions import partitions_of

    if not out.exists():
        return
    with TemporaryDirectory() as folder:
        model.write(Path(folder) / MODEL)
        sha256 = ModelFile.of(Path(folder) / MODEL).sha256
    require_output_folder(out, source, partitions_of(source), sha256)


def map_files(
    model: Path,
    source: str,
    out: Path,
    missing: str,
    jobs: int | None,
    cluster: str | None,
    layout: Layout,
) -> tuple[MappedSource, float]:
    """Map every row; returned with the seconds that it took."""
    from ...scale.partition_maps import map_rows

    began = time.perf_counter()
    with _client(cluster) as client:
        found = map_rows(model, source, out, missing=missing, layout=layout, n_jobs=jobs, client=client)
    return found, time.perf_counter() - began


@contextmanager
def _client(cluster: str | None) -> Iterator[Any]:
    if cluster is None:
        yield None
        return
    from ...scale.cluster import cluster_client

    with cluster_client(cluster) as client:
        yield client


def files_read(source: str, folder: Path) -> list[Path]:
    """The files of a source, and of the folder of its map."""
    from ...scale.map_folders import files_of_map
    from ...tables.partitions import partitions_of

    return [*(one.path for one in partitions_of(source)), *files_of_map(folder)]


def draw_files(
    source: str, folder: Path, table_options: TableOptions, seed: int | None
) -> tuple[Table, pd.DataFrame]:
    """Rows that are drawn from a source, as its map's model prepares them, and their coordinates."""
    from ...scale.map_samples import sample_map
    from ...tables import load

    drawn = sample_map(
        source, folder, random_state=seed or 0, layout=layout_of(table_options), texts=_texts(table_options)
    )
    if drawn.preparation is not None and _of_frames(table_options) == TABLE_DEFAULTS:
        table = load(drawn.rows, preparation=drawn.preparation)
    else:
        table = _of_frames(table_options).load(drawn.rows)
    if len(drawn.rows) < drawn.n_rows:
        typer.echo(f"Of {len(drawn.rows):,} of {plural(drawn.n_rows, 'row')}, drawn:", err=True)
    return table, drawn.coordinates


def _texts(table_options: TableOptions) -> frozenset[str]:
    """Columns whose text matters to the letter, as the options say."""
    return frozenset({*(table_options.levels or ()), *filter(None, [table_options.index])})


def layout_of(table_options: TableOptions) -> Layout:
    """How the text files of a source are laid out, as far as it is said."""
    from ...tables.readers.layout import Layout

    return Layout.of(table_options.separator, table_options.header, table_options.skip_lines)


def _of_frames(table_options: TableOptions) -> TableOptions:
    """The same without what says how a text file is laid out."""
    return replace(table_options, separator=None, header=None, skip_lines=None)


def show_files(
    found: MappedSource,
    seconds: float,
    method: str,
    warnings: list[str],
    fit: SourceFit | None = None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Print what was mapped, and fail if a file could not be."""
    if as_json:
        show_json(_document(found, seconds, method, warnings, fit))
    elif not quiet:
        for line in _lines(found, seconds, method, fit):
            typer.echo(printable(line))
    found.raise_failed()


def _document(
    found: MappedSource, seconds: float, method: str, warnings: list[str], fit: SourceFit | None
) -> dict[str, Any]:
    fitted = {} if fit is None else {
        "fitted_rows": fit.n_fitted,
        "fit_was_there": fit.was_there,
        "sample_sizes": [{"rows": one.n_rows, "rnx_area": list(one.scores)} for one in fit.sizes],
    }  # fmt: skip
    return {
        "method": method,
        "rows": found.n_rows,
        "files": len(found.partitions),
        "kept": sum(one.was_there for one in found.partitions),
        "failed": [one.error for one in found.failed],
        **fitted,
        "coordinates": len(found.columns),
        "seconds": round(seconds, 3),
        "out": str(found.folder),
        "warnings": warnings,
    }


def _lines(found: MappedSource, seconds: float, method: str, fit: SourceFit | None) -> Iterator[str]:
    if fit is not None:
        of = f"{method}: fitted to {fit.n_fitted:,} of {plural(fit.n_rows, 'row')}"
        yield f"{of}, as before" if fit.was_there else of
        for one in fit.sizes:
            yield f"  {one.n_rows:,} rows: R_NX area {one.mean:.3f} +- {one.spread:.3f} for rows not fitted"
    kept = sum(one.was_there for one in found.partitions)
    there = f", {kept:,} of them there from before" if kept else ""
    speed = f"{found.n_rows / max(seconds, 1e-9):,.0f} rows a second"
    rows, files = plural(found.n_rows, "row"), plural(len(found.partitions), "file")
    yield f"mapped {rows} in {files}{there}: {seconds:.3g} s, {speed}"
    yield f"wrote {found.folder}"
