"""The degree that keeps the order of distances best, found without trying every one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.errors import require, require_number

DEGREES = tuple(range(1, 16))
_COARSE = 4  # places between the degrees that are tried first


@dataclass(frozen=True, slots=True)
class Trial:
    """A map for one degree, or one set of them, and its tau (NaN where that is undefined)."""

    degrees: tuple[float, ...]
    minimum: Any  # optim.Minimum
    tau: float


Fit = Callable[[tuple[float, ...], Any], Trial]  # degrees and the trial to start from, or None


def checked_degrees(degrees: Iterable[Any], name: str, must_be: str) -> list[float]:
    """Positive numbers, as Python has them."""
    plain = []
    require(np.iterable(degrees), name, must_be, degrees)
    for degree in degrees:
        require_number(name, degree, must_be, above=0)
        plain.append(degree.item() if isinstance(degree, np.number) else degree)
    return plain


def better(trial: Trial, than: Trial) -> bool:
    return trial.tau > than.tau or (math.isnan(than.tau) and not math.isnan(trial.tau))


def best_of(trials: Sequence[Trial]) -> Trial:
    """The highest tau; of equal ones, the first."""
    best = trials[0]
    for trial in trials[1:]:
        best = trial if better(trial, best) else best
    return best


def searched(fit: Fit, candidates: Sequence[float] = DEGREES) -> list[Trial]:
    """Trials of every fourth candidate, then of those around the best, closer and closer.

    The first ones each have a start of their own, so that none is caught where another one ended; the others
    start from the trial whose degree is nearest. The search ends when the best one has a worse, or no,
    neighbour on either side: 6 to 9 trials of 15.
    """
    first = [*range(0, len(candidates) - 1, _COARSE), len(candidates) - 1]
    tried = {place: fit((candidates[place],), None) for place in first}

    def attempt(place: int) -> None:
        if 0 <= place < len(candidates) and place not in tried:
            near = min(tried, key=lambda other: abs(other - place))
            tried[place] = fit((candidates[place],), tried[near])

    step = _COARSE // 2
    while step:
        before = len(tried)
        best = _place_of_best(tried)
        attempt(best - step)
        attempt(best + step)
        if _place_of_best(tried) == best or len(tried) == before:
            step //= 2
    return [tried[place] for place in sorted(tried)]


def _place_of_best(tried: dict[int, Trial]) -> int:
    places = sorted(tried)
    best = best_of([tried[place] for place in places])
    return next(place for place in places if tried[place] is best)
