"""What the survey says once labels and ties are counted: ranks, and three facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, studentized_range

from ..registry import METHODS
from .printed import records
from .projection_measures import MEAN, MEASURES, extremes
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
    scores = found.rename(columns={column: name for name, column in COLUMNS.items()})[list(MEASURES)].astype(
        float
    )
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

    def ranks(self, measure: str) -> pd.DataFrame:
        """Ranks within each table, 1 the best, of the techniques that have a value on all of them."""
        complete = self.values[measure].dropna(axis=1)
        return complete.rank(axis=1, ascending=False)

    def best(self, measure: str, among: tuple[str, ...] | None = None) -> pd.Series:
        """The first of each table, among all or some."""
        values = self.values[measure] if among is None else self.values[measure][list(among)]
        return values.idxmax(axis=1)


def _own_scores(outcomes: Mapping[Task, Outcome]) -> pd.DataFrame:
    lines = {
        (task.dataset, task.method): {name: outcome.measures[name] for name in _ALL}
        for task, outcome in outcomes.items()
        if task.protocol == HONEST and task.method in METHODS and outcome.measures
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
    if protocol != HONEST or not any(_own_scores(outcomes).index):
        return {}
    scores = Scores.of(outcomes)
    means = {measure: scores.ranks(measure).mean() for measure in _ALL}
    cells = rank_cells(scores.own)
    return {
        cell: float(means[cell.measure][cell.method]) for cell in cells if cell.method in means[cell.measure]
    }


# ---- the three facts ---------------------------------------------------------------------------


def facts(outcomes: Mapping[Task, Outcome]) -> tuple[str, ...]:
    """Who is best at what without labels; what the labels did; where ties decide."""
    if not len(_own_scores(outcomes)):
        return ()
    scores = Scores.of(outcomes)
    return _who_is_best(scores), _what_labels_did(outcomes), _where_ties_decide(outcomes, scores)


def _who_is_best(scores: Scores) -> str:
    n = len(scores.tables)
    first = scores.best(MEAN)
    own = first[first.isin(scores.own)]
    n_shepard = int((scores.best("shepard") == _PARAMETER_FREE).sum())
    parts = []
    for measure in _ALL:
        mean = scores.ranks(measure).mean().sort_values()
        parts.append(f"{measure}: {mean.index[0]} ({mean.iloc[0]:.1f})")
    return (
        f"Without labels, of {scores.ranks(MEAN).shape[1]} techniques with a map of each of {n} tables, the "
        f"best mean ranks are: {'; '.join(parts)}. By the mean of the four measures one of ours, with its "
        f"default parameters, is first on {len(own)} of {n} tables ({_listed(own)}), against printed columns "
        f"that are the best of a grid; parameter-free SDD is first by Shepard on {n_shepard}. "
        f"{_told_apart(scores)}"
    )


def _told_apart(scores: Scores) -> str:
    """Friedman's test over the tables, and how many Nemenyi's cannot tell from the first."""
    found = scores.ranks(MEAN)
    n, k = found.shape
    if n < 2:
        return "One table has no test."
    p_value = friedmanchisquare(*found.to_numpy().T).pvalue
    difference = studentized_range.ppf(0.95, k, np.inf) * np.sqrt(k * (k + 1) / (12 * n))
    mean = found.mean().sort_values()
    near = int((mean - mean.iloc[0] < difference).sum()) - 1
    return (
        f"Friedman's test of the mean (N = {n} tables, {k} techniques) has p = {p_value:.2g}; by Nemenyi's, "
        f"mean ranks must differ by {difference:.1f}, so that {near} others are not told from the first, "
        f"{mean.index[0]}."
    )


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
    open_first = []
    for table in scores.tables:
        spans = _spans(outcomes, table)
        widths[table] = max(high - low for low, high in spans.values())
        first = scores.best(MEAN)[table]
        others = scores.values[MEAN].loc[table].drop(first).dropna()
        low = spans[first][0] if first in spans else scores.values[MEAN].loc[table, first]
        reach = max(spans[name][1] if name in spans else value for name, value in others.items())
        if reach > low and max(widths[table], 0) > 0:
            open_first.append(table)
    wide = {name: width for name, width in widths.items() if width >= 0.0005}
    if not wide:
        return "No table of this run has ties that move a mean by 0.0005."
    told = ", ".join(f"{name} {width:.3f}" for name, width in sorted(wide.items(), key=lambda item: -item[1]))
    decided = "Nowhere does it change who is first."
    if open_first:
        decided = f"On {_joined(open_first)} it could change who is first."
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
