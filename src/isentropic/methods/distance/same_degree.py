"""Same-degree distributions: a cost of pairs, tried for one degree after the other.

A method asks for the :class:`DegreeTrials` of its pairs, chooses among them by Kendall's tau, and ends with
:func:`degree_map`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import repeat
from typing import Annotated, Any

import numpy as np

from ..._core.errors import require, require_number
from ..._core.specs import Array, Maybe, StateError, Tuple
from ...distances import References
from ...embedding.initialization import WarmStart
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.row_distances import Distances, Tau, distance_tau
from ...kernels._jit import threads
from ...kernels.pairs.degrees import row_attractions
from ...kernels.rows.row_descent import DEGREES as DEGREES_OF_ROW
from ...kernels.rows.row_descent import optimize_rows
from ...objectives import AllPairs, SameDegree, SampledPairs
from ...optim import Minimum, averaged_descent, lbfgs
from .pairs import STEPS, PairedRows, ReferenceMap, as_minimum, minimize, reference_rows, resampled_pairs

DEGREES = tuple(range(1, 16))
_COARSE = 4  # places between the degrees that are tried first
_SEARCHED = 256  # rows whose maps say where among the degrees to begin, of twice as many or more

Degrees = tuple[float, ...]


# ---- trials ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trial:
    """A map for one degree, or one set of them, and its tau (NaN where that is undefined)."""

    degrees: Degrees
    minimum: Minimum
    tau: float


@dataclass(frozen=True, slots=True)
class DegreeTrials:
    """Maps of one table for several sets of degrees, with the tau of each."""

    rows: PairedRows
    start: np.ndarray
    optimizer: partial[Minimum]
    buffer: np.ndarray  # for the attractions of one set of degrees after the other

    @classmethod
    def of(cls, rows: PairedRows, start: np.ndarray, optimizer: partial[Minimum]) -> DegreeTrials:
        """Trials from one start."""
        return cls(rows, start, optimizer, np.empty(rows.pairs.distances.size))

    def objective(self, degrees: Degrees) -> SameDegree:
        return self._over(self.rows.pairs, degrees, self.buffer)

    def _over(self, pairs: AllPairs | SampledPairs, degrees: Degrees, out=None) -> SameDegree:
        rows = self.rows
        return SameDegree(pairs, unit=rows.unit, degrees=degrees, n_jobs=rows.n_jobs, out=out)

    def fit(self, degrees: Degrees, near: Trial | None = None, *, score: bool = True) -> Trial:
        """The map of these degrees, from the start or from the map of another trial."""
        start = self.start if near is None else near.minimum.point
        if self.rows.unit == 0:
            return Trial(degrees, as_minimum(start), math.nan)
        minimum = minimize(self.objective(degrees), start, self.optimizer)
        tau = self.tau(minimum.point, quick=True).value if score else math.nan
        return Trial(degrees, minimum, tau)

    def search(self) -> list[Trial]:
        """Trials of the degrees around the best one; where to begin is searched on a sample of many rows."""
        n, steps = self.rows.pairs.n, self.optimizer.keywords["max_iter"]
        if n < 2 * _SEARCHED or self.optimizer.func is not lbfgs or steps == 0:
            return search_degrees(self.fit)
        sample = self._among(reference_rows(n, self.rows.seed, _SEARCHED))
        return search_degrees(self.fit, sample=sample.fit)

    def _among(self, own: np.ndarray) -> DegreeTrials:
        """Trials of some of the rows, by all their pairs, in the units of all rows."""
        given = self.rows
        if isinstance(given.pairs, AllPairs):
            pairs = given.pairs.among(own)
        else:
            pairs = given.distances.among(own).all()
        return DegreeTrials.of(replace(given, pairs=pairs), self.start[own], self.optimizer)

    def refine(self, trial: Trial) -> Trial:
        """Refine a map of sampled pairs by steps over new pairs, so that none is fitted twice."""
        exact = isinstance(self.rows.pairs, AllPairs) or self.rows.unit == 0
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

    def _views(self, degrees: Degrees, steps: Iterable[int]) -> Iterator[SameDegree]:
        """The cost over pairs sampled for each step, from the seed and the number of the step.

        The normalisers are sums over ``16 n`` pairs: the bias of their ratio is of the order of 1 / (16 n).
        """
        for pairs in resampled_pairs(self.rows, steps):
            yield self._over(pairs, degrees)

    def best(self, *candidates: Trial) -> tuple[Trial, Tau]:
        """The candidate whose refined map has the highest tau, and that tau; the first of equal ones."""
        refined = [self.refine(trial) for trial in candidates]
        taus = [self._tau_of(trial) for trial in refined]
        best = int(np.argmax(np.nan_to_num([tau.value for tau in taus], nan=-math.inf)))
        return refined[best], taus[best]

    def _tau_of(self, trial: Trial) -> Tau:
        return self.tau(self.rows.every_row(trial.minimum.point)) if self.rows.unit else Tau(math.nan, None)

    def tau(self, Z: np.ndarray, *, quick: bool = False) -> Tau:
        given = self.rows
        condensed = given.pairs.distances if isinstance(given.pairs, AllPairs) else None
        return distance_tau(given.distances, condensed, Z, seed=given.seed, quick=quick)


def continues_search(previous: WarmStart | None) -> bool:
    """Whether a fit continues a map of this method for some steps, with its degrees."""
    return previous is not None and previous.steps is not None


# ---- the search of a degree --------------------------------------------------------------------


Fit = Callable[[Degrees, Any], Trial]  # degrees and the trial to start from, or None


def checked_degrees(degrees: Iterable[Any], name: str, must_be: str) -> list[float]:
    """Positive numbers, as Python has them."""
    plain = []
    require(np.iterable(degrees), name, must_be, degrees)
    for degree in degrees:
        require_number(name, degree, must_be, above=0)
        plain.append(degree.item() if isinstance(degree, np.number) else degree)
    return plain


def better(trial: Trial, than: Trial) -> bool:
    return trial.tau > than.tau or (math.isnan(than.tau) and not math.isnan(trial.tau))


def best_of(trials: Sequence[Trial]) -> Trial:
    """The highest tau; of equal ones, the first."""
    best = trials[0]
    for trial in trials[1:]:
        best = trial if better(trial, best) else best
    return best


def search_degrees(
    fit: Fit, candidates: Sequence[float] = DEGREES, *, sample: Fit | None = None
) -> list[Trial]:
    """Trials of every fourth candidate, then of those around the best, closer and closer.

    The first ones each have a start of their own, so that none is caught where another one ended; the others
    start from the trial whose degree is nearest. Trials of a ``sample`` of the rows say which one to begin
    with; the others of the first ones are tried where the search comes to them. It ends when the best one has
    a worse, or no, neighbour on either side: 6 to 9 trials of 15, or 3 to 5, more where a sample was wrong.
    """
    places = [*range(0, len(candidates) - 1, _COARSE), len(candidates) - 1]
    first = places
    if sample is not None:
        first = [_place_of_best({place: sample((candidates[place],), None) for place in places})]
    tried = {place: fit((candidates[place],), None) for place in first}

    def attempt(place: int) -> None:
        if 0 <= place < len(candidates) and place not in tried:
            near = tried[min(tried, key=lambda other: abs(other - place))]
            tried[place] = fit((candidates[place],), None if place in places else near)

    step = _COARSE // 2
    while step:
        before = len(tried)
        best = _place_of_best(tried)
        attempt(best - step)
        attempt(best + step)
        if _place_of_best(tried) == best or len(tried) == before:
            step //= 2
    return [tried[place] for place in sorted(tried)]


def _place_of_best(tried: dict[int, Trial]) -> int:
    places = sorted(tried)
    best = best_of([tried[place] for place in places])
    return next(place for place in places if tried[place] is best)


# ---- new rows ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DegreeMap(ReferenceMap):
    """New rows minimize ``sum_g sum_j p_j log(p_j / q_j)``, the normalizers of p and q held."""

    degrees: Annotated[np.ndarray, Array("g", above=0)]
    means: Annotated[  # of the weights in the data and in the map; None where all rows are equal
        tuple[np.ndarray, np.ndarray] | None, Maybe(Tuple(Array("g", above=0), Array("g", above=0)))
    ] = None

    def measured(self, X: np.ndarray, distances: Distances) -> np.ndarray:
        """Distances (b, r) of new rows to the references; Euclidean ones to rounding of the unit."""
        if self._references is None:
            return super().measured(X, distances)
        return self._references.of_new(X, distances.n_jobs)

    @cached_property
    def _references(self) -> References | None:
        """The references, prepared for Euclidean distances to them; None for other distances."""
        distances = self.query.distances(None)
        return References.of(distances.X[self.references], self.unit) if distances.euclidean else None

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, in units."""
        assert self.means is not None
        in_data, in_map = self.means
        weights, every = np.empty(distances.shape), np.empty((len(distances), 0), np.int64)
        shape = np.concatenate((self.degrees, 1.0 / in_map))
        with threads(n_jobs):
            starts = row_attractions(distances, self.unit, Z, self.degrees, in_data, weights)
            columns = np.asfortranarray(Z)  # which are read one after the other
            return optimize_rows(DEGREES_OF_ROW, starts, columns, every, weights, every, shape)

    def _require_sound(self) -> None:
        if self.unit and self.means is None:
            raise StateError("means", "must be there where rows differ")


def degree_map(query: NearestRows, trials: DegreeTrials, chosen: Trial) -> DegreeMap:
    """The map of a trial, with the embedding of the training rows."""
    rows = trials.rows
    point = rows.every_row(chosen.minimum.point)
    means = trials.objective(chosen.degrees).mean_weights(point) if rows.unit else None
    references = reference_rows(len(point), rows.seed)
    return DegreeMap(query, point * rows.unit, rows.unit, references, np.array(chosen.degrees, float), means)
