"""What the survey says once labels and ties are counted: ranks, and three facts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isentropic.experiments.findings.results import CellResult, Reached, TableResult
from isentropic.experiments.findings.sentences import interval
from isentropic.experiments.statistics import RankTest, critical_difference
from isentropic.experiments.tasks import HONEST, PUBLISHED, Cell, Outcome, Task

from .measures import MEAN
from .scores import ALL, LABELLED, Lead, Scores, leads, printed_scores, tie_spans

RANKED = "ranks"
_EVERY = "all tables"
_PARAMETER_FREE = "parameter-free-sdd"
_FIRSTS, _TABLES = 6, 10  # tables of the survey on which ours must be first, of all


# ---- the table of ranks ------------------------------------------------------------------------


def rank_cells(own: tuple[str, ...]) -> tuple[Cell, ...]:
    """A mean rank by each measure for every technique without labels; the survey prints none."""
    techniques = dict.fromkeys(name for _, name in printed_scores().index if name not in LABELLED)
    return tuple(Cell(_EVERY, name, measure, digits=1) for name in (*techniques, *own) for measure in ALL)


def ranks(outcomes: Mapping[Task, Outcome], protocol: str) -> dict[Cell, float]:
    """Mean ranks over the tables of the run, of techniques that have a value on each."""
    scores = Scores.of(outcomes)
    if protocol != HONEST or len(scores.tables) < 2:
        return {}
    found: dict[tuple[str, str], float] = {}
    for measure in ALL:
        test = scores.test(measure)
        found |= {(name, measure): rank for name, rank in zip(test.methods, test.average_ranks, strict=True)}
    cells = rank_cells(scores.own)
    return {cell: found[cell.method, cell.measure] for cell in cells if (cell.method, cell.measure) in found}


def best_first(cells: Sequence[CellResult]) -> list[str]:
    """Methods of the table of ranks, from the best by the mean on."""
    methods = list(dict.fromkeys(one.cell.method for one in cells))
    means = (one for one in cells if one.cell.measure == MEAN and one.honest is not None)
    places = {one.cell.method: one.honest for one in means}
    return sorted(methods, key=lambda method: places.get(method) or math.inf)


# ---- the three facts ---------------------------------------------------------------------------


def facts(outcomes: Mapping[Task, Outcome]) -> tuple[str, ...]:
    """Who is best at what without labels; what the labels did; where ties decide."""
    scores = Scores.of(outcomes)
    if not scores.tables:
        return ()
    found = leads(scores, outcomes)
    return _who_is_best(scores, found), _what_labels_did(outcomes), _where_ties_decide(outcomes, found)


@dataclass(frozen=True, slots=True)
class FirstPlaces:
    """Tables on which something of ours is first among techniques without labels."""

    what: str
    met: int
    of: int
    is_aim: bool  # whether it must be so on most tables, and is not only told


def first_places(outcomes: Mapping[Task, Outcome]) -> tuple[FirstPlaces, ...]:
    """By the mean of the four measures, of any of ours and of one alone, and by Shepard of SDD."""
    scores = Scores.of(outcomes)
    n = len(scores.tables)
    if not n:
        return ()
    found = leads(scores, outcomes)
    every = sum(lead.is_first_in_any_order for lead in found)
    one, met = _best_alone(scores)
    by_mean = "Tables on which a method of ours is first by the mean of the four measures"
    return (
        FirstPlaces(by_mean, sum(lead.is_first for lead in found), n, True),
        FirstPlaces(f"{by_mean}, whatever the order of equal distances", every, n, False),
        FirstPlaces(f"Tables on which one of ours, {one}, is above all that is printed", met, n, False),
        FirstPlaces(
            "Tables on which parameter-free SDD is first by Shepard",
            scores.firsts(_PARAMETER_FREE, "shepard"), n, True,
        ),
    )  # fmt: skip


def aims_of_first_places(
    results: Sequence[TableResult], outcomes: Mapping[Task, Outcome]
) -> tuple[Reached, ...]:
    """They are held to their number where all tables were run, and only told otherwise."""
    if not any(result.table.name == RANKED for result in results):
        return ()
    found = []
    for one in first_places(outcomes):
        held = one.is_aim and one.of == _TABLES
        must = str(_FIRSTS) if held else ""
        found.append(Reached(one.what, one.met, one.of, must, not held or one.met >= _FIRSTS))
    return tuple(found)


def _best_alone(scores: Scores) -> tuple[str, int]:
    """The method of ours that is above all printed means on most tables, and on how many."""
    counts = {
        method: sum(scores.is_above(method, MEAN, table) for table in scores.tables) for method in scores.own
    }
    best = max(counts, key=lambda method: counts[method])
    return best, counts[best]


def _who_is_best(scores: Scores, found: Sequence[Lead]) -> str:
    n = len(found)
    first = [lead for lead in found if lead.is_first]
    level = [lead.table for lead in found if lead.is_level]
    behind = [lead for lead in found if not lead.is_first and not lead.is_level]
    one, alone = _best_alone(scores)
    told = (
        "Without labels, by the mean of the four measures the best of ours, with default parameters, is "
        f"above every printed column on {len(first)} of {n} tables{_by(first)}; each printed column is the "
        "best of a grid. "
    )
    told += f"It is level with one on {_joined(level)}. " if level else ""
    told += f"It is behind on {len(behind)}{_by(behind)}. " if behind else ""
    told += f"Of single methods {one} is above every printed column on most: {alone}. "
    return (
        f"{told}Parameter-free SDD is first by Shepard on {scores.firsts(_PARAMETER_FREE, 'shepard')}. "
        f"{_told_apart(scores)}"
    )


def _by(found: Sequence[Lead]) -> str:
    """Each table with our method, by how much, and the printed technique, from the widest gap on."""
    order = sorted(found, key=lambda lead: -abs(lead.gap))
    told = [f"{lead.table} {lead.method} by {abs(lead.gap):.4f} from {lead.rival}" for lead in order]
    return f" ({'; '.join(told)})" if told else ""


def _told_apart(scores: Scores) -> str:
    """Best mean ranks, Friedman's test over the tables, and how many Nemenyi's cannot tell from the first."""
    n = len(scores.tables)
    if n < 2:
        return "One table has no ranks to test."
    tests = {measure: scores.test(measure) for measure in ALL}
    parts = [f"{measure} {_first(test)} ({min(test.average_ranks):.1f})" for measure, test in tests.items()]
    test = tests[MEAN]
    difference = critical_difference(len(test.methods), n)
    near = sum(rank - min(test.average_ranks) <= difference for rank in test.average_ranks) - 1
    return (
        f"Of {len(test.methods)} techniques with a map of each table the best mean ranks are: "
        f"{', '.join(parts)}. Friedman's test of the mean has p = {test.friedman_p:.2g} with N = {n} tables; "
        f"by Nemenyi's, mean ranks must differ by {difference:.1f}, so that {near} others are not told from "
        f"the first."
    )


def _first(test: RankTest) -> str:
    return test.methods[int(np.argmin(test.average_ranks))]


def _what_labels_did(outcomes: Mapping[Task, Outcome]) -> str:
    hits = {
        protocol: {
            task.dataset: outcome.measures["neighborhood hit"]
            for task, outcome in outcomes.items()
            if task.protocol == protocol and task.method in LABELLED and outcome.measures
        }
        for protocol in (PUBLISHED, HONEST)
    }
    both = [name for name in hits[PUBLISHED] if name in hits[HONEST]]
    if not both:
        return "UMAP was not run, with labels or without."
    printed = printed_scores()["neighborhood hit"]
    lines = [
        f"{name} {printed[name, 'UMAP']:.3f} / {hits[PUBLISHED][name]:.3f} / {hits[HONEST][name]:.3f}"
        for name in both
    ]
    gain = np.array([hits[PUBLISHED][name] - hits[HONEST][name] for name in both])
    return (
        "The printed UMAP was fitted with the labels that its neighbourhood hit is measured by. Printed / "
        f"with labels / without: {'; '.join(lines)}. On the mean of {len(both)} tables the labels add "
        f"{interval(gain)}."
    )


def _where_ties_decide(outcomes: Mapping[Task, Outcome], found: Sequence[Lead]) -> str:
    widths = {
        lead.table: max(high - low for low, high in tie_spans(outcomes, lead.table).values())
        for lead in found
    }
    wide = {name: width for name, width in widths.items() if width >= 0.0005}
    if not wide:
        return "No table of this run has ties that move a mean by 0.0005."
    told = ", ".join(f"{name} {width:.3f}" for name, width in sorted(wide.items(), key=lambda item: -item[1]))
    undecided = [lead.table for lead in found if lead.is_open]
    decided = "Nowhere does it change whether one of ours is first."
    if undecided:
        decided = f"On {_joined(undecided)} it could change whether one of ours is first."
    return (
        f"Another order of equal distances moves the mean of the four measures of a map by up to: {told}; "
        f"on the other tables of the run by less than 0.0005. {decided} "
        f"Whatever the order, ours is first on {sum(lead.is_first_in_any_order for lead in found)} of "
        f"{len(found)}."
    )


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
