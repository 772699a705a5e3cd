"""``isentropic quality``: how far a map can be trusted, and where not."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core.errors import plural, printable, require
from .shared.embeddings import read_coordinates
from .shared.options import AsJson, Jobs, Memory, Quiet, RawText, Source, input_path, out_option, output_path
from .shared.output import coordinates_frame, inputs_of, map_outputs, require_outputs, write_figure, write_map
from .shared.partitioned import draw_files, files_read
from .shared.process import computing, prompt_interrupt
from .shared.table_options import TABLE_DEFAULTS, TableOptions, with_table_options
from .shared.terminal import reporting, show_json, show_table

if TYPE_CHECKING:
    import pandas as pd

    from .._core.values import Table
    from ..quality import Measure, Quality

Map = Annotated[
    Path,
    typer.Argument(
        metavar="EMBEDDING", parser=input_path, help="Coordinates, as 'isentropic embed --out' writes them."
    ),
]
Neighbors = Annotated[
    int | None, typer.Option("--k", metavar="N", help="Size of the neighbourhoods; 10 by default.")
]
Figure = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", parser=output_path, help="Curves and damage: .png, .svg or .pdf."),
]
Out = Annotated[Path | None, out_option("Coordinates and scores of each row: .csv, .parquet, .h5ad.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed, where rows or pairs are drawn.")]


@dataclass(frozen=True, slots=True)
class _Result:
    """What was found out about which map, how long it took, and what was said meanwhile."""

    table: Table
    embedding: Path
    coordinates: pd.DataFrame
    quality: Quality
    seconds: float
    out: Path | None
    plot: Path | None
    warnings: list[str]


@with_table_options
def main(
    source: Source,
    embedding: Map,
    k: Neighbors = None,
    out: Out = None,
    plot: Figure = None,
    raw_text: RawText = False,
    table_options: TableOptions = TABLE_DEFAULTS,
    seed: Seed = None,
    jobs: Jobs = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Assess a map of a table: what it keeps of the neighbourhoods and distances, and where it fails.

    Give the table and the options that it was embedded with.

    \b
    Examples:
      isentropic quality builtin:iris map.csv
      isentropic quality 'big/*.parquet' map/
      isentropic quality flats.csv map.csv --target price --out scores.parquet
    """
    table_options.require_distances()
    target = table_options.target
    inputs = files_read(source, embedding) if embedding.is_dir() else inputs_of(source, target, embedding)
    require_outputs(map_outputs(out, plot=plot), inputs)
    with reporting(bars=not quiet, memory=memory) as warned:
        from .._core.files import write_together

        with prompt_interrupt():
            if embedding.is_dir():
                table, coordinates = draw_files(source, embedding, table_options, seed)
            else:
                table = table_options.load(source)
                coordinates = read_coordinates(table, embedding)
        began = time.perf_counter()
        quality = _assess(table, coordinates, k, seed, jobs, drawn=embedding.is_dir())
        seconds = time.perf_counter() - began
        result = _Result(table, embedding, coordinates, quality, seconds, out, plot, warned)
        figure = None if plot is None else _figure(result, jobs)
        with write_together():
            if out is not None:
                _write(result, out, raw_text=raw_text)
            if plot is not None:
                write_figure(figure, plot)
    if as_json:
        show_json(_document(result))
    elif not quiet:
        _show(result)


