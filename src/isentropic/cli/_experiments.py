"""What commands that run experiments share: the work, the page, the tables of numbers beside it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._errors import printable
from .._extras import require_extra
from ._bar import one_bar
from ._computation import computing, ending
from ._output import require_suffix
from ._summary import count
from ._terminal import show_json

if TYPE_CHECKING:
    from ..experiments.chapters import Chapter
    from ..experiments.rankings import Ranking
    from ..experiments.values import Outcome, PublishedTable, Task

PAGES = (".html", ".htm")
RESULTS = "isentropic-results"  # the folder beside the page
_LEAST_PAGE = 100_000  # bytes

Page = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="The page: .html; numbers and ranks as .csv beside it."),
]
Folder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Results, each kept when it is done; by default beside the page."),
]
Processes = Annotated[
    int | None, typer.Option("--jobs", metavar="N", help="Processes; all cores by default.")
]
Minutes = Annotated[
    float | None,
    typer.Option(metavar="N", min=0, help="Stop after N minutes: the page of what is done. 0 runs nothing."),
]
DataFolder = Annotated[
    Path | None, typer.Option("--data", metavar="FOLDER", help="Data sets; instead of ISENTROPIC_DATA.")
]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be run, and where it goes."""

    title: str
    command: str
    out: Path
    folder: Path
    jobs: int | None
    quick: bool | None  # None where there is no such form
    minutes: float | None = None
    rope: float = 0.01  # scores that differ by less are level
    raw_text: bool = False  # cells of the tables of numbers as they are, formulas included


def require_place(out: Path) -> None:
    """Refuse now a page that could not be written after the work is done."""
    from .._io import require_writable

    require_suffix("--out", out, PAGES)
    require_extra("report", "The page")
    require_writable(out, _LEAST_PAGE)
    require_writable(out.with_suffix(".csv"))
    require_writable(_ranks_file(out))


def _ranks_file(out: Path) -> Path:
    """Of the ranks, beside the page and the file of numbers."""
    return out.with_name(f"{out.stem}-ranks.csv")


def set_data_folder(data: Path | None) -> None:
    """For this process and those that it starts."""
    if data is not None:
        os.environ["ISENTROPIC_DATA"] = str(data.absolute())


def run_and_write(
    tables: Sequence[PublishedTable], tasks: Sequence[Task], asked: Asked, *, quiet: bool, as_json: bool
) -> None:
    """Do what is not done yet, write the page and the numbers, say what survives."""
    from ..experiments.chapters import chapters_of
    from ..experiments.running import run
    from ..experiments.store import OutcomeStore

    store = OutcomeStore.at(asked.folder)
    with ending(), one_bar(shown=not quiet), computing("the experiment"):
        seconds = None if asked.minutes is None else 60.0 * asked.minutes
        outcomes = run(tasks, store, asked.jobs, seconds=seconds)
    left = [task for task in tasks if task not in outcomes]
    chapters = chapters_of(tables, outcomes, quick=bool(asked.quick), left=left, rope=asked.rope)
    _write(chapters, outcomes, asked)
    if as_json:
        show_json(_document(chapters, outcomes, asked))
    elif not quiet:
        for chapter in chapters:
            for sentence in chapter.sentences:
                typer.echo(printable(sentence))
        files = [asked.out.with_suffix(".csv")]
        files += [_ranks_file(asked.out)] if any(chapter.rankings for chapter in chapters) else []
        told = f"{asked.out}{', ' if len(files) > 1 else ' and '}{' and '.join(map(str, files))}"
        typer.echo(printable(f"wrote {told}; {count(len(outcomes), 'result')} in {asked.folder}"))


def _write(chapters: Sequence[Chapter], outcomes: dict[Task, Outcome], asked: Asked) -> None:
    from datetime import UTC, datetime

    from .._io import atomic_write
    from ..experiments.rankings import RANK_COLUMNS, rank_rows
    from ..experiments.results import COLUMNS, as_rows
    from ..report import tables_page
    from ._report_document import versions

    facts = {
        "command": asked.command,
        "versions": versions(),
        "seconds": sum(outcome.seconds for outcome in outcomes.values()),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": asked.quick,
        "folder": str(asked.folder),
    }
    numbers = as_rows([result for chapter in chapters for result in chapter.results])
    _write_csv(asked.out.with_suffix(".csv"), COLUMNS, numbers, raw_text=asked.raw_text)
    ranks = rank_rows([ranking for chapter in chapters for ranking in chapter.rankings])
    if ranks:
        _write_csv(_ranks_file(asked.out), RANK_COLUMNS, ranks, raw_text=asked.raw_text)
    else:
        _ranks_file(asked.out).unlink(missing_ok=True)  # of an earlier run, which would pass for this one's
    with atomic_write(asked.out) as file:
        file.write(tables_page(asked.title, chapters, facts).encode(errors="backslashreplace"))


def _write_csv(
    path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]], *, raw_text: bool
) -> None:
    import csv
    import io
    from itertools import chain

    from .._io import atomic_write
    from ..datasets.formulas import escape_formula
    from ..datasets.written import quoting_of

    cells = rows if raw_text else [[escape_formula(cell) for cell in row] for row in rows]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n", quoting=quoting_of(chain(columns, *cells)))
    lines.writerow(columns)
    lines.writerows(cells)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode(errors="backslashreplace"))


def _test(ranking: Ranking) -> dict[str, object]:
    """Its test for JSON, which has no infinity: F is that where every block ranks alike."""
    fields = asdict(ranking.test)
    pairs = {name: getattr(ranking, name).tolist() for name in ("nemenyi", "conover", "wilcoxon")}
    return {
        **fields,
        "means": list(ranking.means),
        "critical_difference": ranking.difference,
        "p_values": pairs,
        "data": list(ranking.data),
        "scores": ranking.scores.tolist(),
        "first": {"rope": ranking.rope, "against": {n: asdict(p) for n, p in ranking.posteriors.items()}},
        "iman_davenport": None if math.isinf(fields["iman_davenport"]) else fields["iman_davenport"],
    }


def _document(chapters: Sequence[Chapter], outcomes: dict[Task, Outcome], asked: Asked) -> dict[str, object]:
    return {
        "out": str(asked.out),
        "folder": str(asked.folder),
        "results": len(outcomes),
        "left": len({task for chapter in chapters for result in chapter.results for task in result.left}),
        "seconds": sum(outcome.seconds for outcome in outcomes.values()),
        "failed": sum(bool(outcome.reason) for outcome in outcomes.values()),
        "chapters": [
            {
                "source": chapter.name,
                "title": chapter.title,
                "survives": list(chapter.sentences),
                "reached": [asdict(one) for one in chapter.reached],
                "tables": [
                    {
                        "table": result.table.name,
                        "met": result.n_same,
                        "compared": len(result.compared),
                        "left": len(result.left),
                        "failures": [list(one) for one in result.failures],
                    }
                    for result in chapter.results
                ],
                "rankings": [
                    {"tables": one.name, "column": one.column, "blocks": one.blocks, **_test(one)}
                    for one in chapter.rankings
                ],
            }
            for chapter in chapters
        ],
    }
