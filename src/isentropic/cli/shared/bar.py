"""How far a long comparison is: one bar on a terminal, one line for each method elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from ..._core.errors import plural, printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ...comparison import Run


@contextmanager
def one_bar(*, shown: bool) -> Iterator[None]:
    """Within the block, progress is one line on a terminal and nothing in a pipe."""
    from ..._core.runtime import config_context

    bar = _Bar() if shown and sys.stderr.isatty() else None
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


class _Bar:
    """Says what is being done; rich is imported at the first report."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._progress is None or self._task is None:
            self._progress = _started()
            self._task = self._progress.add_task(what, total=total)
        self._progress.update(self._task, description=what, completed=done, total=total)

    def stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()


def _started() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    progress = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    progress.start()
    return progress
