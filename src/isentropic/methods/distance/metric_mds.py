"""Metric multidimensional scaling by stress, and Sammon's mapping."""

from __future__ import annotations

from typing import Annotated, Any

from ..._core.arguments import Real
from ..._core.runtime import seeded
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.initialization import previous_embedding
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import MaxIter, MetricParameter, NComponents, NJobs, Tolerance, training_data
from ...objectives import weight_floor
from .pairs import PairsParameter, initial_coordinates, optimizer_of, paired_rows, reference_rows
from .stress import StressMap, least_stress

_SAMMON = 1.0  # the power of the distance by which a pair weighs less


class MetricMDS(Embedder):
    """A map whose distances are those of the data, by least squares (metric MDS, stress).

    Minimises ``sum w (d - e)^2 / sum w d^2`` over pairs, ``w = d^-power``, with d the distances in the data
    and e those in the map, by L-BFGS from classical scaling. At ``power=0`` the root of the cost
    is normalised stress, and large distances are kept first; at 2 errors count in proportion to the distance
    (elastic scaling). Equal rows are merged, and count as often as they come. A new row minimises its own
    part of the cost, the fitted rows held.

    Cost: ``O(n^2)`` time a step and ``4 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``4 n s`` bytes
    for s partners of each row. 30 to 300 steps.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    power : float
        By how much near pairs weigh more than far ones, at least 0.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    pairs : {"auto", "all"} or int
        Which pairs the cost adds up: all, or those with this many random partners of each row.
        ``"auto"`` is all up to 8,000 rows, and 128 partners above.
    random_state : int, RandomState or None
        For drawn pairs and random starts. None is a fixed seed: two runs agree.
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
    """A map whose distances are those of the data, near ones above all (Sammon mapping).

    Minimises ``E = sum (d - e)^2 / d / sum d`` over pairs, d the distances in the data and e those in the
    map: an error counts by its size and by its share of the distance. By L-BFGS from classical scaling. Equal
    rows are merged, so that no distance is 0, and count as often as they come; near-duplicates weigh as if
    they were a millionth of the mean distance apart. A new row minimises its own part of the cost, the
    fitted rows held.

    Cost: ``O(n^2)`` time a step and ``4 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``4 n s`` bytes
    for s partners of each row. 30 to 200 steps.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph (geodesic Sammon mapping, which starts from ISOMAP).
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    pairs : {"auto", "all"} or int
        Which pairs the cost adds up: all, or those with this many random partners of each row.
        ``"auto"`` is all up to 8,000 rows, and 128 partners above.
    random_state : int, RandomState or None
        For drawn pairs and random starts. None is a fixed seed: two runs agree.
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
