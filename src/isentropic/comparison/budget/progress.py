"""Progress of a comparison: which steps are done, and how long the remaining ones will take."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._core.errors import IsentropicError
from ..._core.runtime import ProgressCallback
from ..evaluation.candidates import Candidate
from ..presets import Preset, grid_of

ALL_ROWS = "all rows"  # stands for the method that is recommended, which is not known yet

_SHORTEST_SHOWN = 5.0  # seconds: what takes less is not named


def step_kinds(candidate: Candidate, preset: Preset, n_rows: int) -> list[str]:
    """Kinds of the steps of a candidate: trials, fits, those with permuted labels, and one for the measures.

    They are counted where the next one begins: measures are over when the map of another seed is fitted.
    """
    tried = len(parameter_sets(candidate, preset, n_rows))
    permuted = preset.n_label_permutations if candidate.needs_y else 0
    seeds = preset.n_seeds - 1 if candidate.draws(n_rows) else 0
    return ["trial"] * tried + ["map"] + ["labels permuted"] * permuted + ["measures"] + ["seed"] * seeds


def count_steps(candidate: Candidate, preset: Preset, n_rows: int) -> int:
    """Number of steps of a candidate."""
    return len(step_kinds(candidate, preset, n_rows))


@dataclass(slots=True)
class Progress:
    """Progress of a comparison: counts steps, names the current one, estimates the time left.

    The seconds of a step depend on its method and its kind (:func:`estimate_time_left`); steps that were
    left out or read back, several at once, say nothing about others. Several methods may be under way at
    once, ``side_by_side``: each has a clock of its own.
    """

    callback: ProgressCallback | None
    total: int
    pending: dict[str, list[str]] = field(default_factory=dict)  # kinds of steps by method, in their order
    done: int = 0
    side_by_side: int = 1
    between: Callable[[], None] | None = None  # called between two steps, to see what others have done
    _timings: list[tuple[Levels, float]] = field(default_factory=list)
    _began: float = field(default_factory=lambda: time.perf_counter())
    _since: dict[str, float] = field(default_factory=dict)  # when the last step of each method was done

    def start(self, what: str) -> None:
        """Start a method: time that passed before is no part of its first step."""
        self._since[_label(what)] = time.perf_counter()
        self.update(what)

    def update(self, what: str, done: int = 0) -> None:
        self.done = min(self.done + done, self.total)
        if done > 0:
            self._count(_label(what), done)
        if self.callback is not None:
            self.callback(what + self._left(), self.done, self.total)
        if self.between is not None:
            self.between()

    def finish(self, label: str) -> None:
        """Count all remaining steps of a method as done."""
        self.update(label, len(self._kinds(label)))

    def _kinds(self, label: str) -> list[str]:
        return self.pending[label] if label in self.pending else self.pending.get(ALL_ROWS, [])

    def _count(self, label: str, done: int) -> None:
        now = time.perf_counter()
        kinds = self.pending.get(label) or self.pending.get(ALL_ROWS, [])
        if done == 1 and kinds:
            since = self._since.get(label, self._began)
            self._timings.append(((f"method {label}", f"step {kinds[0]}"), now - since))
        del kinds[:done]
        self._since[label] = now

    def _left(self) -> str:
        """In words, unless it is short."""
        left = [
            (f"method {label}", f"step {kind}") for label, kinds in self.pending.items() for kind in kinds
        ]
        span = estimate_time_left(self._timings, left)
        if span is not None:
            span = span[0] / self.side_by_side, span[1] / self.side_by_side
        return "" if span is None or span[1] < _SHORTEST_SHOWN else f", {time_left_text(span)}"


def _label(what: str) -> str:
    return what.partition(":")[0]


def parameter_sets(candidate: Candidate, preset: Preset, n_rows: int) -> list[dict[str, Any]]:
    """Parameter sets that are tried for a candidate; none where there is nothing to choose."""
    if (
        not preset.tune
        or candidate.make is None
        or (candidate.max_rows is not None and n_rows > candidate.max_rows)
    ):
        return []
    with suppress(IsentropicError, ImportError):
        n_rows = n_rows if preset.tuned_rows is None else min(n_rows, preset.tuned_rows)
        grid = grid_of(candidate.defaults(), n_rows, preset.budget)
        sets = [{name: value} for name, values in grid.items() for value in values]
        return sets if len(sets) > 1 else []
    return []


# ---- time left -----------------------------------------------------------------------------------


Levels = tuple[str, str]  # what two things the seconds of a piece of work depend on: which data, which method

_FEWEST = 3  # pieces that must be done before an estimate is given
_SWEEPS = 10
_LEAST = 0.01  # seconds: below, pieces differ by chance
_NOISE = 0.02  # variance of a logarithm that is always there
_RIDGE = 0.1  # observations at the mean that each level is given
_WIDEST = 4.0  # of that variance: a factor of about 50 to either side


def estimate_time_left(
    seen: Sequence[tuple[Levels, float]], left: Sequence[Levels]
) -> tuple[float, float] | None:
    """Estimate the seconds of the remaining pieces of work, from and to; None while too few are done.

    Logarithms of seconds are modelled as a sum of what the two levels of a piece take, each shrunk towards
    the mean (ridge regression). A level that was not seen yet may be anything that the others were.
    """
    if len(seen) < _FEWEST:
        return None
    if not left:
        return 0.0, 0.0
    logs = np.log(np.maximum([seconds for _, seconds in seen], _LEAST))
    levels = [pair for pair, _ in seen]
    mean, effects = _effects(levels, logs)
    rest = logs - mean - np.array([sum(effects[level] for level in pair) for pair in levels])
    counts = Counter(level for pair in levels for level in pair)
    free = max(len(logs) - len(counts) + 1, 1)
    noise, spread = float(rest @ rest) / free + _NOISE, float(logs.var())
    low = high = 0.0
    for pair in left:
        expected = mean + sum(effects.get(level, 0.0) for level in pair)
        known = sum(noise / counts[level] if level in counts else spread for level in pair)
        sd = math.sqrt(min(noise + known, _WIDEST))
        low += math.exp(expected - sd / 2)
        high += math.exp(expected + sd)
    return low, high


def _effects(levels: Sequence[Levels], logs: np.ndarray) -> tuple[float, dict[str, float]]:
    """Backfitting: what each level adds to the mean, given what the other kind of level adds."""
    mean = float(logs.mean())
    rows: dict[str, list[int]] = defaultdict(list)
    other: dict[tuple[str, int], str] = {}
    for i, (first, second) in enumerate(levels):
        rows[first].append(i)
        rows[second].append(i)
        other[first, i], other[second, i] = second, first
    effects = dict.fromkeys(rows, 0.0)
    for _ in range(_SWEEPS):
        for level, members in rows.items():
            rest = sum(float(logs[i]) - mean - effects[other[level, i]] for i in members)
            effects[level] = rest / (len(members) + _RIDGE)
    return mean, effects


def time_left_text(span: tuple[float, float] | None) -> str:
    """
    >>> time_left_text((190.0, 400.0))
    '3 to 7 min left'
    >>> time_left_text(None)
    'time left not known yet'
    """
    return "time left not known yet" if span is None else f"{duration(*span)} left"


def duration(low: float, high: float) -> str:
    """
    >>> duration(190.0, 400.0), duration(70.0, 70.0), duration(190.0, 190.0)
    ('3 to 7 min', '70 s', '3 min')
    """
    unit, name = next((u, n) for u, n in ((3600.0, "h"), (60.0, "min"), (0.0, "s")) if high >= 2 * u)
    unit = unit or 1.0
    if low == high:
        return f"{round(high / unit)} {name}"
    low, high = math.floor(low / unit), math.ceil(high / unit)
    return f"{low} to {high} {name}" if low < high else f"{high} {name}"
