"""What can be done in the time that there is: how many rows, which methods, how many settings and seeds.

Each method is fitted on few rows first. How its seconds grow from there is between what is measured and what
its line in the registry says, ``O(n^p)``. The cheapest method of each family comes first. A fit that takes
longer than was thought is stopped between two blocks of rows, by the deadline of ``_core.runtime``.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from ... import registry
from ..evaluation.runs import FOR_MEMORY, Run
from ..evaluation.tasks import Task
from ..presets import SAMPLE_ROWS, Preset
from .pace import measured_in, rows_measured_in

_FEW, _MORE = 200, 800  # rows of the first fits
LONG = 60.0  # seconds: a shorter time has none to spare for the second of them
_MAPS, _FOR_MEASURES = 4, 0.35  # the measures of so many maps take this share of the time
_FEWEST = 500  # rows of a sample
FOR_THE_SAMPLE = 0.6  # share of the time, where a map of all rows is to follow
_SPARE = 1.5  # times an estimate, before it is thought to fit
_STRAYING = 3.0  # times an estimate that a method may take, if others are to come


def rows_in_time(n_rows: int, n_methods: int, seconds: float, pace: float, most: int = SAMPLE_ROWS) -> int:
    """So many rows that all that is measured of four maps takes a third of the time; at most ``most``."""
    each = _FOR_MEASURES * seconds / min(n_methods, _MAPS)
    return min(n_rows, most, max(_FEWEST, int(rows_measured_in(each, pace)) // 500 * 500))


def exponent(task: Task) -> float:
    """By which the seconds of a method grow with the rows, at most, as the registry says.

    >>> from isentropic.comparison.evaluation.tasks import as_tasks
    >>> [exponent(task) for task in as_tasks(["pca", "t-sne", "isomap", "sdd"])]
    [1.0, 1.1, 2.0, 2.0]
    """
    if task.label not in registry.METHODS:
        return 2.0
    cost = registry.METHODS[task.label].cost.split(";")[0]
    return max([1.0, 2.0 * ("min(n, s)" in cost), *map(float, re.findall(r"n\^([0-9.]+)", cost))])


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of one fit of ``n`` rows: ``seconds (n / rows)^power``."""

    seconds: float
    rows: int
    power: float

    def of(self, n_rows: int) -> float:
        return self.seconds * max(1.0, (n_rows / self.rows) ** self.power)

    @classmethod
    def measured(cls, fit: Callable[[int], float], n_rows: int, most: float, *, twice: bool) -> Estimate:
        """``fit`` gives the seconds of some rows; ``most`` is the exponent that there can be."""
        few = min(_FEW, n_rows)
        first = max(fit(few), 1e-3)
        if not twice or n_rows <= _MORE:
            return cls(first, few, (1.0 + most) / 2)
        second = max(fit(_MORE), 1e-3)
        seen = math.log(second / first) / math.log(_MORE / few)
        return cls(second, _MORE, (min(max(seen, 0.0), most) + most) / 2)


@dataclass(frozen=True, slots=True)
class Planned:
    """One method: how it is tried, until when."""

    preset: Preset
    ends: float  # by the clock of time.perf_counter
    fewer: bool  # settings or seeds than asked for


def planned(
    task: Task, preset: Preset, n_rows: int, estimate: Estimate, pace: float, ends: float, *, last: bool
) -> Planned | None:
    """What of a method fits the time until ``ends``; None: nothing."""
    left = ends - time.perf_counter()
    most = None
    for settings, n_seeds in ((preset.budget, preset.n_seeds), (preset.budget, 1), (1, 1)):
        tuned = min(n_rows, preset.tuned_rows or n_rows)
        tune = preset.tune and (settings > 1 or preset.budget == 1)
        fits = n_seeds if task.draws(n_rows) else 1
        other_seeds = (fits - 1) * pace * (n_rows / 1_000) ** 2  # what else is measured is of the first
        needed = fits * estimate.of(n_rows) + tune * settings * estimate.of(tuned)
        needed += measured_in(n_rows, pace) + other_seeds
        if _SPARE * needed <= left:
            most = replace(preset, tune=tune, n_seeds=n_seeds), needed
            break
    if most is None:
        return None
    chosen, needed = most
    until = ends if last else min(ends, time.perf_counter() + max(_STRAYING * needed, left / 2))
    return Planned(chosen, until, fewer=chosen != preset)


def in_time(estimates: Mapping[str, Estimate], n_rows: int) -> list[str]:
    """Labels, the cheapest of each family first, then the second of each: other kinds of map, then more."""
    cheapest = sorted(estimates, key=lambda label: estimates[label].of(n_rows))
    seen: Counter[str] = Counter()
    turns = {}
    for label in cheapest:
        family = registry.METHODS[label].family if label in registry.METHODS else label
        turns[label] = seen[family]
        seen[family] += 1
    return sorted(cheapest, key=turns.__getitem__)


def said_of_memory(runs: Iterable[Run]) -> tuple[str, ...]:
    """Methods that were refused for memory, in one sentence; none: nothing."""
    names = [run.method for run in runs if run.reason.startswith(FOR_MEMORY)]
    return (f"Left out for memory: {', '.join(names)}.",) if names else ()


def said(left_out: Iterable[str], fewer: Iterable[str]) -> tuple[str, ...]:
    """What was done for want of time, in a sentence each."""
    lines = (
        ("Left out for time: {}.", list(left_out)),
        ("With fewer settings or seeds for time: {}.", list(fewer)),
    )
    return tuple(text.format(", ".join(names)) for text, names in lines if names)
