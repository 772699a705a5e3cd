"""The published tables as they are packaged: every printed number with its place, and the notes in words."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from isentropic.experiments.findings.rankings import ClaimedP, Groups
from isentropic.experiments.tasks import Cell

_SUMMARIES = ("Average", "Median", "Max", "Min", "Maximum", "Minimum", "Std. Dev.", "Std.Dev.")
_P_TABLES = (("000", "8-9", "000_table10"), ("000", "11-12", "000_table13"))  # text, group, packaged table
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


def claimed_p(source: str, groups: Groups) -> tuple[ClaimedP, ...]:
    """All p-values that a text prints, in its prose and in tables of their own, by the group they are of."""
    names = {_without_brackets(name): name for name, _ in groups}
    found = []
    for row in records("prose_pvalues"):
        if row["source"] == source and row["p_value"]:
            relation = "" if row["relation"] == "=" else f"{row['relation']} "
            tables = names[_without_brackets(row["table"])]
            found.append(ClaimedP(tables, row["test"], row["pair"], f"{relation}{row['p_value']}"))
    for text, tables, file in _P_TABLES:
        if text == source:
            found += [ClaimedP(tables, "Nemenyi", row["method"], row["value"]) for row in records(file)]
    return tuple(found)


def _without_brackets(tables: str) -> str:
    """A text says of which table a p-value is, and in brackets in which one it summarises: 8-9 (10)."""
    return tables.partition(" (")[0]
