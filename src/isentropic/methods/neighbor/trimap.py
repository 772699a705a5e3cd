"""TriMap: a map by triplets of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Choice, Count
from ..._core.runtime import seeded
from ..._core.specs import Array, Number, Text, Whole
from ..._core.state import Sub
from ...distances import LARGEST
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows, RowOptimizer
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
from ...kernels._jit import threads
from ...kernels.rows.row_descent import TRIPLETS, optimize_rows
from ...neighbors import clipped_neighbors
from ...objectives import Triplets, TripletSteps
from ...optim import batch_epochs
from .sampled import (
    NearRows,
    ScaledNeighbors,
    distances_to,
    near_rows,
    other_rows,
    require_sampled_memory,
    rows_beyond,
    small_initialization,
)
from .tsne_stages import initial_embedding, merged_embedding

# ---- Triplets of rows: a near one is to stay nearer than a far one -------------------------------


_RANDOM_WEIGHT = 0.1
_PUBLISHED = 500.0  # what the largest weighs, in the published rule, before its logarithm
RULES = ("tempered", "published")
_OUTLIERS, _PAIRS = 0, 1  # what rows are drawn for


def sample_triplets(
    given: NearRows, *, n_outliers: int, n_random: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Near rows, far rows and the excess of scaled squared distance of far over near ones: (n, t) each.

    For every inlier, a near row, ``n_outliers`` drawn rows that are no nearer inliers, and ``n_random`` pairs
    of drawn rows, the nearer of which is the near one; a far row of -1 is no triplet.
    """
    near, widths, n_jobs = given.rows, given.widths, given.distances.n_jobs
    n, k = near.shape
    far = rows_beyond(given.seed, _OUTLIERS, near, range(1, k + 1), n_outliers, n_jobs)
    per_inlier = far.shape[1] // k
    drawn = other_rows(given.seed, _PAIRS, n, 2 * n_random, n_jobs)
    others = np.concatenate([np.maximum(far, 0), drawn], axis=1)
    away = distances_to(given.distances, others) if others.shape[1] else np.empty((n, 0))
    away = (away / widths[:, None]) * (away / widths[others])
    count = far.shape[1]
    excess = away[:, :count] - np.repeat(given.scaled, per_inlier, axis=1)
    first, second = away[:, count : count + n_random], away[:, count + n_random :]
    swap = first > second
    one, two = drawn[:, :n_random], drawn[:, n_random:]
    nearer, farther = np.where(swap, two, one), np.where(swap, one, two)
    farther = np.where(nearer == farther, -1, farther)
    return (
        np.concatenate([np.repeat(near, per_inlier, axis=1), nearer], axis=1).astype(np.int32),
        np.concatenate([far, farther], axis=1).astype(np.int32),
        np.concatenate([excess, _RANDOM_WEIGHT * np.abs(first - second)], axis=1),
    )


def weighted_triplets(
    near: np.ndarray, far: np.ndarray, excess: np.ndarray, rule: str = "tempered"
) -> tuple[Triplets, float]:
    """Triplets that weigh by a rule, and the excess that it counts from: the least, or the largest."""
    there = far >= 0
    end = np.min if rule == "tempered" else np.max
    origin = float(end(excess[there])) if there.any() else 0.0
    weights = np.where(there, triplet_weights(excess, origin, rule), 0.0)
    return Triplets(near, np.maximum(far, 0), weights.astype(np.float32)), origin


def triplet_weights(excess: np.ndarray, origin: float, rule: str) -> np.ndarray:
    """The tempered logarithm ``2 (sqrt(1 + x) - 1)`` of the excess x beyond the least; or, as published,
    ``log(1 + 500 exp(x))`` of that below the largest.

    >>> triplet_weights(np.array([0.0, 3.0]), 0.0, "tempered").tolist()
    [0.0, 2.0]
    """
    beyond = excess - origin
    if rule == "tempered":
        return 2.0 * (np.sqrt(1.0 + np.maximum(beyond, 0.0)) - 1.0)
    return np.log1p(_PUBLISHED * np.exp(np.minimum(beyond, 0.0)))


_TRIPLET_BYTES = 112  # of a triplet: in the lists of three rows, and while these are sorted
_FIRST = 3  # neighbor with which the width of a row begins
_HELD = 64  # training rows that hold a new one apart
_ROWS = Count("a number of rows", least=0)


