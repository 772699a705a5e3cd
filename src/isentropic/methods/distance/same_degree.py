"""Methods of same-degree distributions: an objective of pairs, tried for one degree after the other.

A method of this family asks for the :class:`DegreeTrials` of a table, and keeps the trial that it chooses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from ..._core.state import Absent, Array, Maybe, Number, State, StateError, Tuple
from ...embedding.faithfulness import Tau, distance_tau
from ...embedding.warm_starts import WarmStart
from ...kernels._jit import threads
from ...kernels.pairs.degrees import row_attractions
from ...kernels.rows.row_costs import DEGREES
from ...kernels.rows.row_descent import settle_rows
from ...objectives import AllPairs, DrawnPairs, SameDegree
from ...optim import Minimum, averaged_descent, lbfgs
from .degree_search import Trial
from .pairs_embedder import STEPS, PairsEmbedder, Problem, fresh_pairs, minimised

_PARAMETER_FREE_DEGREE, _PARAMETER_FREE_SCALE = 1, 2.0


class SameDegreeEmbedder(PairsEmbedder):
    """A map that minimises the cost of same-degree distributions.

    As it stands it is parameter-free: degree 1, the largest distance counting as 2.
    """

    _state = State(  # g degrees
        kendall_tau_=Number(nan=True),
        kendall_tau_interval_=Maybe(Tuple(Number(), Number())),
        _degrees=Array("g", above=0),
        _means=Absent(Tuple(Array("g", above=0), Array("g", above=0))),
    )

    _refines = True

    def fit(self, X, y=None, *, init=None):
        """Distances, start, minimum. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        trials = self._trials(X, _PARAMETER_FREE_SCALE, self._warm_start(X, init))
        self._keep_trial(trials, trials.fit((_PARAMETER_FREE_DEGREE,), score=False))
        return self

    def _trials(self, X, scale: float, warm: WarmStart | None) -> DegreeTrials:
        optimizer = self._optimizer_from(warm)
        problem = self._problem(X, scale, warm=warm)
        return DegreeTrials(problem, optimizer, np.empty(problem.pairs.distances.size))

    def _keep_trial(self, trials: DegreeTrials, *candidates: Trial) -> Trial:
        """Keep the candidate whose map, refined, has the highest tau; of equal ones, the first."""
        refined = [trials.refined(trial) for trial in candidates]
        taus = [self._tau_of(trials, trial) for trial in refined]
        best = int(np.argmax(np.nan_to_num([tau.value for tau in taus], nan=-math.inf)))
        chosen = refined[best]
        point = self._keep(trials.problem, chosen.minimum)
        self.kendall_tau_, self.kendall_tau_interval_ = taus[best].value, taus[best].interval
        self._degrees = np.array(chosen.degrees, float)
        self._means: Any = trials.objective(chosen.degrees).mean_weights(point) if self._unit else None
        return chosen

    def _tau_of(self, trials: DegreeTrials, trial: Trial) -> Tau:
        point = self._map_of(trials.problem, trial.minimum)
        return trials.tau(point) if trials.problem.unit else Tau(math.nan, None)

    def _settle(self, distances: np.ndarray, Z: np.ndarray) -> np.ndarray:
        weights, every = np.empty(distances.shape), np.empty((len(distances), 0), np.int64)
        in_data, in_map = self._means
        shape = np.concatenate((self._degrees, 1.0 / in_map))
        with threads(self.n_jobs):
            starts = row_attractions(distances, self._unit, Z, self._degrees, in_data, weights)
            return settle_rows(DEGREES, starts, Z, every, weights, every, shape)

    def _require_sound(self) -> None:
        super()._require_sound()
        if self._unit and getattr(self, "_means", None) is None:
            raise StateError("_means", "must be there where rows differ")


@dataclass(frozen=True, slots=True)
class DegreeTrials:
    """Maps of one table for one set of degrees after the other, with the tau of each."""

    problem: Problem
    optimizer: partial[Minimum]
    buffer: np.ndarray  # for the attractions of one set of degrees after the other

    def objective(self, degrees: tuple[float, ...]) -> SameDegree:
        return self._over(self.problem.pairs, degrees, self.buffer)

    def _over(self, pairs: AllPairs | DrawnPairs, degrees: tuple[float, ...], out=None) -> SameDegree:
        unit, n_jobs = self.problem.unit, self.problem.distances.n_jobs
        return SameDegree(pairs, unit=unit, degrees=degrees, n_jobs=n_jobs, out=out)

    def fit(self, degrees: tuple[float, ...], near: Trial | None = None, *, score: bool = True) -> Trial:
        """The map of these degrees, from the start or from the map of another trial."""
        start = self.problem.start if near is None else near.minimum.point
        if self.problem.unit == 0:
            return Trial(degrees, Minimum(start, 0.0, 0, True), math.nan)
        minimum = minimised(self.objective(degrees), start, self.optimizer)
        tau = self.tau(minimum.point, quick=True).value if score else math.nan
        return Trial(degrees, minimum, tau)

    def refined(self, trial: Trial) -> Trial:
        """A map of drawn pairs, moved on by steps that each see other pairs, so that none is fitted twice."""
        exact = isinstance(self.problem.pairs, AllPairs) or self.problem.unit == 0
        if exact or self.optimizer.func is not lbfgs or self.optimizer.keywords["max_iter"] == 0:
            return trial
        objective = self.objective(trial.degrees)
        curvature = objective.curvature(trial.minimum.point)
        if curvature == 0:
            return trial
        views = self._views(trial.degrees, range(STEPS))
        start = objective.in_order(trial.minimum.point)
        Z = averaged_descent(zip(views, repeat(curvature / len(start)), strict=False), start, steps=STEPS)
        (view,) = self._views(trial.degrees, [STEPS])  # pairs that no step has seen
        minimum = replace(
            trial.minimum,
            point=objective.out_of_order(Z),
            value=max(view(Z)[0], 0.0),
            n_iter=trial.minimum.n_iter + STEPS,
        )
        return replace(trial, minimum=minimum)

    def _views(self, degrees: tuple[float, ...], steps: Iterable[int]) -> Iterator[SameDegree]:
        """The cost over pairs drawn for each step, from the seed and the number of the step.

        The normalisers are sums over ``16 n`` pairs: the bias of their ratio is of the order of 1 / (16 n).
        """
        for pairs in fresh_pairs(self.problem, steps):
            yield self._over(pairs, degrees)

    def tau(self, Z: np.ndarray, *, quick: bool = False) -> Tau:
        given = self.problem
        condensed = given.pairs.distances if isinstance(given.pairs, AllPairs) else None
        return distance_tau(given.distances, condensed, Z, seed=given.seed, quick=quick)
