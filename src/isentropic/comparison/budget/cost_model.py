"""Time estimates of a comparison: seconds of fits and of measures, and what fits a time limit.

What is not fitting takes time too: the measures of a map, those of all rows, the page. All of it is estimated
from one figure, the seconds that the measures of 1,000 rows take here and now: on this machine, as busy as it
is, by this metric, of so many columns.

Each method is fitted on few rows first. Its seconds grow from there at a rate between what is measured and
what its line in the registry says, ``O(n^p)``. The cheapest method of each family comes first. A fit that
takes longer than expected is stopped between two blocks of rows, by the deadline of ``_core.runtime``.
"""

from __future__ import annotations

import math
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ... import registry
from ..._core.errors import TimeBudgetWarning
from ...distances import rows_of
from ...quality import assess
from ..evaluation.candidates import Candidate
from ..evaluation.data import Data
from ..evaluation.runs import FOR_MEMORY, Run
from ..presets import SAMPLE_ROWS, SCORED_ROWS, Preset

_TIMED_ROWS = 1_000  # rows whose measures are timed
_TIMED_FULL_ROWS = 50  # rows of a large table, each measured against all others
_PER_MAP = 8.0  # times the unit cost: chance, the jackknife, jumps of a map of any size
_PER_SQUARE = 2.0  # times the unit cost, and the square of the thousands of rows
_PER_FULL_ROW = 2.5  # times what the measures take: chance and the tests of rows, too
_PER_PAGE = 15.0  # times the unit cost: neighbors, groups, diagrams, writing
_FOR_PAGE = 0.05  # of the time, at least
_FEWEST_SCORED = 200
_SHORTEST = 1e-4  # seconds: below, a clock may show none


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """A time limit of a comparison, and whether a page is written within it."""

    began: float  # by the clock of time.perf_counter
    seconds: float
    page: bool = False  # whether a page is written in it, too

    def ends(self, unit_cost: float) -> float:
        """When the comparison of methods must end, by the clock of time.perf_counter."""
        page = max(_FOR_PAGE * self.seconds, _PER_PAGE * unit_cost) if self.page else 0.0
        return self.began + self.seconds - page

    def is_feasible(self, unit_cost: float, n_rows: int) -> bool:
        """Whether one method, and what comes after it, fit the time; warns with the least that does."""
        now = time.perf_counter()
        needed = measuring_seconds(n_rows, unit_cost) + (_PER_PAGE * unit_cost if self.page else 0.0)
        if now + needed <= self.began + self.seconds:
            return True
        passed, least = now - self.began, math.ceil(1.1 * (now - self.began + needed))
        text = (
            f"The time of {self.seconds:.3g} s cannot be kept: {passed:.1f} s have passed, and one method"
            f"{' and the page take' if self.page else ' takes'} about {needed:.1f} s more. Here and now the "
            f"least is about {least} s."
        )
        warnings.warn(text, TimeBudgetWarning, stacklevel=2)
        return False


def measure_unit_cost(data: Data, n_jobs: int | None) -> float:
    """Measure the seconds that all measures of a map of 1,000 rows of this table take."""
    few = rows_of(data.X, slice(_TIMED_ROWS), data.metric)
    taken = [_time_measures(data, few, None, n_jobs) for _ in range(2)]  # the first loads compiled code
    return max(min(taken), _SHORTEST) * (_TIMED_ROWS / len(few)) ** 2


def cost_per_full_row(data: Data, n_jobs: int | None) -> float:
    """Measure the seconds that one row of a large table takes against all others."""
    tried = min(_TIMED_FULL_ROWS, len(data.X))
    taken = [_time_measures(data, data.X, tried, n_jobs) for _ in range(2)]
    return _PER_FULL_ROW * max(min(taken), _SHORTEST) / tried


def _time_measures(data: Data, X: np.ndarray, sample: int | None, n_jobs: int | None) -> float:
    Z = np.random.default_rng(0).normal(size=(len(X), 2))  # any map will do
    began = time.perf_counter()
    assess(X, Z, metric=data.metric, sample=sample, n_jobs=n_jobs)
    return time.perf_counter() - began


def measuring_seconds(n_rows: int, unit_cost: float) -> float:
    """Seconds of all that is measured of one map of ``n_rows`` rows.

    >>> [measuring_seconds(n, 0.5) for n in (500, 5_000)]
    [4.25, 29.0]
    """
    return unit_cost * (_PER_MAP + _PER_SQUARE * (n_rows / _TIMED_ROWS) ** 2)


def rows_measurable_in(seconds: float, unit_cost: float) -> float:
    """The rows of a map all of whose measures take so long: the inverse of :func:`measuring_seconds`.

    >>> rows_measurable_in(29.0, 0.5)
    5000.0
    """
    return _TIMED_ROWS * math.sqrt(max(seconds / unit_cost - _PER_MAP, 0.0) / _PER_SQUARE)


