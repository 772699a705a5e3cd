"""``isentropic reproduce``: published tables run again, ours beside them, and what honest rows leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from .._core.errors import printable, require
from .shared.experiments import (
    RESULTS,
    Asked,
    DataFolder,
    Folder,
    Minutes,
    Processes,
    data_files,
    page_option,
    run_and_write,
    set_data_folder,
)
from .shared.options import AsJson, Force, Memory, Quiet
from .shared.output import require_outputs
from .shared.terminal import reporting, show_json, show_table

if TYPE_CHECKING:
    from ..experiments.studies import Source

_PAGE = "reproduce.html"

What = Annotated[
    str, typer.Argument(metavar="WHAT", help="list, all, a source (002) or one of its tables (000:7).")
]
Page = Annotated[Path | None, page_option(_PAGE)]
Quick = Annotated[bool, typer.Option("--quick", help="Small tables and fewer repeats.")]
HonestOnly = Annotated[bool, typer.Option("--honest-only", help="Leave the published protocols out.")]
PublishedOnly = Annotated[bool, typer.Option("--published-only", help="Run the published protocols only.")]


def main(
    what: What = "list",
    quick: Quick = False,
    honest_only: HonestOnly = False,
    published_only: PublishedOnly = False,
    data: DataFolder = None,
    out: Page = None,
    force: Force = False,
    folder: Folder = None,
    jobs: Processes = None,
    minutes: Minutes = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run published tables again: printed, ours, and honest side by side, with the reason where they differ.

    The tables come with isentropic-papers (pip install isentropic-papers), or a package of your own.
    Each result is kept when it is done, and read back by the next command that needs it: stop with Ctrl-C
    and go on later, or start the same command twice to share the work. A data set that is not there is a
    row with its reason. With --minutes the page is of what is done by then, and says what was not run.

    \b
    Examples:
      isentropic reproduce list
      isentropic reproduce 002 --quick --out 002.html
      isentropic reproduce 000:7 --data datasets --out table7.html
      isentropic reproduce survey --data datasets --minutes 60 --out survey.html
      isentropic reproduce all --data datasets --out all.html
    """
    from ..experiments.studies import require_plugin, sources, tables_of

    require_plugin()
    set_data_folder(data)
    if what == "list":
        with reporting(bars=False, memory=memory):
            _show_sources(sources(), as_json)
        return
    page = out or Path(_PAGE)
    asked = Asked("", "", page, folder or page.parent / RESULTS, jobs, quick, minutes, force=force,
                  is_named=out is not None)  # fmt: skip
    require_outputs(asked.outputs, data_files(), force=force)
    with reporting(bars=False, memory=memory):
        from ..experiments.tasks import HONEST, PUBLISHED, ROUNDED

        known = sources()
        both = honest_only and published_only
        require(not both, "--honest-only and --published-only", "given one at a time", "both")
        only = HONEST if honest_only else PUBLISHED if published_only else None
        tables = tables_of(what, known)
        tasks = [task for table in tables for task in table.tasks(quick)]
        kinds = {PUBLISHED: (PUBLISHED, ROUNDED)}.get(only or "", (only,))
        tasks = [task for task in tasks if only is None or task.protocol in kinds]
        hint = f"Leave --{only}-only out." if only else "Its quick form is empty: leave --quick out."
        require(bool(tasks), "WHAT", "a table that has something to run", what, hint)
        name = what.partition(":")[0]
        title = known[name].title if name in known else "All published tables"
        asked = replace(asked, title=title, command=_command(what, quick, only, data, page))
        run_and_write(tables, tasks, asked, sources=known, quiet=quiet, as_json=as_json)


def _command(what: str, quick: bool, only: str | None, data: Path | None, out: Path) -> str:
    words = ["isentropic", "reproduce", quote(what)]
    words += ["--quick"] if quick else []
    words += [f"--{only}-only"] if only else []
    words += ["--data", quote(str(data))] if data is not None else []
    return printable(" ".join([*words, "--out", quote(str(out))]))


def _show_sources(known: Mapping[str, Source], as_json: bool) -> None:
    found = [_described(source) for source in known.values()]
    if as_json:
        show_json(found)
        return
    rows = [
        tuple(", ".join(value) if isinstance(value, list) else str(value) for value in one.values())
        for one in found
    ]  # fmt: skip
    show_table(("source", "title", "tables", "printed numbers", "tasks", "tasks, quick"), rows)


def _described(source: Source) -> dict[str, object]:
    tables = source.tables()
    return {
        "source": source.name,
        "title": source.title,
        "tables": [table.name for table in tables],
        "printed": sum(cell.printed is not None for table in tables for cell in table.cells),
        "tasks": len({task for table in tables for task in table.tasks(False)}),
        "quick_tasks": len({task for table in tables for task in table.tasks(True)}),
    }
