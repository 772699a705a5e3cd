"""PaCMAP: pairwise controlled manifold approximation projection."""

from __future__ import annotations

import numpy as np

from ..._core.errors import IsentropicWarning, require_count, require_number, warn
from ..._core.state import Number, State
from ...kernels.rows.row_costs import PAIRS
from ...neighbors import clipped_neighbors
from ...objectives import PairSteps, mean_pair_cost
from ...optim import batch_epochs
from .drawn_lists import distances_to, other_rows, rows_beyond, small_start
from .drawn_maps import DrawnEmbedder
from .neighbor_maps import settled_among

_MOST_NEAR = 0.75  # of the other rows: where fewer are left to be further ones, a map shrinks to a point
_LEFT = "three quarters of the other rows, so that some are left to hold the map apart"
_POINT = 1e-3  # a width far below that of any start, and of the scale 1 of the cost
_COLLAPSED = (
    "The map shrank to a point, since too few further pairs hold it apart. Take a larger further_ratio."
)
_MID_NEAR, _FURTHER = 0, 1  # what rows are drawn for
_DRAWN = 6  # rows of which the second nearest is a mid-near one
_PAIR_BYTES = 140  # of a pair: in the lists of both rows, and while these are sorted


class PaCMAP(DrawnEmbedder):
    """A map held together by near and mid-near pairs of rows, and apart by further ones.

    Near pairs are a row and its k neighbours, nearest by ``d_ij^2 / (s_i s_j)``, s the mean distance to the
    fourth to sixth neighbour; mid-near ones a row and the second nearest of six drawn; further ones a row and
    a drawn one. With ``u = 1 + r^2`` of the map, it minimises
    ``w_near sum u / (10 + u) + w_mid sum u / (10000 + u) + w_far sum 1 / (1 + u)`` by Adam. Mid-near pairs,
    strong at first, place the whole, and fade out; near ones then shape the detail. A new row minimises its
    own part of the cost, the fitted rows held.

    Cost: the search of k + 50 neighbours, then ``O(n k)`` time a step and ``O(n k)`` memory.

    Parameters
    ----------
    n_neighbors : int
        Near pairs of every row, at most three quarters of the other rows.
    n_components : int
        Dimension of the map.
    mid_near_ratio : float
        Mid-near pairs for every near one.
    further_ratio : float
        Further pairs for every near one.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts, made small. For metrics other than the Euclidean, ``"pca"`` is classical
        scaling of some rows, by which the others are placed.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists to take instead of searching, such as ``nearest_neighbors`` makes: best with 50 more than
        ``n_neighbors``.
    max_iter : int
        Steps; the phases of the weights are shares of them.
    random_state : int, RandomState or None
        None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    cost_ : float
        Of the map: the mean of ``u / (10 + u)`` of near and ``1 / (1 + u)`` of further pairs.
    n_iter_ : int
        Steps.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Wang, Huang, Rudin and Shaposhnik (2021).

    Examples
    --------
    >>> from isentropic import PaCMAP, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> pacmap = PaCMAP().fit(iris.X)
    >>> pacmap.embedding_.shape
    (150, 2)
    >>> bool((pacmap.transform(iris.X[:5]) == pacmap.embedding_[:5]).all())
    True
    """

    _state = State(cost_=Number(0), _push=Number(0))
    _first_of_width = 4
    _n_held = 512

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        mid_near_ratio=0.5,
        further_ratio=2.0,
        init="pca",
        metric="euclidean",
        neighbors=None,
        max_iter=450,
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.mid_near_ratio = mid_near_ratio
        self.further_ratio = further_ratio
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, pairs of three kinds, a start, steps. ``y`` is not used."""
        k = require_count("n_neighbors", self.n_neighbors)
        ratios = self._checked_ratios()
        n_steps = require_count("max_iter", self.max_iter, "a number of steps", least=0)
        X = self._checked_rows(X)
        k = clipped_neighbors(k, max(1, int(_MOST_NEAR * (len(X) - 1))), _LEFT)
        n_mid, n_far = (round(k * ratio) for ratio in ratios)
        near = self._near_of(X, k, _PAIR_BYTES * (k + n_mid + n_far), "Take fewer neighbours.")
        mid_near = self._mid_near(near.distances, n_mid, near.seed)
        further = rows_beyond(near.seed, _FURTHER, near.rows, [near.rows.shape[1]], n_far, self.n_jobs)
        steps = PairSteps((near.rows, mid_near, further), n_steps=n_steps)
        start = small_start(self._start(near.distances, near.random))
        Z = batch_epochs(steps, start, n_steps, n_jobs=self.n_jobs)
        if np.ptp(Z, axis=0).max() < _POINT:
            warn(_COLLAPSED, IsentropicWarning)
        self._keep_drawn(near, Z, n_steps)
        self._push, self.cost_ = float(n_far), mean_pair_cost(near.rows, further, self.embedding_)
        return self

    def _checked_ratios(self) -> tuple[float, float]:
        must_be = "a number of at least 0 and at most 1e6"
        mid = require_number("mid_near_ratio", self.mid_near_ratio, must_be, most=1e6)
        return mid, require_number("further_ratio", self.further_ratio, must_be, most=1e6)

    def _mid_near(self, distances, count: int, seed: int) -> np.ndarray:
        """The second nearest of six drawn rows, for each of ``count`` pairs of a row."""
        n = len(distances.X)
        drawn = other_rows(seed, _MID_NEAR, n, count * _DRAWN, self.n_jobs)
        if count == 0:
            return drawn
        away = distances_to(distances, drawn).reshape(n, count, _DRAWN)
        second = np.argsort(away, axis=2, kind="stable")[:, :, 1:2]
        return np.take_along_axis(drawn.reshape(n, count, _DRAWN), second, axis=2)[:, :, 0]

    def _place(self, X: np.ndarray) -> np.ndarray:
        rows, *_ = self._near_among_fitted(X)
        weights, shape = np.ones(rows.shape), np.array([self._push])
        return settled_among(PAIRS, self.embedding_, rows, weights, self._far, shape, self.n_jobs)
