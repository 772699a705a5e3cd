"""Methods of pairs: distances, a cost of the map, an optimiser. They differ in the degrees of the cost.

A method of this family prepares a :class:`Problem`, tries degrees on it, and keeps the trial it chooses.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from .._errors import is_real, is_whole, require, require_count, require_number, require_one_of
from .._runtime import generator, row_blocks
from .._state import (
    Absent,
    Array,
    Double,
    Maybe,
    Number,
    State,
    StateError,
    Tuple,
    Value,
    Whole,
)
from .._values import Geodesic, Momentum, NeighborGraph
from ..distances import rows_per_block
from ..kernels._jit import threads
from ..kernels.settling import settle_rows
from ..objectives import AllPairs, DrawnPairs
from ..optim import lbfgs, momentum_descent
from .degree_search import Trial
from .faithfulness import Tau
from .pair_distances import ALL_UP_TO, PARTNERS, Distances, drawn_shifts
from .pair_problem import Problem
from .placement import RowKeeper
from .rows import checked_components, checked_rows, metric_of_rows, one_place_for_equals
from .starts import principal_start, random_start, scaled_start

_PARAMETER_FREE_DEGREE, _PARAMETER_FREE_SCALE = 1, 2.0
_REFERENCES = 2048  # fitted rows that a new one is placed against
_PLACED_AT_ONCE = 64  # new rows


class PairsEmbedder(RowKeeper):
    """A map that minimises the cost of same-degree distributions, and the placement of new rows.

    As it stands it is parameter-free: degree 1, the largest distance counting as 2.
    """

    _state = State(  # new rows are placed against r of the fitted ones, by g degrees
        cost_=Number(nan=True),
        n_iter_=Whole(0),
        kendall_tau_=Number(nan=True),
        kendall_tau_interval_=Maybe(Tuple(Number(), Number())),
        _degrees=Array("g", above=0),
        _unit=Double(0),
        _means=Absent(Tuple(Array("g", above=0), Array("g", above=0))),
        _graph=Maybe(Value(NeighborGraph, n="n")),
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
        problem = self._problem(X, _PARAMETER_FREE_SCALE)
        self._keep(problem, problem.fit((_PARAMETER_FREE_DEGREE,), score=False))
        return self

    def _problem(self, X, scale: float) -> Problem:
        """Rows and parameters checked, distances, unit, start."""
        optimizer = self._optimizer()
        scale = require_number("scale", scale, "a positive number", above=0)
        checked_components(self.n_components)
        X = checked_rows(self, X, metric=metric_of_rows(self.metric))
        n = len(X)
        partners = self._partners(n)
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        distances = Distances.of(X, self.metric, random_state=seed, n_jobs=self.n_jobs)
        if partners is None:
            pairs: AllPairs | DrawnPairs = distances.all()
        else:
            pairs = distances.drawn(drawn_shifts(n, partners // 2, seed), random.permutation(n))
        unit = distances.largest(pairs) / scale
        start = self._start(distances, pairs, unit, random)
        buffer = np.empty(pairs.distances.size)
        return Problem(distances, pairs, unit, start, optimizer, buffer, seed)

    def _partners(self, n: int) -> int | None:
        """Drawn partners of a row; None for all."""
        asked = self.pairs
        if isinstance(asked, str):
            require_one_of("pairs", asked, ("auto", "all"), hint="Or give a number of partners of each row.")
            geodesic = isinstance(self.metric, Geodesic)
            return None if asked == "all" or n <= ALL_UP_TO or geodesic else PARTNERS
        asked = require_count("pairs", asked, "'auto', 'all' or a number of partners of at least 2", least=2)
        return None if asked >= n - 1 else 2 * ((asked + 1) // 2)  # as many ahead as behind

    def _optimizer(self) -> partial:
        if isinstance(self.max_iter, Momentum):
            kind = self.max_iter
            steps = is_whole(kind.max_iter) and kind.max_iter >= 0
            rate = is_real(kind.learning_rate) and 0 < kind.learning_rate < np.inf
            share = is_real(kind.momentum) and 0 <= kind.momentum < 1
            must_be = "Momentum with steps of at least 0, a positive rate and a momentum in [0, 1)"
            require(bool(steps and rate and share), "max_iter", must_be, kind)
            return partial(momentum_descent, max_iter=kind.max_iter, learning_rate=kind.learning_rate,
                           momentum=kind.momentum)  # fmt: skip
        max_iter = require_count("max_iter", self.max_iter, "a number of steps, or Momentum(...)", least=0)
        tol = require_number("tol", self.tol, "a number from 0 to below 1", below=1)
        return partial(lbfgs, max_iter=max_iter, tol=tol)

    def _start(self, distances: Distances, pairs, unit: float, random) -> np.ndarray:
        n, d = pairs.n, self.n_components
        if not isinstance(self.init, str):
            must_be = f"'pca', 'random' or finite coordinates of shape ({n}, {d})"
            require(np.shape(self.init) == (n, d), "init", must_be, np.shape(self.init) or self.init)
            Z = check_array(self.init, dtype=np.float64, ensure_all_finite=False)
            require(bool(np.isfinite(Z).all()), "init", must_be, "infinite or missing numbers")
            spread = unit == 0 or bool(np.ptp(Z, axis=0).any())
            require(spread, "init", "a start that tells rows apart", "the same place for all of them")
            return Z / unit if unit else np.zeros((n, d))
        require_one_of("init", self.init, ("pca", "random"), hint="Or give the coordinates to start from.")
        if unit == 0:
            return np.zeros((n, d))
        if self.init == "random":
            return random_start(n, d, random, wide=not isinstance(self.max_iter, Momentum))
        if distances.euclidean:
            return principal_start(distances.X, unit, d)
        return scaled_start(distances, pairs, unit, d, random)

    def _keep(self, problem: Problem, trial: Trial) -> None:
        """The chosen map, in the units of the data, and what places new rows in it."""
        trial = problem.refined(trial)
        point = trial.minimum.point
        if self.metric != "precomputed":
            point = one_place_for_equals(problem.distances.X, point)
        self.embedding_ = point * problem.unit
        self.cost_, self.n_iter_ = trial.minimum.value, trial.minimum.n_iter
        tau = problem.tau(point) if problem.unit else Tau(math.nan, None)
        self.kendall_tau_, self.kendall_tau_interval_ = tau.value, tau.interval
        self._degrees, self._unit = np.array(trial.degrees, float), problem.unit
        self._means: Any = None
        if problem.unit:
            in_order = problem.pairs.in_order(point)
            self._means = problem.objective(trial.degrees).mean_weights(in_order)
        self._n_features_out = self.n_components
        self._graph = problem.distances.graph
        n = problem.pairs.n
        chosen = check_random_state(problem.seed).permutation(n)[:_REFERENCES]
        self._references = np.arange(n) if n <= _REFERENCES else np.sort(chosen)
        self._remember(problem.distances.X)

    def _require_sound(self) -> None:
        super()._require_sound()
        if self._unit and getattr(self, "_means", None) is None:
            raise StateError("_means", "must be there where rows differ")
        if (self._graph is None) == isinstance(self._fit_metric, Geodesic):
            raise StateError("_graph", "must be there for geodesic distances, and for no others")
        if self._graph is not None and not self._graph.is_distance:
            raise StateError("_graph.kind", "must be one whose weights are distances")

    def _place(self, X: np.ndarray) -> np.ndarray:
        out = np.zeros((len(X), self._n_features_out))
        if self._unit == 0:  # there is one place only
            return out
        fitted = np.empty((0, 0)) if self._known is None else self._known.X
        distances = Distances.again(fitted, self._fit_metric, self._graph, n_jobs=self.n_jobs)
        Z = self.embedding_[self._references] / self._unit
        size = min(rows_per_block(len(self.embedding_)), _PLACED_AT_ONCE)
        for block in row_blocks(len(X), "placing rows", size=size):
            between = np.ascontiguousarray(distances.to_references(X[block], self._references))
            with threads(self.n_jobs):
                out[block] = settle_rows(between, self._unit, Z, self._degrees, *self._means)
        return out * self._unit
