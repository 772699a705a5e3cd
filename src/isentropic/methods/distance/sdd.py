"""SDD: same-degree distributions in the data and in the map; with a degree to choose, or parameter-free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from ..._core.errors import require
from ..._core.runtime import seeded
from ..._core.specs import Dict, Maybe, Number, Tuple, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.initialization import previous_embedding
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import MetricParameter, NComponents, NJobs, Tolerance, training_data
from .pairs import (
    OptimizerParameter,
    PairsParameter,
    Scale,
    Steps,
    initial_coordinates,
    optimizer_of,
    paired_rows,
)
from .same_degree import (
    DEGREES,
    DegreeMap,
    DegreeTrials,
    Trial,
    best_of,
    checked_degrees,
    continues_search,
    degree_map,
)

_PARAMETER_FREE_DEGREE, _PARAMETER_FREE_SCALE = 1, 2.0


class SDD(Embedder):
    """Same-degree distributions: preserve the order of distances, small and large.

    Pairs of rows get the similarities ``p_ij = (1 + d_ij^2)^-g / sum`` from their distances in the data, the
    largest of which counts as ``scale``, and ``q_ij`` likewise from those in the map, with the same degree g.
    The map minimises ``sum p log(p / q)``. A low degree weighs large distances, a high one small ones;
    ``degree="auto"`` takes the one of 1 to 15 with the highest Kendall tau between the distances of the data
    and of the map. A new row minimises its own part of the cost, with all fitted rows and the normalisers
    fixed.

    Cost: ``O(n^2)`` time a step and ``8 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``8 n s`` bytes
    for s partners of each row. 20 to 200 steps a degree; 6 to 9 degrees for ``"auto"``, mostly 3 to 5
    from 512 rows on, where a sample of 256 rows says which one to begin with.

    Parameters
    ----------
    degree : int, float, sequence or "auto"
        The degree g; of a sequence, each is tried and the best kept. ``"auto"`` finds the best of 1 to 15
        without trying each.
    n_components : int
        Dimension of the map.
    scale : float
        What the largest distance counts as: at more than 1, large distances weigh less.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling. ``"random"`` is
        a cloud, as small as published with ``Momentum()``: some end in a worse map.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    optimizer : Momentum, optional
        ``Momentum()`` descends as published, with steps of its own, for reproduction. None is L-BFGS.
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
    degree_ : float
        The degree used.
    cost_ : float
        ``sum p log(p / q)``, 0 for a perfect map.
    kendall_tau_ : float
        Of the distances in the data and in the map; NaN where those do not vary (two rows, or all equal).
    kendall_tau_interval_ : (float, float) or None
        The 95% interval where tau is estimated from sampled pairs, above 20,000 rows; else None.
    scores_ : dict
        Tau by degree tried, from sampled pairs where there are many.
    n_iter_ : int
        Steps taken for the degree used.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hajderanj, Chen, Grisan and Dudley (2020).

    Examples
    --------
    >>> from isentropic import PCA, SDD, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> sdd = SDD(degree=4).fit(iris.X)
    >>> sdd.embedding_.shape
    (150, 2)
    >>> bool(sdd.kendall_tau_ > 0.9)
    True
    >>> bool((sdd.transform(iris.X[:5]) == sdd.embedding_[:5]).all())
    True
    """

    degree_: Annotated[float, Number(above=0)]
    scores_: Annotated[dict[float, float], Dict(Number(), Number(nan=True))]
    cost_: Annotated[float, Number(nan=True)]
    kendall_tau_: Annotated[float, Number(nan=True)]
    kendall_tau_interval_: Annotated[tuple[float, float] | None, Maybe(Tuple(Number(), Number()))]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[DegreeMap, Sub(DegreeMap)]
    _refines = True

    def __init__(
        self,
        degree: Any = "auto",
        n_components: NComponents = 2,
        *,
        scale: Scale = 1.0,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: Steps = 500,
        tol: Tolerance = 1e-6,
        optimizer: OptimizerParameter = None,
        pairs: PairsParameter = "auto",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.degree = degree
        self.n_components = n_components
        self.scale = scale
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.optimizer = optimizer
        self.pairs = pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """Distances, a map for each degree that is tried, the best by tau. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        degrees = [self.degree_] if continues_search(previous) else _candidates(self.degree)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, self.pairs, random, seed, n_jobs, scale=self.scale)
        start = initial_coordinates(rows, self.init, d, random, previous, wide=self.optimizer is None)
        optimizer = optimizer_of(self.max_iter, self.tol, previous, self.optimizer)
        trials = DegreeTrials.of(rows, start, optimizer)
        tried = _try_degrees(trials, degrees)
        chosen, tau = trials.best(best_of(tried))
        scores = {trial.degrees[0]: trial.tau for trial in tried}
        if len(tried) == 1:
            scores = {chosen.degrees[0]: tau.value}
        new_rows = degree_map(query, trials, chosen)
        return self._set_fit(new_rows.Z, new_rows, cost_=chosen.minimum.value, n_iter_=chosen.minimum.n_iter,
                             kendall_tau_=tau.value, kendall_tau_interval_=tau.interval,
                             degree_=chosen.degrees[0], scores_=scores)  # fmt: skip


