"""``isentropic report``: which map of a table to trust, how much, and where not, as one page."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._core.errors import InvalidInputError, plural, printable, require, require_one_of
from .shared.options import (
    AsJson,
    Budget,
    Force,
    Jobs,
    Memory,
    MostRows,
    Quiet,
    RawText,
    Source,
    out_option,
    output_path,
    parse_bytes,
    parse_seconds,
)
from .shared.output import MAPS, PAGES, Output, inputs_of, is_page, require_outputs, require_replaceable
from .shared.process import FAILURE, command_start, computing, prompt_interrupt
from .shared.report_document import ReportRequest, document, facts_of
from .shared.table_options import TABLE_DEFAULTS, TableOptions, Target, with_table_options
from .shared.terminal import MethodLines, one_bar, reporting, show_json

if TYPE_CHECKING:
    from .._core.values import Table
    from ..comparison import Run
    from ..comparison.budget.cost_model import TimeLimit
    from ..comparison.method_comparison import Comparison

_PAGE = "report.html"
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
Page = Annotated[Path | None, out_option("The page: .html.", _PAGE)]
Maps = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=output_path,
        help="Coordinates and scores of each row, too: .csv, .parquet, .feather, .h5ad; "
        ".json for DataMapPlot.",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=output_path,
        help="Keep each result there when it is done; go on from what is there.",
    ),
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
    limit: TimeLimit | None


@with_table_options
def main(
    source: Source,
    target: Target = None,
    methods: Names = None,
    preset: PresetName = None,
    color: Color = None,
    out: Page = None,
    force: Force = False,
    maps: Maps = None,
    raw_text: RawText = False,
    folder: Folder = None,
    table_options: TableOptions = TABLE_DEFAULTS,
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

    Columns of text count as much as columns of numbers, missing values are filled in, long tails are taken by
    their logarithms, and a square of distances is read as such: each is said, with the option against it.

    \b
    Examples:
      isentropic report builtin:digits --out digits.html
      isentropic report flats.csv --target quarter --methods pca,isomap --folder runs
      isentropic report builtin:wine --methods pca,lda,supervised-umap
      isentropic report stones.parquet --most-rows 20000 --budget 5m --memory 4G
      isentropic report flats.csv --maps maps.parquet
    """
    table_options.require_distances()
    began, seconds = command_start(), parse_seconds("--budget", budget)
    chosen = method_names(methods, preset)
    limit = None if seconds is None else _limit(began, seconds)
    asked = _Asked(chosen, preset or "standard", seed, folder, jobs, most_rows, limit)
    outputs = _outputs(out, maps, folder)
    require_outputs(outputs, inputs_of(source, target), force=force)
    with reporting(bars=False, memory=memory) as warned:
        from .._core.runtime import config_context
        from .._core.workers import crew
        from ..report.payload.page_rows import require_color

        with prompt_interrupt():
            table = table_options.load(source)
        require_table(table)
        require_color("--color", table, color)
        require_room(table, memory)
        given = {
            "target": target, "methods": methods, "preset": preset, "color": color,
            **table_options.by_option(), "most-rows": most_rows, "budget": budget, "seed": seed,
        }  # fmt: skip
        page, by_preset = outputs[0].path, methods is None
        request = ReportRequest(source, page, maps, folder, given, asked.preset, by_preset, seed, raw_text)
        # from here on the table is part of the memory, and workers of the first call make later ones too
        with config_context(memory_in_all=memory is not None), crew(jobs):
            found, resumed = _compared(table, asked, shown=not quiet)
            require_replaceable(outputs[0], force=force)
            _finish(table, found, request, began, resumed, warned, color, quiet, as_json)


