"""Global t-SNE: t-SNE with a second divergence, of large distances."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import squareform

from ..._core.errors import require_number
from ...affinities import joint_affinities
from ...objectives import StudentPairs
from .perplexity_maps import StudentEmbedder

_SPREAD = 1e-2  # standard deviation of the start
_RMS = 10.0  # of the distances, so that the 1 in 1 + d^2 does not matter


class GlobalTSNE(StudentEmbedder):
    """t-SNE that keeps large distances, too: ``KL(P || Q) + l KL(P' || Q')``.

    P and Q are those of t-SNE. ``p'_ij`` is proportional to ``1 + d_ij^2`` and ``q'_ij`` to
    ``1 + |z_i - z_j|^2``, so that pairs weigh more the farther they are apart. Distances are in units in
    which their root mean square is 10: then 1 does not matter, and the map has no unit. Minimised by L-BFGS.
    A new row goes down the part of t-SNE in the cost, the fitted rows held.

    Cost: ``O(n^2)`` time a step and ``40 n^2`` bytes.

    Parameters
    ----------
    perplexity : float
        About how many neighbours count, at least 1. From n - 1 on all rows count alike, with a warning.
    n_components : int
        Dimension of the map.
    global_weight : float
        The weight l of the second divergence; 0 is t-SNE.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts, scaled to a standard deviation of 0.01; for metrics other than the
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
        ``KL(P || Q) + l KL(P' || Q')`` of the map.
    repulsion_ : {"exact"}
        All pairs are summed.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Zhou and Sharpee (2018).

    Examples
    --------
    >>> from isentropic import GlobalTSNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> tsne = GlobalTSNE().fit(iris.X)
    >>> tsne.embedding_.shape
    (150, 2)
    >>> bool((tsne.transform(iris.X[:5]) == tsne.embedding_[:5]).all())
    True
    """

    def __init__(
        self,
        perplexity=30.0,
        n_components=2,
        *,
        global_weight=1.0,
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
        self.global_weight = global_weight
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """Neighbours, affinities, all distances, start, minimum. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        must_be = "a number of at least 0"
        weight = require_number("global_weight", self.global_weight, must_be, hint="Take 0 for t-SNE.")
        given = self._lists_of(X, warm=self._warm_start(X, init))
        n = len(given.distances.X)
        P = joint_affinities(given.lists, self._affinities(given), n_jobs=self.n_jobs)
        condensed = 2.0 * squareform(P.toarray(), checks=False)  # of unordered pairs
        distances = given.distances.all().distances
        unit = float(distances.max(initial=0.0)) or 1.0
        distances = distances / unit
        distances *= _RMS / (np.sqrt((distances**2).mean()) or 1.0)
        cost = StudentPairs(condensed, n, distances=distances, weight=weight, n_jobs=self.n_jobs)
        found = self._optimum(cost, self._scaled_start(given, _SPREAD))
        self._keep_map(given, found.point, found.n_iter)
        self.repulsion_, self._dof = "exact", 1.0
        self.kl_divergence_ = max(cost(self.embedding_)[0], 0.0)
        return self
