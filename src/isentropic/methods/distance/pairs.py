"""Methods of pairs: distances of pairs of rows, a cost of the map, an optimizer. They differ in the cost.

A ``fit`` of this family asks for :func:`paired_rows` and :func:`initial_coordinates`, minimizes a cost over
the pairs, and ends with a :class:`ReferenceMap`, whose ``optimize`` gives a new row the coordinates that
minimize its own part of the cost, with the training rows fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from ..._core.arguments import Parameter
from ..._core.errors import is_real, is_whole, require, require_count, require_number, require_one_of
from ..._core.runtime import row_blocks
from ..._core.specs import Array, Double
from ..._core.state import Sub
from ..._core.values import GraphMetric, Momentum
from ...distances import Distinct, distinct_rows, rows_per_block
from ...embedding.initialization import (
    WarmStart,
    complete_coordinates,
    pca_initialization,
    random_initialization,
    scaling_initialization,
    user_initialization,
)
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.row_distances import ALL_UP_TO, PAIRS_PER_ROW, Distances, sampled_shifts
from ...embedding.training_data import Part, TrainingData
from ...objectives import AllPairs, SampledPairs
from ...optim import Minimum, lbfgs, momentum_descent

_REFERENCES = 2048  # training rows that a new one is placed against
_PLACED_AT_ONCE = 64  # new rows
STEPS = 60  # that each see pairs of their own, after the minimum over one set of sampled pairs
_PARTNERS_OF_STEP = 32
_TOO_WIDE = 1e100  # in units: squares of longer distances overflow
_STEPS_AT_ONCE = 4  # whose distances are computed together
_STARTS = ("pca", "random")


# ---- parameters --------------------------------------------------------------------------------


class _Pairs(Parameter):
    """``"auto"``, ``"all"``, or a number of partners of each row."""

    def _accepted(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            require_one_of(name, value, ("auto", "all"), hint="Or give a number of partners of each row.")
            return value
        return require_count(name, value, "'auto', 'all' or a number of partners of at least 2", least=2)


class _Optimizer(Parameter):
    """None for L-BFGS, or :class:`Momentum`."""

    def _accepted(self, name: str, value: Any) -> Any:
        must_be = "None or Momentum with steps of at least 0, a positive rate and a momentum in [0, 1)"
        require(value is None or (isinstance(value, Momentum) and _is_sound(value)), name, must_be, value)
        return value


class _Steps(Parameter):
    """A number of steps, where there is another optimizer as well."""

    def _accepted(self, name: str, value: Any) -> int:
        hint = "Give it as optimizer." if isinstance(value, Momentum) else ""
        return require_count(name, value, "a number of steps", least=0, hint=hint)


class _Scale(Parameter):
    """What the largest distance counts as."""

    def _accepted(self, name: str, value: Any) -> float:
        scale = require_number(name, value, "a positive number", above=0)
        require(1e-100 <= scale <= 1e100, name, "from 1e-100 to 1e100", scale)
        return scale


PairsParameter = Annotated[Any, _Pairs()]
OptimizerParameter = Annotated[Momentum | None, _Optimizer()]
Steps = Annotated[int, _Steps()]
Scale = Annotated[float, _Scale()]


def _is_sound(kind: Momentum) -> bool:
    steps = is_whole(kind.max_iter) and kind.max_iter >= 0
    rate = is_real(kind.learning_rate) and 0 < kind.learning_rate < np.inf
    share = is_real(kind.momentum) and 0 <= kind.momentum < 1
    return bool(steps and rate and share)


# ---- pairs of rows -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairedRows:
    """Pairs of training rows, equal rows counted once where they are merged, and their distances."""

    data: TrainingData
    distances: Distances  # of the training rows
    pairs: AllPairs | SampledPairs  # of these rows, or of one for each of equal ones
    unit: float  # the distance that counts as 1; 0 where all rows are equal
    seed: int
    groups: Distinct | None = None  # of equal rows, where these are merged

    @property
    def n_jobs(self) -> int | None:
        """Threads."""
        return self.distances.n_jobs

    @property
    def merged(self) -> Distances:
        """Distances of the rows of the pairs; over a graph, where ways lead over all rows, of all of them."""
        if self.groups is None or self.distances.graph is not None:
            return self.distances
        return self.distances.among(self.groups.rows)

    @property
    def counts(self) -> np.ndarray | None:
        """How many training rows each row of the pairs stands for; None for one each."""
        return None if self.groups is None else np.diff(self.groups.indptr).astype(float)

    def scale_to_units(self) -> None:
        """Distances of the pairs in multiples of the unit, in place."""
        if self.unit:
            np.divide(self.pairs.distances, self.unit, out=self.pairs.distances)

    def every_row(self, point: np.ndarray) -> np.ndarray:
        """Coordinates of every training row, from those of the rows of the pairs."""
        if self.groups is None:
            return self.data.merge_duplicates(point)
        out = np.empty((len(self.groups.members), *point.shape[1:]))
        out[self.groups.members] = np.repeat(point, np.diff(self.groups.indptr), axis=0)
        return out

    def embedding(self, point: np.ndarray) -> np.ndarray:
        """Coordinates of every training row in the units of the data."""
        return self.every_row(point) * self.unit


def paired_rows(
    query: NearestRows,
    pairs: str | int,
    random: np.random.RandomState,
    seed: int,
    n_jobs: int | None,
    *,
    merged: bool = False,
    scale: float = 1.0,
) -> PairedRows:
    """All pairs, or sampled ones; the largest distance counts as ``scale``. Equal rows ``merged`` or not."""
    data = query.data
    groups = distinct_rows(data.table) if merged else None
    n = data.n if groups is None else len(groups.rows)
    per_row = _sampled_per_row(pairs, n, data.metric)
    distances = query.distances(n_jobs)
    among = distances if groups is None or distances.graph is not None else distances.among(groups.rows)
    if per_row is not None:
        found: AllPairs | SampledPairs = among.sample(
            sampled_shifts(n, per_row // 2, seed), random.permutation(n)
        )
    else:
        found = among.all()
        found = found.among(groups.rows) if groups and found.n > n else found
    return PairedRows(data, distances, found, among.largest(found) / float(scale), seed, groups)


def _sampled_per_row(asked: str | int, n: int, metric: Any) -> int | None:
    """Sampled partners of a row; None for all."""
    if isinstance(asked, str):
        return None if asked == "all" or n <= ALL_UP_TO or isinstance(metric, GraphMetric) else PAIRS_PER_ROW
    return None if asked >= n - 1 else 2 * ((int(asked) + 1) // 2)  # as many ahead as behind


def resampled_pairs(
    rows: PairedRows, steps: Iterable[int], order: np.ndarray | None = None
) -> Iterator[SampledPairs]:
    """Pairs sampled for each step of a descent, from the seed and the number of the step; 32 partners a row.

    Distances are in the units of the data. Another ``order`` of the rows has other pairs at the sum of two
    shifts, whose errors are alike.
    """
    given, distances = rows.pairs, rows.merged
    assert isinstance(given, SampledPairs)
    order = given.order if order is None else order
    half = min(_PARTNERS_OF_STEP // 2, len(given.shifts))
    steps = list(steps)
    for start in range(0, len(steps), _STEPS_AT_ONCE):
        several = steps[start : start + _STEPS_AT_ONCE]
        shifts = [sampled_shifts(given.n, half, (rows.seed, step)) for step in several]
        found = distances.sample(np.concatenate(shifts), order)
        for i in range(len(several)):
            mine = slice(i * half, (i + 1) * half)
            yield SampledPairs(found.order, found.shifts[mine], found.distances[mine])


# ---- the search --------------------------------------------------------------------------------


def initial_coordinates(
    rows: PairedRows,
    init: Any,
    n_components: int,
    random: np.random.RandomState,
    previous: WarmStart | None = None,
    *,
    wide: bool = True,
) -> np.ndarray:
    """Initial coordinates (n, d) of the rows of the pairs, in units.

    Principal components or classical scaling, noise (``wide`` for L-BFGS), coordinates of the user, or an
    earlier map.
    """
    shape, unit = (rows.pairs.n, n_components), rows.unit
    if previous is not None or not isinstance(init, str):
        return _user_coordinates(rows, init, n_components, previous)
    require_one_of("init", init, _STARTS, hint="Or give the coordinates to start from.")
    if unit == 0:
        return np.zeros(shape)
    if init == "random":
        return random_initialization(*shape, random, wide=wide)
    distances = rows.merged
    if distances.euclidean:
        return pca_initialization(distances.X, unit, n_components)
    return scaling_initialization(distances, rows.pairs, unit, n_components, random)


def _user_coordinates(
    rows: PairedRows, init: Any, n_components: int, previous: WarmStart | None
) -> np.ndarray:
    data, unit = rows.data, rows.unit
    if previous is not None:
        Z = complete_coordinates(previous, data.table, data.metric, rows.n_jobs)
    else:
        Z = user_initialization(init, data.n, n_components, _STARTS)
    Z = Z if rows.groups is None else Z[rows.groups.rows]
    if unit == 0:
        return np.zeros(Z.shape)
    width = float(np.ptp(Z, axis=0).max() / unit)
    require(width > 0, "init", "a start that tells rows apart", "the same place for all of them")
    sound = 1.0 / _TOO_WIDE < width < _TOO_WIDE
    require(sound, "init", "as wide as the data, but for a factor of 1e100", f"{width:.3g} times that")
    return Z / unit


class Objective(Protocol):
    """The cost of a map: its value and gradient, for rows in an order that is its own affair."""

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]: ...

    def in_order(self, Z: np.ndarray) -> np.ndarray: ...

    def out_of_order(self, Z: np.ndarray) -> np.ndarray: ...


def optimizer_of(
    max_iter: int, tol: float, previous: WarmStart | None = None, momentum: Momentum | None = None
) -> partial[Minimum]:
    """L-BFGS, or descent with momentum; with as many steps as an earlier map asks for."""
    if momentum is None:
        found = partial(lbfgs, max_iter=int(max_iter), tol=float(tol))
    else:
        found = partial(momentum_descent, max_iter=momentum.max_iter, learning_rate=momentum.learning_rate,
                        momentum=momentum.momentum)  # fmt: skip
    return found if previous is None or previous.steps is None else partial(found, max_iter=previous.steps)


def minimize(objective: Objective, start: np.ndarray, optimizer: Callable[..., Minimum]) -> Minimum:
    """Minimize the cost from ``start``; raise if it overflows."""
    with np.errstate(all="ignore"):  # weights that vanish are found below
        found = optimizer(objective, objective.in_order(start))
    sound = math.isfinite(found.value) and bool(np.isfinite(found.point).all())
    hint = "Take a lower degree, a smaller scale or learning rate, or a start as large as the data."
    require(sound, "The cost of a map", "finite", f"{found.value} of {objective!r}", hint)
    return Minimum(objective.out_of_order(found.point), max(found.value, 0.0), found.n_iter, found.converged)


def as_minimum(start: np.ndarray) -> Minimum:
    """The start as a minimum: nothing is to be minimized for equal rows."""
    return Minimum(start, 0.0, 0, True)


# ---- new rows ----------------------------------------------------------------------------------


def reference_rows(n: int, seed: int, count: int = _REFERENCES) -> np.ndarray:
    """The training rows that new rows are mapped by: all, or a sample of 2,048."""
    if n <= count:
        return np.arange(n)
    return np.sort(check_random_state(seed).permutation(n)[:count])


@dataclass(frozen=True, eq=False)
class ReferenceMap(Part):
    """The coordinates of a new row minimize its own part of the cost, by its distances to references.

    A method says in a subclass how: ``optimize(distances, Z, n_jobs)`` takes the distances (b, r) of new rows
    to the references, in the units of the data, and the coordinates of these, in multiples of ``unit``, as
    the result is.
    """

    query: Annotated[NearestRows, Sub(NearestRows)]
    Z: Annotated[np.ndarray, Array("n", "d")]  # the embedding
    unit: Annotated[float, Double(0)]  # 0 where all rows are equal, at one place
    references: Annotated[np.ndarray, Array("r", dtype=np.int64, below="n")]

    @property
    def data(self) -> TrainingData:
        """The training data."""
        return self.query.data

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows."""
        out = np.zeros((len(X), self.Z.shape[1]))
        if self.unit == 0:
            return out
        distances, Z = self.query.distances(n_jobs), self.Z[self.references] / self.unit
        size = min(rows_per_block(len(self.Z)), _PLACED_AT_ONCE)
        for block in row_blocks(len(X), "placing rows", size=size):
            between = np.ascontiguousarray(self.measured(X[block], distances))
            out[block] = self.optimize(between, Z, n_jobs)
        return out * self.unit

    def measured(self, X: np.ndarray, distances: Distances) -> np.ndarray:
        """Distances (b, r) of new rows to the references."""
        return distances.to_references(X, self.references)

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates (b, d) of new rows, in units."""
        raise NotImplementedError
