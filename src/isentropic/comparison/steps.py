"""How much of a comparison is done, and what each method tries."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._errors import IsentropicError
from .._runtime import Progress
from .presets import Preset, grid_of
from .tasks import Task


def count_steps(task: Task, preset: Preset, n_rows: int) -> int:
    """Steps of a task: trials, fits, those with permuted labels, and one for the measures."""
    tried = len(grid_for(task, preset, n_rows))
    permuted = preset.n_label_permutations if task.needs_y else 0
    return tried + (preset.n_seeds if task.draws(n_rows) else 1) + permuted + 1


@dataclass(slots=True)
class Steps:
    """Counts what is done, and names what is being done."""

    progress: Progress | None
    total: int
    done: int = 0

    def now(self, what: str, done: int = 0) -> None:
        self.done = min(self.done + done, self.total)
        if self.progress is not None:
            self.progress(what, self.done, self.total)


def grid_for(task: Task, preset: Preset, n_rows: int) -> list[dict[str, Any]]:
    """Sets of parameters that are tried; none where there is nothing to choose."""
    if not preset.tune or task.make is None or (task.max_rows is not None and n_rows > task.max_rows):
        return []
    with suppress(IsentropicError, ImportError):
        n_rows = n_rows if preset.tuned_rows is None else min(n_rows, preset.tuned_rows)
        grid = grid_of(task.defaults(), n_rows, preset.budget)
        sets = [{name: value} for name, values in grid.items() for value in values]
        return sets if len(sets) > 1 else []
    return []
