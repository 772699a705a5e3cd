"""What is read off the order of neighbours on both sides, row by row, and forgotten.

A reader is shown blocks of rows, keeps what each row contributes, and makes a measure of it. Several
readers share one pass: ``O(n^2 m)`` time and ``O(n)`` memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from .._runtime import row_blocks
from .._values import DistanceRows, Floats, Integers
from ..distances import rows_per_block
from ..kernels import pairs as kernels
from ..kernels._jit import threads
from .intervals import mean_interval, mean_measure
from .measures import MEASURES, Measure
from .moments import first_scale
from .passes import ordered_rows


@dataclass(frozen=True, slots=True)
class OrderedRows:
    """Some rows on both sides: their distances to all, (b, n), and the others nearest first, (b, n - 1)."""

    D_X: Floats
    D_Z: Floats
    orders_X: Integers
    orders_Z: Integers


class Reader(Protocol):
    """Keeps what each row contributes to some measures."""

    def read(self, block: slice, rows: OrderedRows) -> None: ...

    def measures(self, n: int, sampled: bool) -> dict[str, Measure]: ...


def read_rows(
    readers: Sequence[Reader],
    X: DistanceRows,
    Z: DistanceRows,
    sampled_rows: Integers | None = None,
    *,
    n_jobs: int | None = None,
) -> dict[str, Measure]:
    """Show all rows, or the sampled ones, to the readers; their measures, with intervals if sampled."""
    rows = np.arange(X.n) if sampled_rows is None else np.asarray(sampled_rows, np.int64)
    for block in row_blocks(len(rows), "order of neighbours", size=max(rows_per_block(X.n) // 2, 1)):
        (D_X, orders_X), (D_Z, orders_Z) = (ordered_rows(side, rows[block], n_jobs=n_jobs) for side in (X, Z))
        with threads(n_jobs):
            for reader in readers:
                reader.read(block, OrderedRows(D_X, D_Z, orders_X, orders_Z))
    found: dict[str, Measure] = {}
    for reader in readers:
        found.update(reader.measures(X.n, sampled_rows is not None))
    return found


def count_rows(X: DistanceRows, sampled_rows: Integers | None) -> int:
    """How many rows a reader will be shown."""
    return X.n if sampled_rows is None else len(sampled_rows)


# ---- readers -----------------------------------------------------------------------------------


class TopologicalProduct:
    """Bauer and Pawelzik's; missing if every term has a distance of 0."""

    def __init__(self, n_rows: int) -> None:
        self._terms = np.zeros(n_rows)
        self._skipped = np.zeros(n_rows, np.int64)

    def read(self, block: slice, rows: OrderedRows) -> None:
        # sum over k >= l of 1/(2k), since the l-th term is part of every k from l on
        weights = np.cumsum(0.5 / np.arange(rows.orders_X.shape[1], 0, -1))[::-1].copy()
        kernels.topological_terms(
            rows.D_X, rows.D_Z, rows.orders_X, rows.orders_Z, weights, self._terms[block],
            self._skipped[block],
        )  # fmt: skip

    def measures(self, n: int, sampled: bool) -> dict[str, Measure]:
        n_terms, skipped = len(self._terms) * (n - 1), int(self._skipped.sum())
        if skipped == n_terms:
            return {}
        note = f"{skipped:,} of {n_terms:,} terms left out, with a distance of 0" if skipped else ""
        pattern = MEASURES["topological_product"].measure(note=note)
        return {"topological_product": mean_measure(self._terms / (n - 1), n, sampled, pattern)}


class Konig:
    """König's measure; ``k1`` and ``k2`` are cut down to the number of other rows."""

    def __init__(self, n_rows: int, k1: int = 4, k2: int = 10) -> None:
        self._k1, self._k2 = k1, k2
        self._scores = np.zeros(n_rows, np.int64)

    def read(self, block: slice, rows: OrderedRows) -> None:
        n_others = rows.orders_X.shape[1]
        k1, k2 = min(self._k1, n_others), min(self._k2, n_others)
        kernels.konig_scores(rows.orders_X, rows.orders_Z, k1, k2, self._scores[block])

    def measures(self, n: int, sampled: bool) -> dict[str, Measure]:
        k1, k2 = min(self._k1, n - 1), min(self._k2, n - 1)
        note = f"k1 = {k1}, k2 = {k2}, all there are among {n} rows" if k2 < self._k2 else ""
        pattern = MEASURES["konig_measure"].measure(note=note)
        return {"konig_measure": mean_measure(self._scores / (3.0 * k1), n, sampled, pattern)}


