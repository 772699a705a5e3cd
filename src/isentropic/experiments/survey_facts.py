"""What the survey says once labels and ties are counted: ranks, and three facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from ..registry import METHODS
from .printed import records
from .projection_measures import MEAN, MEASURES, extremes
from .statistics import RankTest, critical_difference, rank_test
from .values import HONEST, PUBLISHED, Cell, Outcome, Task

RANKED = "ranks"
_EVERY = "all tables"
COLUMNS = {  # of the file, by measure
    "trustworthiness": "trustworthiness_7",
    "continuity": "continuity_7",
    "neighborhood hit": "neighborhood_hit_7",
    "shepard": "shepard",
}
_LABELLED = ("UMAP",)  # what the survey fitted with labels
_PARAMETER_FREE = "parameter-free-sdd"
_ALL = (*MEASURES, MEAN)


@cache
def printed_scores() -> pd.DataFrame:
    """The printed columns: a line for each table and technique."""
    found = pd.DataFrame(records("survey")).set_index(["dataset", "technique"])
    names = {column: name for name, column in COLUMNS.items()}
    scores = found.rename(columns=names)[list(MEASURES)].astype(float)
    scores[MEAN] = scores.mean(axis=1)
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Measures of label-free techniques: printed ones, and ours where all methods of a table were tried."""

    tables: tuple[str, ...]
    values: Mapping[str, pd.DataFrame]  # by measure: tables by techniques, NaN where there is none
    own: tuple[str, ...]

    @classmethod
    def of(cls, outcomes: Mapping[Task, Outcome]) -> Scores:
        ours = _own_scores(outcomes)
        tables = tuple(dict.fromkeys(ours.index.get_level_values(0)))
        printed = printed_scores().drop(index=list(_LABELLED), level=1)
        both = pd.concat([printed, ours])
        values = {name: both[name].unstack().reindex(list(tables)) for name in _ALL}
        return cls(tables, values, tuple(dict.fromkeys(ours.index.get_level_values(1))))

    def test(self, measure: str) -> RankTest:
        """Mean ranks over the tables, and Friedman's test, of the techniques that have a value on all."""
        complete = self.values[measure].dropna(axis=1)
        return rank_test(complete, tuple(complete.columns))

    def best(self, measure: str) -> pd.Series:
        """The first of each table."""
        return self.values[measure].idxmax(axis=1)

    def best_printed(self, measure: str, table: str) -> float:
        """The highest printed value of a table, without labels."""
        return float(self.values[measure].loc[table].drop(list(self.own)).max())

    def is_above(self, method: str, measure: str, table: str) -> bool:
        """Whether a method of ours, if it has a map, is above all that is printed without labels."""
        values = self.values[measure]
        return method in values and bool(values.loc[table, method] > self.best_printed(measure, table))


def _own_scores(outcomes: Mapping[Task, Outcome]) -> pd.DataFrame:
    lines = {
        (task.dataset, task.method): {name: outcome.measures[name] for name in _ALL}
        for task, outcome in outcomes.items()
        if task.protocol == HONEST and task.method in METHODS and f"{MEAN} low" in outcome.measures
    }
    index = pd.MultiIndex.from_tuples(lines, names=["dataset", "technique"])
    return pd.DataFrame(list(lines.values()), index=index, columns=list(_ALL))


# ---- the table of ranks ------------------------------------------------------------------------


def rank_cells(own: tuple[str, ...]) -> tuple[Cell, ...]:
    """A mean rank by each measure for every technique without labels; the survey prints none."""
    techniques = dict.fromkeys(name for _, name in printed_scores().index if name not in _LABELLED)
    return tuple(Cell(_EVERY, name, measure, digits=1) for name in (*techniques, *own) for measure in _ALL)


def ranks(outcomes: Mapping[Task, Outcome], protocol: str) -> dict[Cell, float]:
    """Mean ranks over the tables of the run, of techniques that have a value on each."""
    scores = Scores.of(outcomes)
    if protocol != HONEST or len(scores.tables) < 2:
        return {}
    found: dict[tuple[str, str], float] = {}
    for measure in _ALL:
        test = scores.test(measure)
        found |= {(name, measure): rank for name, rank in zip(test.methods, test.average_ranks, strict=True)}
    cells = rank_cells(scores.own)
    return {cell: found[cell.method, cell.measure] for cell in cells if (cell.method, cell.measure) in found}


