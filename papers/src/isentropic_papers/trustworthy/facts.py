"""What the thesis on SDD leaves once MDS is brought to its end and seeds are drawn again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isentropic.experiments.findings.sentences import number
from isentropic.experiments.tasks import HONEST, PUBLISHED, Cell, Outcome, Task

_LEADER, _SECOND = "SDD", "MDS"


def lead_and_seeds(cells: Sequence[Cell], outcomes: Mapping[Task, Outcome]) -> tuple[str, ...]:
    """Sentences of one table of nine methods: the lead of SDD over MDS, and how far seeds are apart."""
    printed = {cell.method: cell.printed for cell in cells if cell.measure == "tau"}
    found = {(task.method, task.protocol): outcome.measures for task, outcome in outcomes.items()}
    data = cells[0].dataset
    return (*_best(data, printed, found), *_lead(data, printed, found), *_seeds(data, printed, found))


def _best(
    data: str,
    printed: Mapping[str, float | None],
    found: Mapping[tuple[str, str], Mapping[str, float]],
) -> list[str]:
    """Who keeps the order of distances best: as printed, run again, and with default parameters."""
    told = {"as printed": {name: value for name, value in printed.items() if value is not None}}
    for protocol, how in ((PUBLISHED, "run again"), (HONEST, "with default parameters")):
        taus = {name: measures["tau"] for (name, kind), measures in found.items()
                if kind == protocol and "tau" in measures}  # fmt: skip
        told |= {how: taus} if len(taus) > 1 else {}
    parts = [f"{_first(taus)} {how}, of {len(taus)} methods" for how, taus in told.items() if taus]
    return [f"{data}, the highest tau: {'; '.join(parts)}."] if len(told) > 1 else []


def _first(taus: Mapping[str, float]) -> str:
    best = max(taus, key=lambda name: taus[name])
    return f"{best} ({number(taus[best], 4)})"


def _lead(
    data: str,
    printed: Mapping[str, float | None],
    found: Mapping[tuple[str, str], Mapping[str, float]],
) -> list[str]:
    first, second = printed.get(_LEADER), printed.get(_SECOND)
    ours, ended = found.get((_LEADER, PUBLISHED)), found.get((_SECOND, HONEST))
    if first is None or second is None or not ours or not ended:
        return []
    told = [number(value, 4) for value in (first - second, ours["tau"] - ended["tau"], ended["tau"], second)]
    return [
        f"{data}: SDD leads MDS by {told[0]} in tau as printed, and by {told[1]} where MDS is brought to its "
        f"minimum (tau {told[2]}, printed {told[3]})."
    ]


def _seeds(
    data: str,
    printed: Mapping[str, float | None],
    found: Mapping[tuple[str, str], Mapping[str, float]],
) -> list[str]:
    told = []
    for (method, protocol), measures in found.items():
        theirs = printed.get(method)
        if protocol != PUBLISHED or "tau low" not in measures or theirs is None:
            continue
        low, high = measures["tau low"], measures["tau high"]
        where = "within" if low <= theirs <= high else "outside"
        told.append(f"{method} {number(low)} to {number(high)}, printed {number(theirs)} ({where})")
    return [f"{data}, range of tau over three seeds of ours: {'; '.join(told)}."] if told else []
