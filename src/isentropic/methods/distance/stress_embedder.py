"""Methods of stress: a map whose distances are those of the data, as far as a weighted sum of squares goes.

Equal rows are merged, and distances taken in multiples of the largest one. A method says in ``_exponent`` how
its weights fall with the distance. One whose weights or distances change on the way has a ``_minimum`` of
its own, and one whose new rows weigh theirs otherwise, or want others, ``_row_weights`` or ``_wanted``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from ..._core.state import Double, State
from ...embedding.warm_starts import WarmStart
from ...kernels._jit import threads
from ...kernels.rows.row_costs import STRESS
from ...kernels.rows.row_descent import settle_rows
from ...kernels.rows.stress_rows import stress_starts
from ...objectives import DrawnPairs, Stress, weight_floor
from ...optim import Minimum, averaged_descent
from .pairs_embedder import STEPS, PairsEmbedder, Problem, fresh_pairs, minimised

_TOL_OF_DRAWN = 1e-3  # beyond that, a map fits the pairs that were drawn at the cost of all others


class StressEmbedder(PairsEmbedder):
    """A map that minimises weighted stress, ``sum w (d - e)^2 / sum w d^2`` with ``w = d^-p``.

    d are the distances in the data and e those in the map; near-duplicates weigh as if they were a millionth
    of the mean distance apart. A new row minimises ``sum_j w_j (d_j - |z - z_j|)^2`` over the references.
    """

    optimizer = None  # L-BFGS, for all of them
    _state = State(_power=Double(0), _floor=Double(0))  # of the weights

    def __init__(
        self,
        n_components=2,
        *,
        init="pca",
        metric="euclidean",
        max_iter=500,
        tol=1e-9,
        pairs="auto",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.pairs = pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """Distances, start, minimum. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        warm = self._warm_start(X, init)
        optimizer = self._optimizer_from(warm)
        self._exponent()
        problem = self._problem_in_units(X, warm)
        minimum = Minimum(problem.start, 0.0, 0, True)
        if problem.unit:
            minimum = self._minimum(problem, optimizer)
        self._keep(problem, minimum)
        return self

    def _exponent(self) -> float:
        """The power p of the distance by which a pair weighs less, checked."""
        return 0.0

    def _keep(self, problem: Problem, minimum: Minimum) -> np.ndarray:
        self._power, self._floor = self._exponent(), weight_floor(problem.pairs)
        return super()._keep(problem, minimum)

    def _minimum(self, problem: Problem, optimizer: partial[Minimum]) -> Minimum:
        stress, drawn = self._stress(problem), isinstance(problem.pairs, DrawnPairs)
        if drawn:
            optimizer = partial(optimizer, tol=max(optimizer.keywords["tol"], _TOL_OF_DRAWN))
        found = minimised(stress, _sized(stress, problem.start), optimizer)
        return self._refined(problem, found) if drawn and optimizer.keywords["max_iter"] > 0 else found

    def _refined(self, problem: Problem, found: Minimum) -> Minimum:
        """A map of drawn pairs, moved on by steps that each see other pairs, so that none is fitted twice.

        The curvature of a row is that of the parabola above the cost (majorisation): twice what its pairs
        weigh, in the step or, where that is more, in as many of the pairs that the map was fitted to.
        """
        fitted = self._stress(problem)
        least = fitted.row_weights() / problem.pairs.distances.size

        def with_curvature(view: Stress) -> tuple[Stress, np.ndarray]:
            weights = np.maximum(view.row_weights(), least * view.pairs.distances.size)
            return view, 2.0 * weights[:, None] / view.normaliser

        views = map(with_curvature, self._views(problem, range(STEPS)))
        point = fitted.out_of_order(averaged_descent(views, fitted.in_order(found.point), steps=STEPS))
        other = check_random_state(problem.seed).permutation(len(point))
        (unseen,) = self._views(problem, [STEPS], other)
        value, _ = unseen(unseen.in_order(point))
        return Minimum(point, value, found.n_iter + STEPS, found.converged)

    def _views(self, problem: Problem, steps: Iterable[int], order=None) -> Iterator[Stress]:
        """The cost over pairs drawn for each step."""
        for pairs in fresh_pairs(problem, steps, order):
            np.divide(pairs.distances, problem.unit, out=pairs.distances)
            yield self._stress(replace(problem, pairs=pairs))

    def _problem_in_units(self, X, warm: WarmStart | None = None) -> Problem:
        """Equal rows merged, and distances in multiples of the largest, as the start is."""
        problem = self._problem(X, 1.0, merged=True, warm=warm)
        if problem.unit:
            np.divide(problem.pairs.distances, problem.unit, out=problem.pairs.distances)
        return problem

    def _stress(self, problem: Problem, weights: np.ndarray | None = None) -> Stress:
        """The cost of a map of the rows of the pairs; weights are given, or powers of the distance."""
        return Stress(problem.pairs, power=self._exponent(), weights=weights, counts=problem.counts,
                      n_jobs=self.n_jobs)  # fmt: skip

    def _row_weights(self, distances: np.ndarray) -> np.ndarray:
        """Weights of the references for new rows at ``distances`` (b, r), in units."""
        return np.maximum(distances, self._floor) ** -self._power if self._power else np.ones_like(distances)

    def _wanted(self, distances: np.ndarray) -> np.ndarray:
        """The distances in the map that new rows at ``distances`` (b, r) are to have, both in units."""
        return distances

    def _settle(self, distances: np.ndarray, Z: np.ndarray) -> np.ndarray:
        given = distances / self._unit
        wanted = self._wanted(given)
        places = self._settled(self._row_weights(given), wanted, Z, row_starts(wanted, Z, self.n_jobs))
        return with_their_own(places, wanted, Z)

    def _settled(
        self, weights: np.ndarray, wanted: np.ndarray, Z: np.ndarray, starts: np.ndarray
    ) -> np.ndarray:
        """Where new rows have the least ``sum_j w_j (wanted_j - |z - z_j|)^2``, from their ``starts``."""
        every, none = np.empty((len(wanted), 0), np.int64), np.empty(0)
        with threads(self.n_jobs):
            return settle_rows(STRESS, starts, Z, every, np.hstack([weights, wanted]), every, none)


def _sized(stress: Stress, start: np.ndarray) -> np.ndarray:
    """The start, or, if one point would cost less, the multiple of it that costs least.

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


def row_starts(wanted: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Two for each new row (b, 2, d): beside its nearest reference, and by lateration."""
    starts = np.empty((len(wanted), 2, Z.shape[1]))
    centre = Z.mean(axis=0)
    with threads(n_jobs):
        stress_starts(wanted, Z - centre, np.linalg.pinv(2.0 * (Z - centre)), starts)
    return starts + centre


def with_their_own(places: np.ndarray, wanted: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """A new row at distance 0 from a reference, which a metric may not tell apart, takes its place."""
    nearest = wanted.argmin(axis=1)
    same = wanted[np.arange(len(wanted)), nearest] == 0
    places[same] = Z[nearest[same]]
    return places