def rows_scorable_in(seconds: float, each: float) -> int:
    """How many rows of a large table are compared with all others in the time, in hundreds.

    >>> [rows_scorable_in(10.0, each) for each in (1.0, 0.01, 1e-4)]
    [200, 1000, 2000]
    """
    return min(SCORED_ROWS, max(_FEWEST_SCORED, int(seconds / each) // 100 * 100))


_FEW, _MORE = 200, 800  # rows of the first fits
LONG_BUDGET = 60.0  # seconds: a shorter time has none to spare for the second of them
_MAPS, _FOR_MEASURES = 4, 0.35  # the measures of so many maps take this share of the time
_FEWEST = 500  # rows of a sample
SAMPLE_SHARE = 0.6  # share of the time, where a map of all rows is to follow
_SPARE = 1.5  # times an estimate, before it is thought to fit
_MOST_OVERRUN = 3.0  # times an estimate that a method may take, if others are to come


def rows_in_time(
    n_rows: int, n_methods: int, seconds: float, unit_cost: float, most: int = SAMPLE_ROWS
) -> int:
    """Number of rows for which measuring four maps takes a third of the time; at most ``most``."""
    each = _FOR_MEASURES * seconds / min(n_methods, _MAPS)
    return min(n_rows, most, max(_FEWEST, int(rows_measurable_in(each, unit_cost)) // 500 * 500))


def cost_exponent(candidate: Candidate) -> float:
    """Exponent by which the seconds of a method grow with the rows, at most, as the registry says.

    >>> from isentropic.comparison.evaluation.candidates import as_candidates
    >>> [cost_exponent(candidate) for candidate in as_candidates(["pca", "t-sne", "isomap", "sdd"])]
    [1.0, 1.1, 2.0, 2.0]
    """
    if candidate.label not in registry.METHODS:
        return 2.0
    cost = registry.METHODS[candidate.label].cost.split(";")[0]
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
    def from_timings(cls, fit: Callable[[int], float], n_rows: int, most: float, *, twice: bool) -> Estimate:
        """``fit`` gives the seconds of some rows; ``most`` is the exponent that there can be."""
        few = min(_FEW, n_rows)
        first = max(fit(few), 1e-3)
        if not twice or n_rows <= _MORE:
            return cls(first, few, (1.0 + most) / 2)
        second = max(fit(_MORE), 1e-3)
        seen = math.log(second / first) / math.log(_MORE / few)
        return cls(second, _MORE, (min(max(seen, 0.0), most) + most) / 2)


@dataclass(frozen=True, slots=True)
class MethodPlan:
    """Settings and deadline of one method."""

    preset: Preset
    ends: float  # by the clock of time.perf_counter
    fewer: bool  # settings or seeds than asked for


def plan_method(
    candidate: Candidate,
    preset: Preset,
    n_rows: int,
    estimate: Estimate,
    unit_cost: float,
    ends: float,
    *,
    last: bool,
) -> MethodPlan | None:
    """Plan how a method is run until ``ends``: with which settings and seeds; None where nothing fits."""
    left = ends - time.perf_counter()
    most = None
    for settings, n_seeds in ((preset.budget, preset.n_seeds), (preset.budget, 1), (1, 1)):
        tuned = min(n_rows, preset.tuned_rows or n_rows)
        tune = preset.tune and (settings > 1 or preset.budget == 1)
        fits = n_seeds if candidate.draws(n_rows) else 1
        other_seeds = (fits - 1) * unit_cost * (n_rows / 1_000) ** 2  # what else is measured is of the first
        needed = fits * estimate.of(n_rows) + tune * settings * estimate.of(tuned)
        needed += measuring_seconds(n_rows, unit_cost) + other_seeds
        if _SPARE * needed <= left:
            most = replace(preset, tune=tune, n_seeds=n_seeds), needed
            break
    if most is None:
        return None
    chosen, needed = most
    until = ends if last else min(ends, time.perf_counter() + max(_MOST_OVERRUN * needed, left / 2))
    return MethodPlan(chosen, until, fewer=chosen != preset)


def order_by_cost(estimates: Mapping[str, Estimate], n_rows: int) -> list[str]:
    """Order labels: the cheapest method of each family first, then the second of each."""
    cheapest = sorted(estimates, key=lambda label: estimates[label].of(n_rows))
    seen: Counter[str] = Counter()
    turns = {}
    for label in cheapest:
        family = registry.METHODS[label].family if label in registry.METHODS else label
        turns[label] = seen[family]
        seen[family] += 1
    return sorted(cheapest, key=turns.__getitem__)


def memory_messages(runs: Iterable[Run]) -> tuple[str, ...]:
    """A sentence that names the methods left out for memory, if there are any."""
    names = [run.method for run in runs if run.reason.startswith(FOR_MEMORY)]
    return (f"Left out for memory: {', '.join(names)}.",) if names else ()


def time_messages(left_out: Iterable[str], fewer: Iterable[str]) -> tuple[str, ...]:
    """Sentences on the methods left out or shortened for time."""
    lines = (
        ("Left out for time: {}.", list(left_out)),
        ("With fewer settings or seeds for time: {}.", list(fewer)),
    )
    return tuple(text.format(", ".join(names)) for text, names in lines if names)
