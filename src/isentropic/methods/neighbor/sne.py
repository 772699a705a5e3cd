"""SNE: stochastic neighbour embedding."""

from __future__ import annotations

import numpy as np

from ...objectives import GaussianNeighbors
from .perplexity_maps import GaussianEmbedder

_SPREAD = 0.1  # standard deviation of the start
_PRECISION = 2.0  # weights exp(-d^2) in the map


class SNE(GaussianEmbedder):
    """A map in which every row has the neighbours that it has in the data, by Gaussian weights in both.

    ``p_j|i`` is proportional to ``exp(-d_ij^2 / 2 sigma_i^2)``, with ``sigma_i`` such that about
    ``perplexity`` rows count, and ``q_j|i`` to ``exp(-|z_i - z_j|^2)``. The map minimises
    ``sum_i sum_j p_j|i log(p_j|i / q_j|i)`` by L-BFGS. A new row goes down its own part of the cost, the
    fitted rows held.

    Cost: ``O(n^2)`` time a step and ``40 n^2`` bytes.

    Parameters
    ----------
    perplexity : float
        About how many neighbours count, at least 1. From n - 1 on all rows count alike, with a warning.
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts, scaled to a standard deviation of 0.1; for metrics other than the
        Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists of neighbours that are known already, ``3 perplexity`` a row or more.
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    random_state : int, RandomState or None
        For random starts, the rows that a start by classical scaling is made from, and the approximate
        search. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    kl_divergence_ : float
        The cost: the sum of the divergences of all rows.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hinton and Roweis (2002).

    Examples
    --------
    >>> from isentropic import SNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> sne = SNE().fit(iris.X)
    >>> sne.embedding_.shape
    (150, 2)
    >>> bool((sne.transform(iris.X[:5]) == sne.embedding_[:5]).all())
    True
    """

    def __init__(
        self,
        perplexity=30.0,
        n_components=2,
        *,
        init="pca",
        metric="euclidean",
        neighbors=None,
        max_iter=500,
        tol=1e-6,
        random_state=None,
        n_jobs=None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """Neighbours, affinities, start, minimum. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        given = self._lists_of(X, warm=self._warm_start(X, init))
        P = self._dense(given, self._affinities(given))
        cost = GaussianNeighbors(P, [_PRECISION], n_jobs=self.n_jobs)
        found = self._optimum(cost, self._scaled_start(given, _SPREAD))
        self._keep_map(given, found.point, found.n_iter)
        self._precisions = np.array([_PRECISION])
        self.kl_divergence_ = max(cost(self.embedding_)[0], 0.0)
        return self
