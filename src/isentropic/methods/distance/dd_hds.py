"""DD-HDS: data-driven high-dimensional scaling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Real
from ..._core.runtime import seeded
from ..._core.specs import Array, Number, StateError, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import MaxIter, MetricParameter, NComponents, NJobs, Tolerance, training_data
from ...kernels._jit import threads
from ...kernels.pairs.pair_stress import NEAR_GAPS
from ...kernels.rows.row_descent import NEAR_GAPS as NEAR_GAPS_OF_ROW
from ...kernels.rows.row_descent import optimize_rows
from ...objectives import Stress
from ...optim import Minimum
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
from .stress import lateration_guesses, snap_to_references

_SMOOTH = (1.0, 0.3, 0.1, 0.03, 0.01)  # of the mean distance: how far errors are rounded off, in turn
_NONE = 1e-12  # and for the cost that is told
_TINY = 1e-300
_LEAST = 1e-100  # of sigma and of the rounding, in units of the largest distance: their squares do not vanish


@dataclass(frozen=True, eq=False)
class NearGapsMap(ReferenceMap):
    """New rows minimize ``sum_j |d_j - e_j| (1 - Phi((min(d_j, e_j) - mu) / sigma))``, kinks rounded off."""

    shape: Annotated[np.ndarray, Array(3)]  # mu, sigma, and the rounding, in units

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, in units."""
        wanted = distances / self.unit
        starts, every = lateration_guesses(wanted, Z, n_jobs), np.empty((len(wanted), 0), np.int64)
        with threads(n_jobs):
            found = optimize_rows(NEAR_GAPS_OF_ROW, starts, Z, every, wanted, every, self.shape)
        return snap_to_references(found, wanted, Z)

    def _require_sound(self) -> None:
        if not (self.shape[1:] >= _LEAST).all():
            raise StateError("shape", f"must be at least {_LEAST} but for its first number")


class DDHDS(Embedder):
    """DD-HDS: preserve distances that are short in the data or in the map.

    Minimises ``sum |d - e| (1 - Phi((min(d, e) - mu) / sigma))``, d the distances in the data and e those in
    the map, Phi the normal distribution function, ``mu = mean d - 2 (1 - balance) sd d`` and
    ``sigma = 2 balance sd d``. A weight that goes by the smaller of the two distances punishes strangers
    drawn near and neighbours drawn apart alike; long distances, which concentrate in many dimensions, count
    little. L-BFGS lowers the cost with its kinks rounded off, less and less. A new row minimises its own part
    of the cost, with the fitted rows fixed.

    Cost: ``O(n^2)`` time a step and ``4 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``4 n s`` bytes
    for s partners of each row. Up to 200 steps five times.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    balance : float
        From 0.1, where only the shortest distances count, to 0.9, where most do.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Steps of L-BFGS at most, for each rounding.
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
        The cost, kinks and all, in the units of the data; over the sampled pairs where pairs are drawn.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Lespinats, Verleysen, Giron and Fertil (2007).

    Examples
    --------
    >>> from isentropic import DDHDS
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> map_of_iris = DDHDS().fit(X)
    >>> bool(map_of_iris.cost_ < 230)
    True
    >>> bool((map_of_iris.transform(X[:5]) == map_of_iris.embedding_[:5]).all())
    True
    """

    cost_: Annotated[float, Number(nan=True)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[NearGapsMap, Sub(NearGapsMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        balance: Annotated[float, Real("a number from 0.1 to 0.9", least=0.1, most=0.9)] = 0.5,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: MaxIter = 200,
        tol: Tolerance = 1e-9,
        pairs: PairsParameter = "auto",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.balance = balance
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.pairs = pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Distances, start; then minima of the cost, each less rounded off than the one before.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, self.pairs, random, seed, n_jobs, merged=True)
        start = initial_coordinates(rows, self.init, d, random)
        rows.scale_to_units()
        shape = _weight_shape(rows, float(self.balance))
        found = _rounded_minimum(rows, start, shape, optimizer_of(self.max_iter, self.tol))
        Z = rows.embedding(found.point)
        new_rows = NearGapsMap(query, Z, rows.unit, reference_rows(data.n, seed), shape)
        return self._set_fit(Z, new_rows, cost_=found.value, n_iter_=found.n_iter)


def _weight_shape(rows: PairedRows, balance: float) -> np.ndarray:
    """``mu`` and ``sigma`` of the weights, and the last rounding, in units."""
    if not rows.unit:
        return np.ones(3)
    mu, sigma, mean = _weights_of(rows, balance)
    return np.array([mu, sigma, _SMOOTH[-1] * mean])


def _rounded_minimum(
    rows: PairedRows, start: np.ndarray, shape: np.ndarray, optimizer: partial[Minimum]
) -> Minimum:
    """Minimize the cost with ever less rounding; with the cost that is not rounded."""
    if not rows.unit:
        return as_minimum(start)
    n_pairs = rows.pairs.distances.size

    def cost(share: float) -> Stress:
        rounded = (*shape[:2], shape[2] * share / _SMOOTH[-1])
        return Stress(rows.pairs, term=NEAR_GAPS, counts=rows.counts, shape=rounded,
                      normaliser=float(n_pairs), n_jobs=rows.n_jobs)  # fmt: skip

    Z, steps = start, 0
    for share in _SMOOTH:
        found = minimize(cost(share), Z, optimizer)
        Z, steps = found.point, steps + found.n_iter
    exact = cost(_NONE)
    value, _ = exact(exact.in_order(Z))
    return Minimum(Z, value * n_pairs * rows.unit, steps, found.converged)


def _weights_of(rows: PairedRows, balance: float) -> tuple[float, float, float]:
    """``mu`` and ``sigma`` of the weights, and the mean distance, over all pairs of rows that differ."""

    def total(power: float) -> float:
        """``sum d^(2 - power)``: the stress of a map that is one point."""
        return Stress(rows.pairs, power=power, floor=_TINY, counts=rows.counts).normaliser

    count = total(2.0)
    mean = total(1.0) / count
    deviation = max(total(0.0) / count - mean * mean, 0.0) ** 0.5
    if deviation <= 1e-7 * mean:  # all distances are equal, but for rounding: all weigh the same
        return 0.0, 1e300, mean
    return mean - 2.0 * (1.0 - balance) * deviation, 2.0 * balance * deviation, mean
