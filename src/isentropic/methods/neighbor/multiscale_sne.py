"""Multiscale SNE: neighbourhoods of all sizes at once, in the data and in the map."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...affinities import conditional_affinities
from ...objectives import GaussianNeighbors
from .multiscale import MultiscaleEmbedder
from .perplexity_maps import GaussianEmbedder, Listed


class MultiscaleSNE(MultiscaleEmbedder, GaussianEmbedder):
    """SNE with Gaussians of all widths: near rows stay near, and so do groups, and groups of groups.

    ``p_j|i`` is the mean of the affinities of the perplexities 2, 4, 8, ... up to about n / 2, ``q_j|i``
    that of as many Gaussians in the map, ``exp(-a_h |z_i - z_j|^2 / 2) / sum``. Their precisions
    ``a_h = 2^(1 + 2/d) (K_max / K_h)^(2U/d) / v`` belong to the perplexities ``K_h``, v being the variance of
    the start, and U, from 1 to 2, how fast the widths grow in the data. The map minimises
    ``sum p_j|i log(p_j|i / q_j|i)``, from coarse to fine: L-BFGS with the largest perplexity, then with the
    two largest ones, and so on. A new row goes down its own part of the cost, the fitted rows held.

    Cost: ``O(n^2)`` time for each perplexity and step, and ``64 n^2`` bytes.

    Parameters
    ----------
    smallest : float
        The smallest perplexity; each next one is twice as large, up to about n / 2.
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical
        scaling.
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
        The cost: the sum of the divergences of all rows.
    perplexities_ : array
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Lee, Peluffo-Ordóñez and Verleysen (2015).

    Examples
    --------
    >>> from isentropic import MultiscaleSNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> sne = MultiscaleSNE().fit(iris.X)
    >>> sne.embedding_.shape
    (150, 2)
    >>> bool((sne.transform(iris.X[:5]) == sne.embedding_[:5]).all())
    True
    """

    def fit(self, X, y=None):
        """Neighbours, affinities of all scales, start, minima from coarse to fine. ``y`` is not used."""
        given = self._scales_of(X)
        Z = self._start(given.distances, given.random)
        Z = (Z - Z.mean(axis=0)) / np.abs(Z).max()
        precisions = self._precisions_of(Z, given)

        def cost_of(P: np.ndarray, count: int) -> GaussianNeighbors:
            return GaussianNeighbors(P, precisions[-count:], n_jobs=self.n_jobs)

        self._keep_scales(given, *self._refined(given, Z, cost_of))
        self._precisions = precisions
        return self

    def _precisions_of(self, Z: np.ndarray, given: Listed) -> np.ndarray:
        """Of the Gaussians in the map, for each perplexity."""
        d, lists = Z.shape[1], given.lists.distances
        widths = [conditional_affinities(lists, perplexity, n_jobs=self.n_jobs)[1]
                  for perplexity in given.perplexities]  # fmt: skip
        ratios = given.perplexities.max() / given.perplexities
        return 2 ** (1 + 2 / d) * ratios ** (2 * _growth(widths, d) / d) / Z.var(axis=0).mean()


def _growth(log_widths, d: int) -> float:
    """U: ``2/d`` times the largest mean of ``1 / (log2 of how a width grows)``, from 1 to 2."""
    found = [1.0]
    for narrow, wide in pairwise(log_widths):
        both = np.isfinite(narrow) & np.isfinite(wide)  # none where rows are equal
        grown = wide[both] - narrow[both]
        if (grown > 0).any():
            found.append(2 / d * float((np.log(2) / grown[grown > 0]).mean()))
    return min(max(found), 2.0)
