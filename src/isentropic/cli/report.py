"""``isentropic report``: which map of a table to trust, how much, and where not, as one page."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._errors import printable, require
from .._extras import require_extra
from ._bar import one_bar
from ._clock import command_began
from ._computation import computing, prompt_interrupt
from ._failure import FAILURE
from ._options import (
    AsJson,
    Budget,
    Dates,
    Drop,
    Header,
    Index,
    Jobs,
    Keep,
    Memory,
    Metric,
    Missing,
    MostRows,
    Nominal,
    Quiet,
    Rank,
    RawText,
    Samples,
    Scaling,
    Separator,
    Source,
    Target,
    require_complete,
    require_metric,
    seconds_in,
)
from ._output import MAPS, require_rows_file, require_suffix
from ._report_checks import chosen_metric, method_names, require_room, require_table
from ._report_document import Told, document, facts_of
from ._summary import count
from ._terminal import reporting, show_json

if TYPE_CHECKING:
    from .._values import Table
    from ..comparison.comparing import Comparison
    from ..comparison.pace import Limit

PAGES = (".html", ".htm")
MAP_FILES = (*MAPS, ".json")
_LEAST_PAGE = 100_000  # bytes of a page without a map

Names = Annotated[
    str | None,
    typer.Option("--methods", "-m", metavar="A,B", help="Methods to compare; see 'isentropic methods'."),
]
PresetName = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="quick, standard (default) or thorough.")
]
Color = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Colour the maps by it at first; the target by default.")
]
Page = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page: .html.")]
Maps = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Coordinates and scores of each row, too: .csv, .parquet, .feather, .h5ad; "
        ".json for DataMapPlot.",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Keep each result there when it is done; go on from what is there."),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="First seed of all that is drawn.")]


def _show_schema(wanted: bool) -> None:
    if wanted:
        from importlib.resources import files

        typer.echo(files(__package__).joinpath("report.schema.json").read_text(encoding="utf-8"), nl=False)
        raise typer.Exit


Schema = Annotated[
    bool,
    typer.Option("--schema", callback=_show_schema, is_eager=True, help="Print the JSON Schema of --json."),
]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is compared."""

    methods: tuple[str, ...] | None
    preset: str
    seed: int
    folder: Path | None
    jobs: int | None
    most_rows: int | None
    limit: Limit | None


def main(  # long, with a line for each option
    source: Source,
    target: Target = None,
    methods: Names = None,
    preset: PresetName = None,
    color: Color = None,
    out: Page = Path("report.html"),
    maps: Maps = None,
    raw_text: RawText = False,
    folder: Folder = None,
    drop: Drop = None,
    keep: Keep = None,
    index: Index = None,
    nominal: Nominal = "onehot",
    missing: Missing = "raise",
    dates: Dates = "number",
    scaling: Scaling = "auto",
    metric: Metric = "auto",
    rank: Rank = None,
    separator: Separator = None,
    header: Header = None,
    samples: Samples = None,
    most_rows: MostRows = None,
    budget: Budget = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    schema: Schema = False,
) -> None:
    """Compare methods on a table: which map to trust, how much, and where not. Writes one page.

    Methods that learn from classes, the --target, are compared where --methods names them, or by the
    preset thorough. Each is fitted with permuted labels too, and not trusted where these score as well.

    Tables with text beside numbers, or with holes, are compared by Gower's metric, unless --methods names one
    that works on columns of numbers, or --metric says otherwise.

    \b
    Examples:
      isentropic report builtin:digits --out digits.html
      isentropic report flats.csv --target quarter --methods pca,isomap --folder runs
      isentropic report builtin:wine --methods pca,lda,supervised-umap
      isentropic report stones.parquet --most-rows 20000 --budget 5m --memory 4G
      isentropic report flats.csv --maps maps.parquet
    """
    require_complete(missing, metric)
    require_metric(metric)
    began, seconds = command_began(), seconds_in("--budget", budget)
    chosen = method_names(methods, preset)
    limit = None if seconds is None else _limit(began, seconds)
    asked = _Asked(chosen, preset or "standard", seed, folder, jobs, most_rows, limit)
    _require_page(out, source)
    if maps is not None:
        require_rows_file(maps, source, str(out), option="--maps", known=MAP_FILES)
    with reporting(bars=False, memory=memory) as warned:
        from .._runtime import config_context
        from ..datasets import load
        from ..report.drawn_rows import require_color

        with prompt_interrupt():
            table = load(
                source, target, drop=drop or (), keep=keep or (), index=index, nominal=nominal,
                missing=missing, dates=dates, scaling=scaling, metric=chosen_metric(metric, asked.methods),
                rank=rank, separator=separator, header=header, n_samples=samples,
            )  # fmt: skip
        require_table(table)
        require_color("--color", table, color)
        require_room(table, memory)
        given = {
            "target": target, "methods": methods, "preset": preset, "color": color, "drop": drop,
            "keep": keep, "index": index, "nominal": nominal, "missing": missing, "dates": dates,
            "scaling": scaling, "metric": metric, "rank": rank, "separator": separator, "header": header,
            "samples": samples, "most-rows": most_rows,
            "budget": budget, "seed": seed,
        }  # fmt: skip
        told = Told(source, out, maps, folder, given, asked.preset, methods is None, seed, raw_text)
        with config_context(memory_in_all=memory is not None):  # from here on the table is part of it
            found, resumed = _compared(table, asked, shown=not quiet)
            _finish(table, found, told, began, resumed, warned, color, quiet, as_json)


