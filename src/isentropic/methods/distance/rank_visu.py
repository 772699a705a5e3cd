"""RankVisu: a map whose neighbourhood ranks are those of the data."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..._core.errors import require, require_count, require_number
from ..._core.runtime import row_blocks
from ..._core.state import Number, State, Whole
from ...kernels._jit import threads
from ...kernels.pairs.rank_images import settle_ranks
from ...neighbors import clipped_neighbors
from ...objectives import AllPairs, ListedStress, RankImages
from ...optim import Minimum, lbfgs
from .pairs_embedder import PairsEmbedder, minimised
from .stress_embedder import with_their_own

_MAX_ROWS = 10_000
_STEPS = 5  # of L-BFGS towards each image
_PATIENCE = 10  # rounds without progress after which it ends
_STEPS_OF_NEW = 20


class RankVisu(PairsEmbedder):
    """A map in which the neighbours of a row have the ranks that they have in the data.

    With ``R_ij`` the rank of j around i in the data and ``r_ij`` that in the map, it lowers
    ``zeta_1 = sum (k + 1 - min(R_ij, r_ij))_+ |R_ij - r_ij|``: errors of rank among the k nearest on either
    side, the nearest first. With ``leniency`` a the cost is ``(1 - a) zeta_1 + a zeta_2``, where zeta_2 takes
    any rank between ``R_ij`` and ``R_ji`` for right. The published weights, ``k + 1 - rank``, fall below 0
    beyond rank k and would reward errors there; here they end at 0.

    Ranks have no gradient. Each round wants of a pair the distance that its rank in the data has in the map
    (Guttman's rank images), and takes five steps of L-BFGS towards that; the best map of all rounds is
    kept. From a given ``init`` the map depends on the order of the distances alone. A new row is placed by
    its own ranks (zeta_1), the fitted rows held.

    The cost is not trustworthiness, which may fall while it does; and it says nothing of rows beyond k.

    Cost: ``O(n^2 log n)`` time a round and ``8 n^2`` bytes. Up to 10,000 rows.

    Parameters
    ----------
    n_neighbors : int
        The k nearest on either side whose ranks count.
    n_components : int
        Dimension of the map.
    leniency : float
        From 0 to 1: the share of zeta_2.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Rounds at most; ten without progress end it.
    random_state : int, RandomState or None
        For random starts. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    cost_ : float
        The cost zeta of the map.
    start_cost_ : float
        That of the start.
    n_iter_ : int
        The round that gave the map.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Lespinats, Fertil, Villemain and Hérault (2009).

    Examples
    --------
    >>> from isentropic import RankVisu
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> rankvisu = RankVisu(n_neighbors=30).fit(X)
    >>> bool(rankvisu.cost_ < 0.85 * rankvisu.start_cost_)
    True
    >>> bool((rankvisu.transform(X[:5]) == rankvisu.embedding_[:5]).all())
    True
    """

    _state = State(start_cost_=Number(0), _k=Whole(1, below="n"))
    pairs, optimizer = "all", None

    def __init__(
        self,
        n_neighbors=30,
        n_components=2,
        *,
        leniency=0.0,
        init="pca",
        metric="euclidean",
        max_iter=60,
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.leniency = leniency
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Ranks of the data; then rank images of the map, and steps towards them, the best map kept.

        ``y`` is not used.
        """
        share = require_number("leniency", self.leniency, "a number from 0 to 1", most=1)
        rounds = require_count("max_iter", self.max_iter, "a number of rounds", least=0)
        require_count("n_neighbors", self.n_neighbors)
        problem = self._problem(X, 1.0)
        k = clipped_neighbors(self.n_neighbors, problem.pairs.n - 1)
        minimum, first = Minimum(problem.start, 0.0, 0, True), 0.0
        if problem.unit:
            assert isinstance(problem.pairs, AllPairs)
            images = RankImages(problem.pairs, k, share, n_jobs=self.n_jobs)
            minimum, first = _least_cost(images, problem.start, rounds)
        self._keep(problem, minimum)
        self.start_cost_, self._k = first, k
        self._references = np.arange(len(self.embedding_))  # ranks are among all rows
        return self

    def _partners(self, n: int) -> None:
        """All pairs: ranks are of all rows."""
        hint = "Take a sample of the rows."
        require(n <= _MAX_ROWS, "X", f"a table of at most {_MAX_ROWS:,} rows", f"{n:,} rows", hint)

    def _settle(self, distances: np.ndarray, Z: np.ndarray) -> np.ndarray:
        out = np.empty((len(distances), Z.shape[1]))
        with threads(self.n_jobs) as workers:
            settle_ranks(distances, Z, self._k, _STEPS_OF_NEW, workers, out)
        return with_their_own(out, distances, Z)


def _least_cost(images: RankImages, start: np.ndarray, rounds: int) -> tuple[Minimum, float]:
    """The map of least cost that rank images lead to, and the cost of the start."""
    steps = partial(lbfgs, max_iter=_STEPS, tol=0.0)
    size = float(np.abs(start).max())  # of the map alone: steps must not depend on how long distances are
    Z = start / size
    first, pairs = images(Z)
    best = Minimum(start, first, 0, True)
    for block in row_blocks(rounds, "rank images", size=1):
        Z = minimised(ListedStress(pairs, n_jobs=images.n_jobs), Z, steps).point
        cost, pairs = images(Z)
        if cost < best.value:
            best = Minimum(Z * size, cost, block.stop, True)
        if block.stop - best.n_iter >= _PATIENCE or cost == 0:
            break
    return best, first
