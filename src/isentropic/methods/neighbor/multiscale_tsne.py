"""Multiscale t-SNE: neighbourhoods of all sizes in the data, Student weights in the map."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import squareform

from ...objectives import StudentPairs
from .multiscale import MultiscaleEmbedder
from .perplexity_maps import StudentEmbedder


class MultiscaleTSNE(MultiscaleEmbedder, StudentEmbedder):
    """t-SNE without a perplexity: affinities are the mean of those of 2, 4, 8, ... up to about n / 2.

    Small and large neighbourhoods count alike, so that groups keep their places among each other. The
    affinities are symmetrised as in t-SNE, ``q_ij`` is proportional to ``(1 + |z_i - z_j|^2)^-1``, and the
    map minimises ``sum p log(p / q)`` from coarse to fine: L-BFGS with the largest perplexity, then with the
    two largest ones, and so on. A new row goes down its own part of the cost, the fitted rows held.

    Cost: ``O(n^2)`` time for each perplexity and step, and ``64 n^2`` bytes.

    Parameters
    ----------
    smallest : float
        The smallest perplexity; each next one is twice as large, up to about n / 2.
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts, scaled to a standard deviation of 1; for metrics other than the
        Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists of neighbours that are known already, all the others of each row.
    max_iter : int
        Steps of L-BFGS at most for each perplexity that is added, twice as many with the last one.
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
        ``sum p log(p / q)`` of the map.
    perplexities_ : array
    repulsion_ : {"exact"}
        All pairs are summed.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    de Bodt, Mulders, Verleysen and Lee (2018).

    Examples
    --------
    >>> from isentropic import MultiscaleTSNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> tsne = MultiscaleTSNE().fit(iris.X)
    >>> tsne.embedding_.shape
    (150, 2)
    >>> bool((tsne.transform(iris.X[:5]) == tsne.embedding_[:5]).all())
    True
    """

    def fit(self, X, y=None):
        """Neighbours, affinities of all scales, start, minima from coarse to fine. ``y`` is not used."""
        given = self._scales_of(X)
        n = len(given.distances.X)

        def cost_of(P: np.ndarray, count: int) -> StudentPairs:
            return StudentPairs(squareform(P + P.T, checks=False) / n, n, n_jobs=self.n_jobs)

        self._keep_scales(given, *self._refined(given, self._scaled_start(given, 1.0), cost_of))
        self.repulsion_, self._dof = "exact", 1.0
        return self
