"""How long what is left will take, from what the rest took: a range, as wide as it must be."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from .values import Outcome, Task

_FEWEST = 3  # tasks that must be done before anything is said
_SWEEPS = 10
_LEAST = 0.01  # seconds: below, tasks differ by chance
_NOISE = 0.02  # variance of a logarithm that is always there
_RIDGE = 0.1  # observations at the mean that each level is given
_WIDEST = 4.0  # of that variance: a factor of about 50 to either side


def time_left(
    done: Mapping[Task, Outcome], left: Sequence[Task], n_jobs: int = 1
) -> tuple[float, float] | None:
    """Seconds, from and to; None before anything can be said.

    Logarithms of seconds are modelled as a sum of what the data and what the method take, each drawn towards
    the mean (ridge regression). A level that was not seen yet may be anything that the others were.
    """
    seconds = {task: outcome.seconds for task, outcome in done.items() if not outcome.reason}
    if len(seconds) < _FEWEST:
        return None
    if not left:
        return 0.0, 0.0
    logs = np.log(np.maximum(list(seconds.values()), _LEAST))
    levels = [_levels(task) for task in seconds]
    mean, effects = _effects(levels, logs)
    rest = logs - mean - np.array([sum(effects[level] for level in pair) for pair in levels])
    counts = Counter(level for pair in levels for level in pair)
    free = max(len(logs) - len(counts) + 1, 1)
    noise, spread = float(rest @ rest) / free + _NOISE, float(logs.var())
    low = high = 0.0
    for task in left:
        pair = _levels(task)
        expected = mean + sum(effects.get(level, 0.0) for level in pair)
        known = sum(noise / counts[level] if level in counts else spread for level in pair)
        sd = math.sqrt(min(noise + known, _WIDEST))
        low += math.exp(expected - sd / 2)
        high += math.exp(expected + sd)
    return low / n_jobs, high / n_jobs


def _levels(task: Task) -> tuple[str, str]:
    return f"data {task.dataset}", f"method {task.work} {task.method} {task.protocol}"


def _effects(levels: Sequence[tuple[str, str]], logs: np.ndarray) -> tuple[float, dict[str, float]]:
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


def in_words(span: tuple[float, float] | None) -> str:
    """
    >>> in_words((190.0, 400.0))
    '3 to 7 min left'
    >>> in_words(None)
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