# ---- the three facts ---------------------------------------------------------------------------


def facts(outcomes: Mapping[Task, Outcome]) -> tuple[str, ...]:
    """Who is best at what without labels; what the labels did; where ties decide."""
    scores = Scores.of(outcomes)
    if not scores.tables:
        return ()
    return _who_is_best(scores), _what_labels_did(outcomes), _where_ties_decide(outcomes, scores)


def first_places(outcomes: Mapping[Task, Outcome]) -> tuple[tuple[str, int, int], ...]:
    """Tables on which ours are first among techniques without labels, in words, of how many."""
    scores = Scores.of(outcomes)
    if not scores.tables:
        return ()
    n = len(scores.tables)
    return (
        ("Tables on which a method of ours is first by the mean of the four measures", len(_own(scores)), n),
        ("Tables on which parameter-free SDD is first by Shepard", _n_shepard(scores), n),
    )


def _own(scores: Scores) -> pd.Series:
    """Ours, of the tables on which one is first by the mean."""
    first = scores.best(MEAN)
    return first[first.isin(scores.own)]


def _n_shepard(scores: Scores) -> int:
    return int((scores.best("shepard") == _PARAMETER_FREE).sum())


def _who_is_best(scores: Scores) -> str:
    n = len(scores.tables)
    own, n_shepard = _own(scores), _n_shepard(scores)
    n_above = sum(scores.is_above(_PARAMETER_FREE, "shepard", table) for table in scores.tables)
    return (
        "Without labels, by the mean of the four measures one of ours, with default parameters, is first on "
        f"{len(own)} of {n} tables ({_listed(own)}), against printed columns that are the best of a grid; "
        f"parameter-free SDD is first by Shepard on {n_shepard}, and above every printed column on "
        f"{n_above}. {_told_apart(scores)}"
    )


def _told_apart(scores: Scores) -> str:
    """Best mean ranks, Friedman's test over the tables, and how many Nemenyi's cannot tell from the first."""
    n = len(scores.tables)
    if n < 2:
        return "One table has no ranks to test."
    tests = {measure: scores.test(measure) for measure in _ALL}
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
            if task.protocol == protocol and task.method in _LABELLED and outcome.measures
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
    gain = np.mean([hits[PUBLISHED][name] - hits[HONEST][name] for name in both])
    return (
        "The printed UMAP was fitted with the labels that its neighbourhood hit is measured by. Printed / "
        f"with labels / without: {'; '.join(lines)}. On the mean of {len(both)} tables the labels add "
        f"{gain:.3f}."
    )


def _where_ties_decide(outcomes: Mapping[Task, Outcome], scores: Scores) -> str:
    widths: dict[str, float] = {}
    undecided = []
    for table in scores.tables:
        spans = _spans(outcomes, table)
        widths[table] = max(high - low for low, high in spans.values())
        worst, best = (max(span[side] for span in spans.values()) for side in (0, 1))
        if worst < scores.best_printed(MEAN, table) < best:
            undecided.append(table)
    wide = {name: width for name, width in widths.items() if width >= 0.0005}
    if not wide:
        return "No table of this run has ties that move a mean by 0.0005."
    told = ", ".join(f"{name} {width:.3f}" for name, width in sorted(wide.items(), key=lambda item: -item[1]))
    decided = "Nowhere does it change whether one of ours is first."
    if undecided:
        decided = f"On {_joined(undecided)} it could change whether one of ours is first."
    return (
        f"Another order of equal distances moves the mean of the four measures of a map by up to: {told}; "
        f"on the other tables of the run by less than 0.0005. {decided}"
    )


def _spans(outcomes: Mapping[Task, Outcome], table: str) -> dict[str, tuple[float, float]]:
    """The extremes over orders of ties of the mean, of our methods on a table."""
    return {
        task.method: extremes(outcome.measures, MEAN)
        for task, outcome in outcomes.items()
        if task.dataset == table and task.protocol == HONEST and task.method in METHODS and outcome.measures
    }


def _listed(first: pd.Series) -> str:
    return ", ".join(f"{table}: {method}" for table, method in first.items()) or "none"


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
