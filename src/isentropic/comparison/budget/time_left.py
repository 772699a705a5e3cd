"""How long what is left will take, from what the rest took: a range, as wide as it must be."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

Levels = tuple[str, str]  # what two things the seconds of a piece of work depend on: which data, which method

_FEWEST = 3  # pieces that must be done before anything is said
_SWEEPS = 10
_LEAST = 0.01  # seconds: below, pieces differ by chance
_NOISE = 0.02  # variance of a logarithm that is always there
_RIDGE = 0.1  # observations at the mean that each level is given
_WIDEST = 4.0  # of that variance: a factor of about 50 to either side


def span_left(seen: Sequence[tuple[Levels, float]], left: Sequence[Levels]) -> tuple[float, float] | None:
    """Seconds, from and to, of pieces of work that are left; None before anything can be said.

    Logarithms of seconds are modelled as a sum of what the two levels of a piece take, each drawn towards the
    mean (ridge regression). A level that was not seen yet may be anything that the others were.
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