def _finish(
    table: Table,
    found: Comparison,
    told: Told,
    began: float,
    resumed: int,
    warned: list[str],
    color: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Judge, write the page, say the verdict."""
    from .._io import atomic_write
    from ..comparison import drawing, save_maps, verdict
    from ..comparison.strata import taken
    from ..report import page
    from ..report.scores import seconds

    runs, judged = found.runs, verdict(found.listed)
    compared = table if found.rows is None else taken(table, found.rows)
    facts = facts_of(table, found, told, time.perf_counter() - began, resumed, warned)
    drawn = drawing(compared, runs, judged, whole=found.whole, everything=table)
    text = page(compared, runs, judged, drawn, facts, color=color)
    with atomic_write(told.out) as file:
        file.write(text.encode(errors="backslashreplace"))  # a name of a row may hold half a character
    maps = told.maps if judged.shown is not None else None  # without a map there is nothing to write
    if maps is not None:
        of_all = found.whole is not None and not found.whole.failed
        written = (table, [found.whole]) if of_all else (compared, runs, judged)
        save_maps(maps, *written, raw_text=told.raw_text)
    if as_json:
        show_json(document(table, found, judged, drawn, facts, told))
    elif not quiet:
        for line in (*judged.lines, *found.notes):
            typer.echo(line)
        how = f"preset {told.preset}: {facts['preset_text']}" if told.by_preset else facts["preset_text"]
        passed = seconds(time.perf_counter() - began)
        typer.echo(f"Compared {count(len(runs), 'method')} in {passed} ({how}).")
        files = " and ".join(str(path) for path in (told.out, maps) if path is not None)
        kept = f"; results in {told.folder}" if told.folder is not None else ""
        typer.echo(printable(f"wrote {files}{kept}"))
    if all(run.failed for run in runs):
        raise typer.Exit(FAILURE)


def _compared(table: Table, asked: _Asked, *, shown: bool) -> tuple[Comparison, int]:
    """What was found, and how many of the Runs were read back."""
    from ..comparison import PRESETS
    from ..comparison.comparing import compared

    read_back: list[bool] = []
    with one_bar(shown=shown), computing("the comparison"):
        found = compared(
            table.X,
            table.y if table.class_names else None,  # a target of numbers has no classes
            asked.methods,
            PRESETS[asked.preset],
            metric=table.metric,
            random_state=asked.seed,
            most_rows=asked.most_rows or "auto",
            limit=asked.limit,
            n_jobs=asked.jobs,
            folder=asked.folder,
            on_run=lambda run, back: read_back.append(back),
        )
    return found, sum(read_back)


def _limit(began: float, seconds: float) -> Limit:
    from ..comparison.pace import Limit

    return Limit(began, seconds, page=True)


# ---- what is refused ---------------------------------------------------------------------------


def _require_page(out: Path, source: str) -> None:
    """Refuse now a page that could not be written after the work is done."""
    from .._io import real_path, require_writable

    require_suffix("--out", out, PAGES)
    require(real_path(out) != real_path(source), "--out", "another file than the source", str(out))
    require_extra("report", "The page")
    require_writable(out, _LEAST_PAGE)
