"""One table and its pairs, on which a method of pairs tries its degrees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .._errors import require
from ..objectives import AllPairs, DrawnPairs, SameDegree
from ..optim import Minimum, averaged_descent, lbfgs
from .degree_search import Trial
from .faithfulness import Tau, distance_tau
from .pair_distances import Distances, drawn_shifts

_STEPS = 60  # that each see pairs of their own, after the minimum over one set of drawn pairs
_PARTNERS_OF_STEP = 32
_STEPS_AT_ONCE = 4  # whose distances are computed together


@dataclass(frozen=True, slots=True)
class Problem:
    """What every degree is tried on: the pairs, the unit of distance, the start, the search's own tau."""

    distances: Distances
    pairs: AllPairs | DrawnPairs
    unit: float  # the distance that counts as 1; 0 where all rows are equal
    start: np.ndarray  # (n, d), in units, rows in their own order
    optimizer: partial
    buffer: np.ndarray  # for the attractions of one set of degrees after the other
    seed: int

    def objective(self, degrees: tuple[float, ...]) -> SameDegree:
        return SameDegree(self.pairs, unit=self.unit, degrees=degrees, n_jobs=self.distances.n_jobs,
                          out=self.buffer)  # fmt: skip

    def fit(self, degrees: tuple[float, ...], near: Trial | None = None, *, score: bool = True) -> Trial:
        """The map of these degrees, from the start or from the map of another trial."""
        start = self.start if near is None else near.minimum.point
        if self.unit == 0:
            return Trial(degrees, Minimum(start, 0.0, 0, True), math.nan)
        with np.errstate(all="ignore"):  # weights that vanish are found below
            found = self.optimizer(self.objective(degrees), self.pairs.in_order(start))
        sound = math.isfinite(found.value) and bool(np.isfinite(found.point).all())
        hint = "Take a lower degree, a smaller scale or learning rate, or a start as large as the data."
        require(sound, "The cost of a map", "finite", f"{found.value} at degrees {degrees}", hint)
        point = self.pairs.out_of_order(found.point)
        minimum = Minimum(point, max(found.value, 0.0), found.n_iter, found.converged)
        return Trial(degrees, minimum, self.tau(point, quick=True).value if score else math.nan)

    def refined(self, trial: Trial) -> Trial:
        """A map of drawn pairs, moved on by steps that each see other pairs, so that none is fitted twice."""
        exact = isinstance(self.pairs, AllPairs) or self.unit == 0
        if exact or self.optimizer.func is not lbfgs or self.optimizer.keywords["max_iter"] == 0:
            return trial
        n = self.pairs.n
        Z = self.pairs.in_order(trial.minimum.point)
        curvature = self.objective(trial.degrees).curvature(Z)
        if curvature == 0:
            return trial
        Z = averaged_descent(
            self._views(trial.degrees, range(_STEPS)), Z, steps=_STEPS, curvature=curvature / n
        )
        (view,) = self._views(trial.degrees, [_STEPS])  # pairs that no step has seen
        minimum = replace(
            trial.minimum,
            point=self.pairs.out_of_order(Z),
            value=max(view(Z)[0], 0.0),
            n_iter=trial.minimum.n_iter + _STEPS,
        )
        return replace(trial, minimum=minimum)

    def _views(self, degrees: tuple[float, ...], steps: Iterable[int]) -> Iterator[SameDegree]:
        """The cost over pairs drawn for each step, from the seed and the number of the step.

        The normalisers are sums over ``16 n`` pairs: the bias of their ratio is of the order of 1 / (16 n).
        """
        assert isinstance(self.pairs, DrawnPairs)
        n = self.pairs.n
        partners = min(_PARTNERS_OF_STEP, 2 * len(self.pairs.shifts))
        steps = list(steps)
        for start in range(0, len(steps), _STEPS_AT_ONCE):
            several = steps[start : start + _STEPS_AT_ONCE]
            shifts = [drawn_shifts(n, partners // 2, (self.seed, step)) for step in several]
            drawn = self.distances.drawn(np.concatenate(shifts), self.pairs.order)
            for i in range(len(several)):
                mine = slice(i * partners // 2, (i + 1) * partners // 2)
                pairs = DrawnPairs(drawn.order, drawn.shifts[mine], drawn.distances[mine])
                yield SameDegree(pairs, unit=self.unit, degrees=degrees, n_jobs=self.distances.n_jobs)

    def tau(self, Z: np.ndarray, *, quick: bool = False) -> Tau:
        condensed = self.pairs.distances if isinstance(self.pairs, AllPairs) else None
        return distance_tau(self.distances, condensed, Z, seed=self.seed, quick=quick)
