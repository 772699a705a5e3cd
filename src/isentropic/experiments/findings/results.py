"""A published table beside ours: what is printed, what the same protocol gives now, what honest rows give."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..tasks import HONEST, PERMUTED, PUBLISHED, RANDOM, ROUNDED, Cell, Outcome, PublishedTable, Task

SAME, NEAR, FAR, UNKNOWN = "same", "near", "far", "unknown"
_NEAR = 0.02  # that two programs differ by where one draws without a seed
_ROUNDING = 1e-9  # what decimal numbers lose in binary
NOT_RUN = "Not run."
UNEXPLAINED = "Not explained"  # with what a reason begins that is none
ROUNDING = "Rounding: features that differ in their last digit give numbers that reach the printed one."
_PROTOCOLS = (PUBLISHED, HONEST, PERMUTED, RANDOM)


@dataclass(frozen=True, slots=True)
class CellResult:
    """One number and its company; None where there is none, and the reason says why."""

    cell: Cell
    ours: float | None
    honest: float | None
    low: float | None  # of the 95% interval of the honest one
    high: float | None
    permuted: float | None
    random: float | None
    least: float | None  # of ours, where only rounding changes
    most: float | None
    agreement: str  # "same", "near", "far", or "unknown" where there are not two to compare
    reason: str

    @property
    def is_open(self) -> bool:
        """Whether ours differs from what is printed, and it is not known why."""
        known = self.reason and not self.reason.startswith(UNEXPLAINED)
        return self.agreement in (NEAR, FAR) and not known


@dataclass(frozen=True, slots=True, eq=False)
class TableResult:
    """All numbers of a table, the sentences computed from them, and what did not come about."""

    table: PublishedTable
    cells: tuple[CellResult, ...]
    facts: tuple[str, ...]
    failures: tuple[tuple[str, str, str, str], ...]  # data, method, protocol, reason
    n_tasks: int  # that were done
    seconds: float
    left: tuple[Task, ...] = ()  # that were asked for and not run

    @property
    def compared(self) -> tuple[CellResult, ...]:
        """Numbers that are printed and that we have."""
        return tuple(one for one in self.cells if one.agreement != UNKNOWN)

    @property
    def n_same(self) -> int:
        """How many of them agree within their tolerance."""
        return sum(one.agreement == SAME for one in self.cells)

    @property
    def met_by_method(self) -> dict[str, tuple[int, int]]:
        """Of each method that was compared: how many of how many agree; empty where there is one alone."""
        counts: dict[str, tuple[int, int]] = {}
        for one in self.compared:
            met, of = counts.get(one.cell.method, (0, 0))
            counts[one.cell.method] = met + (one.agreement == SAME), of + 1
        return counts if len(counts) > 1 else {}


def collected(
    table: PublishedTable,
    outcomes: Mapping[Task, Outcome],
    quick: bool = False,
    left: Collection[Task] = (),
) -> TableResult:
    """Read the numbers of a table from the outcomes of its tasks; what failed, or is ``left``, is a reason.

    An end of an interval is read as its value is, from measures called ``name low`` and ``name high``.
    """
    every = table.tasks(quick)
    own = {task: outcomes[task] for task in every if task in outcomes}
    waiting = tuple(task for task in every if task in left)
    found = {protocol: table.ours(own, protocol) for protocol in _PROTOCOLS}
    ends, spans = (
        [table.ours(_ends(own, end), protocol) for end in ("low", "high")] for protocol in (HONEST, ROUNDED)
    )
    missing = _missing(own, waiting)
    cells = []
    for cell in table.cells:
        ours, printed = found[PUBLISHED].get(cell), cell.printed
        honest = found[HONEST].get(cell)
        low, high = (end.get(cell) if honest is not None else None for end in ends)
        least, most = (end.get(cell) for end in spans)
        cells.append(
            CellResult(
                cell,
                ours,
                honest,
                low,
                high,
                found[PERMUTED].get(cell),
                found[RANDOM].get(cell),
                least,
                most,
                agreement(printed, ours, cell.tolerance),
                _reason(table, cell, missing, ours, honest, (least, most)),
            )
        )
    facts = table.facts(own) if table.facts is not None and own else ()
    seconds = sum(outcome.seconds for outcome in own.values())
    failures = tuple((t.dataset, t.method, t.protocol, o.reason) for t, o in own.items() if o.reason)
    return TableResult(table, tuple(cells), facts, failures, len(own), seconds, waiting)


def agreement(printed: float | None, ours: float | None, tolerance: float) -> str:
    """
    >>> [agreement(0.95, ours, 0.0005) for ours in (0.9503, 0.96, 0.8, None)]
    ['same', 'near', 'far', 'unknown']
    """
    if printed is None or ours is None or not math.isfinite(tolerance):
        return UNKNOWN
    apart = abs(ours - printed) - _ROUNDING
    if apart <= tolerance:
        return SAME
    return NEAR if apart <= max(_NEAR, _NEAR * abs(printed)) else FAR


def _ends(outcomes: Mapping[Task, Outcome], end: str) -> dict[Task, Outcome]:
    suffix = f" {end}"
    return {
        task: replace(
            outcome,
            measures={
                name.removesuffix(suffix): value
                for name, value in outcome.measures.items()
                if name.endswith(suffix)
            },
        )
        for task, outcome in outcomes.items()
    }


def _missing(outcomes: Mapping[Task, Outcome], left: Sequence[Task]) -> dict[tuple[str, str, str], str]:
    """Why there is no number, by protocol, data set and method: the first reason, else that it is left."""
    found = {(task.protocol, task.dataset, task.method): NOT_RUN for task in left}
    for task, outcome in reversed(list(outcomes.items())):
        if outcome.reason:
            found[task.protocol, task.dataset, task.method] = outcome.reason
    return found


def _reason(
    table: PublishedTable,
    cell: Cell,
    missing: Mapping[tuple[str, str, str], str],
    ours: float | None,
    honest: float | None,
    span: tuple[float | None, float | None],
) -> str:
    """What is said of a cell: why it has no number, else why it differs, the narrowest reason first."""
    looked = (PUBLISHED,) if honest is not None else _PROTOCOLS
    keys = [(protocol, cell.dataset, cell.method) for protocol in looked] if ours is None else []
    told = next((missing[key] for key in keys if key in missing), "")
    if told or agreement(cell.printed, ours, cell.tolerance) == SAME:
        return told
    exact, of_method, *wider = [table.reasons.get(key, "") for key in _keys(cell)]
    if ours is None:
        return exact  # nothing differs; that a number is not to be had may be known
    known = [one for one in (exact, of_method) if not one.startswith(UNEXPLAINED)]
    rounding = ROUNDING if _is_within(cell, *span) else ""
    return next((one for one in (*known, rounding, exact, of_method, *wider) if one), "")


def _is_within(cell: Cell, least: float | None, most: float | None) -> bool:
    """Whether what is printed lies where rounding alone may have put it."""
    if cell.printed is None or least is None or most is None:
        return False
    return least - cell.tolerance - _ROUNDING <= cell.printed <= most + cell.tolerance + _ROUNDING


def _keys(cell: Cell) -> Iterable[tuple[str, str, str]]:
    data, method, measure = cell.dataset, cell.method, cell.measure
    yield data, method, measure
    yield data, method, ""
    yield data, "", measure
    yield "", method, measure
    yield data, "", ""
    yield "", method, ""
    yield "", "", measure


# ---- as a file -----------------------------------------------------------------------------------

COLUMNS = (
    "source", "table", "dataset", "method", "measure", "parameter", "printed", "ours", "honest", "honest_low",
    "honest_high", "permuted", "random_projections", "rounding_low", "rounding_high", "agreement", "reason",
)  # fmt: skip


def as_rows(results: Sequence[TableResult]) -> list[tuple[object, ...]]:
    """Every cell with its company, for a CSV file; None is an empty field."""
    return [
        (
            result.table.source, result.table.name, one.cell.dataset, one.cell.method, one.cell.measure,
            one.cell.parameter, one.cell.printed, one.ours, one.honest, one.low, one.high, one.permuted,
            one.random, one.least, one.most, one.agreement, one.reason,
        )
        for result in results
        for one in result.cells
    ]  # fmt: skip


# --------------------------------------------------------------------------------------------------
# What a source must give again for its protocol to count as understood: how many numbers, how near.


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
