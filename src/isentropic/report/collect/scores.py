"""Scores of the runs as table cells: values, 95% intervals, the best of each column; class accuracies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...comparison import Run
from ...comparison.presentation import decimal, seconds
from ...quality import Measure
from ...quality.map_comparisons import jackknife_half_width
from ...quality.measures import OF_CLASSES, MeasureSpec, kinds


@dataclass(frozen=True, slots=True)
class Score:
    """One cell: the number, its interval, and how it is written. ``order`` sorts, the best first."""

    text: str
    interval: str = ""
    order: float | None = None
    best: bool = False
    seen: bool = False  # of labels that the map was made from


@dataclass(frozen=True, slots=True)
class Column:
    """One score of every run, in the order of the runs."""

    key: str
    title: str
    meaning: str
    scores: tuple[Score, ...]
    measured: bool = False  # differs from run to run, as seconds do


def first_k(runs: Sequence[Run]) -> int:
    """The k at which the page speaks of single rows; 0 where no map was assessed."""
    return next((run.quality.n_neighbors[0] for run in runs if run.quality is not None), 0)


def columns(runs: Sequence[Run], accuracies: Sequence[Column] | None) -> list[Column]:
    """The table of scores; a column that nobody has is left out. ``accuracies`` is None without classes."""
    found = _measured(runs, [kind for kind in _in_columns() if kind.source != OF_CLASSES])
    if accuracies is not None:
        found += accuracies
        found += _measured(runs, [kind for kind in _in_columns() if kind.source == OF_CLASSES])
    found.append(
        _plain("seconds", "time", "Of the fit that gave the map.", [run.seconds for run in runs], seconds)
    )
    memory = [run.memory_mib for run in runs]
    if any(value is not None for value in memory):
        meaning = "What the fit added to the peak of the process."
        found.append(_plain("memory", "memory", meaning, memory, lambda value: f"{value:,.0f} MiB"))
    return found


def _in_columns() -> list[MeasureSpec]:
    """What the table of scores shows, in the order of its columns."""
    shown = [(kind.column, kind) for kind in kinds() if kind.column is not None]
    return [kind for _, kind in sorted(shown, key=lambda one: one[0][0])]


def _written_for(kind: MeasureSpec, k: int) -> tuple[str, str, str]:
    """The name of a measure at this k, its heading, and what it says."""
    assert kind.column is not None
    return kind.names((k,))[0], kind.column[1].format(k=k), kind.description.format(k=k)


def _measured(runs: Sequence[Run], wanted: Sequence[MeasureSpec]) -> list[Column]:
    found = []
    for kind in wanted:
        name, title, meaning = _written_for(kind, first_k(runs))
        measures = [_measure(run, name) for run in runs]
        seen = [kind.source == OF_CLASSES and run.saw_classes for run in runs]
        if any(measures):
            ends = [interval(run, name) for run in runs]
            found.append(_column(name, title, meaning, measures, ends, seen))
    return found


def _measure(run: Run, name: str) -> Measure | None:
    if run.quality is None:
        return None
    return run.quality.measures.get(name)


def interval(run: Run, name: str) -> tuple[float, float] | None:
    """Of a score: 95%, and wide enough for every seed that was run; None where nothing is known of it.

    Where rows were sampled the interval is that of the estimate. Where all were compared it says what other
    rows of the same kind would give, from the values with a twentieth of the rows left out.
    """
    own = _measure(run, name)
    if own is None:
        return None
    ends = [repeat[name] for repeat in run.repeats if name in repeat]
    if own.low is not None and own.high is not None:
        ends += [own.low, own.high]
    elif run.without.get(name):
        half = jackknife_half_width(run.without[name])
        ends += [max(own.range[0], own.value - half), min(own.range[1], own.value + half)]
    return (min(*ends, own.value), max(*ends, own.value)) if ends else None


def _column(
    key: str,
    title: str,
    meaning: str,
    measures: Sequence[Measure | None],
    intervals: Sequence[tuple[float, float] | None],
    seen: Sequence[bool],
) -> Column:
    """Of measures that are ``seen``, of labels that the map was made from, none is the best."""
    orders = [None if m is None else _order(m) for m in measures]
    honest = zip(measures, orders, seen, strict=True)
    ranked = [(order, decimal(m.value)) for m, order, known in honest if m is not None and not known]
    best = min(ranked)[1] if ranked else None
    scores = []
    for measure, ends, order, known in zip(measures, intervals, orders, seen, strict=True):
        if measure is None:
            scores.append(Score("–"))
            continue
        text = "" if ends is None else f"{decimal(ends[0])} to {decimal(ends[1])}"
        # What reads the same is as good: digits that nobody sees decide nothing.
        is_best = not known and decimal(measure.value) == best
        scores.append(Score(decimal(measure.value), text, order, is_best, known))
    return Column(key, title, meaning, tuple(scores))


def _order(measure: Measure) -> float:
    """Less is better."""
    if measure.better == "nearer":
        return abs(measure.value - measure.best)
    return -measure.value if measure.better == "higher" else measure.value


def _plain(key: str, title: str, meaning: str, values: Sequence[float | None], write: Any) -> Column:
    return Column(
        key, title, meaning,
        tuple(Score("–") if value is None else Score(write(value), "", value) for value in values),
        measured=True,
    )  # fmt: skip


def every_measure(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """All measures of all maps by name, for those who look for a certain one."""
    names = list(dict.fromkeys(name for run in runs if run.quality for name in run.quality.measures))
    by_stem = {name: i for i, name in enumerate(dict.fromkeys(re.sub(r"\(.*", "", name) for name in names))}
    names.sort(key=lambda name: by_stem[re.sub(r"\(.*", "", name)])
    return [(name, [_written(_measure(run, name)) for run in runs if run.quality]) for name in names]


def _written(measure: Measure | None) -> str:
    if measure is None:
        return "–"
    if measure.low is None or measure.high is None:
        return decimal(measure.value)
    return f"{decimal(measure.value)} ({decimal(measure.low)} to {decimal(measure.high)})"


# ---- classes -------------------------------------------------------------------------------------


_FEW = 40  # permutations that are drawn one by one; of more every second, third, ...


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that belong together on the page, by position; without a title where there is one group only."""

    title: str
    note: str
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NullStrip:
    """A score with the true labels among those with permuted ones, as percent of a scale from 0 to 1."""

    title: str
    text: str
    place: float
    null: tuple[float, ...]
    null_text: str


