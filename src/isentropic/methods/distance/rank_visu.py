"""RankVisu: a map whose neighbourhood ranks are those of the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Count, Real
from ..._core.errors import require
from ..._core.runtime import row_blocks, seeded
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import MetricParameter, NComponents, NJobs, NNeighbors, training_data
from ...kernels._jit import threads
from ...kernels.pairs.disparities import optimize_rank_images
from ...neighbors import clipped_neighbors
from ...objectives import AllPairs, ListedStress, RankImages
from ...optim import Minimum, lbfgs
from .pairs import PairedRows, ReferenceMap, as_minimum, initial_coordinates, minimize, paired_rows
from .stress import snap_to_references

_MAX_ROWS = 10_000
_STEPS = 5  # of L-BFGS towards each image
_PATIENCE = 10  # rounds without progress after which it ends
_STEPS_OF_NEW = 20


@dataclass(frozen=True, eq=False)
class RankMap(ReferenceMap):
    """New rows minimize the errors of their own ranks, with the training rows fixed."""

    k: Annotated[int, Whole(1, below="n")]

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, in units."""
        out = np.empty((len(distances), Z.shape[1]))
        with threads(n_jobs) as workers:
            optimize_rank_images(distances, Z, self.k, _STEPS_OF_NEW, workers, out)
        return snap_to_references(out, distances, Z)


class RankVisu(Embedder):
    """RankVisu: preserve the ranks of the neighbours of each row.

    With ``R_ij`` the rank of j around i in the data and ``r_ij`` that in the map, it lowers
    ``zeta_1 = sum (k + 1 - min(R_ij, r_ij))_+ |R_ij - r_ij|``: errors of rank among the k nearest on either
    side, the nearest first. With ``leniency`` a the cost is ``(1 - a) zeta_1 + a zeta_2``, where zeta_2 takes
    any rank between ``R_ij`` and ``R_ji`` for right. The published weights, ``k + 1 - rank``, fall below 0
    beyond rank k and would reward errors there; here they end at 0.

    Ranks have no gradient. Each round wants of a pair the distance that its rank in the data has in the map
    (Guttman's rank images), and takes five steps of L-BFGS towards that; the best map of all rounds is kept.
    From a given ``init`` the map depends on the order of the distances alone. A new row is placed by its own
    ranks (zeta_1), with the fitted rows fixed.

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
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Rounds at most; ten without progress end it.
    random_state : int, RandomState or None
        For random initialization. None is a fixed seed: two runs agree.
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

    cost_: Annotated[float, Number(nan=True)]
    start_cost_: Annotated[float, Number(0)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[RankMap, Sub(RankMap)]

    def __init__(
        self,
        n_neighbors: NNeighbors = 30,
        n_components: NComponents = 2,
        *,
        leniency: Annotated[float, Real("a number from 0 to 1", most=1)] = 0.0,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: Annotated[int, Count("a number of rounds", least=0)] = 60,
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        hint = "Take a sample of the rows."
        require(data.n <= _MAX_ROWS, "X", f"a table of at most {_MAX_ROWS:,} rows", f"{data.n:,} rows", hint)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, "all", random, seed, n_jobs)
        start = initial_coordinates(rows, self.init, d, random)
        k = clipped_neighbors(self.n_neighbors, data.n - 1)
        found, first = _least_cost(rows, start, k, float(self.leniency), int(self.max_iter))
        Z = rows.embedding(found.point)
        new_rows = RankMap(query, Z, rows.unit, np.arange(data.n), k)  # ranks are among all rows
        return self._set_fit(Z, new_rows, cost_=found.value, start_cost_=first, n_iter_=found.n_iter)


def _least_cost(
    rows: PairedRows, start: np.ndarray, k: int, leniency: float, rounds: int
) -> tuple[Minimum, float]:
    """Minimize the cost by rank images; with the cost of the start."""
    if not rows.unit:
        return as_minimum(start), 0.0
    assert isinstance(rows.pairs, AllPairs)
    images = RankImages(rows.pairs, k, leniency, n_jobs=rows.n_jobs)
    steps = partial(lbfgs, max_iter=_STEPS, tol=0.0)
    size = float(np.abs(start).max())  # of the map alone: steps must not depend on how long distances are
    Z = start / size
    first, pairs = images(Z)
    best = Minimum(start, first, 0, True)
    for block in row_blocks(rounds, "rank images", size=1):
        Z = minimize(ListedStress(pairs, n_jobs=images.n_jobs), Z, steps).point
        cost, pairs = images(Z)
        if cost < best.value:
            best = Minimum(Z * size, cost, block.stop, True)
        if block.stop - best.n_iter >= _PATIENCE or cost == 0:
            break
    return best, first
