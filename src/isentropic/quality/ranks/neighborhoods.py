"""Measures of the order of neighbours on both sides, each from what every row adds to it.

A row's terms are read off its two orders in the pass that compares its ranks, and the orders forgotten.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..._core.values import DistanceRows, Floats, Integers
from ...kernels.ranks.row_ranks import GAPS, KONIG, LISTED, PRODUCT, SKIPPED
from ..intervals import mean_interval, mean_measure
from ..measures import MEASURES, Measure
from ..pairs.pair_sums import common_exponents, times_power
from .rank_sums import OrderReading, rank_sums


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


def drawn_places(
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
