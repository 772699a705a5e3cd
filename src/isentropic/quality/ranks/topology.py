"""Measures of topology preservation: topological product, König's measure, retained structure.

Both sides are ranked row by row, by distance, ties by row number. Each row's terms are read off its two
orders in the pass that compares its ranks; the orders are not stored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._core.errors import UndefinedMeasureError, message, require, require_count
from ..._core.runtime import require_memory, row_blocks
from ..._core.values import DistanceRows, Floats, Integers
from ...distances import Metric, rows_per_block
from ...kernels._jit import threads
from ...kernels.distances.euclidean import rank_differences
from ...kernels.row_ranks import GAPS, KONIG, LISTED, PRODUCT, SKIPPED
from ..inputs import both_sides, mean_interval, mean_measure
from ..measures import MEASURES, Measure
from ..pairwise import common_exponents, times_power
from .rank_sums import OrderReading, ordered_rows, rank_sums


def order_terms(
    X: DistanceRows,
    Z: DistanceRows,
    sampled_rows: Integers | None = None,
    *,
    reading: OrderReading,
    n_jobs: int | None = None,
) -> Floats:
    """Of all rows, or the sampled ones: the terms of the measures below, (s, N_ORDER_TERMS)."""
    found = rank_sums(X, Z, 1, sampled_rows, reading=reading, n_jobs=n_jobs).orders
    assert found is not None
    return found


def product_measures(terms: Floats, n: int, sampled: bool) -> dict[str, Measure]:
    """Bauer and Pawelzik's topological product; missing if every term has a distance of 0."""
    n_terms, skipped = len(terms) * (n - 1), int(terms[:, SKIPPED].sum())
    if skipped == n_terms:
        return {}
    note = f"{skipped:,} of {n_terms:,} terms left out, with a distance of 0" if skipped else ""
    pattern = MEASURES["topological_product"].measure(note=note)
    return {"topological_product": mean_measure(terms[:, PRODUCT] / (n - 1), n, sampled, pattern)}


def konig_measures(terms: Floats, n: int, sampled: bool, reading: OrderReading) -> dict[str, Measure]:
    """König's measure; its k are cut down to the number of other rows."""
    k1, k2 = min(reading.k1, n - 1), min(reading.k2, n - 1)
    note = f"k1 = {k1}, k2 = {k2}, all there are among {n} rows" if k2 < reading.k2 else ""
    pattern = MEASURES["konig_measure"].measure(note=note)
    return {"konig_measure": mean_measure(terms[:, KONIG] / (3.0 * k1), n, sampled, pattern)}


