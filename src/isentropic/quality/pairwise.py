"""Measures over the pairs of rows i < j: of all pairs, or of a sample with a 95% interval.

Sums over pairs take ``O(n^2)`` time beyond the distances and ``O(n)`` memory: distances come in blocks of
rows and are not stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._core.errors import UndefinedMeasureError, message, require
from .._core.runtime import memory_budget, require_memory
from .._core.values import DistanceRows, Floats, Integers
from ..distances import all_equal, later_distances, store_distances
from ..distances.pairwise_blocks import ENOUGH, SampledPairs, sampled_pairs
from ..kernels._jit import threads
from ..kernels.distances import euclidean as kernels
from ..linalg import ROOM
from .inputs import interval
from .measures import CORRELATED, MEASURES, Measure
from .ranks.rank_correlations import (
    LONGEST,
    RankComparison,
    bytes_to_compare,
    compare_ranks,
    compare_row_ranks,
    rank_values,
)

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
        sample = sampled_pairs(X, Z, n_pairs, random_state)
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
    """:func:`pair_measures` of two groups, each of which may be undefined, in one pass if possible.

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
    """Results over some pairs, as far as the requested measures need them."""

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
    names: Sequence[str], sample: SampledPairs, X: DistanceRows, Z: DistanceRows, n_jobs: int | None
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
    names: Sequence[str], sample: SampledPairs, exponents: tuple[int, int], n_jobs: int | None
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


# ---- Sums over pairs -----------------------------------------------------------------------------


_EQUAL = 1e-13  # a spread this small, relative to the distances, is rounding


@dataclass(frozen=True, slots=True)
class PairSums:
    """Sums over pairs of the data distance ``d`` and the map distance ``z``, each in its own unit.

    The gap is in the larger of the two units. ``rest`` and ``rest_z`` are the sums of ``(d - t z)^2`` and
    ``(d - t z) z`` for some ``t`` near the best scale: next to a perfect map, sums of squares alone would
    have lost every digit of what is left.
    """

    n_pairs: int
    centred: tuple[float, float, float]  # sums of products of d and z less their means: dd, zz, dz
    gap: float  # sum of (d - z)^2
    d_square: float
    z_square: float
    rest: float
    rest_z: float
    sammon: float  # sum of (d - z)^2 / d over d > 0
    d_sum: float
    n_zero: int  # pairs with d = 0
    exponents: tuple[int, int] = (0, 0)  # of the units of d and z

    @property
    def constant(self) -> tuple[bool, bool]:
        """Whether all distances are equal up to rounding, given and mapped."""
        dd, zz, _ = self.centred
        return dd <= _EQUAL**2 * self.d_square, zz <= _EQUAL**2 * self.z_square

    @property
    def pearson_r(self) -> float:
        """``sum (d - mean)(z - mean) / sqrt(sum (d - mean)^2 sum (z - mean)^2)``; NaN if a side is flat."""
        if any(self.constant):
            return math.nan
        dd, zz, dz = self.centred
        return max(-1.0, min(1.0, dz / dd * math.sqrt(dd / zz)))

    @property
    def residual_variance(self) -> float:
        """``1 - r^2``."""
        return 1.0 - self.pearson_r**2

    @property
    def raw_stress(self) -> float:
        """``sqrt(sum (d - z)^2)``."""
        return times_power(math.sqrt(self.gap), max(self.exponents))

    @property
    def normalized_stress(self) -> float:
        """``sqrt(sum (d - z)^2 / sum d^2)``; NaN if every d is 0."""
        if self.d_square == 0:
            return math.nan
        return times_power(math.sqrt(self.gap / self.d_square), max(self.exponents) - self.exponents[0])

    @property
    def scaled_stress(self) -> float:
        """``sqrt(sum (d - s z)^2 / sum d^2)``, best ``s = sum d z / sum z^2``; NaN if every d or z is 0."""
        if self.d_square == 0 or self.z_square == 0:
            return math.nan
        left = self.rest - self.rest_z * (self.rest_z / self.z_square)  # the square may be too small
        return min(1.0, math.sqrt(max(left, 0.0) / self.d_square))

    @property
    def sammon_stress(self) -> float:
        """``sum (d - z)^2 / d / sum d``, over pairs with d > 0; NaN if there is none."""
        return self.sammon / (self.d_sum * _sammon_unit(self.exponents)) if self.d_sum > 0 else math.nan


