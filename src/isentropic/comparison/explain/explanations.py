"""``Explanation``: the columns by which a selection of rows differs from others, in numbers and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, timedelta
from math import floor
from typing import Any

_FORMAT = "isentropic.explanation/1"
_WEAK = 40  # rows on either side below which all but large differences are missed


@dataclass(frozen=True, slots=True)
class Difference:
    """One column, or one level of it: how it differs, measured on rows that did not choose it.

    ``auc`` is the chance that a row of the selection has more of it than one of the others (0.5: no
    difference; for a level: half of one plus half the difference of the shares). ``lift`` is the share of
    the level in the selection over that among the others; None for numbers.
    """

    column: str
    level: str  # "" for numbers
    auc: float
    lift: float | None
    low: float  # of the interval of the lift, or of the AUC for numbers
    high: float
    p: float  # corrected by Holm for all that were tested
    inside: float  # median, or share of the level
    outside: float
    dates: bool = False  # the medians are days since 1970
    label: bool = False  # the column is a label: no map was made of it

    @property
    def strength(self) -> float:
        """0: none, 1: the column tells the two groups apart without an error."""
        return 2.0 * abs(self.auc - 0.5)

    @property
    def text(self) -> str:
        """A sentence.

        >>> Difference("age", "", 0.93, None, 0.9, 0.96, 1e-9, 61.0, 34.0).text
        'age is higher: AUC 0.93 (0.90 to 0.96), median 61 against 34.'
        >>> Difference("sold", "", 0.93, None, 0.9, 0.96, 1e-9, 20000.5, 18000.0, dates=True).text
        'sold is later: AUC 0.93 (0.90 to 0.96), median 2024-10-04 against 2019-04-14.'
        >>> Difference("heating", "oil", 0.7, 4.0, 2.5, 6.5, 1e-9, 0.6, 0.15).text
        'heating=oil is 4.0 times as frequent (2.5 to 6.5): 60% against 15%.'
        >>> Difference("heating", "oil", 0.8, 81.0, 5.2, 1273.0, 1e-9, 0.6, 0.0).text
        'heating=oil is at least 5.2 times as frequent: 60% against 0%.'
        >>> Difference("country", "Chad", 0.7, 4.0, 2.5, 6.5, 1e-9, 0.6, 0.15, label=True).text
        'country=Chad (label) is 4.0 times as frequent (2.5 to 6.5): 60% against 15%.'
        """
        mark = " (label)" if self.label else ""
        if self.lift is None:
            words = ("later", "earlier") if self.dates else ("higher", "lower")
            told = _day if self.dates else _number
            return (
                f"{self.column}{mark} is {words[self.auc <= 0.5]}: AUC {self.auc:.2f} ({self.low:.2f} to "
                f"{self.high:.2f}), median {told(self.inside)} against {told(self.outside)}."
            )
        times = f"{self.lift:.1f} times as frequent ({self.low:.1f} to {self.high:.1f})"
        if self.outside == 0:  # no number of times: only the end of the interval that is one
            times = f"at least {self.low:.1f} times as frequent"
        elif self.inside == 0:
            times = f"at most {self.high:.1f} times as frequent"
        return f"{self.column}={self.level}{mark} is {times}: {self.inside:.0%} against {self.outside:.0%}."


def _number(value: float) -> str:
    """Four digits, or all before the point.

    >>> [_number(value) for value in (0.0123456, 2015.4, 452301.7, 1e15)]
    ['0.01235', '2015', '452,302', '1e+15']
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"


def _day(value: float) -> str:
    if not -719_162 <= value < 2_932_897:  # the years 1 to 9999
        return f"day {_number(value)} from 1970"
    return (date(1970, 1, 1) + timedelta(days=floor(value))).isoformat()


@dataclass(frozen=True, slots=True)
class Explanation:
    """What tells a selection of rows from others; the strongest difference first."""

    differences: tuple[Difference, ...]
    n_rows: int  # of the selection
    n_against: int
    n_columns: int  # that were looked at
    n_tested: int  # columns and levels that the first half chose, and the second half tested
    alpha: float  # chance that any of the differences is none
    skipped: tuple[str, ...] = ()  # columns with too few values to say anything

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that differ, the strongest first, each once."""
        return tuple(dict.fromkeys(difference.column for difference in self.differences))

    @property
    def lines(self) -> tuple[str, ...]:
        """What differs, in sentences; or that nothing does."""
        if self.differences:
            return tuple(difference.text for difference in self.differences)
        few = len(self.skipped)
        more = f" {few} more {'has' if few == 1 else 'have'} too few values to say." if few else ""
        if min(self.n_rows, self.n_against) < _WEAK:
            more += " So few rows tell large differences only."
        return (
            f"None of {self.n_columns - few} columns tells these {self.n_rows:,} rows from "
            f"{self.n_against:,} others beyond chance.{more}",
        )

    def to_json(self) -> dict[str, Any]:
        """Plain lists, strings and numbers."""
        found = {key: value for key, value in asdict(self).items() if key != "differences"}
        told = [{**asdict(one), "strength": one.strength, "text": one.text} for one in self.differences]
        return {"format": _FORMAT, **found, "skipped": list(self.skipped), "differences": told}
