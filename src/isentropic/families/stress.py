"""Methods of stress: a map whose distances are those of the data, as far as a weighted sum of squares goes.

Equal rows are merged, and distances taken in multiples of the largest one. A method says in ``_exponent`` how
its weights fall with the distance. One whose weights or distances change on the way has a ``_minimum`` of
its own, and one whose new rows weigh theirs otherwise a ``_row_weights``.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .._state import Double, State
from ..kernels._jit import threads
from ..kernels.row_costs import STRESS
from ..kernels.row_descent import settle_rows
from ..kernels.stress_rows import stress_starts
from ..objectives import Stress, weight_floor
from ..optim import Minimum
from .pairs import PairsEmbedder, Problem, minimised


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

    def fit(self, X, y=None):
        """Distances, start, minimum."""
        optimizer, power = self._checked_optimizer(), self._exponent()
        problem = self._problem_in_units(X)
        minimum = Minimum(problem.start, 0.0, 0, True)
        if problem.unit:
            minimum = self._minimum(problem, optimizer)
        self._keep(problem, minimum)
        self._power, self._floor = power, weight_floor(problem.pairs)
        return self

    def _exponent(self) -> float:
        """The power p of the distance by which a pair weighs less, checked."""
        return 0.0

    def _minimum(self, problem: Problem, optimizer: partial[Minimum]) -> Minimum:
        return minimised(self._stress(problem), problem.start, optimizer)

    def _problem_in_units(self, X) -> Problem:
        """Equal rows merged, and distances in multiples of the largest, as the start is."""
        problem = self._problem(X, 1.0, merged=True)
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

    def _settle(self, distances: np.ndarray, Z: np.ndarray) -> np.ndarray:
        wanted = distances / self._unit
        about = np.hstack([self._row_weights(wanted), wanted])
        every, none = np.empty((len(wanted), 0), np.int64), np.empty(0)
        starts = np.empty((len(wanted), 2, Z.shape[1]))
        centre = Z.mean(axis=0)
        centred = Z - centre
        with threads(self.n_jobs):
            stress_starts(wanted, centred, np.linalg.pinv(2.0 * centred), starts)
            places = settle_rows(STRESS, starts, centred, every, about, every, none) + centre
        nearest = wanted.argmin(axis=1)
        same = wanted[np.arange(len(wanted)), nearest] == 0  # by a metric that tells some rows not apart
        places[same] = Z[nearest[same]]
        return places
