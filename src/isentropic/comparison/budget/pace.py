"""What is not fitting takes time too: the measures of a map, those of all rows, the page.

All of it is told from one figure, the seconds that the measures of 1,000 rows take here and now: on this
machine, as busy as it is, by this metric, of so many columns.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass

import numpy as np

from ..._core.errors import TimeBudgetWarning
from ...distances import rows_of
from ...quality import assess
from ..evaluation.data import Data
from ..presets import SCORED_ROWS

_TRIED = 1_000  # rows whose measures are timed
_TRIED_OF_ALL = 50  # rows of a large table, each measured against all others
_PER_MAP = 8.0  # times the pace: chance, the jackknife, walks of a map of any size
_PER_SQUARE = 2.0  # times the pace, and the square of the thousands of rows
_OF_ALL = 2.5  # times what the measures take: chance and the tests of rows, too
_PER_PAGE = 15.0  # times the pace: neighbours, groups, pictures, writing
_FOR_PAGE = 0.05  # of the time, at least
_FEWEST_SCORED = 200
_SHORTEST = 1e-4  # seconds: below, a clock may show none


@dataclass(frozen=True, slots=True)
class Limit:
    """The time that there is."""

    began: float  # by the clock of time.perf_counter
    seconds: float
    page: bool = False  # whether a page is written in it, too

    def ends(self, pace: float) -> float:
        """Until when methods may be compared."""
        page = max(_FOR_PAGE * self.seconds, _PER_PAGE * pace) if self.page else 0.0
        return self.began + self.seconds - page

    def can_be_kept(self, pace: float, n_rows: int) -> bool:
        """Whether one method, and what comes after it, fit the time; warns with the least that does."""
        now = time.perf_counter()
        needed = measured_in(n_rows, pace) + (_PER_PAGE * pace if self.page else 0.0)
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


def measured_pace(data: Data, n_jobs: int | None) -> float:
    """Seconds that the measures of a map of 1,000 rows of this table take."""
    few = rows_of(data.X, slice(_TRIED), data.metric)
    taken = [_seconds_of_measures(data, few, None, n_jobs) for _ in range(2)]  # the first loads compiled code
    return max(min(taken), _SHORTEST) * (_TRIED / len(few)) ** 2


def pace_of_all(data: Data, n_jobs: int | None) -> float:
    """Seconds of all that is measured of one row of a large table, against all others."""
    tried = min(_TRIED_OF_ALL, len(data.X))
    taken = [_seconds_of_measures(data, data.X, tried, n_jobs) for _ in range(2)]
    return _OF_ALL * max(min(taken), _SHORTEST) / tried


def _seconds_of_measures(data: Data, X: np.ndarray, sample: int | None, n_jobs: int | None) -> float:
    drawn = np.random.default_rng(0).normal(size=(len(X), 2))  # any map will do
    began = time.perf_counter()
    assess(X, drawn, metric=data.metric, sample=sample, n_jobs=n_jobs)
    return time.perf_counter() - began


def measured_in(n_rows: int, pace: float) -> float:
    """Seconds of all that is measured of one map of ``n_rows`` rows.

    >>> [measured_in(n, 0.5) for n in (500, 5_000)]
    [4.25, 29.0]
    """
    return pace * (_PER_MAP + _PER_SQUARE * (n_rows / _TRIED) ** 2)


def rows_measured_in(seconds: float, pace: float) -> float:
    """The rows of a map all of whose measures take so long: the inverse of :func:`measured_in`.

    >>> rows_measured_in(29.0, 0.5)
    5000.0
    """
    return _TRIED * math.sqrt(max(seconds / pace - _PER_MAP, 0.0) / _PER_SQUARE)


def scored_in(seconds: float, each: float) -> int:
    """How many rows of a large table are compared with all others in the time, in hundreds.

    >>> [scored_in(10.0, each) for each in (1.0, 0.01, 1e-4)]
    [200, 1000, 2000]
    """
    return min(SCORED_ROWS, max(_FEWEST_SCORED, int(seconds / each) // 100 * 100))
