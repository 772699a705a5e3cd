"""Measures over the pairs of rows i < j: of all pairs, or of a sample with a 95% interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._core.errors import UndefinedMeasureError, message, require
from ..._core.runtime import memory_budget, require_memory
from ..._core.values import DistanceRows
from ...distances import store_distances
from ...distances.pairwise_blocks import ENOUGH, DrawnPairs, drawn_pairs
from ..inputs import interval
from ..measures import CORRELATED, MEASURES, Measure
from ..ranks.rank_correlations import (
    LONGEST,
    RankComparison,
    bytes_to_compare,
    compare_ranks,
    compare_row_ranks,
    rank_values,
)
from .pair_sums import PairSums, all_pair_sums, common_exponents, join_sums, row_sums

EXACT_ROWS = 20_000  # "auto" compares all pairs of that many rows: 200 million, in less than a minute
WIDTH = 0.01  # of the intervals that "auto" asks of sampled pairs, where a measure is within -1 and 1
_MOST_SAMPLED = 2**25

_WITHIN_1 = (-1.0, 1.0)


def pair_measures(
    names: Sequence[str],
    X: DistanceRows,
    Z: DistanceRows,
    *,
    n_pairs: int | str | None = "auto",
    draw: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Measure]:
    """The named measures in one go; an error where the rows leave one of them undefined.

    ``n_pairs`` is None for all pairs, how many to draw, or ``"auto"``: all up to 20,000 rows, as far as they
    fit the memory budget, and else (or if ``draw``) at least 2^20 drawn ones, and as many as make the
    intervals of correlations at most 0.01 wide.
    """
    automatic = isinstance(n_pairs, str) and n_pairs == "auto"
    if automatic:
        n_pairs = ENOUGH if draw or not _all_fit(names, X.n) else None
    if n_pairs is None:
        return _defined(_of_all(names, X, Z, n_jobs))
    while True:
        sample = drawn_pairs(X, Z, n_pairs, random_state)
        found = _defined(_of_sampled_pairs(names, sample, X, Z, n_jobs))
        widths = [_width(measure) for measure in found.values() if measure.range == _WITHIN_1]
        excess = max(widths, default=0.0) / WIDTH
        if not automatic or excess <= 1 or sample.n_pairs >= _MOST_SAMPLED:
            return found
        n_pairs = min(int(1.2 * excess**2 * sample.n_pairs), _MOST_SAMPLED)


def pair_groups(
    correlations: Sequence[str],
    stresses: Sequence[str],
    X: DistanceRows,
    Z: DistanceRows,
    *,
    draw: bool,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[Callable[[], dict[str, Measure]], Callable[[], dict[str, Measure]]]:
    """The same for two groups that may be undefined each by itself, from one sum over all pairs if it can be.

    If ``draw``, both are of sampled pairs. If not, the stresses are exact, and so are the correlations unless
    memory is short.
    """
    if draw or not _all_fit(correlations, X.n):
        options = {"draw": True, "random_state": random_state, "n_jobs": n_jobs}
        return (
            lambda: pair_measures(correlations, X, Z, **options),
            lambda: pair_measures(stresses, X, Z, n_pairs="auto" if draw else None, **options),
        )
    measures, source = _of_all([*correlations, *stresses], X, Z, n_jobs)
    first, second = ({name: measures[name] for name in names} for names in (correlations, stresses))
    return lambda: _defined((first, source)), lambda: _defined((second, source))


@dataclass(frozen=True, slots=True)
class _Found:
    """What some pairs say, as far as the measures asked for need it."""

    order: RankComparison | None
    sums: PairSums | None

    def value(self, name: str) -> float:
        return float(getattr(self.order if _by_order([name]) else self.sums, name))

    def measure(self, name: str) -> Measure:
        note = ""
        if name == "sammon_stress" and self.sums is not None and self.sums.n_zero:
            note = f"{self.sums.n_zero:,} of {self.sums.n_pairs:,} pairs left out, whose rows are equal in X"
        return MEASURES[name].measure(self.value(name), note)

    @property
    def constant(self) -> tuple[bool, bool]:
        """Whether all distances are equal, in X and in Z."""
        known = self.sums if self.sums is not None else self.order
        assert known is not None
        return known.constant


def _defined(found: tuple[dict[str, Measure], _Found]) -> dict[str, Measure]:
    measures, reasons = finite_measures(found[0])
    undefined = [name for name, measure in measures.items() if math.isnan(measure.value)]
    correlated = any(_is_correlated(name) for name in undefined)
    if correlated:  # all of them: distances that vary by rounding have an order by chance
        undefined = [name for name in measures if _is_correlated(name) or name in undefined]
    if undefined:
        differ, got = "of which some differ", "rows that are all equal"
        if correlated:
            differ, got = "at different distances", "rows that are all equally far apart"
        side = "X" if found[1].constant[0] else "Z"
        reasons.append(message(side, f"rows {differ}, or {are_undefined(undefined)}", got))
    defined = {name: measure for name, measure in measures.items() if name not in undefined}
    if reasons:
        raise UndefinedMeasureError("\n".join(reasons), defined)
    return defined


def finite_measures(measures: Mapping[str, Measure]) -> tuple[dict[str, Measure], list[str]]:
    """The measures without those that exceed all numbers, and why these are left out."""
    beyond = [name for name, measure in measures.items() if math.isinf(measure.value)]
    must_be = f"of sizes nearer to each other and to 1, or {are_undefined(beyond)}" if beyond else ""
    got, hint = "distances for which that is above 1.8e308", "Scale one of them, or both."
    reasons = [message("X and Z", must_be, got, hint)] if beyond else []
    return {name: measure for name, measure in measures.items() if name not in beyond}, reasons


def are_undefined(names: Sequence[str]) -> str:
    """
    >>> are_undefined(["pearson_r"]), are_undefined(["pearson_r", "kendall_tau"])
    ('pearson_r is undefined', 'pearson_r and kendall_tau are undefined')
    """
    *others, last = names
    return f"{', '.join(others)} and {last} are undefined" if others else f"{last} is undefined"


def _by_order(names: Sequence[str]) -> bool:
    return any(MEASURES[name].source == "pair order" for name in names)


def _by_sums(names: Sequence[str]) -> bool:
    return any(MEASURES[name].source != "pair order" for name in names)


def _is_correlated(name: str) -> bool:
    return MEASURES[name].source in CORRELATED


# ---- all pairs ---------------------------------------------------------------------------------


def _all_fit(names: Sequence[str], n: int) -> bool:
    if n > EXACT_ROWS:
        return False
    budget = memory_budget()
    return not _by_order(names) or budget is None or bytes_to_compare(n * (n - 1) // 2) <= budget


def _of_all(
    names: Sequence[str], X: DistanceRows, Z: DistanceRows, n_jobs: int | None
) -> tuple[dict[str, Measure], _Found]:
    if _by_order(names):
        found = _compared_pairs(X, Z, _by_sums(names), n_jobs)
    else:
        found = _Found(None, all_pair_sums(X, Z, n_jobs=n_jobs))
    return {name: found.measure(name) for name in names}, found


def _compared_pairs(X: DistanceRows, Z: DistanceRows, with_sums: bool, n_jobs: int | None) -> _Found:
    n_pairs = X.n * (X.n - 1) // 2
    hint = "Draw pairs, as with n_pairs=1_000_000."
    most_rows = (1 + math.isqrt(1 + 8 * LONGEST)) // 2
    require(n_pairs <= LONGEST, "n_pairs", f"given for more than {most_rows:,} rows", None, hint)
    require_memory(bytes_to_compare(n_pairs), "Comparing the order of all pairs", hint)
    distances = np.empty(n_pairs)  # of Z first, then of X: fresh memory costs time
    ranks = rank_values(store_distances(Z, distances, n_jobs=n_jobs), n_jobs=n_jobs)
    if not with_sums:
        return _Found(compare_ranks(store_distances(X, distances, n_jobs=n_jobs), ranks, n_jobs=n_jobs), None)
    sums = all_pair_sums(X, Z, triangle=distances, n_jobs=n_jobs)
    return _Found(compare_ranks(distances, ranks, n_jobs=n_jobs), sums)


# ---- sampled pairs -----------------------------------------------------------------------------


def _of_sampled_pairs(
    names: Sequence[str], sample: DrawnPairs, X: DistanceRows, Z: DistanceRows, n_jobs: int | None
) -> tuple[dict[str, Measure], _Found]:
    overall, *batches = _found_in(names, sample, common_exponents(X, Z), n_jobs)
    found, n_pairs = {}, X.n * (X.n - 1) // 2
    for name in names:
        measure = overall.measure(name)
        value, values = measure.value, [batch.value(name) for batch in batches]
        if name == "raw_stress":  # the root of a sum over all pairs, not of a mean
            value *= math.sqrt(n_pairs / sample.n_pairs)
            values = [each * math.sqrt(n_pairs / sample.n_pairs * len(batches)) for each in values]
        low, high = interval(value, values, *measure.range)
        note = "; ".join(filter(None, (f"from {sample.n_pairs:,} sampled pairs", measure.note)))
        found[name] = replace(measure, value=value, low=low, high=high, note=note)
    return found, overall


def _found_in(
    names: Sequence[str], sample: DrawnPairs, exponents: tuple[int, int], n_jobs: int | None
) -> list[_Found]:
    """Results of all sampled pairs, then of each batch."""
    given, mapped = sample.given, sample.mapped
    orders: list[RankComparison | None] = [None] * (1 + len(given))
    sums: list[PairSums | None] = [None] * (1 + len(given))
    if _by_order(names):
        overall = compare_ranks(given.ravel(), rank_values(mapped.ravel(), n_jobs=n_jobs), n_jobs=n_jobs)
        orders = [overall, *compare_row_ranks(given, mapped, n_jobs=n_jobs)]
    if _by_sums(names):
        table = row_sums(given, mapped, exponents, n_jobs=n_jobs)
        sums = [join_sums(rows, exponents) for rows in (table, *table[:, None])]
    return [_Found(order, found) for order, found in zip(orders, sums, strict=True)]


def _width(measure: Measure) -> float:
    return measure.high - measure.low if measure.low is not None and measure.high is not None else 0.0
