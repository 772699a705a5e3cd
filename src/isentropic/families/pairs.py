"""Methods of pairs: distances, a cost of the map, an optimiser. They differ in the degrees of the cost.

A method of this family prepares a :class:`Problem`, tries degrees on it, and keeps the trial it chooses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._errors import require, require_one_of
from .._runtime import row_blocks
from .._values import Geodesic, Momentum
from ..kernels._jit import threads
from ..kernels.settling import settle_rows
from ..neighbors import rows_per_block
from ..objectives import AllPairs, DrawnPairs, SameDegree
from ..optim import Minimum, lbfgs, momentum_descent
from .degree_search import Trial
from .embedder import Embedder
from .faithfulness import Tau, distance_tau
from .pair_distances import ALL_UP_TO, PARTNERS, Distances
from .rows import KnownRows, checked_components, checked_rows
from .starts import principal_start, random_start, scaled_start

_REFERENCES = 2048  # fitted rows that a new one is placed against


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
        found = self.optimizer(self.objective(degrees), self.pairs.in_order(start))
        point = self.pairs.out_of_order(found.point)
        minimum = Minimum(point, max(found.value, 0.0), found.n_iter, found.converged)
        return Trial(degrees, minimum, self.tau(point, quick=True).value if score else math.nan)

    def tau(self, Z: np.ndarray, *, quick: bool = False) -> Tau:
        return distance_tau(self.distances, self.pairs, Z, seed=self.seed, quick=quick)


class PairsEmbedder(Embedder):
    """A map that minimises the cost of same-degree distributions, and the placement of new rows."""

    # Parameters of every member: n_components, init, metric, max_iter, tol, pairs, random_state, n_jobs.

    def _problem(self, X, scale: float) -> Problem:
        """Rows and parameters checked, distances, unit, start."""
        optimizer = self._optimizer()
        is_scale = isinstance(scale, int | float | np.number) and bool(0 < scale < np.inf)
        require(is_scale, "scale", "a positive number", scale)
        checked_components(self.n_components)
        of_rows = self.metric.metric if isinstance(self.metric, Geodesic) else self.metric
        X = checked_rows(self, X, metric=of_rows)
        n = len(X)
        partners = self._partners(n)
        random = check_random_state(0 if self.random_state is None else self.random_state)
        seed = int(random.randint(2**31 - 1))
        distances = Distances.of(X, self.metric, random_state=seed, n_jobs=self.n_jobs)
        pairs = distances.all() if partners is None else distances.drawn(partners, random)
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
        is_count = isinstance(asked, int | np.integer) and not isinstance(asked, bool)
        require(is_count and asked >= 2, "pairs", "'auto', 'all' or a number of partners of at least 2", asked)
        return None if asked >= n - 1 else 2 * (int(asked) // 2)

    def _optimizer(self) -> partial:
        if isinstance(self.max_iter, Momentum):
            kind = self.max_iter
            return partial(momentum_descent, max_iter=kind.max_iter, learning_rate=kind.learning_rate,
                           momentum=kind.momentum)  # fmt: skip
        is_count = isinstance(self.max_iter, int | np.integer) and not isinstance(self.max_iter, bool)
        must_be = "a number of steps, or Momentum(...)"
        require(is_count and self.max_iter >= 0, "max_iter", must_be, self.max_iter)
        is_tolerance = isinstance(self.tol, int | float | np.number) and bool(0 <= self.tol < 1)
        require(is_tolerance, "tol", "a number from 0 to below 1", self.tol)
        return partial(lbfgs, max_iter=int(self.max_iter), tol=float(self.tol))

    def _start(self, distances: Distances, pairs, unit: float, random) -> np.ndarray:
        n, d = pairs.n, self.n_components
        if not isinstance(self.init, str):
            Z = check_array(self.init, dtype=np.float64)
            require(Z.shape == (n, d), "init", f"of shape ({n}, {d})", Z.shape)
            return Z / unit if unit else np.zeros((n, d))
        require_one_of("init", self.init, ("pca", "random"), hint="Or give the coordinates to start from.")
        if unit == 0:
            return np.zeros((n, d))
        if self.init == "random":
            return random_start(n, d, random)
        if distances.euclidean:
            return principal_start(distances.X, unit, d)
        return scaled_start(distances, pairs, unit, d, random)

    def _keep(self, problem: Problem, trial: Trial) -> None:
        """The chosen map, in the units of the data, and what places new rows in it."""
        self.embedding_ = trial.minimum.point * problem.unit
        self.cost_, self.n_iter_ = trial.minimum.value, trial.minimum.n_iter
        tau = problem.tau(trial.minimum.point) if problem.unit else Tau(math.nan, None)
        self.kendall_tau_, self.kendall_tau_interval_ = tau.value, tau.interval
        self._degrees, self._unit = np.array(trial.degrees, float), problem.unit
        if problem.unit:
            in_order = problem.pairs.in_order(trial.minimum.point)
            self._means = problem.objective(trial.degrees).mean_weights(in_order)
        self._n_features_out = self.n_components
        n = problem.pairs.n
        chosen = check_random_state(problem.seed).permutation(n)[:_REFERENCES]
        self._references = np.arange(n) if n <= _REFERENCES else np.sort(chosen)
        self._graph = problem.distances.graph
        X = problem.distances.X
        self._known = None
        if self.metric != "precomputed":
            with threads(self.n_jobs):
                self._known = KnownRows.of(X)

    def transform(self, X) -> np.ndarray:
        """Coordinates of rows, each placed by itself; a fitted row gets its own coordinates."""
        check_is_fitted(self)
        of_rows = self.metric.metric if isinstance(self.metric, Geodesic) else self.metric
        X = checked_rows(self, X, metric=of_rows, fitting=False)
        known = self._find(X)
        Z = self.embedding_[known]
        new = np.flatnonzero(known < 0)
        for block in row_blocks(len(new), "placing rows", size=self._rows_at_once()):
            Z[new[block]] = self._placed(X[new[block]])
        return Z

    def _find(self, X: np.ndarray) -> np.ndarray:
        """The fitted row that each row of ``X`` is, or -1."""
        if self._known is not None:
            with threads(self.n_jobs):
                return self._known.find(X)
        nearest = X.argmin(axis=1)
        return np.where(X[np.arange(len(X)), nearest] == 0, nearest, -1)

    def _rows_at_once(self) -> int:
        n = len(self.embedding_) if isinstance(self.metric, Geodesic) else len(self._references)
        return min(rows_per_block(n), 64)

    def _placed(self, X: np.ndarray) -> np.ndarray:
        if self._unit == 0:  # there is one place only
            return np.zeros((len(X), self._n_features_out))
        fitted = np.empty((0, 0)) if self._known is None else self._known.X
        distances = Distances.again(fitted, self.metric, self._graph, n_jobs=self.n_jobs)
        between = np.ascontiguousarray(distances.to_references(X, self._references))
        Z = self.embedding_[self._references] / self._unit
        with threads(self.n_jobs):
            return settle_rows(between, self._unit, Z, self._degrees, *self._means) * self._unit
