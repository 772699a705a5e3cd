"""What a source must give again for its protocol to count as understood: how many numbers, how near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .results import SAME, UNKNOWN, CellResult, TableResult, agreement


@dataclass(frozen=True, slots=True)
class Aim:
    """Numbers of some tables that are held to what is printed; an empty choice is all.

    ``spare`` of them may differ, None: it is only told. ``within`` takes the place of the tolerance of each;
    ``reasons`` counts what differs with its reason too.
    """

    what: str
    spare: int | None = 0
    tables: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    within: float | None = None
    reasons: bool = False

    def holds(self, result: TableResult) -> list[CellResult]:
        """The numbers of a table that are meant, and that were computed again."""
        chosen = ((self.data, "dataset"), (self.methods, "method"), (self.measures, "measure"))
        if self.tables and result.table.name not in self.tables:
            return []
        return [
            one
            for one in result.cells
            if one.agreement != UNKNOWN
            and all(not names or getattr(one.cell, field) in names for names, field in chosen)
        ]

    def is_met(self, one: CellResult) -> bool:
        """Whether a number counts."""
        within = one.cell.tolerance if self.within is None else self.within
        is_near = agreement(one.cell.printed, one.ours, within) == SAME
        return is_near or (self.reasons and bool(one.reason) and not one.is_open)


@dataclass(frozen=True, slots=True)
class Reached:
    """An aim, how many of how many meet it in a run, and how many must, in words."""

    what: str
    met: int
    of: int
    must: str
    holds: bool


def reached(aims: Sequence[Aim], results: Sequence[TableResult]) -> tuple[Reached, ...]:
    """Of each aim that anything was computed for."""
    found = []
    for aim in aims:
        cells = [one for result in results for one in aim.holds(result)]
        if cells:
            found.append(_reached(aim, sum(map(aim.is_met, cells)), len(cells)))
    return tuple(found)


def _reached(aim: Aim, met: int, of: int) -> Reached:
    if aim.spare is None:
        return Reached(aim.what, met, of, "", True)
    must = f"all but {aim.spare}" if aim.spare else "all"
    return Reached(aim.what, met, of, must, met >= of - aim.spare)