def rank_error_measures(terms: Floats, n: int, sampled: bool) -> dict[str, Measure]:
    """The error of Retained-Structure: the sum of the magnitudes of all rank differences."""
    most = n * ((n - 1) ** 2 // 2)  # every row's neighbours in reverse
    pattern = replace(MEASURES["retained_structure_error"].measure(), range=(0.0, float(most)))
    return {"retained_structure_error": mean_measure(n * terms[:, GAPS], n, sampled, pattern)}


def stress_measures(
    terms: Floats, X: DistanceRows, Z: DistanceRows, sampled: bool, note: str
) -> dict[str, Measure]:
    """Stress of listed rows, as it is and scaled; missing where all are at distance 0.

    In X both are, in Z the scaled one.
    """
    n = X.n
    gap, d_square, z_square, rest, rest_z = np.ascontiguousarray(terms[:, LISTED:]).T
    if not d_square.any():
        return {}
    pattern = MEASURES["neighborhood_stress"].measure(note=note)
    exponents = common_exponents(X, Z)
    lifted = max(exponents) - exponents[0]  # the gap has another unit than the distances in X
    found = {"neighborhood_stress": _root_of_ratio(gap, d_square, n, sampled, pattern, lifted)}
    if z_square.any():  # in one place, neighbours have no scale
        better = rest_z.sum() / z_square.sum()  # to be added to the scale
        rest = np.maximum(rest - 2 * better * rest_z + better**2 * z_square, 0.0)
        pattern = MEASURES["scaled_neighborhood_stress"].measure(note=note)
        found["scaled_neighborhood_stress"] = _root_of_ratio(rest, d_square, n, sampled, pattern)
    return found


def sampled_places(
    n_rows: int, n_others: int, n_neighbors: int, n_random: int, random: np.random.RandomState
) -> Integers:
    """Ranks drawn for each row, (n_rows, n_random); -1 for one of the nearest, and one drawn before."""
    places = np.sort(random.randint(n_others, size=(n_rows, n_random)), axis=1)
    listed_before = places < n_neighbors
    listed_before[:, 1:] |= places[:, 1:] == places[:, :-1]
    return np.where(listed_before, -1, places)


def _root_of_ratio(
    above: Floats, below: Floats, n: int, sampled: bool, pattern: Measure, lifted: int = 0
) -> Measure:
    """``sqrt(sum above / sum below) 2^lifted``, with an interval by linearisation if the rows are sampled."""
    ratio = float(above.sum() / below.sum())
    value = min(times_power(math.sqrt(ratio), lifted), pattern.range[1])
    if not sampled:
        return replace(pattern, value=value)
    ends = mean_interval(ratio + (above - ratio * below) / below.mean(), n, 0.0, pattern.range[1])
    low, high = (times_power(math.sqrt(end), lifted) for end in ends)
    return replace(pattern, value=value, low=low, high=high)


# ---- public measures -----------------------------------------------------------------------------


def topological_product(X: Any, Z: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None) -> float:
    """Topological product of Bauer and Pawelzik: 0 is perfect, negative means too few output dimensions.

    ``P = 1/(n (n-1)) sum_j sum_k 1/(2k) sum_{l<=k} log(Q1 Q2)`` with, around row j, x_l and z_l its l-th
    nearest rows in ``X`` and in ``Z``, ``Q1 = d(z_l) / d(x_l)`` in X and ``Q2 = d(z_l) / d(x_l)`` in Z.
    Terms with a distance of 0 are left out; :func:`~isentropic.quality.assess` says how many.
    ``O(n^2 m)`` time, ``O(n)`` memory.

    >>> topological_product([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]])
    0.0
    """
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    found = product_measures(
        order_terms(given, mapped, reading=OrderReading(0), n_jobs=n_jobs), given.n, False
    )
    if not found:
        must_be = "tables of which some rows differ, or the topological product is undefined"
        raise UndefinedMeasureError(message("X and Z", must_be, "equal rows only"))
    return found["topological_product"].value


def konig_measure(
    X: Any, Z: Any, *, k1: int = 4, k2: int = 10, metric: Metric = "euclidean", n_jobs: int | None = None
) -> float:
    """König's measure of the ``k1`` nearest rows in ``X``, from 0 to 1.

    Each scores 3 where it has the same rank in ``Z``, 2 if it is among the ``k1`` nearest there, 1 if it is
    among the ``k2`` nearest; the mean over all, divided by 3. Of few rows all others are taken, and the mean
    is over these: a perfect map has 1, of three rows too.
    ``O(n^2 m)`` time, ``O(n)`` memory.

    >>> konig_measure([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [6.0], [14.0]], k1=2, k2=3)
    1.0
    """
    k1, k2 = require_count("k1", k1), require_count("k2", k2)
    require(k1 <= k2, "k2", f"at least k1, {k1}", k2)
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    reading = OrderReading(0, k1, k2)
    terms = order_terms(given, mapped, reading=reading, n_jobs=n_jobs)
    return konig_measures(terms, given.n, False, reading)["konig_measure"].value


@dataclass(frozen=True, slots=True, eq=False)
class RetainedStructure:
    """``differences[i, j]``: rank of row j around row i in the map, less that in the data.

    Positive where the map puts j further off, negative where it puts it nearer. ``error`` is the sum of
    the magnitudes, 0 for a map that keeps every rank.
    """

    differences: np.ndarray  # (n, n) int32
    error: int


def retained_structure(
    X: Any, Z: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> RetainedStructure:
    """Retained-Structure of Hajderanj: the matrix of rank differences, and its error.

    ``O(n^2 m)`` time and 4 n^2 bytes; :func:`~isentropic.quality.assess` gives the error alone in ``O(n)``.

    >>> retained_structure([[0.0], [1.0], [3.0]], [[0.0], [4.0], [3.0]]).differences.tolist()
    [[0, 1, -1], [1, 0, -1], [0, 0, 0]]
    """
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    hint = "assess() gives its error without the matrix."
    require_memory(4 * given.n**2, "The matrix of rank differences", hint)
    out = np.zeros((given.n, given.n), np.int32)
    for block in row_blocks(given.n, "order of neighbours", size=max(rows_per_block(given.n) // 4, 1)):
        rows = np.arange(block.start, block.stop)
        orders_X, orders_Z = (ordered_rows(side, rows, n_jobs=n_jobs)[1] for side in (given, mapped))
        with threads(n_jobs):
            rank_differences(orders_X, orders_Z, out[block])
    return RetainedStructure(out, int(np.abs(out, dtype=np.int64).sum()))
