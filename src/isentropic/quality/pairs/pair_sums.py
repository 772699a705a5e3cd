"""Sums over the pairs of rows, and the measures that follow from them: correlation and stress.

``O(n^2)`` time beyond the distances and ``O(n)`` memory: distances come in blocks of rows and are forgotten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..._core.values import DistanceRows, Floats, Integers
from ...distances import all_equal, later_distances
from ...kernels._jit import threads
from ...kernels.distances import euclidean as kernels
from ...linalg import ROOM

_EQUAL = 1e-13  # a spread this small, relative to the distances, is rounding


@dataclass(frozen=True, slots=True)
class PairSums:
    """Sums over pairs with the given distance ``d`` and the mapped one ``z``, each in a unit of its own.

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
    """Those of the units of both sides; zeros are in that of the other side."""
    exponents = X.exponent, Z.exponent
    if exponents[0] == exponents[1]:
        return exponents
    if all_equal(X):
        return Z.exponent, Z.exponent
    return (X.exponent, X.exponent) if all_equal(Z) else exponents


def common_shifts(exponents: tuple[int, int]) -> tuple[float, float]:
    """What brings the distances of both sides to the larger of their units: one of the two is 1."""
    largest = max(exponents)
    return math.ldexp(1.0, exponents[0] - largest), math.ldexp(1.0, exponents[1] - largest)


def join_sums(table: Floats, exponents: tuple[int, int] = (0, 0)) -> PairSums:
    """One value from the sums over many rows of pairs (columns as in ``kernels.pairs``)."""
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
    """What makes distances in the data that have a unit of their own about 1: terms are squares over them."""
    return 2.0**-ROOM if exponents[0] not in (0, exponents[1]) else 1.0


def first_scale(given: Floats, mapped: Floats, first: int = 0) -> float:
    """About the best scale of the map, from the first row of pairs, from column ``first`` on."""
    d, z = given[0, first:], mapped[0, first:]
    square = float((z * z).sum())
    return float((d * z).sum()) / square if square > 0 else 1.0