class RankError:
    """The error of Retained-Structure: the sum of the magnitudes of all rank differences."""

    def __init__(self, n_rows: int) -> None:
        self._errors = np.zeros(n_rows, np.int64)

    def read(self, block: slice, rows: OrderedRows) -> None:
        kernels.rank_gaps(rows.orders_X, rows.orders_Z, self._errors[block])

    def measures(self, n: int, sampled: bool) -> dict[str, Measure]:
        most = n * ((n - 1) ** 2 // 2)  # every row's neighbours in reverse
        pattern = replace(MEASURES["retained_structure_error"].measure(), range=(0.0, float(most)))
        return {"retained_structure_error": mean_measure(n * self._errors.astype(float), n, sampled, pattern)}


class NeighborhoodStress:
    """Stress of the ``n_neighbors`` nearest rows in X and of ``n_random`` drawn ones, as it is and scaled.

    Missing where all these are at distance 0: in X both, in Z the scaled one.
    """

    def __init__(
        self,
        n_rows: int,
        n_neighbors: int = 10,
        n_random: int = 0,
        random: np.random.RandomState | None = None,
    ) -> None:
        self._n_neighbors, self._n_random, self._random = n_neighbors, n_random, random
        self._sums = np.zeros((n_rows, 5))
        self._scale = math.nan

    def read(self, block: slice, rows: OrderedRows) -> None:
        if math.isnan(self._scale):
            self._scale = first_scale(rows.D_X, rows.D_Z)
        kernels.listed_sums(rows.D_X, rows.D_Z, self._listed(rows.orders_X), self._scale, self._sums[block])

    def _listed(self, orders: Integers) -> Integers:
        """The nearest rows, then those drawn of the others; -1 in the place of one drawn before."""
        nearest = orders[:, : self._n_neighbors]
        if self._random is None or self._n_random == 0:
            return np.ascontiguousarray(nearest)
        places = np.sort(self._random.randint(orders.shape[1], size=(len(orders), self._n_random)), axis=1)
        listed_before = places < self._n_neighbors
        listed_before[:, 1:] |= places[:, 1:] == places[:, :-1]
        drawn = np.take_along_axis(orders, places, axis=1)
        return np.hstack([nearest, np.where(listed_before, -1, drawn)])

    def measures(self, n: int, sampled: bool) -> dict[str, Measure]:
        gap, d_square, z_square, rest, rest_z = self._sums.T
        if not d_square.any():
            return {}
        note = f"{self._n_neighbors} neighbours" + (f", {self._n_random} drawn" if self._n_random else "")
        pattern = MEASURES["neighborhood_stress"].measure(note=note)
        found = {"neighborhood_stress": _root_of_ratio(gap, d_square, n, sampled, pattern)}
        if z_square.any():  # in one place, neighbours have no scale
            better = rest_z.sum() / z_square.sum()  # to be added to the scale
            rest = np.maximum(rest - 2 * better * rest_z + better**2 * z_square, 0.0)
            pattern = MEASURES["scaled_neighborhood_stress"].measure(note=note)
            found["scaled_neighborhood_stress"] = _root_of_ratio(rest, d_square, n, sampled, pattern)
        return found


def _root_of_ratio(above: Floats, below: Floats, n: int, sampled: bool, pattern: Measure) -> Measure:
    """``sqrt(sum above / sum below)``, with an interval by linearisation if the rows are sampled."""
    ratio = float(above.sum() / below.sum())
    measure = replace(pattern, value=min(math.sqrt(ratio), pattern.range[1]))
    if not sampled:
        return measure
    low, high = mean_interval(ratio + (above - ratio * below) / below.mean(), n, 0.0, pattern.range[1])
    return replace(measure, low=math.sqrt(low), high=math.sqrt(high))
