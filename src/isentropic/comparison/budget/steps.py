"""How much of a comparison is done, how long the rest will take, and what each method tries."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..._core.errors import IsentropicError
from ..._core.runtime import Progress
from ..evaluation.tasks import Task
from ..presets import Preset, grid_of
from .time_left import Levels, in_words, span_left

ALL_ROWS = "all rows"  # stands for the method that is recommended, which is not known yet

_NAMED = 5.0  # seconds: what takes less is not named


def steps_of(task: Task, preset: Preset, n_rows: int) -> list[str]:
    """Kinds of the steps of a task: trials, fits, those with permuted labels, and one for the measures.

    They are counted where the next one begins: measures are over when the map of another seed is fitted.
    """
    tried = len(grid_for(task, preset, n_rows))
    permuted = preset.n_label_permutations if task.needs_y else 0
    seeds = preset.n_seeds - 1 if task.draws(n_rows) else 0
    return ["trial"] * tried + ["map"] + ["labels permuted"] * permuted + ["measures"] + ["seed"] * seeds


def count_steps(task: Task, preset: Preset, n_rows: int) -> int:
    """Steps of a task."""
    return len(steps_of(task, preset, n_rows))


@dataclass(slots=True)
class Steps:
    """Counts what is done, names what is being done, and says how long the rest will take.

    The seconds of a step depend on its method and its kind (:func:`.time_left.span_left`); steps that were
    left out or read back, several at once, say nothing about others.
    """

    progress: Progress | None
    total: int
    pending: dict[str, list[str]] = field(default_factory=dict)  # kinds of steps by method, in their order
    done: int = 0
    _seen: list[tuple[Levels, float]] = field(default_factory=list)
    _since: float = field(default_factory=lambda: time.perf_counter())

    def begin(self, what: str) -> None:
        """A method begins: what came before is no part of its first step."""
        self._since = time.perf_counter()
        self.now(what)

    def now(self, what: str, done: int = 0) -> None:
        self.done = min(self.done + done, self.total)
        if done > 0:
            self._count(what.partition(":")[0], done)
        if self.progress is not None:
            self.progress(what + self._left(), self.done, self.total)

    def _count(self, label: str, done: int) -> None:
        now = time.perf_counter()
        kinds = self.pending.get(label) or self.pending.get(ALL_ROWS, [])
        if done == 1 and kinds:
            self._seen.append(((f"method {label}", f"step {kinds[0]}"), now - self._since))
        del kinds[:done]
        self._since = now

    def _left(self) -> str:
        """In words, unless it is short."""
        left = [
            (f"method {label}", f"step {kind}") for label, kinds in self.pending.items() for kind in kinds
        ]
        span = span_left(self._seen, left)
        return "" if span is None or span[1] < _NAMED else f", {in_words(span)}"


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
