"""What the reader sees while a command works: progress and warnings on stderr, tables on stdout."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import typer

from ..._core.errors import IsentropicWarning, plural, printable
from .options import parse_bytes
from .process import debugging, terminal_text
from .table_options import in_options

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

    from ...comparison import Run


@contextmanager
def reporting(*, bars: bool, memory: str | None) -> Iterator[list[str]]:
    """Show progress on a terminal and our warnings as one line each; yield the warnings said so far.

    ``memory`` is the budget, as 4G.
    """
    from ..._core.runtime import config_context

    said: list[str] = []

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        ours = issubclass(category, IsentropicWarning)
        text = terminal_text(in_options(str(message)) if ours else f"{category.__name__}: {message}")
        if text not in said:
            said.append(text)
            typer.echo(f"Warning: {text}", err=True)

    drawn = _StageBars() if bars and sys.stderr.isatty() else None
    size = parse_bytes("--memory", memory)
    limit = {} if size is None else {"memory_limit": size}
    with warnings.catch_warnings(), config_context(progress=drawn, **limit):
        warnings.simplefilter("always" if debugging() else "ignore")
        warnings.simplefilter("always", IsentropicWarning)
        warnings.showwarning = show
        try:
            yield said
        finally:
            if drawn is not None:
                drawn.stop()


class _StageBars:
    """One bar for each stage, gone when the work is done; rich is imported at the first report."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        progress = self._started()
        if what not in self._tasks:
            for task in progress.tasks:
                progress.update(task.id, visible=not task.finished)
            self._tasks[what] = progress.add_task(what, total=total)
        progress.update(self._tasks[what], completed=done, total=total, visible=True)

    def stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _started(self) -> Progress:
        if self._progress is None:
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            self._progress = _start_progress(TextColumn("{task.description}"), *columns)
        return self._progress


def _start_progress(*columns: ProgressColumn) -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.start()
    return progress


def show_json(content: Any) -> None:
    """A document for programs, on stdout."""
    import json

    typer.echo(json.dumps(content, indent=2, allow_nan=False, default=str))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table that fits the terminal; in a pipe, one line for each row."""
    if sys.stdout.isatty():
        _show_rich_table(columns, rows)
        return
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _show_rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for position, column in enumerate(columns):
        table.add_column(column, no_wrap=position == 0)
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, markup=False).print(table)


# ---- progress of a long comparison ---------------------------------------------------------------


@contextmanager
def one_bar(*, shown: bool) -> Iterator[None]:
    """Within the block, progress is one line on a terminal and nothing in a pipe."""
    from ..._core.runtime import config_context

    bar = _SingleBar() if shown and sys.stderr.isatty() else None
    with config_context(progress=bar):
        try:
            yield
        finally:
            if bar is not None:
                bar.stop()


class MethodLines:
    """One line on stderr for each method as it is done, where no bar can be shown; nothing if not ``shown``.

    ``umap: done in 3.1 s (2 of 4)``
    """

    def __init__(self, *, shown: bool) -> None:
        self.shown = shown and not sys.stderr.isatty()
        self._total = self._done = 0
        self._since = time.perf_counter()

    def begin(self, methods: Sequence[str]) -> None:
        self._total, self._since = len(methods), time.perf_counter()
        self.say(f"comparing {plural(len(methods), 'method')}: {', '.join(methods)}")

    def add(self, run: Run, read_back: bool) -> None:
        """A method is done; one beyond those that were to be compared is the map of all rows."""
        from ...comparison.presentation import seconds

        now = time.perf_counter()
        took = seconds(now - self._since)
        self._done, self._since = self._done + 1, now
        if run.failed:
            how = f"failed after {took}: {run.reason}"
        else:
            how = "read back" if read_back else f"done in {took}"
        of = f"{self._done} of {self._total}" if self._done <= self._total else "all rows"
        self.say(f"{run.method}: {how} ({of})")

    def say(self, text: str) -> None:
        if self.shown:
            typer.echo(printable(text), err=True)


class _SingleBar:
    """Says what is being done; rich is imported at the first report."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._progress is None or self._task is None:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

            columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._progress = _start_progress(*columns, TextColumn("{task.description}", markup=False))
            self._task = self._progress.add_task(what, total=total)
        self._progress.update(self._task, description=what, completed=done, total=total)

    def stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()