@dataclass(frozen=True, slots=True)
class Classifier:
    """A classifier on the table itself, with its cell of the accuracy column."""

    name: str
    score: Score


def groups(runs: Sequence[Run]) -> list[Group]:
    """Maps that did not see the classes, and those that did."""
    saw = tuple(i for i, run in enumerate(runs) if run.saw_classes)
    others = tuple(i for i, run in enumerate(runs) if not run.saw_classes)
    if not saw:
        return [Group("", "", others)]
    found = [
        Group("Maps that did not see the classes", "Colours were put on afterwards.", others),
        Group(
            "Maps that saw the classes",
            "A gap between classes may be made by the labels alone, so each was fitted again with permuted "
            "ones. Below a map: the accuracy of k-NN with the true labels (dot) and with permuted ones "
            "(marks), on rows that were held out, and on those that the map saw, as the picture shows them.",
            saw,
        ),
    ]
    return [group for group in found if group.runs]


def null_strips(run: Run) -> list[NullStrip]:
    """The score of held-out rows, and that of rows which the map saw, each beside its null."""
    test = run.label_test
    if test is None:
        return []
    step = -(-len(test.null) // _FEW)
    sides = (
        ("held-out rows", test.observed, test.null),
        ("rows that it saw", test.seen, test.seen_null),
    )
    return [
        NullStrip(
            title,
            decimal(own),
            _percent(own),
            tuple(_percent(value) for value in sorted(null)[::-1][::step]),
            f"{decimal(sum(null) / len(null))}, at most {decimal(max(null))}",
        )
        for title, own, null in sides
    ]


def _percent(value: float) -> float:
    return round(100 * min(1.0, max(0.0, value)), 2)


def accuracy_columns(runs: Sequence[Run]) -> list[Column]:
    """Accuracy on held-out rows, and beside it that with permuted labels; none where nobody has one."""
    held_out = [run.accuracy for run in runs]
    found = [_accuracy_column(held_out)] if any(held_out) else []
    tests = [run.label_test for run in runs]
    if any(tests):
        count = max(len(test.null) for test in tests if test)
        meaning = (
            f"The same with permuted labels, the method fitted anew each of {count} times: the mean, and the "
            "most. A score that these reach is an effect of the labels. Only methods that learn from classes "
            "have it."
        )
        scores = tuple(
            Score("–")
            if test is None
            else Score(decimal(test.mean), f"at most {decimal(test.highest)}", test.mean)
            for test in tests
        )
        found.append(Column("permuted", "permuted labels", meaning, scores))
    return found


def _accuracy_column(held_out: Sequence[tuple[float, float, float] | None]) -> Column:
    best = max((value[0] for value in held_out if value), default=None)
    scores = tuple(_accuracy(value, best) if value else Score("–") for value in held_out)
    meaning = (
        "k-NN accuracy of held-out rows, placed by transform in a map that has not seen them: the honest "
        "one. Only methods that can place new rows have it. Scaling and parameters were chosen on all rows, "
        "without classes."
    )
    return Column("accuracy", "held-out k-NN", meaning, scores)


def _accuracy(value: tuple[float, float, float], best: float | None = None) -> Score:
    return Score(
        decimal(value[0]), f"{decimal(value[1])} to {decimal(value[2])}", -value[0], value[0] == best
    )


def classifiers(runs: Sequence[Run]) -> list[Classifier]:
    """On the same held-out rows of the table itself: what there is to keep, and what a map must be worth."""
    found = next((run.classifiers for run in runs if run.classifiers), {})
    return [Classifier(name, _accuracy(value)) for name, value in found.items()]
