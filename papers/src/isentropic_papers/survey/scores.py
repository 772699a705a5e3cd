"""Scores of the survey's techniques without labels, printed and ours, and who leads on each table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import pandas as pd

from isentropic import METHODS
from isentropic.experiments.statistics import RankTest, rank_test
from isentropic.experiments.tasks import HONEST, Outcome, Task

from ..printed import records
from .measures import MEAN, MEASURES, extremes

COLUMNS = {  # of the file, by measure
    "trustworthiness": "trustworthiness_7",
    "continuity": "continuity_7",
    "neighborhood hit": "neighborhood_hit_7",
    "shepard": "shepard",
}
LABELLED = ("UMAP",)  # what the survey fitted with labels
ALL = (*MEASURES, MEAN)
_LEVEL = 0.00005  # the survey prints four decimals: what differs by less is level


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
    """Measures of techniques without labels: printed ones, and ours, on the tables on which ours were run."""

    tables: tuple[str, ...]
    values: Mapping[str, pd.DataFrame]  # by measure: tables by techniques, NaN where there is none
    own: tuple[str, ...]

    @classmethod
    def of(cls, outcomes: Mapping[Task, Outcome]) -> Scores:
        ours = _own_scores(outcomes)
        tables = tuple(dict.fromkeys(ours.index.get_level_values(0)))
        printed = printed_scores().drop(index=list(LABELLED), level=1)
        both = pd.concat([printed, ours])
        values = {name: both[name].unstack().reindex(list(tables)) for name in ALL}
        return cls(tables, values, tuple(dict.fromkeys(ours.index.get_level_values(1))))

    def test(self, measure: str) -> RankTest:
        """Mean ranks over the tables, and Friedman's test, of the techniques that have a value on all."""
        complete = self.values[measure].dropna(axis=1)
        return rank_test(complete, tuple(complete.columns))

    def best_printed(self, measure: str, table: str) -> tuple[str, float]:
        """The technique with the highest printed value of a table, without labels, and that value."""
        values = self.values[measure].loc[table].drop(list(self.own))
        return str(values.idxmax()), float(values.max())

    def best_own(self, measure: str, table: str) -> tuple[str, float]:
        """Likewise of ours."""
        values = self.values[measure].loc[table, list(self.own)]
        return str(values.idxmax()), float(values.max())

    def is_above(self, method: str, measure: str, table: str) -> bool:
        """Whether a method of ours, if it has a map, is above all that is printed without labels."""
        values = self.values[measure]
        return method in values and bool(
            values.loc[table, method] > self.best_printed(measure, table)[1] + _LEVEL
        )

    def firsts(self, method: str, measure: str) -> int:
        """Tables on which a method of ours is above all that is printed, and none of ours is above it."""
        return sum(
            self.is_above(method, measure, table) and self.best_own(measure, table)[0] == method
            for table in self.tables
        )


@dataclass(frozen=True, slots=True)
class Lead:
    """On one table: our best by the mean of the four measures, beside the best that is printed."""

    table: str
    method: str
    value: float
    rival: str
    printed: float
    low: float  # the best of ours whatever the order of ties
    high: float

    @property
    def gap(self) -> float:
        """Below 0 where ours is behind."""
        return self.value - self.printed

    @property
    def is_first(self) -> bool:
        """By more than the printed digits leave open."""
        return self.gap > _LEVEL

    @property
    def is_level(self) -> bool:
        return abs(self.gap) <= _LEVEL

    @property
    def is_first_in_any_order(self) -> bool:
        """Whatever the order of ties."""
        return self.low > self.printed + _LEVEL

    @property
    def is_open(self) -> bool:
        """Whether the order of ties decides who is first."""
        return not self.is_first_in_any_order and self.high > self.printed + _LEVEL


def leads(scores: Scores, outcomes: Mapping[Task, Outcome]) -> tuple[Lead, ...]:
    """Of every table on which ours were run."""
    found = []
    for table in scores.tables:
        spans = tie_spans(outcomes, table).values()
        low, high = (max(span[side] for span in spans) for side in (0, 1))
        ours, printed = scores.best_own(MEAN, table), scores.best_printed(MEAN, table)
        found.append(Lead(table, *ours, *printed, low, high))
    return tuple(found)


def tie_spans(outcomes: Mapping[Task, Outcome], table: str) -> dict[str, tuple[float, float]]:
    """The extremes over orders of ties of the mean, of our methods on a table."""
    return {
        task.method: extremes(outcome.measures, MEAN)
        for task, outcome in outcomes.items()
        if task.dataset == table and _is_ours(task, outcome)
    }


def _is_ours(task: Task, outcome: Outcome) -> bool:
    return task.protocol == HONEST and task.method in METHODS and f"{MEAN} low" in outcome.measures


def _own_scores(outcomes: Mapping[Task, Outcome]) -> pd.DataFrame:
    lines = {
        (task.dataset, task.method): {name: outcome.measures[name] for name in ALL}
        for task, outcome in outcomes.items()
        if _is_ours(task, outcome)
    }
    index = pd.MultiIndex.from_tuples(lines, names=["dataset", "technique"])
    return pd.DataFrame(list(lines.values()), index=index, columns=list(ALL))
