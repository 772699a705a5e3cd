"""Multidimensional scaling by stress: metric and nonmetric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Choice, Real
from ..._core.errors import IsentropicWarning, warn
from ..._core.runtime import require_memory, seeded
from ..._core.specs import Array, Number, Tuple, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.initialization import previous_embedding
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import MaxIter, MetricParameter, NComponents, NJobs, Tolerance, training_data
from ...objectives import MonotoneStress, weight_floor
from ...optim import Minimum, lbfgs
from .pairs import (
    PairedRows,
    PairsParameter,
    ReferenceMap,
    as_minimum,
    initial_coordinates,
    minimize,
    optimizer_of,
    paired_rows,
    reference_rows,
)
from .stress import StressMap, least_stress, optimize_stress, stress_of

_SAMMON = 1.0  # the power of the distance by which a pair weighs less


class MetricMDS(Embedder):
    """Metric MDS: preserve distances by least squares (stress).

    Minimises ``sum w (d - e)^2 / sum w d^2`` over pairs, ``w = d^-power``, with d the distances in the data
    and e those in the map, by L-BFGS from classical scaling. At ``power=0`` the root of the cost is
    normalised stress, and large distances are kept first; at 2 errors count in proportion to the distance
    (elastic scaling). Equal rows are merged, and count as often as they come. A new row minimises its own
    part of the cost, with the fitted rows fixed.

    Cost: ``O(n^2)`` time a step and ``4 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``4 n s`` bytes
    for s partners of each row. 30 to 300 steps.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    power : float
        By how much near pairs weigh more than far ones, at least 0.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    pairs : {"auto", "all"} or int
        Which pairs the cost adds up: all, or those with this many random partners of each row.
        ``"auto"`` is all up to 8,000 rows, and 128 partners above.
    random_state : int, RandomState or None
        For sampled pairs and random initialization. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In the units of the data.
    cost_ : float
        The weighted stress, from 0 for a perfect map to 1 for one point.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Kruskal (1964); McGee (1966) for elastic scaling.

    Examples
    --------
    >>> from isentropic import MetricMDS
    >>> from sklearn.datasets import load_iris
    >>> mds = MetricMDS().fit(load_iris().data)
    >>> round(mds.cost_**0.5, 4)  # normalised stress
    0.0327
    """

    cost_: Annotated[float, Number(nan=True)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[StressMap, Sub(StressMap)]
    _refines = True

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        power: Annotated[float, Real("a number of at least 0")] = 0.0,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: MaxIter = 500,
        tol: Tolerance = 1e-9,
        pairs: PairsParameter = "auto",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.power = power
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.pairs = pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """Distances, start, least stress. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, self.pairs, random, seed, n_jobs, merged=True)
        start = initial_coordinates(rows, self.init, d, random, previous)
        rows.scale_to_units()
        power, optimizer = float(self.power), optimizer_of(self.max_iter, self.tol, previous)
        found = least_stress(rows, start, power, optimizer)
        Z = rows.embedding(found.point)
        new_rows = StressMap(query, Z, rows.unit, reference_rows(data.n, seed), power,
                             weight_floor(rows.pairs))  # fmt: skip
        return self._set_fit(Z, new_rows, cost_=found.value, n_iter_=found.n_iter)


