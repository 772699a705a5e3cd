"""Methods of stress: preserve distances by weighted least squares.

``sum w (d - e)^2 / sum w d^2`` with ``w = d^-p``, d the distances in the data and e those in the map. Equal
rows are merged, and distances taken in multiples of the largest one; near-duplicates weigh as if they were a
millionth of the mean distance apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from sklearn.utils import check_random_state

from ..._core.specs import Double
from ...kernels._jit import threads
from ...kernels.rows.row_costs import stress_initialization
from ...kernels.rows.row_descent import STRESS, optimize_rows
from ...objectives import SampledPairs, Stress
from ...optim import Minimum, averaged_descent
from .pairs import STEPS, PairedRows, ReferenceMap, as_minimum, minimize, resampled_pairs

_TOL_OF_DRAWN = 1e-3  # beyond that, a map fits the pairs that were drawn at the cost of all others


# ---- the least stress --------------------------------------------------------------------------


def least_stress(rows: PairedRows, start: np.ndarray, power: float, optimizer: partial[Minimum]) -> Minimum:
    """Minimize the stress from ``start``, in units."""
    if not rows.unit:
        return as_minimum(start)
    stress, drawn = stress_of(rows, power), isinstance(rows.pairs, SampledPairs)
    if drawn:
        optimizer = partial(optimizer, tol=max(optimizer.keywords["tol"], _TOL_OF_DRAWN))
    found = minimize(stress, _rescale(stress, start), optimizer)
    return _refine(rows, found, power) if drawn and optimizer.keywords["max_iter"] > 0 else found


def stress_of(rows: PairedRows, power: float, pairs: SampledPairs | None = None) -> Stress:
    """The cost of a map over the pairs of the rows, or over others of them."""
    pairs_summed = rows.pairs if pairs is None else pairs
    return Stress(pairs_summed, power=power, counts=rows.counts, n_jobs=rows.n_jobs)


def _refine(rows: PairedRows, found: Minimum, power: float) -> Minimum:
    """Refine a map of sampled pairs by steps over new pairs, so that none is fitted twice.

    The curvature of a row is that of the parabola above the cost (majorization): twice what its pairs
    weigh, in the step or, where that is more, in as many of the pairs that the map was fitted to.
    """
    fitted = stress_of(rows, power)
    least = fitted.row_weights() / rows.pairs.distances.size

    def with_curvature(view: Stress) -> tuple[Stress, np.ndarray]:
        weights = np.maximum(view.row_weights(), least * view.pairs.distances.size)
        return view, 2.0 * weights[:, None] / view.normaliser

    views = map(with_curvature, _views(rows, power, range(STEPS)))
    point = fitted.out_of_order(averaged_descent(views, fitted.in_order(found.point), steps=STEPS))
    other = check_random_state(rows.seed).permutation(len(point))
    (unseen,) = _views(rows, power, [STEPS], other)
    value, _ = unseen(unseen.in_order(point))
    return Minimum(point, value, found.n_iter + STEPS, found.converged)


def _views(rows: PairedRows, power: float, steps: Iterable[int], order=None) -> Iterator[Stress]:
    """The cost over pairs sampled for each step."""
    for pairs in resampled_pairs(rows, steps, order):
        np.divide(pairs.distances, rows.unit, out=pairs.distances)
        yield stress_of(rows, power, pairs)


def _rescale(stress: Stress, start: np.ndarray) -> np.ndarray:
    """Rescale the start to the multiple of least cost if a single point would cost less.

    Tolerances are shares of the first cost, which says nothing if near-duplicates far apart make it large.
    """
    Z = stress.in_order(start)
    cost, _ = stress(Z)
    if not 1.0 < cost < np.inf:
        return start
    size = cost**-0.5  # C(s Z) = 1 - 2 s p + s^2 q, where s^2 q is about 1
    (once, _), (twice, _) = stress(size * Z), stress(2.0 * size * Z)
    square = 0.5 * (twice - 2.0 * once + 1.0)
    return start * (size * 0.5 * (1.0 + square - once) / square)


# ---- new rows ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StressMap(ReferenceMap):
    """New rows minimize ``sum_j w_j (d_j - |z - z_j|)^2`` over the references, ``w = d^-power``."""

    power: Annotated[float, Double(0)]
    floor: Annotated[float, Double(0)]  # of the distances that are weighed

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, in units."""
        wanted = distances / self.unit
        weights = np.maximum(wanted, self.floor) ** -self.power if self.power else np.ones_like(wanted)
        return optimize_stress(weights, wanted, Z, n_jobs)


def optimize_stress(weights: np.ndarray, wanted: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Minimize ``sum_j w_j (wanted_j - |z - z_j|)^2`` for each new row, in units."""
    found = optimize_stress_from(lateration_guesses(wanted, Z, n_jobs), weights, wanted, Z, n_jobs)
    return snap_to_references(found, wanted, Z)


def optimize_stress_from(
    starts: np.ndarray, weights: np.ndarray, wanted: np.ndarray, Z: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """As :func:`optimize_stress`, from initial guesses (b, s, d)."""
    every, none = np.empty((len(wanted), 0), np.int64), np.empty(0)
    with threads(n_jobs):
        return optimize_rows(STRESS, starts, Z, every, np.hstack([weights, wanted]), every, none)


def lateration_guesses(wanted: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Two initial guesses for each new row (b, 2, d): near its nearest reference, and by lateration."""
    starts = np.empty((len(wanted), 2, Z.shape[1]))
    center = Z.mean(axis=0)
    with threads(n_jobs):
        stress_initialization(wanted, Z - center, np.linalg.pinv(2.0 * (Z - center)), starts)
    return starts + center


def snap_to_references(coordinates: np.ndarray, wanted: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Give new rows at distance 0 from a reference the coordinates of that."""
    nearest = wanted.argmin(axis=1)
    same = wanted[np.arange(len(wanted)), nearest] == 0
    coordinates[same] = Z[nearest[same]]
    return coordinates