@dataclass(frozen=True, eq=False)
class TripletWeights(Part):
    """Weights of the triplets of new rows: every near row with every row of a sample."""

    near: Annotated[ScaledNeighbors, Sub(ScaledNeighbors)]
    far: Annotated[np.ndarray, Array("r", dtype=np.int64, below="n")]
    origin: Annotated[float, Number()]  # the excess that weights count from
    rule: Annotated[str, Text(*RULES)]

    def of_new(self, X: np.ndarray, query: Any, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Near rows (b, k), and the weights (b, k, r) of their triplets."""
        rows, scaled, own = self.near.nearest(X, query, n_jobs)
        away = np.asarray(query.distances(n_jobs).to_references(X, self.far))
        away = (away / own[:, None]) * (away / self.near.widths[self.far])
        excess = away[:, None, :] - scaled[:, :, None]
        weights = triplet_weights(excess, self.origin, self.rule)
        inlier = (rows[:, :, None] == self.far).any(axis=1)  # of the sample: no far row
        return rows, np.where(inlier[:, None], 0.0, weights)


@dataclass(frozen=True, eq=False)
class TripletLayout(Part):
    """An embedding in which a new row should be nearer to near rows than to those of a sample."""

    Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
    far: Annotated[np.ndarray, Array("r", dtype=np.int64, below="n")]

    def optimize(self, rows: np.ndarray, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, from the nearest row, or the mean of near ones."""
        (b, k), Z, rows = rows.shape, self.Z, rows.astype(np.int64)
        far = np.ascontiguousarray(np.broadcast_to(self.far, (b, k, len(self.far)))).reshape(b, -1)
        near = np.repeat(rows, len(self.far), axis=1)
        starts = np.stack([Z[rows[:, 0]], Z[rows].mean(axis=1)], axis=1)
        with threads(n_jobs):
            return optimize_rows(TRIPLETS, starts, Z, near, weights.reshape(b, -1), far, np.empty(0))


class TripletMap(RowOptimizer):
    """The out-of-sample map of TriMap."""

    query: Annotated[NearestRows, Sub(NearestRows)]
    affinities: Annotated[TripletWeights, Sub(TripletWeights)]
    layout: Annotated[TripletLayout, Sub(TripletLayout)]


class TriMap(Embedder):
    """TriMap: preserve which of two rows is nearer to a third, over triplets.

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
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
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

    violated_: Annotated[float, Number(0)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[TripletMap, Sub(TripletMap)]

    def __init__(
        self,
        n_inliers: NNeighbors = 12,
        n_components: NComponents = 2,
        *,
        n_outliers: Annotated[int, _ROWS] = 4,
        n_random: Annotated[int, _ROWS] = 3,
        weights: Annotated[str, Choice(*RULES)] = "tempered",
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        neighbors: NeighborLists = None,
        max_iter: MaxIter = 400,
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        k = clipped_neighbors(self.n_inliers, data.n - 1, name="n_inliers")
        triplet_bytes = _TRIPLET_BYTES * (k * self.n_outliers + self.n_random)
        advice = "Take fewer inliers or outliers."
        require_sampled_memory("TriMap", data.n, k, self.neighbors, triplet_bytes, advice)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        near = near_rows(distances, k, _FIRST, self.metric, seed, random, self.neighbors)
        found = sample_triplets(near, n_outliers=int(self.n_outliers), n_random=int(self.n_random))
        triplets, origin = weighted_triplets(*found, self.weights)
        start, n_steps = (
            small_initialization(initial_embedding(distances, self.init, d, random)),
            int(self.max_iter),
        )
        Z = batch_epochs(TripletSteps(triplets, n_steps=n_steps), start, n_steps, n_jobs=n_jobs)
        Z = merged_embedding(data, Z - Z.mean(axis=0))
        far = np.sort(random.permutation(data.n)[:_HELD])
        weights = TripletWeights(ScaledNeighbors.of(near, _FIRST), far, origin, self.weights)
        new_rows = TripletMap(query, weights, TripletLayout(Z, far))
        return self._set_fit(Z, new_rows, violated_=triplets.violated(Z), n_iter_=n_steps)