class Sammon(Embedder):
    """Sammon mapping: preserve distances, short ones above all.

    Minimises ``E = sum (d - e)^2 / d / sum d`` over pairs, d the distances in the data and e those in the
    map: an error counts by its size and by its share of the distance. By L-BFGS from classical scaling. Equal
    rows are merged, so that no distance is 0, and count as often as they come; near-duplicates weigh as if
    they were a millionth of the mean distance apart. A new row minimises its own part of the cost, with the
    fitted rows fixed.

    Cost: ``O(n^2)`` time a step and ``4 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``4 n s`` bytes
    for s partners of each row. 30 to 200 steps.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph (geodesic Sammon mapping, which starts from ISOMAP).
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    pairs : {"auto", "all"} or int
        Which pairs the cost adds up: all, or those with this many random partners of each row.
        ``"auto"`` is all up to 8,000 rows, and 128 partners above.
    random_state : int, RandomState or None
        For sampled pairs and random initialization. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In the units of the data.
    cost_ : float
        Sammon's E, from 0 for a perfect map to 1 for one point.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Sammon (1969). Yang (2004) for geodesic distances.

    Examples
    --------
    >>> from isentropic import Sammon
    >>> from sklearn.datasets import load_iris
    >>> round(Sammon().fit(load_iris().data).cost_, 6)
    0.003969
    """

    cost_: Annotated[float, Number(nan=True)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[StressMap, Sub(StressMap)]
    _refines = True

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: MaxIter = 500,
        tol: Tolerance = 1e-9,
        pairs: PairsParameter = "auto",
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        """Distances, start, least stress. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, self.pairs, random, seed, n_jobs, merged=True)
        start = initial_coordinates(rows, self.init, d, random, previous)
        rows.scale_to_units()
        found = least_stress(rows, start, _SAMMON, optimizer_of(self.max_iter, self.tol, previous))
        Z = rows.embedding(found.point)
        new_rows = StressMap(query, Z, rows.unit, reference_rows(data.n, seed), _SAMMON,
                             weight_floor(rows.pairs))  # fmt: skip
        return self._set_fit(Z, new_rows, cost_=found.value, n_iter_=found.n_iter)


_KNOTS = 2048  # of the increasing function, for new rows
_ROUGH = partial(lbfgs, max_iter=100, tol=1e-6)  # for the metric map that the search starts from
_BYTES = 52  # a pair, at most, beside its distance

Knots = tuple[np.ndarray, np.ndarray]  # distances in the data, and what the function makes of them


@dataclass(frozen=True, eq=False)
class MonotoneMap(ReferenceMap):
    """New rows minimize ``sum_j (f(d_j) - |z - z_j|)^2``, f the increasing function of the fit."""

    knots: Annotated[Knots, Tuple(Array("q"), Array("q"))]  # of f, in units

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, in units."""
        wanted = self._increasing(distances / self.unit)
        return optimize_stress(np.ones_like(wanted), wanted, Z, n_jobs)

    def _increasing(self, distances: np.ndarray) -> np.ndarray:
        """The function between its knots, from the origin on, and in proportion beyond the last one."""
        d, f = (np.concatenate([[0.0], part]) for part in self.knots)
        beyond = distances > d[-1]
        return np.where(beyond, distances * (f[-1] / d[-1]), np.interp(distances, d, f))


class NonmetricMDS(Embedder):
    """Nonmetric MDS: preserve the order of distances (Kruskal's stress-1).

    Minimises ``sum (f(d) - e)^2 / sum e^2`` over maps and increasing functions f, d the distances in the data
    and e those in the map. For every map f is found by pooling adjacent violators, and since it is the best
    one, the gradient is that of f held: L-BFGS goes down the cost itself, from metric MDS. From a given
    ``init`` only the order of the distances matters. A new row minimises ``sum_j (f(d_j) - |z - z_j|)^2``.

    Cost: ``O(n^2)`` time a step, after a sort, and ``22 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and
    ``22 n s`` bytes for s partners of each row. 50 to 200 steps.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    ties : {"primary", "secondary"}
        Whether f may differ between equal distances, or not.
    init : {"pca", "random"} or array of shape (n, n_components)
        ``"pca"`` is metric MDS from principal components, or, for metrics other than the Euclidean, from
        classical scaling. Coordinates that are given are where the search starts, and give the map its size.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    pairs : {"auto", "all"} or int
        Which pairs the cost adds up: all, or those with this many random partners of each row.
        ``"auto"`` is all up to 8,000 rows, and 128 partners above.
    random_state : int, RandomState or None
        For sampled pairs and random initialization. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        As large as the map that the search started from.
    stress_ : float
        Kruskal's stress-1, the root of the cost: 0 where all distances are in order.
    cost_ : float
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Kruskal (1964).

    Examples
    --------
    >>> from isentropic import NonmetricMDS
    >>> from sklearn.datasets import load_iris
    >>> round(NonmetricMDS().fit(load_iris().data).stress_, 4)
    0.0253
    """

    stress_: Annotated[float, Number()]
    cost_: Annotated[float, Number(nan=True)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[MonotoneMap, Sub(MonotoneMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        ties: Annotated[str, Choice("primary", "secondary")] = "primary",
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: MaxIter = 500,
        tol: Tolerance = 1e-7,
        pairs: PairsParameter = "auto",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.ties = ties
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.pairs = pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """Distances, metric map, then the map and the increasing function together. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, self.pairs, random, seed, n_jobs, merged=True)
        start = initial_coordinates(rows, self.init, d, random, previous)
        rows.scale_to_units()
        optimizer = optimizer_of(self.max_iter, self.tol, previous)
        rough = as_minimum(start)
        if previous is None and isinstance(self.init, str) and self.max_iter:
            rough = _metric_map(rows, start)
        found, knots = _monotone_map(rows, rough, self.ties, optimizer)
        Z = rows.embedding(found.point)
        new_rows = MonotoneMap(query, Z, rows.unit, reference_rows(data.n, seed), knots)
        return self._set_fit(Z, new_rows, stress_=math.sqrt(found.value), cost_=found.value,
                             n_iter_=found.n_iter)  # fmt: skip


def _metric_map(rows: PairedRows, start: np.ndarray) -> Minimum:
    return minimize(stress_of(rows, 0.0), start, _ROUGH) if rows.unit else as_minimum(start)


def _monotone_map(
    rows: PairedRows, rough: Minimum, ties: str, optimizer: partial[Minimum]
) -> tuple[Minimum, Knots]:
    """The map of least cost from another one, and the increasing function."""
    if not rows.unit:
        return rough, (np.zeros(1), np.zeros(1))
    size = rows.pairs.distances.size
    require_memory(_BYTES * size, f"The order of {size:,} pairs", "Draw pairs: pairs=128.")
    cost = MonotoneStress(rows.pairs, ties=ties, counts=rows.counts, n_jobs=rows.n_jobs)
    found = _minimum(cost, rough, optimizer)
    return found, cost.knots(found.point, _KNOTS)


def _minimum(cost: MonotoneStress, rough: Minimum, optimizer: partial[Minimum]) -> Minimum:
    """The minimum from a map, and as large as it: the cost of a map does not depend on its size."""
    if cost.n_levels == 1:
        text = "All distances are equal, and every map has them in order: metric MDS is kept."
        warn(text, IsentropicWarning)
        value, _ = cost(cost.in_order(rough.point))
        return Minimum(rough.point, value, rough.n_iter, rough.converged)
    size = _size(rough.point)
    found = minimize(cost, rough.point / size, optimizer)
    point = found.point * (size / _size(found.point))
    return Minimum(point, found.value, rough.n_iter + found.n_iter, found.converged)


def _size(Z: np.ndarray) -> float:
    """Root of the mean square of a centred map."""
    return float(np.sqrt(((Z - Z.mean(axis=0)) ** 2).mean()))
