"""``isentropic report``: which map of a table to trust, how much, and where not, as one page."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core.errors import InvalidInputError, plural, printable, require, require_one_of
from .shared.early_pages import Browser, EarlyPages
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
    from ..comparison import PageData, Run, Verdict
    from ..comparison.budget.cost_model import TimeLimit
    from ..comparison.method_comparison import Comparison

_PAGE = "report.html"
MAP_FILES = (*MAPS, ".json")
_LEAST_PAGE = 100_000  # bytes of a page without a map
_LATER = "Groups are tested once all methods are compared."

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
Open = Annotated[
    bool, typer.Option("--open", help="Open the page in the browser, as soon as a first one is there.")
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
    open_page: Open = False,
) -> None:
    """Compare methods on a table: which map to trust, how much, and where not. Writes one page.

    Methods run side by side, one on each core. After the quick ones there is a first page. It says that it is
    preliminary, and is replaced as others finish.

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
        from .._core.workers import FEWEST_ROWS, worker_pool
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
        with config_context(memory_in_all=memory is not None), worker_pool(jobs) as workers:
            if workers is not None and memory is None and len(table.X) >= FEWEST_ROWS:
                workers.load("isentropic.comparison")  # while this process imports it
            draw, browser = (
                PageRenderer(table, request, began, warned, color),
                Browser(page, wanted=open_page),
            )
            early = EarlyPages(outputs[0], draw.early, browser, force=force)
            found, resumed = _compared(table, asked, early, shown=not quiet)
            require_replaceable(outputs[0], force=force)
            _finish(draw, found, resumed, quiet, as_json)
            browser.open()
        if all(run.failed for run in found.runs):
            raise typer.Exit(FAILURE)


@dataclass(frozen=True, slots=True)
class PageRenderer:
    """What a page is made of beside the comparison."""

    table: Table
    request: ReportRequest
    began: float
    warned: list[str]
    color: str | None

    def early(self, found: Comparison, comparing: tuple[int, int]) -> str:
        """The page of some of the methods."""
        return self(found, 0, comparing).text

    def __call__(
        self, found: Comparison, resumed: int, comparing: tuple[int, int] | None = None
    ) -> RenderedPage:
        """Judge the maps and draw the page; groups are tested once all methods are compared."""
        from ..comparison import collect_page_data
        from ..comparison.budget.comparison_plan import select_rows
        from ..comparison.groups.reproducible_groups import not_tested
        from ..comparison.page_data import shown_groups
        from ..comparison.verdict.answers import about_table
        from ..comparison.verdict.judging import with_answers
        from ..report import page

        table, judged = self.table, found.verdict
        assert judged is not None  # there is a Run, at least
        different = table if found.distinct is None else select_rows(table, found.distinct)  # equal rows once
        compared = table if found.rows is None else select_rows(table, found.rows)
        facts = facts_of(table, found, self.request, time.perf_counter() - self.began, resumed, self.warned)
        local = found.in_distinct_rows()
        full = local.full_run
        if comparing is None:
            tested = shown_groups(compared, local.runs, judged, full_run=full, full_table=different)
        else:
            tested = not_tested(len(compared.X), _LATER)
        judged = with_answers(judged, tested, about_table(compared))
        data = collect_page_data(
            compared, local.runs, judged, full_run=full, full_table=different, group_test=tested
        )
        text = page(
            compared, local.runs, judged, data, facts,
            color=self.color, copies=found.copies, comparing=comparing,
        )  # fmt: skip
        return RenderedPage(text, judged, data, facts, compared)


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page, and what it says."""

    text: str
    verdict: Verdict
    data: PageData
    facts: dict[str, Any]
    compared: Table


def _finish(draw: PageRenderer, found: Comparison, resumed: int, quiet: bool, as_json: bool) -> None:
    """Judge, write the page, say the verdict."""
    from .._core.files import atomic_write, write_together
    from ..comparison import save_maps

    table, request, drawn = draw.table, draw.request, draw(found, resumed)
    judged = drawn.verdict
    maps = request.maps if judged.shown is not None else None  # without a map there is nothing to write
    with write_together():
        with atomic_write(request.out) as file:
            file.write(drawn.text.encode(errors="backslashreplace"))  # a row's name may hold half a character
        if maps is not None:
            of_all = found.full_run is not None and not found.full_run.failed
            of_rows = drawn.compared if found.sampled else table
            written = (table, [found.full_run]) if of_all else (of_rows, found.runs, judged)
            save_maps(maps, *written, raw_text=request.raw_text)
    if as_json:
        show_json(document(table, found, judged, drawn.data, drawn.facts, request))
    elif not quiet:
        _say(draw, drawn, found, maps)


def _say(draw: PageRenderer, drawn: RenderedPage, found: Comparison, maps: Path | None) -> None:
    """The verdict, and where everything is."""
    from ..comparison.presentation import seconds

    request, how = draw.request, drawn.facts["preset_text"]
    for line in (*drawn.verdict.lines, *found.notes):
        typer.echo(line)
    how = f"preset {request.preset}: {how}" if request.by_preset else how
    passed = seconds(time.perf_counter() - draw.began)
    typer.echo(f"Compared {plural(len(found.runs), 'method')} in {passed} ({how}).")
    files = " and ".join(str(path) for path in (request.out, maps) if path is not None)
    kept = f"; results in {request.folder}" if request.folder is not None else ""
    typer.echo(printable(f"wrote {files}{kept}"))


def _compared(table: Table, asked: _Asked, early: EarlyPages, *, shown: bool) -> tuple[Comparison, int]:
    """What was found, and how many of the Runs were read back."""
    try:
        return _compare(table, asked, early, shown=shown)
    except KeyboardInterrupt:
        early.interrupted()
        raise


def _compare(table: Table, asked: _Asked, early: EarlyPages, *, shown: bool) -> tuple[Comparison, int]:
    from ..comparison import PRESETS
    from ..comparison.method_comparison import run_comparison

    read_back: list[bool] = []
    lines = MethodLines(shown=shown)

    def done(run: Run, back: bool) -> None:
        read_back.append(back)
        lines.add(run, back)

    def begin(methods: Sequence[str]) -> None:
        early.begin(len(methods))
        lines.begin(methods)

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
            on_methods=begin,
            on_partial=early.update,
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
