"""What can be done in the time that there is: how many rows, which methods, how many settings and seeds.

Each method is fitted on few rows first. How its seconds grow from there is between what is measured and what
its line in the registry says, ``O(n^p)``. The cheapest methods come first. A fit that takes longer than
was thought is stopped between two blocks of rows, by the deadline of ``_runtime``.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .. import registry
from ..quality import assess
from .data import Data
from .presets import SAMPLE_ROWS, Preset
from .runs import FOR_MEMORY, Run
from .tasks import Task

_FEW, _MORE = 200, 800  # rows of the first fits
LONG = 60.0  # seconds: a shorter time has none to spare for the second of them
_TRIED = 1_000  # rows whose measures are timed
_MEASURES = 2.0  # times that: the measures, chance and the jackknife of one map
_FOR_MEASURES = 0.35  # share of the time
_FEWEST = 500  # rows of a sample
FOR_THE_SAMPLE = 0.6  # share of the time, where a map of all rows is to follow
_SPARE = 1.5  # times an estimate, before it is thought to fit
_STRAYING = 3.0  # times an estimate that a method may take, if others are to come


def seconds_of_measures(data: Data, n_jobs: int | None) -> float:
    """What the measures of a map of 1,000 rows of this table take, here and now."""
    few = data.X[:_TRIED]
    drawn = np.random.default_rng(0).normal(size=(len(few), 2))  # any map will do
    assess(few[:60], drawn[:60], metric=data.metric, n_jobs=n_jobs)  # compiled code is loaded
    began = time.perf_counter()
    assess(few, drawn, metric=data.metric, n_jobs=n_jobs)
    return _MEASURES * (time.perf_counter() - began) * (_TRIED / len(few)) ** 2


def rows_in_time(n_rows: int, n_methods: int, seconds: float, measures: float) -> int:
    """So many rows that the measures of all maps take a third of the time; a large table gives 5,000."""
    found = _TRIED * math.sqrt(_FOR_MEASURES * seconds / (n_methods * measures))
    return min(n_rows, SAMPLE_ROWS, max(_FEWEST, int(found) // 500 * 500))


def exponent(task: Task) -> float:
    """By which the seconds of a method grow with the rows, at most, as the registry says.

    >>> from isentropic.comparison.tasks import as_tasks
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
    task: Task, preset: Preset, n_rows: int, estimate: Estimate, measures: float, ends: float, *, last: bool
) -> Planned | None:
    """What of a method fits the time until ``ends``; None: nothing."""
    left = ends - time.perf_counter()
    most = None
    for settings, n_seeds in ((preset.budget, preset.n_seeds), (preset.budget, 1), (1, 1)):
        tuned = min(n_rows, preset.tuned_rows or n_rows)
        tune = preset.tune and (settings > 1 or preset.budget == 1)
        fits = n_seeds if task.draws(n_rows) else 1
        needed = fits * (estimate.of(n_rows) + measures) + tune * settings * estimate.of(tuned)
        if _SPARE * needed <= left:
            most = replace(preset, tune=tune, n_seeds=n_seeds), needed
            break
    if most is None:
        return None
    chosen, needed = most
    until = ends if last else min(ends, time.perf_counter() + max(_STRAYING * needed, left / 2))
    return Planned(chosen, until, fewer=chosen != preset)


def in_time(estimates: Mapping[str, Estimate], n_rows: int) -> list[str]:
    """Labels, the cheapest first."""
    return sorted(estimates, key=lambda label: estimates[label].of(n_rows))


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
