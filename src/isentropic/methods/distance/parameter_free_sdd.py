"""Parameter-free SDD: degree 1, the largest distance counting as 2."""

from __future__ import annotations

from .same_degree import SameDegreeEmbedder


class ParameterFreeSDD(SameDegreeEmbedder):
    """SDD with nothing to tune: degree 1, and distances from 0 to 2.

    ``p_ij = (1 + d_ij^2)^-1 / sum`` from the distances in the data, the largest of which counts as 2, and
    ``q_ij`` likewise from the map, which minimises ``sum p log(p / q)``. On this range a degree of 1 tells
    small distances apart as well as large ones: the map is about as good as that of the best degree, for
    the price of one. A new row minimises its own part of the cost, all fitted rows and the normalisers
    held.

    Cost: ``O(n^2)`` time a step and ``8 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``8 n s`` bytes
    for s partners of each row. 20 to 200 steps.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
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
        For drawn pairs and random starts. None is a fixed seed: two runs agree.
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
        The 95% interval where tau is estimated from drawn pairs, above 20,000 rows; else None.
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
