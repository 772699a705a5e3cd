"""Nonmetric multidimensional scaling."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..._core.errors import IsentropicWarning, require_one_of, warn
from ..._core.runtime import require_memory
from ..._core.state import Array, Number, State, Tuple
from ...embedding.warm_starts import WarmStart
from ...objectives import MonotoneStress
from ...optim import Minimum, lbfgs
from .pairs_embedder import Problem, minimised
from .stress_embedder import StressEmbedder

_KNOTS = 2048  # of the increasing function, for new rows
_ROUGH = partial(lbfgs, max_iter=100, tol=1e-6)  # for the metric map that the search starts from
_BYTES = 52  # a pair, at most, beside its distance


class NonmetricMDS(StressEmbedder):
    """A map whose distances are in the order of those of the data (nonmetric MDS, Kruskal's stress-1).

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

    _state = State(stress_=Number(), _knots=Tuple(Array("q"), Array("q")))

    def __init__(
        self,
        n_components=2,
        *,
        ties="primary",
        init="pca",
        metric="euclidean",
        max_iter=500,
        tol=1e-7,
        pairs="auto",
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(n_components, init=init, metric=metric, max_iter=max_iter, tol=tol, pairs=pairs,
                         random_state=random_state, n_jobs=n_jobs)  # fmt: skip
        self.ties = ties

    def fit(self, X, y=None, *, init=None):
        """Distances, metric map, then the map and the increasing function together. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        require_one_of("ties", self.ties, ("primary", "secondary"))
        warm = self._warm_start(X, init)
        optimizer, problem = self._optimizer_from(warm), self._problem_in_units(X, warm)
        minimum, knots = Minimum(problem.start, 0.0, 0, True), (np.zeros(1), np.zeros(1))
        if problem.unit:
            size = problem.pairs.distances.size
            require_memory(_BYTES * size, f"The order of {size:,} pairs", "Draw pairs: pairs=128.")
            rough = self._metric_map(problem, optimizer, warm)
            cost = MonotoneStress(problem.pairs, ties=self.ties, counts=problem.counts, n_jobs=self.n_jobs)
            minimum = _monotone_map(cost, rough, optimizer)
            knots = cost.knots(minimum.point, _KNOTS)
        self._keep(problem, minimum)
        self.stress_, self._knots = math.sqrt(self.cost_), knots
        self._power, self._floor = 0.0, 0.0
        return self

    def _metric_map(self, problem: Problem, optimizer: partial[Minimum], warm: WarmStart | None) -> Minimum:
        if warm is not None or not isinstance(self.init, str) or optimizer.keywords["max_iter"] == 0:
            return Minimum(problem.start, 0.0, 0, True)
        return minimised(self._stress(problem), problem.start, _ROUGH)

    def _wanted(self, distances: np.ndarray) -> np.ndarray:
        """The function between its knots, from the origin on, and in proportion beyond the last one."""
        d, f = (np.concatenate([[0.0], part]) for part in self._knots)
        beyond = distances > d[-1]
        return np.where(beyond, distances * (f[-1] / d[-1]), np.interp(distances, d, f))


def _monotone_map(cost: MonotoneStress, rough: Minimum, optimizer: partial[Minimum]) -> Minimum:
    """The minimum from a map, and as large as it: the cost of a map does not depend on its size."""
    if cost.n_levels == 1:
        text = "All distances are equal, and every map has them in order: metric MDS is kept."
        warn(text, IsentropicWarning)
        value, _ = cost(cost.in_order(rough.point))
        return Minimum(rough.point, value, rough.n_iter, rough.converged)
    size = _size(rough.point)
    found = minimised(cost, rough.point / size, optimizer)
    point = found.point * (size / _size(found.point))
    return Minimum(point, found.value, rough.n_iter + found.n_iter, found.converged)


def _size(Z: np.ndarray) -> float:
    """Root of the mean square of a centred map."""
    return float(np.sqrt(((Z - Z.mean(axis=0)) ** 2).mean()))