def times_power(value: float, exponent: int) -> float:
    """``value 2^exponent``, which may be infinite."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.inf


def common_exponents(X: DistanceRows, Z: DistanceRows) -> tuple[int, int]:
    """Exponents of the units of both sides; a side of zeros takes the unit of the other."""
    exponents = X.exponent, Z.exponent
    if exponents[0] == exponents[1]:
        return exponents
    if all_equal(X):
        return Z.exponent, Z.exponent
    return (X.exponent, X.exponent) if all_equal(Z) else exponents


def common_shifts(exponents: tuple[int, int]) -> tuple[float, float]:
    """Factors that bring both sides to the larger of their units: one of the two is 1."""
    largest = max(exponents)
    return math.ldexp(1.0, exponents[0] - largest), math.ldexp(1.0, exponents[1] - largest)


def join_sums(table: Floats, exponents: tuple[int, int] = (0, 0)) -> PairSums:
    """Combine the sums over many rows of pairs (columns as in ``kernels.distances.euclidean``)."""
    table = table[table[:, kernels.COUNT] > 0]
    counts = table[:, kernels.COUNT]
    n_pairs = counts.sum()
    means = table[:, [kernels.MEAN_D, kernels.MEAN_Z]]
    total = (counts[:, None] * means).sum(axis=0)
    d_off, z_off = (means - total / n_pairs).T
    return PairSums(
        n_pairs=int(n_pairs),
        centred=(
            float(table[:, kernels.DD].sum() + (counts * d_off * d_off).sum()),
            float(table[:, kernels.ZZ].sum() + (counts * z_off * z_off).sum()),
            float(table[:, kernels.DZ].sum() + (counts * d_off * z_off).sum()),
        ),
        gap=float(table[:, kernels.GAP].sum()),
        d_square=float(table[:, kernels.SQUARE_D].sum()),
        z_square=float(table[:, kernels.SQUARE_Z].sum()),
        rest=float(table[:, kernels.REST].sum()),
        rest_z=float(table[:, kernels.REST_Z].sum()),
        sammon=float(table[:, kernels.SAMMON].sum()),
        d_sum=float(total[0]),
        n_zero=int(table[:, kernels.ZERO].sum()),
        exponents=exponents,
    )


def row_sums(
    given: Floats, mapped: Floats, exponents: tuple[int, int] = (0, 0), *, n_jobs: int | None = None
) -> Floats:
    """Sums over each row of pairs, for :func:`joined`."""
    table = np.zeros((len(given), kernels.ZERO + 1))
    firsts, stop = np.zeros(len(given), np.int64), given.shape[1]
    _add_sums(given, mapped, firsts, stop, first_scale(given, mapped), exponents, table, n_jobs)
    return table


def all_pair_sums(
    X: DistanceRows, Z: DistanceRows, *, triangle: Floats | None = None, n_jobs: int | None = None
) -> PairSums:
    """Sums over all pairs i < j; ``triangle``, if given, is filled with the distances of ``X``."""
    table = np.zeros((X.n, kernels.ZERO + 1))
    exponents, scale = common_exponents(X, Z), 1.0
    for rows, first, (given, mapped) in later_distances("sums over pairs", X, Z):
        if rows[0] == 0:
            scale = first_scale(given, mapped, 1)
        part = table[rows[0] : rows[-1] + 1]
        _add_sums(given, mapped, rows + 1 - first, X.n - first, scale, exponents, part, n_jobs)
        if triangle is not None:
            with threads(n_jobs):
                kernels.store_upper(given, rows[0], first, X.n, triangle)
    return join_sums(table, exponents)


def _add_sums(
    given: Floats, mapped: Floats, firsts: Integers, stop: int, scale: float,
    exponents: tuple[int, int], out: Floats, n_jobs: int | None,
) -> None:  # fmt: skip
    with threads(n_jobs):
        kernels.pair_sums(given, mapped, firsts, stop, scale, out)
        if exponents[0] == exponents[1]:
            return
        shift, unit = common_shifts(exponents), _sammon_unit(exponents)
        with np.errstate(over="ignore"):  # infinite where a map is that much larger
            beside = np.ldexp(mapped, exponents[1] - exponents[0]) * unit
        again = np.zeros(out.shape)
        kernels.pair_sums(shift[0] * given, shift[1] * mapped, firsts, stop, scale, again)
        out[:, kernels.GAP] = again[:, kernels.GAP]
        kernels.pair_sums(unit * given, beside, firsts, stop, scale, again)
        out[:, kernels.SAMMON] = again[:, kernels.SAMMON]


def _sammon_unit(exponents: tuple[int, int]) -> float:
    """Factor that makes data distances in their own unit about 1: terms are squares divided by them."""
    return 2.0**-ROOM if exponents[0] not in (0, exponents[1]) else 1.0


def first_scale(given: Floats, mapped: Floats, first: int = 0) -> float:
    """About the best scale of the map, from the first row of pairs, from column ``first`` on."""
    d, z = given[0, first:], mapped[0, first:]
    square = float((z * z).sum())
    return float((d * z).sum()) / square if square > 0 else 1.0