def _finish(
    table: Table,
    found: Comparison,
    request: ReportRequest,
    began: float,
    resumed: int,
    warned: list[str],
    color: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Judge, write the page, say the verdict."""
    from .._core.files import atomic_write, write_together
    from ..comparison import collect_page_data, save_maps
    from ..comparison.budget.comparison_plan import select_rows
    from ..comparison.page_data import shown_groups
    from ..comparison.presentation import seconds
    from ..comparison.verdict.answers import about_table
    from ..comparison.verdict.judging import with_answers
    from ..report import page

    runs, judged = found.runs, found.verdict
    assert judged is not None  # there is a Run, at least
    different = table if found.distinct is None else select_rows(table, found.distinct)  # identical rows once
    compared = table if found.rows is None else select_rows(table, found.rows)
    facts = facts_of(table, found, request, time.perf_counter() - began, resumed, warned)
    local = found.in_distinct_rows()
    tested = shown_groups(compared, local.runs, judged, full_run=local.full_run, full_table=different)
    judged = with_answers(judged, tested, about_table(compared))
    drawn = collect_page_data(
        compared, local.runs, judged, full_run=local.full_run, full_table=different, group_test=tested
    )
    text = page(compared, local.runs, judged, drawn, facts, color=color, copies=found.copies)
    maps = request.maps if judged.shown is not None else None  # without a map there is nothing to write
    with write_together():
        with atomic_write(request.out) as file:
            file.write(text.encode(errors="backslashreplace"))  # a name of a row may hold half a character
        if maps is not None:
            of_all = found.full_run is not None and not found.full_run.failed
            of_rows = compared if found.sampled else table
            written = (table, [found.full_run]) if of_all else (of_rows, runs, judged)
            save_maps(maps, *written, raw_text=request.raw_text)
    if as_json:
        show_json(document(table, found, judged, drawn, facts, request))
    elif not quiet:
        for line in (*judged.lines, *found.notes):
            typer.echo(line)
        how = (
            f"preset {request.preset}: {facts['preset_text']}" if request.by_preset else facts["preset_text"]
        )
        passed = seconds(time.perf_counter() - began)
        typer.echo(f"Compared {plural(len(runs), 'method')} in {passed} ({how}).")
        files = " and ".join(str(path) for path in (request.out, maps) if path is not None)
        kept = f"; results in {request.folder}" if request.folder is not None else ""
        typer.echo(printable(f"wrote {files}{kept}"))
    if all(run.failed for run in runs):
        raise typer.Exit(FAILURE)


def _compared(table: Table, asked: _Asked, *, shown: bool) -> tuple[Comparison, int]:
    """What was found, and how many of the Runs were read back."""
    from ..comparison import PRESETS
    from ..comparison.method_comparison import run_comparison

    read_back: list[bool] = []
    lines = MethodLines(shown=shown)

    def done(run: Run, back: bool) -> None:
        read_back.append(back)
        lines.add(run, back)

    with one_bar(shown=shown), computing("the comparison"):
        found = run_comparison(
            table.X,
            table.classes,  # a target of numbers has none
            asked.methods,
            PRESETS[asked.preset],
            metric=table.metric,
            random_state=asked.seed,
            most_rows=asked.most_rows or "auto",
            limit=asked.limit,
            n_jobs=asked.jobs,
            folder=asked.folder,
            on_run=done,
            on_methods=lines.begin,
        )
    lines.say("writing the page")
    return found, sum(read_back)


def _limit(began: float, seconds: float) -> TimeLimit:
    from ..comparison.budget.cost_model import TimeLimit

    return TimeLimit(began, seconds, page=True)


# ---- what is written ----------------------------------------------------------------------------


def _outputs(out: Path | None, maps: Path | None, folder: Path | None) -> list[Output]:
    """The page first; a page under the usual name is replaced only where an earlier run wrote it."""
    extra, is_ours = ("report", "The page"), is_page if out is None else None
    found = [Output("--out", out or Path(_PAGE), PAGES, extra, _LEAST_PAGE, is_ours)]
    found += [] if maps is None else [Output("--maps", maps, MAP_FILES)]
    return found + ([] if folder is None else [Output("--folder", folder, is_folder=True)])


# ---- what is refused before anything is compared -------------------------------------------------

_FEWEST_ROWS, _FEWEST_FEATURES = 4, 2
_LEAST_ROOM = 160 * 2**20  # bytes: compiled code, one method, the page
_COPIES = 6  # of the table: scaled, sampled, neighbours, drawn


def method_names(methods: str | None, preset: str | None) -> tuple[str, ...] | None:
    """Names of methods that exist; None for those of the preset."""
    if preset is not None:
        from ..comparison import PRESETS

        require_one_of("--preset", preset, PRESETS)
    if methods is None:
        return None
    from .. import registry

    names = [name.strip() for name in methods.split(",") if name.strip()]
    require(bool(names), "--methods", "names with commas between", methods, "For instance: pca,isomap.")
    for name in names:
        require_one_of("--methods", name, registry.METHODS)
    return tuple(names)


def require_table(table: Table) -> None:
    """Refuse a table that has no map, and a target that names rows."""
    n, m = table.X.shape
    hint = "Fewer rows have nothing to compare."
    require(n >= _FEWEST_ROWS, "SOURCE", f"a table of at least {_FEWEST_ROWS} rows", n, hint)
    hint = "One column needs no map: sort by it."
    require(m >= _FEWEST_FEATURES, "SOURCE", f"a table of at least {_FEWEST_FEATURES} features", m, hint)
    from ..distances import are_all_equal

    hint = "All columns are constant: there is nothing to compare."
    require(not are_all_equal(table.X), "SOURCE", "a table whose rows differ", f"{n} equal rows", hint)
    if table.y is not None and _names_rows(table):
        name = getattr(table.preparation, "target", None) or "target"
        raise InvalidInputError(
            f"--target must be a column of classes or of a quantity, got {name!r}, which names rows: nearly "
            f"every one of {n} has a value of its own. Say --index instead of --target."
        )


def _names_rows(table: Table) -> bool:
    """Whether a target is an identifier: words, nearly all different, or the numbers from a to a + n - 1."""
    import numpy as np

    n, y = len(table.X), table.y
    if table.class_names:
        return n >= 10 and 2 * len(table.class_names) > n
    assert y is not None
    y = y[~np.isnan(y)]
    whole = bool((y == np.floor(y)).all())
    return n >= 10 and whole and len(np.unique(y)) == n and float(np.ptp(y)) == n - 1


def require_room(table: Table, memory: str | None) -> None:
    """Refuse a limit of memory that no report of this table could keep."""
    from .._core.runtime import used_memory

    size = parse_bytes("--memory", memory)
    if size is None:
        return
    held = used_memory()
    least = math.ceil((held + _LEAST_ROOM + _COPIES * table.X.nbytes) / 2**20)
    hint = f"The libraries and the table take {math.ceil(held / 2**20)}M already."
    require(size >= least * 2**20, "--memory", f"at least {least}M for this table", memory, hint)