class ParameterFreeSDD(Embedder):
    """SDD with nothing to tune: degree 1, and distances from 0 to 2.

    ``p_ij = (1 + d_ij^2)^-1 / sum`` from the distances in the data, the largest of which counts as 2, and
    ``q_ij`` likewise from the map, which minimises ``sum p log(p / q)``. On this range a degree of 1 tells
    small distances apart as well as large ones: the map is about as good as that of the best degree, for the
    price of one. A new row minimises its own part of the cost, with all fitted rows and the normalisers
    fixed.

    Cost: ``O(n^2)`` time a step and ``8 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``8 n s`` bytes
    for s partners of each row. 20 to 200 steps.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn, ``"precomputed"``, ``Geodesic(k)`` or ``Diffusion(k, t)``.
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    optimizer : Momentum, optional
        ``Momentum()`` descends as published, with steps of its own, for reproduction. None is L-BFGS.
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
        ``sum p log(p / q)``, 0 for a perfect map.
    kendall_tau_ : float
        Of the distances in the data and in the map; NaN where those do not vary (two rows, or all equal).
    kendall_tau_interval_ : (float, float) or None
        The 95% interval where tau is estimated from sampled pairs, above 20,000 rows; else None.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hajderanj, Chen, Grisan and Dudley (2020).

    Examples
    --------
    >>> from isentropic import ParameterFreeSDD
    >>> from sklearn.datasets import load_iris
    >>> round(ParameterFreeSDD().fit(load_iris().data).kendall_tau_, 4)
    0.9674
    """

    cost_: Annotated[float, Number(nan=True)]
    kendall_tau_: Annotated[float, Number(nan=True)]
    kendall_tau_interval_: Annotated[tuple[float, float] | None, Maybe(Tuple(Number(), Number()))]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[DegreeMap, Sub(DegreeMap)]
    _refines = True

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: Steps = 500,
        tol: Tolerance = 1e-6,
        optimizer: OptimizerParameter = None,
        pairs: PairsParameter = "auto",
        random_state: Any = None,
        n_jobs: NJobs = None,
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

    def fit(self, X, y=None, *, init=None):
        """Distances, start, minimum. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, self.pairs, random, seed, n_jobs, scale=_PARAMETER_FREE_SCALE)
        start = initial_coordinates(rows, self.init, d, random, previous, wide=self.optimizer is None)
        optimizer = optimizer_of(self.max_iter, self.tol, previous, self.optimizer)
        trials = DegreeTrials.of(rows, start, optimizer)
        chosen, tau = trials.best(trials.fit((_PARAMETER_FREE_DEGREE,), score=False))
        new_rows = degree_map(query, trials, chosen)
        return self._set_fit(new_rows.Z, new_rows, cost_=chosen.minimum.value, n_iter_=chosen.minimum.n_iter,
                             kendall_tau_=tau.value, kendall_tau_interval_=tau.interval)  # fmt: skip


def _candidates(degree: Any) -> Sequence[float] | None:
    """Degrees to try, or None to search for the best."""
    must_be = "a positive number, a sequence of them or 'auto'"
    if isinstance(degree, str):
        require(degree == "auto", "degree", must_be, degree)
        return None
    degrees = np.atleast_1d(np.asarray(degree, object)).tolist()
    require(len(degrees) > 0, "degree", "at least one degree", degree)
    return checked_degrees(degrees, "degree", must_be)


def _try_degrees(trials: DegreeTrials, degrees: Sequence[float] | None) -> list[Trial]:
    if trials.rows.unit == 0:  # all rows are equal, and so are all degrees
        return [trials.fit((DEGREES[0] if degrees is None else degrees[0],))]
    if degrees is None:
        return trials.search()
    return [trials.fit((degree,), score=len(degrees) > 1) for degree in degrees]
