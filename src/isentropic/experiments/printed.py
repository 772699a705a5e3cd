"""The published tables as they are packaged: every printed number with its place, and the notes in words."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from .values import Cell, Outcome, Task

_SUMMARIES = ("Average", "Median", "Max", "Min", "Maximum", "Minimum", "Std. Dev.", "Std.Dev.")
_ROUNDING = 1e-9  # what a decimal number loses in binary

Reasons = dict[tuple[str, str, str], str]  # (dataset or "", method or "", measure or "")


@dataclass(frozen=True, slots=True)
class Printed:
    """One number of a table; ``value`` is None where the source leaves it blank."""

    table: str
    dataset: str
    method: str
    classifier: str
    metric: str
    parameter: str
    value: float | None
    decimals: int
    erratum: str  # what is wrong with it, where something is known to be

    @property
    def is_summary(self) -> bool:
        """Whether it is an average, a median or the like of the numbers above it."""
        return self.dataset in _SUMMARIES


@cache
def printed(table: str) -> tuple[Printed, ...]:
    """All numbers of a packaged table, in the order of the source.

    >>> first = printed("002_table5_3")[1]
    >>> first.dataset, first.metric, first.parameter, first.value
    ('Iris', '1-NN', 'R3', 1.0)
    """
    return tuple(
        Printed(
            row["table"],
            row["dataset"],
            row["method"],
            row["classifier"],
            row["metric"],
            row["parameter"],
            float(row["value"]) if row["value"] else None,
            len(row["value"].partition(".")[2]),
            row.get("erratum", ""),
        )
        for row in records(table)
    )


def records(table: str) -> list[dict[str, str]]:
    """The lines of a packaged file by the names of its columns."""
    text = (files(__package__) / "published" / f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def note(name: str) -> str:
    """What was found about a table, in words."""
    return (files(__package__) / "notes" / f"{name}.md").read_text(encoding="utf-8")


def as_printed(digits: int) -> float:
    """Half a unit of the last of so many digits: within it a number rounds to the printed one."""
    return 0.5 * 10.0**-digits + _ROUNDING


def errata(cells: Iterable[tuple[Cell, Printed]]) -> Reasons:
    """The reasons that the source itself gives: its misprints, by cell."""
    return {
        (cell.dataset, cell.method, cell.measure): f"Misprint: {one.erratum}."
        for cell, one in cells
        if one.erratum
    }


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
