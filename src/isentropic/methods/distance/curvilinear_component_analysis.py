"""CCA and CDA: curvilinear component and distance analysis."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..._core.errors import require, require_count, require_number, require_one_of
from ..._core.runtime import row_blocks
from ..._core.state import Double, State
from ..._core.values import Knn
from ...distances import distinct_rows
from ...kernels._jit import threads
from ...kernels.pairs.curvilinear import curvilinear_epoch, settle_within
from ...neighbors import searched_neighbors
from ...objectives import AllPairs
from ...optim import Minimum, lbfgs
from .pairs_embedder import Problem, minimised
from .radius_pairs import RadiusPairs
from .stress_embedder import StressEmbedder, with_their_own

_NEIGHBORS = 15  # whose median distance is the last radius
_STEPS = 4  # of L-BFGS within each radius
_RATES = 0.5, 0.005  # of the published rule, first and last
_JITTER = 1e-6  # of the width of a start, where it has different rows in one place
_STAGES_OF_NEW, _FIRST_OF_NEW = 10, 3.0  # radii for a new row: how many, and the first, of the last


class CurvilinearComponentAnalysis(StressEmbedder):
    """Short distances first: they are kept between rows near in the map, and what is far may tear (CCA, CDA).

    Minimises ``sum (d_ij - e_ij)^2 [e_ij <= radius]`` with d the distances in the data and e those in the
    map. The radius shrinks in stages from the largest distance to its end; within a stage the pairs that
    count are held, and L-BFGS takes four steps. Since a pair counts by its distance in the map, strangers
    drawn near are pushed apart, while neighbours drawn apart are given up: the map is trustworthy, and may
    be torn. With ``metric=Geodesic(k)``, distances along the surface, it is curvilinear distance
    analysis (CDA), which unrolls rather than tears.

    A new row starts beside its nearest fitted row and is placed by the rows that it is near to in the map.

    Cost: ``O(n^2)`` time a stage and ``8 n^2`` bytes up to 8,000 rows; above, early stages take ``O(n s)``
    for s drawn partners of each row. Late ones list the pairs within the radius.

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
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph: CDA.
    max_iter : int
        Stages, or epochs of the published rule.
    pairs : {"auto", "all"} or int
        Which pairs early stages add up: all, or those with this many random partners of each row.
        ``"auto"`` is all up to 8,000 rows, and 128 partners above.
    random_state : int, RandomState or None
        For drawn pairs, random starts and the published rule. None is a fixed seed: two runs agree.
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

    _state = State(radius_=Double(0))

    def __init__(
        self,
        n_components=2,
        *,
        radius=None,
        rule="stages",
        init="pca",
        metric="euclidean",
        max_iter=60,
        pairs="auto",
        random_state=None,
        n_jobs=None,
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
        stages = self._checked_stages()
        problem = self._problem_in_units(X)
        radius = self._last_radius(problem)
        minimum = Minimum(problem.start, 0.0, 0, True)
        if problem.unit:
            radii = np.geomspace(1.0, radius / problem.unit, stages)
            minimum = self._minimum_within(problem, radii)
        self._keep(problem, minimum)
        self.radius_ = radius
        self._references = np.arange(len(self.embedding_))  # those near in the map matter, and any may be
        return self

    def _checked_stages(self) -> int:
        require_one_of("rule", self.rule, ("stages", "stochastic"))
        if self.radius is not None:
            require_number("radius", self.radius, "a positive number or None", above=0)
        return require_count("max_iter", self.max_iter, "a number of stages", least=0)

    def _last_radius(self, problem: Problem) -> float:
        """In the units of the data; at most the largest distance."""
        if self.radius is not None:
            return min(float(self.radius), problem.unit)
        if problem.unit == 0:
            return 0.0
        distances = problem.distances
        rule = Knn(min(_NEIGHBORS, len(distances.X) - 1))
        near = searched_neighbors(distances.X, rule, metric=distances.metric, random_state=problem.seed,
                                 n_jobs=self.n_jobs).distances[:, -1]  # fmt: skip
        apart = near[near > 0]  # of rows that have fewer equals
        return min(float(np.median(apart)), problem.unit) if len(apart) else problem.unit

    def _minimum_within(self, problem: Problem, radii: np.ndarray) -> Minimum:
        Z = _jittered(problem.start, problem.seed)
        stages = row_blocks(len(radii), self.rule, size=1)
        if self.rule == "stochastic":
            Z = _published(problem, Z, radii, stages)
        within = RadiusPairs(problem, self.n_jobs)
        steps = partial(lbfgs, max_iter=_STEPS, tol=0.0)
        if self.rule == "stages":
            for stage in stages:
                Z = minimised(within.stress(Z, radii[stage.start]), Z, steps).point
        last = within.stress(Z, radii[-1]) if len(radii) else within.stress(Z, 1.0)
        cost, _ = last(last.in_order(Z))
        return Minimum(Z, cost, len(radii), True)

    def _settle(self, distances: np.ndarray, Z: np.ndarray) -> np.ndarray:
        out = np.empty((len(distances), Z.shape[1]))
        wanted, radius = distances / self._unit, self.radius_ / self._unit
        with threads(self.n_jobs):
            settle_within(wanted, Z, _FIRST_OF_NEW * radius, radius, _STAGES_OF_NEW, out)
        return with_their_own(out, wanted, Z)


def _jittered(start: np.ndarray, seed: int) -> np.ndarray:
    """The start; different rows in one place, which nothing would part, are moved a little."""
    start = np.ascontiguousarray(start)
    if distinct_rows(start) is None:
        return start.copy()
    noise = np.random.default_rng(seed).normal(size=start.shape)
    return start + _JITTER * np.ptp(start, axis=0).max() * noise


def _published(problem: Problem, Z: np.ndarray, radii: np.ndarray, epochs) -> np.ndarray:
    """Epochs of the published rule, each row in random order."""
    hint = 'Take pairs="all", or rule="stages".'
    require(isinstance(problem.pairs, AllPairs), "pairs", "all for the published rule", "drawn pairs", hint)
    random = np.random.default_rng(problem.seed)
    rates = np.geomspace(*_RATES, len(radii))
    for epoch in epochs:
        e = epoch.start
        curvilinear_epoch(problem.pairs.distances, random.permutation(len(Z)), rates[e], radii[e], Z)
    return Z
