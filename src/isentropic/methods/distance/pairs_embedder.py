"""Methods of pairs: distances, an objective of the map, an optimiser. They differ in the objective.

A method of this family prepares a :class:`Problem` in ``fit``, minimises an objective over its pairs, and
keeps the map. In ``_settle`` it says how a new row minimises its own part of the objective, the fitted rows
held. Metric and nonmetric stress are such methods, and those of neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from sklearn.utils import check_random_state

from ..._core.errors import is_real, is_whole, require, require_count, require_number, require_one_of
from ..._core.runtime import generator, row_blocks
from ..._core.state import Array, Double, Number, State, Whole
from ..._core.values import GraphMetric, Momentum
from ...distances import Distinct, distinct_rows, rows_per_block
from ...embedding.input_rows import checked_components, checked_rows, metric_of_rows
from ...embedding.pair_distances import ALL_UP_TO, PARTNERS, Distances, drawn_shifts
from ...embedding.starts import given_start, principal_start, random_start, scaled_start
from ...embedding.warm_starts import WarmStart, WarmStarter
from ...objectives import AllPairs, DrawnPairs
from ...optim import Minimum, lbfgs, momentum_descent

_REFERENCES = 2048  # fitted rows that a new one is placed against
_PLACED_AT_ONCE = 64  # new rows
STEPS = 60  # that each see pairs of their own, after the minimum over one set of drawn pairs
_PARTNERS_OF_STEP = 32
_TOO_WIDE = 1e100  # in units: squares of longer distances overflow
_STEPS_AT_ONCE = 4  # whose distances are computed together


class Objective(Protocol):
    """The cost of a map: its value and gradient, for rows in an order that is its own affair."""

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]: ...

    def in_order(self, Z: np.ndarray) -> np.ndarray: ...

    def out_of_order(self, Z: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True, slots=True)
class Problem:
    """What an objective is made of, and where its minimum is looked for."""

    distances: Distances  # of the fitted rows
    pairs: AllPairs | DrawnPairs  # of these rows, or of one for each of equal ones
    unit: float  # the distance that counts as 1; 0 where all rows are equal
    start: np.ndarray  # (n, d), in units, for the rows of the pairs
    seed: int
    groups: Distinct | None = None  # of equal rows, where these are merged

    @property
    def counts(self) -> np.ndarray | None:
        """How many fitted rows each row of the pairs stands for; None for one each."""
        return None if self.groups is None else np.diff(self.groups.indptr).astype(float)

    def expanded(self, point: np.ndarray) -> np.ndarray:
        """A place for every fitted row, from those of the rows of the pairs."""
        if self.groups is None:
            return point
        out = np.empty((len(self.groups.members), *point.shape[1:]))
        out[self.groups.members] = np.repeat(point, np.diff(self.groups.indptr), axis=0)
        return out


def fresh_pairs(
    problem: Problem, steps: Iterable[int], order: np.ndarray | None = None
) -> Iterator[DrawnPairs]:
    """Pairs drawn for each step of a descent, from the seed and the number of the step; 32 partners a row.

    Distances are in the units of the data. Another ``order`` of the rows has other pairs at the sum of two
    shifts, whose errors are alike.
    """
    given, groups = problem.pairs, problem.groups
    assert isinstance(given, DrawnPairs)
    order = given.order if order is None else order
    distances = problem.distances if groups is None else problem.distances.among(groups.rows)
    half = min(_PARTNERS_OF_STEP // 2, len(given.shifts))
    steps = list(steps)
    for start in range(0, len(steps), _STEPS_AT_ONCE):
        several = steps[start : start + _STEPS_AT_ONCE]
        shifts = [drawn_shifts(given.n, half, (problem.seed, step)) for step in several]
        drawn = distances.drawn(np.concatenate(shifts), order)
        for i in range(len(several)):
            mine = slice(i * half, (i + 1) * half)
            yield DrawnPairs(drawn.order, drawn.shifts[mine], drawn.distances[mine])


def minimised(objective: Objective, start: np.ndarray, optimizer: Callable[..., Minimum]) -> Minimum:
    """The map that an optimiser finds from ``start``; raises where the cost overflows on the way."""
    with np.errstate(all="ignore"):  # weights that vanish are found below
        found = optimizer(objective, objective.in_order(start))
    sound = math.isfinite(found.value) and bool(np.isfinite(found.point).all())
    hint = "Take a lower degree, a smaller scale or learning rate, or a start as large as the data."
    require(sound, "The cost of a map", "finite", f"{found.value} of {objective!r}", hint)
    return Minimum(objective.out_of_order(found.point), max(found.value, 0.0), found.n_iter, found.converged)


class PairsEmbedder(WarmStarter):
    """A map that minimises an objective over pairs of rows, and the placement of new rows."""

    _state = State(  # new rows are placed against r of the fitted ones
        cost_=Number(nan=True),
        n_iter_=Whole(0),
        _unit=Double(0),
        _references=Array("r", dtype=np.int64, below="n"),
    )

    def __init__(
        self,
        n_components=2,
        *,
        init="pca",
        metric="euclidean",
        max_iter=500,
        tol=1e-6,
        optimizer=None,
        pairs="auto",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.optimizer = optimizer
        self.pairs = pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settle(self, distances: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Where new rows go that are at ``distances`` (b, r) from the references: ``Z`` (r, d), in units."""
        raise NotImplementedError

    def _problem(self, X, scale: float, *, merged: bool = False, warm: WarmStart | None = None) -> Problem:
        """Rows and parameters checked, distances, unit, start; equal rows ``merged`` into one, or not."""
        scale = require_number("scale", scale, "a positive number", above=0)
        require(1e-100 <= scale <= 1e100, "scale", "from 1e-100 to 1e100", scale)
        checked_components(self.n_components)
        X = checked_rows(self, X, metric=metric_of_rows(self.metric))
        groups = distinct_rows(X) if merged else None
        rows = None if groups is None else groups.rows
        n = len(X if rows is None else rows)
        partners = self._partners(n)
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        distances = every = Distances.of(X, self.metric, random_state=seed, n_jobs=self.n_jobs)
        if rows is not None and every.graph is None:
            distances = every.among(rows)
        if partners is not None:
            pairs: AllPairs | DrawnPairs = distances.drawn(
                drawn_shifts(n, partners // 2, seed), random.permutation(n)
            )
        else:
            pairs = distances.all()
            pairs = pairs.among(groups.rows) if groups and pairs.n > n else pairs
        unit = distances.largest(pairs) / scale
        start = self._start(distances, pairs, unit, random, groups, self._given(X, warm))
        return Problem(every, pairs, unit, start, seed, groups)

    def _partners(self, n: int) -> int | None:
        """Drawn partners of a row; None for all."""
        asked = self.pairs
        if isinstance(asked, str):
            require_one_of("pairs", asked, ("auto", "all"), hint="Or give a number of partners of each row.")
            over_graph = isinstance(self.metric, GraphMetric)
            return None if asked == "all" or n <= ALL_UP_TO or over_graph else PARTNERS
        asked = require_count("pairs", asked, "'auto', 'all' or a number of partners of at least 2", least=2)
        return None if asked >= n - 1 else 2 * ((asked + 1) // 2)  # as many ahead as behind

    def _checked_optimizer(self) -> partial[Minimum]:
        kind = self.optimizer
        if kind is not None:
            must_be = "None or Momentum with steps of at least 0, a positive rate and a momentum in [0, 1)"
            require(isinstance(kind, Momentum) and _is_sound(kind), "optimizer", must_be, kind)
            return partial(momentum_descent, max_iter=kind.max_iter, learning_rate=kind.learning_rate,
                           momentum=kind.momentum)  # fmt: skip
        hint = "Give it as optimizer." if isinstance(self.max_iter, Momentum) else ""
        max_iter = require_count("max_iter", self.max_iter, "a number of steps", least=0, hint=hint)
        tol = require_number("tol", self.tol, "a number from 0 to below 1", below=1)
        return partial(lbfgs, max_iter=max_iter, tol=tol)

    def _optimizer_from(self, warm: WarmStart | None) -> partial[Minimum]:
        """The optimiser, with as many steps as an earlier map asks for."""
        optimizer = self._checked_optimizer()
        return optimizer if warm is None or warm.steps is None else partial(optimizer, max_iter=warm.steps)

    def _given(self, X: np.ndarray, warm: WarmStart | None) -> np.ndarray | None:
        """The start of all rows where it is no matter of the data: an earlier map, or what ``init`` gives."""
        if warm is not None:
            return self._warm_places(warm, X)
        if isinstance(self.init, str):
            return None
        return given_start(self.init, len(X), self.n_components, ("pca", "random"))

    def _start(self, distances: Distances, pairs, unit: float, random, groups, given) -> np.ndarray:
        n, d = pairs.n, self.n_components
        if given is not None:
            Z = given if groups is None else given[groups.rows]
            if unit == 0:
                return np.zeros((n, d))
            width = float(np.ptp(Z, axis=0).max() / unit)
            require(width > 0, "init", "a start that tells rows apart", "the same place for all of them")
            sound = 1.0 / _TOO_WIDE < width < _TOO_WIDE
            require(
                sound, "init", "as wide as the data, but for a factor of 1e100", f"{width:.3g} times that"
            )
            return Z / unit
        require_one_of("init", self.init, ("pca", "random"), hint="Or give the coordinates to start from.")
        if unit == 0:
            return np.zeros((n, d))
        if self.init == "random":
            return random_start(n, d, random, wide=self.optimizer is None)
        if distances.euclidean:
            return principal_start(distances.X, unit, d)
        return scaled_start(distances, pairs, unit, d, random)

    def _keep(self, problem: Problem, minimum: Minimum) -> np.ndarray:
        """Keep the map in the units of the data, and what places new rows in it; the map in units."""
        point = self._map_of(problem, minimum)
        self.embedding_ = point * problem.unit
        self.cost_, self.n_iter_ = minimum.value, minimum.n_iter
        self._unit, self._graph = problem.unit, problem.distances.graph
        self._n_features_out = self.n_components
        n = len(point)
        chosen = check_random_state(problem.seed).permutation(n)[:_REFERENCES]
        self._references = np.arange(n) if n <= _REFERENCES else np.sort(chosen)
        self._remember(problem.distances.X)
        return point

    def _map_of(self, problem: Problem, minimum: Minimum) -> np.ndarray:
        """The place of every row, in units; equal rows have one place."""
        point = problem.expanded(minimum.point)
        if problem.groups is None:
            point = self._one_place(problem.distances.X, point)
        return point

    def _place(self, X: np.ndarray) -> np.ndarray:
        out = np.zeros((len(X), self._n_features_out))
        if self._unit == 0:  # there is one place only
            return out
        distances = self._distances_again()
        Z = self.embedding_[self._references] / self._unit
        size = min(rows_per_block(len(self.embedding_)), _PLACED_AT_ONCE)
        for block in row_blocks(len(X), "placing rows", size=size):
            between = np.ascontiguousarray(distances.to_references(X[block], self._references))
            out[block] = self._settle(between, Z)
        return out * self._unit


def _is_sound(kind: Momentum) -> bool:
    steps = is_whole(kind.max_iter) and kind.max_iter >= 0
    rate = is_real(kind.learning_rate) and 0 < kind.learning_rate < np.inf
    share = is_real(kind.momentum) and 0 <= kind.momentum < 1
    return bool(steps and rate and share)
