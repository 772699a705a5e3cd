"""``explain``: the columns that tell selected rows from the others, with effect sizes and p-values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ..._core.errors import InvalidInputError, require, require_count, require_number
from ..._core.values import Floats, Table
from ...quality.row_measures import Flags, row_flags
from .source_columns import Column, columns_of

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
            texts = _day if self.dates else _number
            return (
                f"{self.column}{mark} is {words[self.auc <= 0.5]}: AUC {self.auc:.2f} ({self.low:.2f} to "
                f"{self.high:.2f}), median {texts(self.inside)} against {texts(self.outside)}."
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
        texts = [{**asdict(one), "strength": one.strength, "text": one.text} for one in self.differences]
        return {"format": _FORMAT, **found, "skipped": list(self.skipped), "differences": texts}


# ---- finding the columns -------------------------------------------------------------------------


_FEWEST = 10  # rows on either side: five in each half
_LEAST = 5  # rows of a half with a value
_CHOOSING = 0.05  # p, in the first half, of what the second half tests
_EXACT_RANKS = 8  # values on either side up to which Mann and Whitney's p may be exact
_BLOCK = 64  # columns that are ranked at once
_MISSED = 0.05  # chance of each interval to miss the truth
_EXACT = 5_000  # rows up to which shares are compared by Fisher's exact test


def explain(
    table: Table | pd.DataFrame | Any,
    rows: Any,
    against: Any = None,
    *,
    alpha: float = 0.01,
    most: int | None = None,
    random_state: int = 0,
) -> Explanation:
    """Name the columns that tell a selection of rows from the rest, or from a second selection.

    Numbers are compared by the area under the ROC curve, AUC = P(x > x') + P(x = x') / 2 for x inside and x'
    outside (Mann and Whitney), with DeLong's interval of 95%; levels by their lift, the share inside over the
    share outside, with Katz's. Half of the rows on either side, scattered by their positions, chooses columns
    and levels whose p is at most 0.05; they are tested on the other half, with Holm's correction for their
    number. A value that is missing leaves its row out of that column only. Cost: ``O(m n log n)``.

    Parameters
    ----------
    table : Table, frame of pandas or polars, or array (n, m)
        A frame is taken as it is: numbers, dates and booleans are ordered, anything else has levels.
    rows : array of bool (n,), or positions
        The selection, of at least ten rows. A Series of flags must have the index of the frame.
    against : array of bool (n,), or positions, optional
        The rows to compare with; all others by default.
    alpha : float
        Chance that any column is named that does not differ.
    most : int, optional
        Columns and levels that are tested: of those that the first half chooses the strongest.
    random_state : int
        Seed of the two halves.

    Notes
    -----
    A selection that was drawn around a part of a map differs, by construction, in the columns that made the
    map. That is what is asked here; that the group exists is another question, which the quality of the map
    answers.

    Examples
    --------
    >>> from isentropic import datasets, explain
    >>> iris = datasets.load("builtin:iris")
    >>> found = explain(iris, iris.labels == "setosa")
    >>> found.columns[0], found.differences[0].auc
    ('petal width (cm)', 0.0)
    >>> print(found.lines[0])
    petal width (cm) is lower: AUC 0.00 (0.00 to 0.15), median 0.2 against 1.8.
    """
    alpha = require_number("alpha", alpha, "between 0 and 1", above=0.0, below=1.0)
    seed = require_count("random_state", random_state, least=0)
    most = None if most is None else require_count("most", most)
    columns = columns_of(table, labels=True)
    n = len(columns[0].values)
    for what, given in (("rows", rows), ("against", against)):
        _require_positions(what, given, table)
    inside = row_flags("rows", rows, n)
    outside = ~inside if against is None else row_flags("against", against, n)
    both = int((inside & outside).sum())
    require(both == 0, "against", "other rows than the selection", f"{both} rows of both")
    for what, flags in (("rows", inside), ("against", outside)):
        hint = "Fewer say nothing about a column."
        require(int(flags.sum()) >= _FEWEST, what, f"at least {_FEWEST} rows", int(flags.sum()), hint)
    return compare_columns(columns, inside, outside, alpha, most, seed)


def _require_positions(what: str, given: Any, table: Any) -> None:
    """Raise where pandas would go by the labels of rows: positions would silently be others."""
    if not isinstance(table, pd.DataFrame):
        return
    if isinstance(given, pd.Series) and given.dtype == bool and not given.index.equals(table.index):
        raise InvalidInputError(
            f"{what} must be flags in the order of the table, got a Series with another index. Give "
            f"{what}.to_numpy() if it is in that order, else {what}.reindex(table.index)."
        )
    if isinstance(given, pd.Index) and not table.index.equals(pd.RangeIndex(len(table))):
        raise InvalidInputError(
            f"{what} must be flags or positions of rows, got labels of an index. Give "
            f"table.index.isin({what})."
        )


def compare_columns(
    columns: Sequence[Column], inside: Flags, outside: Flags, alpha: float, most: int | None, seed: int
) -> Explanation:
    """Compare two checked selections column by column, as :func:`explain` reports it."""
    first = _half(inside, seed) | _half(outside, seed)
    texts = [_has_enough(column, inside, outside, first) for column in columns]
    enough = [column for column, is_enough in zip(columns, texts, strict=True) if is_enough]
    chosen = list(_choose(enough, inside & first, outside & first))
    if most is not None:
        chosen = sorted(chosen, key=lambda one: -one[2])[:most]
    tested = [_difference(column, code, inside & ~first, outside & ~first) for column, code, _ in chosen]
    return Explanation(
        differences=_significant(tested, alpha),
        n_rows=int(inside.sum()),
        n_against=int(outside.sum()),
        n_columns=len(columns),
        n_tested=len(tested),
        alpha=alpha,
        skipped=tuple(column.name for column, is_enough in zip(columns, texts, strict=True) if not is_enough),
    )


# ---- what is compared --------------------------------------------------------------------------


def _half(chosen: Flags, seed: int) -> Flags:
    """Half of the chosen rows, as if at random: those whose positions scatter lowest."""
    rows = np.flatnonzero(chosen)
    order = np.argsort(_scatter(rows, seed), kind="stable")
    flags = np.zeros(len(chosen), dtype=bool)
    flags[rows[order[: len(rows) // 2]]] = True
    return flags


def _scatter(rows: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.uint32]:
    """A number of 32 bits for each position, as even as chance; the page has the same function.

    Two rounds of multiply and shift (Wellons' lowbias32) on the position, moved by the golden ratio for
    each seed.

    >>> _scatter(np.arange(3), 0).tolist()
    [1753845952, 3507691905, 1408362973]
    """
    x = (rows.astype(np.uint64) + 1 + np.uint64(seed * 0x9E3779B9 & 0xFFFFFFFF)).astype(np.uint32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(16))


def _has_enough(column: Column, inside: Flags, outside: Flags, first: Flags) -> bool:
    there = ~np.isnan(column.values)
    parts = (part & half & there for part in (inside, outside) for half in (first, ~first))
    return min(int(part.sum()) for part in parts) >= _LEAST


# ---- choosing and testing ----------------------------------------------------------------------


def _choose(
    columns: Sequence[Column], inside: Flags, outside: Flags
) -> Iterator[tuple[Column, int | None, float]]:
    """The columns, or codes of their levels, that may differ by what this half says; and how much."""
    numbers = [column for column in columns if not column.levels]
    for column, (p, strength) in zip(numbers, _screen(numbers, inside, outside), strict=True):
        if p <= _CHOOSING:
            yield column, None, strength
    for column in columns:
        for code in range(len(column.levels)):
            a, n, b, m = _counts(column, code, inside, outside)
            if _p_of_level(a, n, b, m) * len(column.levels) <= _CHOOSING:
                yield column, code, abs(a / n - b / m)


def _screen(columns: Sequence[Column], inside: Flags, outside: Flags) -> Iterator[tuple[float, float]]:
    """p and strength of each column of numbers; complete columns in blocks, ten times as fast."""
    for start in range(0, len(columns), _BLOCK):
        block = columns[start : start + _BLOCK]
        sides = [np.stack([column.values[flags] for column in block]) for flags in (inside, outside)]
        complete = not any(np.isnan(side).any() for side in sides)
        if complete and min(side.shape[1] for side in sides) > _EXACT_RANKS:
            with np.errstate(divide="ignore", invalid="ignore"):  # a constant column has no p
                found = stats.mannwhitneyu(*sides, alternative="two-sided", axis=1)
            areas = found.statistic / (sides[0].shape[1] * sides[1].shape[1])
            ps = np.where(np.isnan(found.pvalue), 1.0, found.pvalue)
            yield from zip(ps.tolist(), (2 * np.abs(areas - 0.5)).tolist(), strict=True)
            continue
        for column in block:
            x, others = _parts(column.values, inside, outside)
            yield _p_of_numbers(x, others), 2 * abs(_auc(x, others)[0] - 0.5)


def _difference(column: Column, code: int | None, inside: Flags, outside: Flags) -> Difference:
    if code is None:
        x, others = _parts(column.values, inside, outside)
        auc, low, high = _auc(x, others)
        medians = float(np.median(x)), float(np.median(others))
        p = _p_of_numbers(x, others)
        return Difference(column.name, "", auc, None, low, high, p, *medians, column.dates, column.label)
    counts = _counts(column, code, inside, outside)
    lift, low, high = _lift(*counts)
    share, other = counts[0] / counts[1], counts[2] / counts[3]
    auc = 0.5 + (share - other) / 2
    level = column.levels[code]
    return Difference(
        column.name, level, auc, lift, low, high, _p_of_level(*counts), share, other, label=column.label
    )


def _significant(tested: list[Difference], alpha: float) -> tuple[Difference, ...]:
    """Differences that remain significant after Holm's correction, the strongest first."""
    ordered = sorted(tested, key=lambda one: one.p)
    corrected, greatest = [], 0.0
    for rank, one in enumerate(ordered):
        greatest = min(1.0, max(greatest, one.p * (len(ordered) - rank)))
        corrected.append(replace(one, p=greatest))
    return tuple(sorted((one for one in corrected if one.p <= alpha), key=lambda one: -one.strength))


def _parts(values: Floats, inside: Flags, outside: Flags) -> tuple[Floats, Floats]:
    x, others = values[inside], values[outside]
    return x[~np.isnan(x)], others[~np.isnan(others)]


def _counts(column: Column, code: int, inside: Flags, outside: Flags) -> tuple[int, int, int, int]:
    """Rows with the level, and with any: inside, then outside."""
    x, others = _parts(column.values, inside, outside)
    return int((x == code).sum()), len(x), int((others == code).sum()), len(others)


def _p_of_numbers(x: Floats, others: Floats) -> float:
    if x.min() == x.max() == others.min() == others.max():
        return 1.0
    return float(stats.mannwhitneyu(x, others, alternative="two-sided").pvalue)


def _p_of_level(a: int, n: int, b: int, m: int) -> float:
    if a + b in (0, n + m):
        return 1.0
    counts = np.array([[a, n - a], [b, m - b]])
    if n + m <= _EXACT:
        return float(stats.fisher_exact(counts).pvalue)
    return float(stats.chi2_contingency(counts).pvalue)


def _auc(x: Floats, others: Floats) -> tuple[float, float, float]:
    """AUC with DeLong's interval on the scale of logits; where nothing overlaps, by the number of rows.

    V_i is the share of the other side that row i exceeds; the variance of the AUC is var(V) / n + var(V') /
    m.
    """
    n, m = len(x), len(others)
    ranks = stats.rankdata(np.concatenate([x, others]))
    exceeds = (ranks[:n] - stats.rankdata(x)) / m
    exceeded = 1.0 - (ranks[n:] - stats.rankdata(others)) / n
    auc = float(exceeds.mean())
    if min(auc, 1.0 - auc) <= 0.0:  # no overlap: as far from it as the fewer rows could miss
        missed = min(0.5, -float(np.log(_MISSED / 2)) / min(n, m))
        return auc, max(0.0, auc - missed), min(1.0, auc + missed)
    error = np.sqrt(exceeds.var(ddof=1) / n + exceeded.var(ddof=1) / m) / (auc * (1.0 - auc))
    middle, width = np.log(auc / (1.0 - auc)), stats.norm.isf(_MISSED / 2) * error
    low, high = (1.0 / (1.0 + np.exp(-(middle + sign * width))) for sign in (-1.0, 1.0))
    return auc, float(low), float(high)


def _lift(a: int, n: int, b: int, m: int) -> tuple[float, float, float]:
    """Ratio of the shares with Katz's interval; half a row is added where a share is 0."""
    if min(a, b) == 0:
        a_, b_, n_, m_ = a + 0.5, b + 0.5, n + 0.5, m + 0.5
    else:
        a_, b_, n_, m_ = float(a), float(b), float(n), float(m)
    lift = (a_ / n_) / (b_ / m_)
    width = stats.norm.isf(_MISSED / 2) * np.sqrt(max(0.0, 1 / a_ - 1 / n_ + 1 / b_ - 1 / m_))
    return lift, lift * float(np.exp(-width)), lift * float(np.exp(width))
