"""Metric multidimensional scaling by stress."""

from __future__ import annotations

from ..._core.errors import require_number
from .stress import StressEmbedder


class MetricMDS(StressEmbedder):
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

    _refines = True

    def __init__(
        self,
        n_components=2,
        *,
        power=0.0,
        init="pca",
        metric="euclidean",
        max_iter=500,
        tol=1e-9,
        pairs="auto",
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(n_components, init=init, metric=metric, max_iter=max_iter, tol=tol, pairs=pairs,
                         random_state=random_state, n_jobs=n_jobs)  # fmt: skip
        self.power = power

    def _exponent(self) -> float:
        return require_number("power", self.power, "a number of at least 0")
