"""Sammon's nonlinear mapping."""

from __future__ import annotations

from .stress import StressEmbedder


class Sammon(StressEmbedder):
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

    _refines = True

    def _exponent(self) -> float:
        return 1.0