def _assess(
    table: Table,
    coordinates: pd.DataFrame,
    k: int | None,
    seed: int | None,
    jobs: int | None,
    *,
    drawn: bool,
) -> Quality:
    from ..quality import assess
    from ..scale.map_samples import COMPARED

    n = len(table.row_names)
    require(n >= 3, "DATA", "a table of at least 3 rows", n)
    require(k is None or 1 <= k < n, "--k", f"from 1 to {n - 1}, the number of other rows", k)
    wanted = min(10, max(1, (n - 1) // 2)) if k is None else k
    classes = table.classes  # a target of numbers has none
    with computing("quality"):
        return assess(
            table.X, coordinates.to_numpy(), classes, metric=table.metric, n_neighbors=wanted,
            sample=min(COMPARED, n) if drawn else "auto", random_state=seed, n_jobs=jobs,
        )  # fmt: skip


def _write(result: _Result, out: Path, *, raw_text: bool) -> None:
    """The map, and the scores of its rows; NaN for those that were not drawn."""
    import numpy as np

    quality, k = result.quality, result.quality.n_neighbors[0]
    columns = list(result.coordinates.columns)
    frame = coordinates_frame(result.coordinates.to_numpy(), columns, result.table)
    for name in ("near_neighbors", "false_neighbors", "tears"):
        spread = np.full(quality.n, np.nan)
        spread[quality.rows] = getattr(quality, name)[:, 0]
        frame[f"{name}({k})"] = spread
    write_map(frame, columns, out, result.embedding.stem, result.table, raw_text=raw_text)


# ---- for programs ------------------------------------------------------------------------------


def _document(result: _Result) -> dict[str, Any]:
    return {
        "table": result.table.name,
        "embedding": str(result.embedding),
        "rows": len(result.table.row_names),
        "features": len(result.table.feature_names),
        "scaling": result.table.scaling,
        "coordinates": result.coordinates.shape[1],
        "seconds": round(result.seconds, 3),
        **({} if result.out is None else {"out": str(result.out)}),
        **({} if result.plot is None else {"plot": str(result.plot)}),
        "warnings": result.warnings,
        "quality": json.loads(result.quality.to_json()),
    }


# ---- for the reader ----------------------------------------------------------------------------


def _show(result: _Result) -> None:
    table, quality = result.table, result.quality
    scaled = "not scaled" if table.scaling == "none" else f"scaling {table.scaling}"
    rows, features = plural(len(table.row_names), "row"), plural(len(table.feature_names), "feature")
    typer.echo(f"{table.name}: {rows}, {features}, {scaled}")
    typer.echo(f"{printable(result.embedding)}: {plural(result.coordinates.shape[1], 'coordinate')}")
    typer.echo(f"{quality.method}, in {result.seconds:.3g} s\n")
    show_table(*_rows(quality.measures))
    lines = [*_ties(quality), *quality.notes]
    lines += [printable(f"wrote {path}") for path in (result.out, result.plot) if path is not None]
    for position, line in enumerate(lines):
        typer.echo(f"\n{line}" if position == 0 else line)


def _rows(measures: Mapping[str, Measure]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the table; intervals and notes only if there are any."""
    columns = {
        "measure": list(measures),
        "value": [_number(measure.value) for measure in measures.values()],
        "95% interval": [_interval(measure) for measure in measures.values()],
        "range": [_range(measure) for measure in measures.values()],
        "better": [_better(measure) for measure in measures.values()],
        "note": [measure.note for measure in measures.values()],
    }
    shown = [name for name, cells in columns.items() if any(cells)]
    return shown, [list(row) for row in zip(*(columns[name] for name in shown), strict=True)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4f}"


def _interval(measure: Measure) -> str:
    if measure.low is None or measure.high is None:
        return ""
    return f"{_number(measure.low)} to {_number(measure.high)}"


def _range(measure: Measure) -> str:
    ends = (
        "" if math.isinf(end) else f"{end:,.0f}" if abs(end) >= 1e3 else f"{end:.4g}" for end in measure.range
    )
    low, high = ends
    if low and high:
        return f"{low} to {high}"
    return f"from {low}" if low else f"up to {high}" if high else "any"


def _better(measure: Measure) -> str:
    return f"nearer {measure.best:g}" if measure.better == "nearer" else measure.better


def _ties(quality: Quality) -> list[str]:
    ties = quality.ties
    if not ties.share_X and not ties.share_Z:
        return []
    (worst, best), k = ties.trustworthiness[0], quality.n_neighbors[0]
    return [
        f"Tied distances: {ties.share_X:.1%} of the neighbours in the data, {ties.share_Z:.1%} in the map. "
        f"In another order, trustworthiness({k}) would be {worst:.4f} to {best:.4f}."
    ]


# ---- the figure --------------------------------------------------------------------------------


def _figure(result: _Result, jobs: int | None) -> Any:
    from ..plot import quality_sheet
    from ..plot.palette import plain_text
    from ..quality import coranking_matrix
    from ..quality.measures import plotted_curves

    quality, rows = result.quality, result.quality.rows
    X, Z = result.table.X[rows], result.coordinates.to_numpy()[rows]
    with computing("quality"):
        matrix = coranking_matrix(X, Z, metric=result.table.metric, n_jobs=jobs)
    n_shown = quality.n - 2  # all is well with all others, by definition
    drawn = {kind.legend.split(":")[0]: kind.name for kind in plotted_curves()}
    curves = {title: getattr(quality.curves, name)[:n_shown] for title, name in drawn.items()}
    widths = {title: quality.half_widths[name] for title, name in drawn.items() if not quality.exact}
    return quality_sheet(
        result.coordinates, curves, matrix.counts, quality.false_neighbors[:, 0], quality.tears[:, 0],
        k=quality.n_neighbors[0], edges=matrix.edges, rows=rows,
        half_widths={name: (quality.grid[: len(half)], half) for name, half in widths.items()},
        title=plain_text(_title(result)),
    )  # fmt: skip


def _title(result: _Result) -> str:
    title, quality = f"{result.table.name}, {result.embedding.name}", result.quality
    return title if quality.exact else f"{title}: {len(quality.rows):,} rows drawn of {quality.n:,}"
