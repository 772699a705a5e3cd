"""``Grade`` and ``Rating``: what one map is worth, by the two questions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...quality import Quality
from ...quality.map_comparisons import jackknife_half_width
from ..evaluation.runs import Run
from . import text
from .thresholds import FEW_ROWS, Level, at_least, distances_level, neighbors_level

_MARGIN = 2.0  # times the way from the mean of chance to its 97.5% quantile


@dataclass(frozen=True, slots=True)
class Grade:
    """The answer to one question about one map.

    ``value``, ``chance`` and the 95% interval lie on the scale that the sentence shows, as shares from 0 to
    1; ``value`` is rounded down to what is shown, so that equal sentences never carry different grades.
    ``score`` is what maps are compared by: 0 is chance, 1 is perfect, nothing is rounded.
    """

    question: str  # "neighbors" or "distances"
    title: str
    level: Level
    sentence: str
    value: float
    chance: float
    score: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """What one map is worth: a grade for each question, and whether it may be recommended."""

    method: str  # name in the registry
    title: str  # the method's usual name
    run: int  # position among the runs
    neighbors: Grade | None
    distances: Grade | None
    text: str  # one sentence
    usable: bool  # at least fair on one question, better than chance, and no effect of labels
    failed: bool
    worthless: bool = False  # no better than the same points in random places
    labels: str = ""  # of a map that saw the classes: "real", "effect" or "untested"; "" for any other

    def grade(self, question: str) -> Grade | None:
        """The answer to a question; None where it was not measured."""
        return self.neighbors if question == "neighbors" else self.distances

    def level(self, question: str) -> Level:
        """The grade of a question; "unknown" where it was not measured."""
        grade = self.grade(question)
        return "unknown" if grade is None else grade.level

    def score(self, question: str) -> float:
        """From 0, chance, to 1, perfect; 0 where it was not measured."""
        grade = self.grade(question)
        return 0.0 if grade is None else grade.score


def rate(run: Run, position: int) -> Rating:
    """Grade one map by itself. ``O(1)`` beside what its run holds."""
    title, labels = text.title_of(run.method), labels_of(run)
    if run.failed or run.quality is None:
        sentence = text.failed(title, run.reason)
        return Rating(run.method, title, position, None, None, sentence, False, True, labels=labels)
    worthless = is_worthless(run)
    neighbors, distances = neighbors_grade(run, worthless), distances_grade(run)
    levels = [grade.level for grade in (neighbors, distances) if grade is not None]
    usable = any(at_least(level, "fair") for level in levels) and not worthless and labels in ("", "real")
    sentence = text.rating(title, neighbors, distances, worthless)
    if labels:
        sentence = f"{sentence} {text.saw_classes(labels, run.label_test)}"
    return Rating(
        run.method, title, position, neighbors, distances, sentence, usable, False, worthless, labels
    )


def neighbors_grade(run: Run, worthless: bool = False) -> Grade:
    """Of the k points beside a point, how many are close to it in the data too."""
    assert run.quality is not None
    quality, k = run.quality, run.quality.n_neighbors[0]
    measure, chance = quality.measures[near_name(quality)], near_chance(quality)
    share = chance + (1.0 - chance) * measure.value
    digits = 1 if quality.n < FEW_ROWS else 0
    shown = _floor(k * share, digits) / k
    beside = 0.0 if k * chance < 1.0 else round(k * chance, digits) / k
    level = "chance" if worthless else neighbors_level(shown, beside)
    low, high = _interval(run, near_name(quality))
    return Grade(
        "neighbors", text.NEIGHBORS, level, text.neighbors(k * shown, k, k * chance, digits), shown, chance,
        measure.value, *((None, None) if low is None or high is None else (
            max(0.0, chance + (1.0 - chance) * low), min(1.0, chance + (1.0 - chance) * high)
        )),
    )  # fmt: skip


def distances_grade(run: Run) -> Grade | None:
    """Of 100 pairs of distances, how many are in the right order; None where tau is not defined."""
    assert run.quality is not None
    tau = run.quality.measures.get("kendall_tau")
    if tau is None:
        return None
    shown = _floor(50.0 * (1.0 + tau.value), 0)
    low, high = _interval(run, "kendall_tau")
    return Grade(
        "distances", text.DISTANCES, distances_level(shown), text.distances(int(shown)), shown / 100, 0.5,
        max(0.0, tau.value), *((None, None) if low is None or high is None else (
            max(0.0, (1 + low) / 2), min(1.0, (1 + high) / 2)
        )),
    )  # fmt: skip


def near_name(quality: Quality) -> str:
    """The measure that grades neighbors: the near-neighbor share at the smallest k, corrected for chance."""
    return f"near_neighbors({quality.n_neighbors[0]})"


def near_chance(quality: Quality) -> float:
    """The near-neighbor share of random rows."""
    return float(quality.curves.near_chance[quality.n_neighbors[0] - 1])


def labels_of(run: Run) -> str:
    """What the labels that a map saw are worth: "real", "effect", "untested"; "" where it saw none."""
    if not run.saw_classes:
        return ""
    if run.label_test is None:
        return "untested"
    return "effect" if run.label_test.reached else "real"


def is_worthless(run: Run) -> bool:
    """Whether the area under R_NX is that of chance: of the same points in random places.

    ``area <= m + 2 (q - m)`` with m the mean and q the 97.5% quantile over random orders of the rows of the
    map: some four deviations, so that about one of a thousand shuffled maps passes for more.
    """
    assert run.quality is not None
    if "rnx_auc" not in run.baseline:
        return False
    mean, high = run.baseline["rnx_auc"]
    return run.quality.measures["rnx_auc"].value <= mean + _MARGIN * (high - mean)


def _interval(run: Run, name: str) -> tuple[float | None, float | None]:
    """95% interval of a measure: of sampled rows, or with twentieths of the rows left out."""
    assert run.quality is not None
    measure = run.quality.measures[name]
    if measure.low is not None and measure.high is not None:
        return measure.low, measure.high
    if not run.without.get(name):
        return None, None
    half = jackknife_half_width(run.without[name])
    return measure.value - half, measure.value + half


def _floor(value: float, digits: int) -> float:
    """Rounded down, with room for the last digit of a float: 2.9999999999999996 is 3."""
    scale = 10.0**digits
    return math.floor(value * scale + 1e-9) / scale
