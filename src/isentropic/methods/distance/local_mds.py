"""Local multidimensional scaling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Real
from ..._core.runtime import row_blocks, seeded
from ..._core.specs import Double, Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import MaxIter, MetricParameter, NComponents, NJobs, NNeighbors, training_data
from ...kernels._jit import threads
from ...kernels.pairs.pair_stress import kth_smallest, near_weights
from ...neighbors import clipped_neighbors
from ...objectives import Stress, worth_threads
from ...optim import Minimum, lbfgs
from .pairs import PairedRows, ReferenceMap, as_minimum, initial_coordinates, minimize, paired_rows
from .stress import lateration_guesses, optimize_stress_from, snap_to_references

_STEPS = 4  # of a stage, for which the weights are held
_STAGES_OF_ROW = 10


@dataclass(frozen=True, eq=False)
class LocalMap(ReferenceMap):
    """New rows go through stages whose radius shrinks to that of their k-th neighbour."""

    neighbors: Annotated[int, Whole(1)]
    balance: Annotated[float, Double(0)]

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, in units."""
        wanted = distances / self.unit
        k = min(self.neighbors, wanted.shape[1])
        last = np.partition(wanted, k - 1, axis=1)[:, k - 1 : k]
        most = wanted.max(axis=1, keepdims=True)
        starts = lateration_guesses(wanted, Z, n_jobs)
        found = optimize_stress_from(starts, np.ones_like(wanted), wanted, Z, n_jobs)
        for share in np.linspace(0.0, 1.0, _STAGES_OF_ROW):
            radius = most ** (1.0 - share) * last**share
            mapped = np.sqrt(((found[:, None] - Z) ** 2).sum(axis=2))
            weights = (1.0 - self.balance) * (wanted <= radius) + self.balance * (mapped <= radius)
            found = optimize_stress_from(found[:, None].copy(), weights, wanted, Z, n_jobs)
        return snap_to_references(found, wanted, Z)


class LocalMDS(Embedder):
    """Local MDS: preserve the distances between neighbours, in the data or in the map.

    Minimises ``sum (d - e)^2 ((1 - balance) F(d) + balance F(e))`` over pairs, d the distances in the data
    and e those in the map, F 1 within the radius of a row and 0 beyond, the mean of both rows. Pairs that are
    near in the data hold together what belongs together (continuity); pairs that are near in the map push
    apart what does not (trustworthiness): at 1 it is curvilinear component analysis. The radius shrinks from
    the largest distance to that of the k-th neighbour, weights held for four steps of L-BFGS at a time. A new
    row goes through ten such stages, with the fitted rows fixed.

    Cost: ``O(n^2)`` time a step and ``8 n^2`` bytes.

    Parameters
    ----------
    n_neighbors : int
        Neighbours within the last radius of a row. From n on all are taken, with a warning.
    n_components : int
        Dimension of the map.
    balance : float
        From 0, for neighbours in the data alone, to 1, for those in the map alone.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Steps of L-BFGS at most, four a stage.
    random_state : int, RandomState or None
        For random initialization. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In the units of the data.
    cost_ : float
        ``sum w (d - e)^2 / sum w d^2`` with the last weights.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Venna and Kaski (2006).

    Examples
    --------
    >>> from isentropic import LocalMDS, datasets
    >>> roll = datasets.load("builtin:swiss-roll").X[:200]
    >>> LocalMDS(n_neighbors=10).fit_transform(roll).shape
    (200, 2)
    """

    cost_: Annotated[float, Number(nan=True)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[LocalMap, Sub(LocalMap)]

    def __init__(
        self,
        n_neighbors: NNeighbors = 20,
        n_components: NComponents = 2,
        *,
        balance: Annotated[float, Real("a number from 0 to 1", most=1)] = 0.5,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: MaxIter = 240,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.balance = balance
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Distances, start, and a map for one radius after the other. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, "all", random, seed, n_jobs, merged=True)
        start = initial_coordinates(rows, self.init, d, random)
        rows.scale_to_units()
        balance = float(self.balance)
        found = _least_local_stress(rows, start, self.n_neighbors, balance, int(self.max_iter))
        Z = rows.embedding(found.point)
        every = np.arange(data.n)  # neighbours matter, and any row may be one
        new_rows = LocalMap(query, Z, rows.unit, every, int(self.n_neighbors), balance)
        return self._set_fit(Z, new_rows, cost_=found.value, n_iter_=found.n_iter)


def _least_local_stress(
    rows: PairedRows, start: np.ndarray, n_neighbors: int, balance: float, max_iter: int
) -> Minimum:
    """Minimize the local stress in stages, each with fixed weights."""
    if not rows.unit:
        return as_minimum(start)
    d, n = rows.pairs.distances, rows.pairs.n
    last = np.empty(n)
    k = clipped_neighbors(n_neighbors, n - 1)
    n_jobs = worth_threads(len(d), rows.n_jobs)
    with threads(n_jobs):
        kth_smallest(d, n, k, last)
    cost, _ = Stress(rows.pairs, counts=rows.counts, n_jobs=rows.n_jobs)(start)
    found = Minimum(start, cost, 0, True)
    weights = np.empty(len(d))
    for shares in _shrinking(max_iter // _STEPS):
        radii = last**shares  # the largest distance is 1
        with threads(n_jobs):
            near_weights(d, np.ascontiguousarray(found.point.T), radii, balance, weights)
        step = _stage(rows, found.point, weights)
        found = Minimum(step.point, step.value, found.n_iter + step.n_iter, True)
    return found


def _stage(rows: PairedRows, Z: np.ndarray, weights: np.ndarray) -> Minimum:
    if not weights.any():  # no two rows are near in the map, and nothing else counts
        return as_minimum(Z)
    d, counts = rows.pairs.distances, rows.counts
    total = float(np.einsum("i,i,i->", weights, d, d)) if counts is None else None
    stress = Stress(rows.pairs, weights=weights, counts=counts, normaliser=total, n_jobs=rows.n_jobs)
    return minimize(stress, Z, partial(lbfgs, max_iter=_STEPS, tol=0.0))


def _shrinking(stages: int):
    """From 0 to 1 in equal steps, with progress."""
    for block in row_blocks(stages, "stages", size=1):
        yield block.start / max(stages - 1, 1)
