"""CCA and CDA: curvilinear component and distance analysis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
from scipy.spatial import cKDTree

from ..._core.arguments import Choice, Count, Real
from ..._core.errors import require
from ..._core.runtime import require_memory, row_blocks, seeded
from ..._core.specs import Double, Number, Whole
from ..._core.state import Sub
from ..._core.values import Knn
from ...distances import distinct_rows
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import MetricParameter, NComponents, NJobs, training_data
from ...kernels._jit import threads
from ...kernels.pairs.curvilinear import curvilinear_epoch, optimize_within_radius
from ...kernels.pairs.degrees import paired_distances
from ...kernels.pairs.pair_stress import all_pairs_lengths
from ...neighbors import searched_neighbors
from ...objectives import AllPairs, ListedPairs, ListedStress, Stress, worth_threads
from ...optim import Minimum, lbfgs
from .pairs import (
    PairedRows,
    PairsParameter,
    ReferenceMap,
    as_minimum,
    initial_coordinates,
    minimize,
    paired_rows,
)
from .stress import snap_to_references

_NEIGHBORS = 15  # whose median distance is the last radius
_STEPS = 4  # of L-BFGS within each radius
_RATES = 0.5, 0.005  # of the published rule, first and last
_JITTER = 1e-6  # of the width of a start, where it has different rows in one place
_STAGES_OF_NEW, _FIRST_OF_NEW = 10, 3.0  # radii for a new row: how many, and the first, of the last
_LISTED = 512  # partners of a row within the radius, on average, that are listed
_LISTED_SHARE = 1 / 8  # of all rows: above it, sums over all pairs are quicker


@dataclass(frozen=True, eq=False)
class RadiusMap(ReferenceMap):
    """New rows minimize the stress of those within a radius in the map, which shrinks to that of the fit."""

    radius: Annotated[float, Double(0)]

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, in units."""
        out = np.empty((len(distances), Z.shape[1]))
        wanted, radius = distances / self.unit, self.radius / self.unit
        with threads(n_jobs):
            optimize_within_radius(wanted, Z, _FIRST_OF_NEW * radius, radius, _STAGES_OF_NEW, out)
        return snap_to_references(out, wanted, Z)


