"""``isentropic compare-maps``: what two maps of a table agree on, row by row, and which keeps more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core.errors import printable, require
from .shared.embeddings import read_coordinates
from .shared.options import AsJson, Jobs, Memory, Quiet, RawText, Source, input_path, out_option, output_path
from .shared.output import ROWS, inputs_of, map_outputs, require_outputs, write_figure, write_frame
from .shared.process import computing, prompt_interrupt
from .shared.table_options import TABLE_DEFAULTS, TableOptions, with_table_options
from .shared.terminal import reporting, show_json, show_table

if TYPE_CHECKING:
    from .._core.values import Table
    from ..quality import MapAgreement, QualityComparison

First = Annotated[
    Path,
    typer.Argument(metavar="FIRST", parser=input_path, help="A map, as 'isentropic embed --out' writes it."),
]
Second = Annotated[
    Path, typer.Argument(metavar="SECOND", parser=input_path, help="Another map of the same rows.")
]
Neighbors = Annotated[int, typer.Option("--k", metavar="N", help="Size of the neighbourhoods.")]
Out = Annotated[Path | None, out_option("Agreement and movement of each row: .csv, .parquet.")]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        parser=output_path,
        help="Both maps, coloured by what they share: .png, .svg or .pdf.",
    ),
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed, where rows are drawn.")]
_GROUPS = 3  # that are named


@dataclass(frozen=True, slots=True)
class _Result:
    table: Table
    agreement: MapAgreement
    quality: QualityComparison
    out: Path | None
    plot: Path | None
    warnings: list[str]


@with_table_options
def main(
    first: First,
    second: Second,
    source: Source,
    k: Neighbors = 10,
    out: Out = None,
    plot: Plot = None,
    raw_text: RawText = False,
    table_options: TableOptions = TABLE_DEFAULTS,
    seed: Seed = None,
    jobs: Jobs = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare two maps of a table: which neighbourhoods they share, which rows moved, which map keeps more.

    Give the table and the options that it was embedded with.

    \b
    Examples:
      isentropic compare-maps umap.csv isomap.csv builtin:iris
      isentropic compare-maps last.csv this.csv flats.csv --index flat --out moved.csv --plot moved.png
    """
    table_options.require_distances()
    outputs = map_outputs(out, plot=plot, known=ROWS)
    require_outputs(outputs, inputs_of(source, table_options.target, first, second))
    with reporting(bars=not quiet, memory=memory) as warned:
        from .._core.files import write_together

        with prompt_interrupt():
            table = table_options.load(source)
            maps = [
                read_coordinates(table, path, printable(f"{word} ({path})")).to_numpy()
                for word, path in (("FIRST", first), ("SECOND", second))
            ]
        agreement, quality = _compare(table, maps, k, seed, jobs)
        with write_together():
            if out is not None:
                _write(table, agreement, out, raw_text=raw_text)
            if plot is not None:
                _draw(maps, agreement, (first.name, second.name), plot)
    result = _Result(table, agreement, quality, out, plot, warned)
    if as_json:
        show_json(_document(result, first, second))
    elif not quiet:
        _show(result)


def _compare(
    table: Table, maps: list[Any], k: int, seed: int | None, jobs: int | None
) -> tuple[MapAgreement, QualityComparison]:
    from ..quality import compare_quality, map_agreement

    n = len(table.row_names)
    require(n >= 10, "DATA", "a table of at least 10 rows", n)
    require(1 <= k < n // 2, "--k", f"from 1 to {n // 2 - 1}, less than half of the rows", k)
    with computing("compare-maps"):
        agreement = map_agreement(*maps, n_neighbors=k, n_jobs=jobs)
        return agreement, compare_quality(
            table.X, *maps, metric=table.metric, n_neighbors=k, random_state=seed, n_jobs=jobs
        )


def _write(table: Table, agreement: MapAgreement, out: Path, *, raw_text: bool) -> None:
    import pandas as pd

    from ..tables.map_files import free_name

    columns = {"agreement": agreement.shares, "moved": agreement.moved}
    named = free_name(table.preparation.index or "row", columns)
    write_frame(pd.DataFrame({named: table.row_names} | columns), out, raw_text=raw_text)


def _draw(maps: list[Any], agreement: MapAgreement, names: tuple[str, str], path: Path) -> None:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..plot import scatter
    from ..plot.palette import plain_text

    figure = Figure(figsize=(12, 5.4), layout="constrained")
    shares = pd.Series(agreement.shares, name="agreement")
    for axes, Z, name in zip(figure.subplots(1, 2), maps, names, strict=True):
        scatter(Z, shares, title=plain_text(name), ax=axes)
    write_figure(figure, path)


def _groups(result: _Result) -> list[dict[str, Any]]:
    """The classes that changed most, where the table has any."""
    if result.table.sampled_classes is None:
        return []
    codes, names = result.table.sampled_classes
    found = result.agreement.by_group([names[code] for code in codes])[:_GROUPS]
    return [{"group": group.name, "rows": group.n_rows, "agreement": group.share} for group in found]


def _document(result: _Result, first: Path, second: Path) -> dict[str, Any]:
    agreement, measures = result.agreement, result.quality.summary()
    return {
        "table": result.table.name,
        "first": str(first),
        "second": str(second),
        "rows": len(agreement.shares),
        "k": agreement.n_neighbors,
        "agreement": agreement.mean,
        "chance": agreement.chance,
        "procrustes": agreement.correlation,
        "moved": {"median": _median(agreement.moved), "most": float(agreement.moved.max())},
        "groups": _groups(result),
        "quality": measures.reset_index().to_dict("records"),
        **({} if result.out is None else {"out": str(result.out)}),
        **({} if result.plot is None else {"plot": str(result.plot)}),
        "warnings": result.warnings,
    }


def _median(values: Any) -> float:
    import numpy as np

    return float(np.median(values))


def _show(result: _Result) -> None:
    agreement, k = result.agreement, result.agreement.n_neighbors
    typer.echo(
        f"Of the {k} nearest rows on one map, {agreement.mean * k:.1f} are among the {k} nearest on the "
        f"other (by chance: {agreement.chance * k:.1f})."
    )
    typer.echo(
        f"Turned and sized onto the first, the second map leaves rows {_median(agreement.moved):.0%} of its "
        f"width away (median), at most {agreement.moved.max():.0%}; Procrustes correlation "
        f"{agreement.correlation:.3f}."
    )
    for group in _groups(result):
        typer.echo(
            f"{group['group']}: {group['agreement']:.0%} of the neighbours agree ({group['rows']:,} rows)"
        )
    typer.echo("")
    table = result.quality.summary()
    rows = [
        [str(name), f"{row['first']:.4f}", f"{row['second']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}",
         str(row["better"])]
        for name, row in table.iterrows()
    ]  # fmt: skip
    show_table(["measure", "first", "second", "95% of the difference", "better"], rows)
    written = [str(path) for path in (result.out, result.plot) if path is not None]
    if written:
        typer.echo("\n" + printable(f"wrote {', '.join(written)}"))
