"""Tasks, cells and tables of a study, and how long the tasks that are left will take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._core.errors import IsentropicError
from ..comparison.budget.progress import Levels, duration, estimate_time_left, time_left_text

__all__ = ["duration", "time_left_text", "time_left"]


# ---- What an experiment is made of: a piece of work, a printed cell, a table of them -------------


PUBLISHED, HONEST, PERMUTED, RANDOM = "published", "honest", "permuted", "random-projections"
ROUNDED = "rounding"  # the published protocol with features that differ in their last digit


class Refused(IsentropicError):
    """Raised by work that ends without a number on purpose: the table is too large for the method, say.

    The reason is kept as a result is. Whatever else is raised is a reason too, but tried again next time.
    """


@dataclass(frozen=True)
class Task:
    """The smallest piece of work that is kept: one method on one table of data under one protocol.

    ``work`` names the function that does it, as "module:function"; it is called with ``arguments``, which are
    what JSON can say, and gives its measures by name. So a task can be sent to another process, found again
    by its words, and started over after it was killed. ``data`` names the sources that the work reads, as
    ``isentropic.datasets.load`` takes them, or files: other content of theirs is another task. A work is a
    pure function of its arguments and of these: what it draws, it draws by a seed.

    >>> task = Task("002", "5.3", "Iris", "ISOMAP", PUBLISHED, "somewhere:measured", {"n_neighbors": 30})
    >>> task.words()
    '["002", "5.3", "Iris", "ISOMAP", "published", "somewhere:measured", {"n_neighbors": 30}]'
    """

    source: str
    table: str
    dataset: str
    method: str
    protocol: str
    work: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    data: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self.words())

    def words(self) -> str:
        """All that tells it from other tasks, the same in every process."""
        fields_of_task = (self.source, self.table, self.dataset, self.method, self.protocol, self.work)
        return json.dumps([*fields_of_task, dict(self.arguments)], sort_keys=True)


@dataclass(frozen=True)
class Outcome:
    """What a task gave: its measures by name, or the reason why there are none."""

    measures: Mapping[str, float]
    seconds: float = 0.0
    reason: str = ""  # in words, of a task that gave nothing: the data set is not here, the method refuses


@dataclass(frozen=True)
class Cell:
    """One number of a published table, and where it stands there."""

    dataset: str
    method: str
    measure: str
    printed: float | None = None  # None: the source leaves it blank
    parameter: str = ""
    digits: int = 3  # decimals that the source prints
    tolerance: float = 0.0005  # within which ours counts as the same


@dataclass(frozen=True)
class PublishedTable:
    """A table of a source: its cells, the work that gives ours, and how one is read from the other.

    ``ours`` takes the outcomes of the tasks of one protocol and gives a number to each cell that it can;
    ``reasons`` says, for a cell or a whole method, why ours differs from what is printed. ``name`` is what
    the source calls it, without the word: "7", "II", "5.3"; the command line takes 000:7 and 000:table7.
    ``note`` is Markdown: paragraphs, of which the first says what survives. ``facts`` gives sentences
    that are computed from the outcomes of all protocols, to stand above the note.
    """

    source: str
    name: str
    title: str
    cells: tuple[Cell, ...]
    tasks: Callable[[bool], tuple[Task, ...]]  # of all protocols; True: the quick form
    ours: Callable[[Mapping[Task, Outcome], str], Mapping[Cell, float]]
    # by (dataset or "", method or "", measure or "")
    reasons: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    note: str = ""
    facts: Callable[[Mapping[Task, Outcome]], tuple[str, ...]] | None = None
    honest: str = "on rows that were not seen"  # what the honest column is of, in words
    interval: str = "the 95% interval of the mean"  # what stands in brackets behind it, in words
    leads: bool = False  # whether its facts come first of all
    order: Callable[[Sequence[Any]], list[str]] | None = None  # of its methods, from its CellResults


# ---- from outcomes to numbers --------------------------------------------------------------------


def merged(outcomes: Mapping[Task, Outcome], protocol: str) -> dict[tuple[str, str], dict[str, float]]:
    """All measures by data and method: several tasks may each have a part of them."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for task, outcome in outcomes.items():
        if task.protocol == protocol:
            found.setdefault((task.dataset, task.method), {}).update(outcome.measures)
    return found


def measured(
    cells: Iterable[Cell], reading: Mapping[str, str] | None = None
) -> Callable[[Mapping[Task, Outcome], str], dict[Cell, float]]:
    """A reader of outcomes: the measure of a cell's name, of the tasks of its data and method.

    ``reading`` says under which name a measure is kept, where it is another one.
    """
    cells, names = tuple(cells), dict(reading or {})

    def ours(outcomes: Mapping[Task, Outcome], protocol: str) -> dict[Cell, float]:
        found = merged(outcomes, protocol)
        named = {cell: names.get(cell.measure, cell.measure) for cell in cells}
        rows = {cell: found.get((cell.dataset, cell.method), {}) for cell in cells}
        return {cell: rows[cell][name] for cell, name in named.items() if name in rows[cell]}

    return ours


def time_left(
    done: Mapping[Task, Outcome], left: Sequence[Task], n_jobs: int = 1
) -> tuple[float, float] | None:
    """Seconds, from and to; None before anything can be said.

    By :func:`isentropic.comparison.budget.progress.estimate_time_left`; the levels of a task are its data
    and its method.
    """
    seen = [(_levels(task), outcome.seconds) for task, outcome in done.items() if not outcome.reason]
    span = estimate_time_left(seen, [_levels(task) for task in left])
    return None if span is None else (span[0] / n_jobs, span[1] / n_jobs)


def _levels(task: Task) -> Levels:
    return f"data {task.dataset}", f"method {task.work} {task.method} {task.protocol}"
