"""PaCMAP: pairwise controlled manifold approximation projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Real
from ..._core.errors import IsentropicWarning, warn
from ..._core.runtime import seeded
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...distances import LARGEST
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows, RowOptimizer
from ...embedding.row_distances import Distances
from ...embedding.training_data import (
    MaxIter,
    MetricParameter,
    NComponents,
    NeighborLists,
    NJobs,
    NNeighbors,
    Part,
    training_data,
)
from ...kernels.rows.row_descent import PAIRS
from ...neighbors import clipped_neighbors
from ...objectives import PairSteps, mean_pair_cost
from ...optim import batch_epochs
from .fuzzy import optimize_among
from .sampled import (
    ScaledNeighbors,
    distances_to,
    near_rows,
    other_rows,
    require_sampled_memory,
    rows_beyond,
    small_initialization,
)
from .tsne_stages import initial_embedding, merged_embedding

_MOST_NEAR = 0.75  # of the other rows: where fewer are left to be further ones, a map shrinks to a point
_LEFT = "three quarters of the other rows, so that some are left to hold the map apart"
_POINT = 1e-3  # a width far below that of any start, and of the scale 1 of the cost
_COLLAPSED = (
    "The map shrank to a point, since too few further pairs hold it apart. Take a larger further_ratio."
)
_MID_NEAR, _FURTHER = 0, 1  # what rows are drawn for
_DRAWN = 6  # rows of which the second nearest is a mid-near one
_PAIR_BYTES = 140  # of a pair: in the lists of both rows, and while these are sorted
_FIRST = 4  # neighbor with which the width of a row begins
_HELD = 512  # training rows that hold a new one apart
_RATIO = Real("a number of at least 0 and at most 1e6", most=1e6)


@dataclass(frozen=True, eq=False)
class PairLayout(Part):
    """An embedding whose near rows attract a new row; a sample of rows repels it."""

    Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
    push: Annotated[float, Number(0)]
    far: Annotated[np.ndarray, Array("r", dtype=np.int64, below="n")]

    def optimize(self, rows: np.ndarray, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, from the nearest row, or the mean of near ones."""
        return optimize_among(PAIRS, self.Z, rows, weights, self.far, np.array([self.push]), n_jobs)


class PairMap(RowOptimizer):
    """The out-of-sample map of PaCMAP."""

    query: Annotated[NearestRows, Sub(NearestRows)]
    affinities: Annotated[ScaledNeighbors, Sub(ScaledNeighbors)]
    layout: Annotated[PairLayout, Sub(PairLayout)]


class PaCMAP(Embedder):
    """PaCMAP: near and mid-near pairs of rows attract each other, further pairs repel.

    Near pairs are a row and its k neighbours, nearest by ``d_ij^2 / (s_i s_j)``, s the mean distance to the
    fourth to sixth neighbour; mid-near ones a row and the second nearest of six drawn; further ones a row and
    a drawn one. With ``u = 1 + r^2`` of the map, it minimises
    ``w_near sum u / (10 + u) + w_mid sum u / (10000 + u) + w_far sum 1 / (1 + u)`` by Adam. Mid-near pairs,
    strong at first, place the whole, and fade out; near ones then shape the detail. A new row minimises its
    own part of the cost, with the fitted rows fixed.

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
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
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

    cost_: Annotated[float, Number(0)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[PairMap, Sub(PairMap)]

    def __init__(
        self,
        n_neighbors: NNeighbors = 10,
        n_components: NComponents = 2,
        *,
        mid_near_ratio: Annotated[float, _RATIO] = 0.5,
        further_ratio: Annotated[float, _RATIO] = 2.0,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        neighbors: NeighborLists = None,
        max_iter: MaxIter = 450,
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        k = clipped_neighbors(self.n_neighbors, max(1, int(_MOST_NEAR * (data.n - 1))), _LEFT)
        n_mid, n_far = (round(k * ratio) for ratio in (self.mid_near_ratio, self.further_ratio))
        pair_bytes = _PAIR_BYTES * (k + n_mid + n_far)
        require_sampled_memory("PaCMAP", data.n, k, self.neighbors, pair_bytes, "Take fewer neighbours.")
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        near = near_rows(distances, k, _FIRST, self.metric, seed, random, self.neighbors)
        mid_near = _mid_near(distances, n_mid, seed)
        further = rows_beyond(seed, _FURTHER, near.rows, [near.rows.shape[1]], n_far, n_jobs)
        steps = PairSteps((near.rows, mid_near, further), n_steps=int(self.max_iter))
        start = small_initialization(initial_embedding(distances, self.init, d, random))
        Z = batch_epochs(steps, start, int(self.max_iter), n_jobs=n_jobs)
        if np.ptp(Z, axis=0).max() < _POINT:
            warn(_COLLAPSED, IsentropicWarning)
        Z = merged_embedding(data, Z - Z.mean(axis=0))
        far = np.sort(random.permutation(data.n)[:_HELD])
        new_rows = PairMap(query, ScaledNeighbors.of(near, _FIRST), PairLayout(Z, float(n_far), far))
        return self._set_fit(Z, new_rows, cost_=mean_pair_cost(near.rows, further, Z),
                             n_iter_=int(self.max_iter))  # fmt: skip


def _mid_near(distances: Distances, count: int, seed: int) -> np.ndarray:
    """The second nearest of six sampled rows, for each of ``count`` pairs of a row."""
    n = len(distances.X)
    drawn = other_rows(seed, _MID_NEAR, n, count * _DRAWN, distances.n_jobs)
    if count == 0:
        return drawn
    away = distances_to(distances, drawn).reshape(n, count, _DRAWN)
    second = np.argsort(away, axis=2, kind="stable")[:, :, 1:2]
    return np.take_along_axis(drawn.reshape(n, count, _DRAWN), second, axis=2)[:, :, 0]
