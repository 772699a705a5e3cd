"""TriMap: a map by triplets of rows."""

from __future__ import annotations

import numpy as np

from ..._core.errors import require_count, require_one_of
from ..._core.runtime import row_blocks
from ..._core.state import Number, State, Text
from ...kernels._jit import threads
from ...kernels.rows.row_costs import TRIPLETS
from ...kernels.rows.row_descent import settle_rows
from ...neighbors import clipped_neighbors
from ...objectives import TripletSteps
from ...optim import batch_epochs
from .drawn_lists import small_start
from .drawn_maps import DrawnEmbedder
from .triplets import RULES, drawn_triplets, triplet_weights, weighted_triplets

_PLACED_AT_ONCE = 1024  # new rows
_TRIPLET_BYTES = 112  # of a triplet: in the lists of three rows, and while these are sorted


class TriMap(DrawnEmbedder):
    """A map in which rows stay nearer to near rows than to far ones.

    With ``a = 1 + |z_i - z_j|^2`` and ``b = 1 + |z_i - z_k|^2`` it minimises ``sum w a / (a + b)`` over
    triplets: a row i, one of its inliers j, the nearest rows by ``D_ij = d_ij^2 / (s_i s_j)``, and a drawn
    outlier k; and a row with two drawn ones, of which j is the nearer. s is the mean distance to the third
    to fifth neighbour. A triplet weighs ``2 (sqrt(1 + x) - 1)``, x being ``D_ik - D_ij`` less the least of
    all, and a drawn one by a tenth of that difference. A new row minimises the cost of triplets of its own
    with fitted rows, which are held.

    Cost: the search of neighbours, then ``O(n (n_inliers n_outliers + n_random))`` time a step, and memory.

    Parameters
    ----------
    n_inliers : int
        Near rows of every row.
    n_components : int
        Dimension of the map.
    n_outliers : int
        Far rows for every near one.
    n_random : int
        Triplets of drawn rows, for every row.
    weights : {"tempered", "published"}
        As above, which is what the authors' program does today; or ``log(1 + 500 exp(x))``, x the same
        difference less the largest of all, as they published it: few triplets then weigh much.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts, made small. For metrics other than the Euclidean, ``"pca"`` is classical
        scaling of some rows, by which the others are placed.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists to take instead of searching, such as ``nearest_neighbors`` makes: best with 50 more than
        ``n_inliers``.
    max_iter : int
        Steps.
    random_state : int, RandomState or None
        None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    violated_ : float
        The share of the triplets whose far row is nearer than the near one in the map: 0 at best, 0.5 by
        chance.
    n_iter_ : int
        Steps.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Amid and Warmuth (2019).

    Examples
    --------
    >>> from isentropic import TriMap, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> trimap = TriMap().fit(iris.X)
    >>> trimap.embedding_.shape
    (150, 2)
    >>> bool((trimap.transform(iris.X[:5]) == trimap.embedding_[:5]).all())
    True
    """

    _state = State(violated_=Number(0), _origin=Number(), _fit_weights=Text(*RULES))
    _first_of_width = 3
    _n_held = 64

    def __init__(
        self,
        n_inliers=12,
        n_components=2,
        *,
        n_outliers=4,
        n_random=3,
        weights="tempered",
        init="pca",
        metric="euclidean",
        neighbors=None,
        max_iter=400,
        random_state=None,
        n_jobs=None,
    ):
        self.n_inliers = n_inliers
        self.n_components = n_components
        self.n_outliers = n_outliers
        self.n_random = n_random
        self.weights = weights
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, triplets and their weights, a start, steps. ``y`` is not used."""
        k = require_count("n_inliers", self.n_inliers)
        counts = {name: require_count(name, getattr(self, name), "a number of rows", least=0)
                  for name in ("n_outliers", "n_random")}  # fmt: skip
        require_one_of("weights", self.weights, RULES)
        n_steps = require_count("max_iter", self.max_iter, "a number of steps", least=0)
        X = self._checked_rows(X)
        k = clipped_neighbors(k, len(X) - 1, name="n_inliers")
        n_triplets = k * counts["n_outliers"] + counts["n_random"]
        near = self._near_of(X, k, _TRIPLET_BYTES * n_triplets, "Take fewer inliers or outliers.")
        triplets, origin = weighted_triplets(*drawn_triplets(near, **counts), self.weights)
        start = small_start(self._start(near.distances, near.random))
        Z = batch_epochs(TripletSteps(triplets, n_steps=n_steps), start, n_steps, n_jobs=self.n_jobs)
        self._keep_drawn(near, Z, n_steps)
        self._origin, self._fit_weights = origin, self.weights
        self.violated_ = triplets.violated(self.embedding_)
        return self

    def _place(self, X: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), self._n_features_out))
        distances = self._distances_again()
        for block in row_blocks(len(X), "placing rows", size=_PLACED_AT_ONCE):
            rows, scaled, own = self._near_among_fitted(X[block])
            away = np.asarray(distances.to_references(X[block], self._far))
            away = (away / own[:, None]) * (away / self._widths[self._far])
            excess = away[:, None, :] - scaled[:, :, None]
            weights = triplet_weights(excess, self._origin, self._fit_weights)
            inlier = (rows[:, :, None] == self._far).any(axis=1)  # of the sample: no far row
            out[block] = self._settled(rows.astype(np.int64), np.where(inlier[:, None], 0.0, weights))
        return out

    def _settled(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Places by triplets of every inlier with every row of the sample."""
        b, k = rows.shape
        far = np.ascontiguousarray(np.broadcast_to(self._far, (b, k, len(self._far)))).reshape(b, -1)
        near = np.repeat(rows, len(self._far), axis=1)
        Z = self.embedding_
        starts = np.stack([Z[rows[:, 0]], Z[rows].mean(axis=1)], axis=1)
        with threads(self.n_jobs):
            return settle_rows(TRIPLETS, starts, Z, near, weights.reshape(b, -1), far, np.empty(0))