class CurvilinearComponentAnalysis(Embedder):
    """CCA and CDA: preserve distances that are short in the map; long ones may tear.

    Minimises ``sum (d_ij - e_ij)^2 [e_ij <= radius]`` with d the distances in the data and e those in the
    map. The radius shrinks in stages from the largest distance to its end; within a stage the pairs that
    count are held, and L-BFGS takes four steps. Since a pair counts by its distance in the map, strangers
    drawn near are pushed apart, while neighbours drawn apart are given up: the map is trustworthy, and may
    be torn. With ``metric=Geodesic(k)``, distances along the surface, it is curvilinear distance
    analysis (CDA), which unrolls rather than tears.

    A new row starts beside its nearest fitted row and is placed by the rows that it is near to in the map.

    Cost: ``O(n^2)`` time a stage and ``8 n^2`` bytes up to 8,000 rows; above, early stages take ``O(n s)``
    for s sampled partners of each row. Late ones list the pairs within the radius.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    radius : float, optional
        The last radius, in the units of the data. None is the median distance to the 15th neighbour. A
        smaller one tears more.
    rule : {"stages", "stochastic"}
        ``"stochastic"`` is the published rule, for reproduction: each row in random order moves those within
        the radius, with rates from 0.5 to 0.005.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph: CDA.
    max_iter : int
        Stages, or epochs of the published rule.
    pairs : {"auto", "all"} or int
        Which pairs early stages add up: all, or those with this many random partners of each row.
        ``"auto"`` is all up to 8,000 rows, and 128 partners above.
    random_state : int, RandomState or None
        For sampled pairs, random initialization and the published rule. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In the units of the data.
    radius_ : float
        The last radius.
    cost_ : float
        ``sum (d - e)^2 / sum d^2`` over the pairs within it.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Demartines and Hérault (1997). Lee, Lendasse and Verleysen (2004) for CDA.

    Examples
    --------
    >>> from isentropic import CurvilinearComponentAnalysis, Geodesic, datasets
    >>> roll = datasets.load("builtin:swiss-roll").X[::4]
    >>> cca = CurvilinearComponentAnalysis().fit(roll)
    >>> bool((cca.transform(roll[:5]) == cca.embedding_[:5]).all())
    True
    >>> cda = CurvilinearComponentAnalysis(metric=Geodesic(10)).fit(roll)
    >>> bool(cda.cost_ < 0.1)
    True
    """

    radius_: Annotated[float, Double(0)]
    cost_: Annotated[float, Number(nan=True)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[RadiusMap, Sub(RadiusMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        radius: Annotated[float | None, Real("a positive number or None", above=0, optional=True)] = None,
        rule: Annotated[str, Choice("stages", "stochastic")] = "stages",
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: Annotated[int, Count("a number of stages", least=0)] = 60,
        pairs: PairsParameter = "auto",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.radius = radius
        self.rule = rule
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.pairs = pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Distances, start; then radius after radius, towards the distances within it. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, self.pairs, random, seed, n_jobs, merged=True)
        start = initial_coordinates(rows, self.init, d, random)
        rows.scale_to_units()
        radius = _last_radius(rows, self.radius)
        found = _least_within(rows, start, radius, self.rule, int(self.max_iter))
        Z = rows.embedding(found.point)
        every = np.arange(data.n)  # those near in the map matter, and any may be
        new_rows = RadiusMap(query, Z, rows.unit, every, radius)
        return self._set_fit(Z, new_rows, radius_=radius, cost_=found.value, n_iter_=found.n_iter)


def _last_radius(rows: PairedRows, radius: float | None) -> float:
    """In the units of the data; at most the largest distance."""
    if radius is not None:
        return min(float(radius), rows.unit)
    if rows.unit == 0:
        return 0.0
    distances = rows.distances
    rule = Knn(min(_NEIGHBORS, len(distances.X) - 1))
    near = searched_neighbors(distances.X, rule, metric=distances.metric, random_state=rows.seed,
                              n_jobs=rows.n_jobs).distances[:, -1]  # fmt: skip
    apart = near[near > 0]  # of rows that have fewer equals
    return min(float(np.median(apart)), rows.unit) if len(apart) else rows.unit


def _least_within(rows: PairedRows, start: np.ndarray, radius: float, rule: str, stages: int) -> Minimum:
    """Minimize the stress for every radius, from the largest distance to the last one."""
    if not rows.unit:
        return as_minimum(start)
    radii = np.geomspace(1.0, radius / rows.unit, stages)
    Z = _jitter(start, rows.seed)
    blocks = row_blocks(len(radii), rule, size=1)
    if rule == "stochastic":
        Z = _stochastic_epochs(rows, Z, radii, blocks)
    within = RadiusPairs(rows)
    steps = partial(lbfgs, max_iter=_STEPS, tol=0.0)
    if rule == "stages":
        for stage in blocks:
            Z = minimize(within.stress(Z, radii[stage.start]), Z, steps).point
    last = within.stress(Z, radii[-1]) if len(radii) else within.stress(Z, 1.0)
    cost, _ = last(last.in_order(Z))
    return Minimum(Z, cost, len(radii), True)


def _jitter(start: np.ndarray, seed: int) -> np.ndarray:
    """Move different rows that start at one position, which no force would separate, a little apart."""
    start = np.ascontiguousarray(start)
    if distinct_rows(start) is None:
        return start.copy()
    noise = np.random.default_rng(seed).normal(size=start.shape)
    return start + _JITTER * np.ptp(start, axis=0).max() * noise


def _stochastic_epochs(rows: PairedRows, Z: np.ndarray, radii: np.ndarray, epochs) -> np.ndarray:
    """Epochs of the published rule, each row in random order."""
    hint = 'Take pairs="all", or rule="stages".'
    require(isinstance(rows.pairs, AllPairs), "pairs", "all for the published rule", "drawn pairs", hint)
    random = np.random.default_rng(rows.seed)
    rates = np.geomspace(*_RATES, len(radii))
    for epoch in epochs:
        e = epoch.start
        curvilinear_epoch(rows.pairs.distances, random.permutation(len(Z)), rates[e], radii[e], Z)
    return Z


class RadiusPairs:
    """Stress of rows, over the pairs within a radius in a map: by weights of 0 and 1, or by lists.

    Lists take over once few pairs are within the radius, and then come from a tree of the map.
    """

    def __init__(self, rows: PairedRows):
        self.rows, self.listed = rows, False
        self.known: ListedPairs | None = None  # the last lists
        self.n_jobs = worth_threads(rows.pairs.distances.size, rows.n_jobs)

    def stress(self, Z: np.ndarray, radius: float) -> Stress | ListedStress:
        """The cost, for the pairs that are within ``radius`` in the map ``Z``."""
        if not self.listed:
            weights = self._within(Z, radius)
            n = len(Z)
            self.listed = weights.mean() * n <= min(_LISTED, _LISTED_SHARE * n)
            if not self.listed:
                return Stress(self.rows.pairs, weights=weights, counts=self.rows.counts,
                              n_jobs=self.n_jobs)  # fmt: skip
        self.known = self._list(Z, radius)
        return ListedStress(self.known, n_jobs=self.n_jobs)

    def _within(self, Z: np.ndarray, radius: float) -> np.ndarray:
        """1 for each pair of the rows within the radius, 0 for the others."""
        pairs = self.rows.pairs
        e = np.empty(pairs.distances.shape)
        with threads(self.n_jobs):
            if isinstance(pairs, AllPairs):
                all_pairs_lengths(np.ascontiguousarray(Z.T), e)
            else:
                paired_distances(Z, pairs.order, pairs.shifts, e)
        return np.less_equal(e, radius, out=e)

    def _list(self, Z: np.ndarray, radius: float) -> ListedPairs:
        n = len(Z)
        tree = cKDTree(Z)
        expected = int(tree.count_neighbors(tree, radius)) - n
        require_memory(72 * expected, f"{expected // 2:,} pairs within the radius", "Take a smaller radius.")
        found = tree.query_pairs(radius, output_type="ndarray")
        first, second = np.ascontiguousarray(found.T, np.int64)
        # most pairs are in the lists of the last radius as well
        return ListedPairs.of(
            n, first, second, self._data_distances, counts=self.rows.counts, known=self.known
        )

    def _data_distances(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Distances in the data, in units, of pairs with ``first < second``."""
        rows, pairs = self.rows, self.rows.pairs
        if isinstance(pairs, AllPairs):
            return pairs.distances[first * pairs.n - first * (first + 1) // 2 + second - first - 1]
        if rows.groups is not None:
            first, second = rows.groups.rows[first], rows.groups.rows[second]
        return rows.distances.of_pairs(first, second) / rows.unit
