"""One bar for a long comparison: what is being tried, how much of all is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@contextmanager
def one_bar(*, shown: bool) -> Iterator[None]:
    """Within the block, progress is one line on a terminal and nothing in a pipe."""
    from .._runtime import config_context

    bar = _Bar() if shown and sys.stderr.isatty() else None
    with config_context(progress=bar):
        try:
            yield
        finally:
            if bar is not None:
                bar.stop()


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
