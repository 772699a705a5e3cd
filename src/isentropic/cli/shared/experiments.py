"""What commands that run experiments share: the work, the page, the tables of numbers beside it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._core.errors import plural, printable
from .options import input_path, out_option, output_path
from .output import PAGES, Output, is_of_earlier_run, is_page, require_replaceable, require_suffix
from .process import computing, end_on_sigterm
from .terminal import one_bar, show_json

if TYPE_CHECKING:
    from ...experiments.findings.rankings import Ranking
    from ...experiments.findings.sentences import Chapter
    from ...experiments.studies import Source
    from ...experiments.tasks import Outcome, PublishedTable, Task

RESULTS = "isentropic-results"  # the folder beside the page
_LEAST_PAGE = 100_000  # bytes

Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=output_path,
        help="Results, each kept when it is done; by default beside the page.",
    ),
]
Processes = Annotated[
    int | None, typer.Option("--jobs", metavar="N", help="Processes; all cores by default.")
]
Minutes = Annotated[
    float | None,
    typer.Option(metavar="N", min=0, help="Stop after N minutes: the page of what is done. 0 runs nothing."),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="FOLDER", parser=input_path, help="Data sets; instead of ISENTROPIC_DATA."
    ),
]


def page_option(default: str) -> Any:
    """``--out`` of a command that writes a page, and its name where none is given."""
    return out_option("The page: .html; numbers and ranks as .csv beside it.", default)


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
    force: bool = False  # replace files that are not of an earlier run
    raw_text: bool = False  # cells of the tables of numbers as they are, formulas included
    is_named: bool = True  # the page, by the user: else one is replaced only where an earlier run wrote it

    @property
    def page(self) -> Output:
        extra, is_ours = ("report", "The page"), None if self.is_named else is_page
        return Output("--out", self.out, PAGES, extra, _LEAST_PAGE, is_ours)

    @property
    def numbers(self) -> Output:
        from ...experiments.findings.results import COLUMNS

        path = self.out.with_suffix(".csv")
        return Output("the file of numbers beside --out", path, is_ours=_starts_with(COLUMNS))

    @property
    def ranks(self) -> Output:
        from ...experiments.findings.rankings import RANK_COLUMNS

        path = self.out.with_name(f"{self.out.stem}-ranks.csv")
        return Output("the file of ranks beside --out", path, is_ours=_starts_with(RANK_COLUMNS))

    @property
    def outputs(self) -> list[Output]:
        """The page, and the files and the folder beside it."""
        require_suffix("--out", self.out, PAGES)  # a path without a name has no names beside it
        return [self.page, self.numbers, self.ranks, Output("--folder", self.folder, is_folder=True)]


def _starts_with(columns: Sequence[str]) -> Callable[[bytes], bool]:
    """Whether a file begins with the names of our columns."""
    line = f"{','.join(columns)}\n".encode()
    return lambda head: head.replace(b'"', b"").startswith(line)  # names are quoted where a cell must be


def set_data_folder(data: Path | None) -> None:
    """For this process and those that it starts."""
    if data is not None:
        os.environ["ISENTROPIC_DATA"] = str(data.absolute())


def data_files() -> list[Path]:
    """The data folder and every file in it."""
    from ...tables.folder import manifest_path

    manifest = manifest_path()
    return [] if manifest is None else [manifest.parent, *manifest.parent.rglob("*")]


def run_and_write(
    tables: Sequence[PublishedTable],
    tasks: Sequence[Task],
    asked: Asked,
    *,
    sources: Mapping[str, Source] | None = None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Do what is not done yet, write the page and the numbers, say what survives.

    ``sources`` say what is theirs of the tables: titles, aims, p-values.
    """
    from ...experiments.findings.sentences import chapters_of
    from ...experiments.runner import run
    from ...experiments.store import OutcomeStore

    store = OutcomeStore.at(asked.folder)
    with end_on_sigterm(), one_bar(shown=not quiet), computing("the experiment"):
        seconds = None if asked.minutes is None else 60.0 * asked.minutes
        outcomes = run(tasks, store, asked.jobs, seconds=seconds)
    left = [task for task in tasks if task not in outcomes]
    chapters = chapters_of(
        tables, outcomes, sources=sources, quick=bool(asked.quick), left=left, rope=asked.rope
    )
    _write(chapters, outcomes, asked)
    if as_json:
        show_json(_document(chapters, outcomes, asked))
    elif not quiet:
        for chapter in chapters:
            for sentence in chapter.sentences:
                typer.echo(printable(sentence))
        files = [asked.numbers.path]
        files += [asked.ranks.path] if any(chapter.rankings for chapter in chapters) else []
        told = f"{asked.out}{', ' if len(files) > 1 else ' and '}{' and '.join(map(str, files))}"
        typer.echo(printable(f"wrote {told}; {plural(len(outcomes), 'result')} in {asked.folder}"))


def _write(chapters: Sequence[Chapter], outcomes: dict[Task, Outcome], asked: Asked) -> None:
    from datetime import UTC, datetime

    from ..._core.files import atomic_write, write_together
    from ...experiments.findings.rankings import RANK_COLUMNS, rank_rows
    from ...experiments.findings.results import COLUMNS, as_rows
    from ...report import tables_page
    from .report_document import versions

    facts = {
        "command": asked.command,
        "versions": versions(),
        "seconds": sum(outcome.seconds for outcome in outcomes.values()),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": asked.quick,
        "folder": str(asked.folder),
    }
    numbers = as_rows([result for chapter in chapters for result in chapter.results])
    ranks = rank_rows([ranking for chapter in chapters for ranking in chapter.rankings])
    for output in (asked.page, asked.numbers, asked.ranks):  # what came there meanwhile is kept, too
        require_replaceable(output, force=asked.force)
    with write_together():
        _write_csv(asked.numbers.path, COLUMNS, numbers, raw_text=asked.raw_text)
        if ranks:
            _write_csv(asked.ranks.path, RANK_COLUMNS, ranks, raw_text=asked.raw_text)
        with atomic_write(asked.out) as file:
            file.write(tables_page(asked.title, chapters, facts).encode(errors="backslashreplace"))
    if not ranks and is_of_earlier_run(asked.ranks):
        asked.ranks.path.unlink()  # it would pass for this one's


def _write_csv(
    path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]], *, raw_text: bool
) -> None:
    import csv
    import io
    from itertools import chain

    from ..._core.files import atomic_write
    from ...tables.map_files import escape_formula, quoting_of

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
