"""Multiscale SNE and t-SNE: affinities of doubling perplexities, from the coarsest to the finest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from scipy.spatial.distance import squareform

from ..._core.arguments import Real
from ..._core.runtime import seeded
from ..._core.specs import Array, Number, Text, Whole
from ..._core.state import Sub
from ..._core.values import Neighbors
from ...affinities import conditional_affinities, neighbors_for_perplexity
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import (
    MaxIter,
    MetricParameter,
    NComponents,
    NeighborLists,
    NJobs,
    Tolerance,
    training_data,
)
from ...objectives import GaussianNeighbors, StudentPairs
from ...optim import Minimum, Objective, lbfgs
from .tsne_stages import (
    GaussianLayout,
    GaussianMap,
    PerplexityAffinities,
    StudentLayout,
    StudentMap,
    dense,
    initial_embedding,
    merged_embedding,
    neighbor_lists,
    require_pair_memory,
    with_spread,
)

PAIR_BYTES = 64  # lists of all, the sum of affinities, their mean, and its square forms
_LAST = 2  # times as many steps with all scales: no other follows that would go on
CostOf = Callable[[np.ndarray, int], Objective]  # of the mean affinities of so many scales


def doubling_perplexities(n: int, smallest: float = 4) -> list[float]:
    """``smallest``, twice as many, and so on up to about n / 2; of few rows, n / 2 alone.

    >>> doubling_perplexities(150), doubling_perplexities(5)
    ([4.0, 8.0, 16.0, 32.0, 64.0], [2.5])
    """
    count = round(math.log2(n / (2 * smallest))) + 1
    return [float(smallest * 2**h) for h in range(count)] if count > 0 and n > 5 else [max(n / 2, 1.0)]


def coarse_to_fine(
    knn: Neighbors,
    perplexities: np.ndarray,
    start: np.ndarray,
    cost_of: CostOf,
    max_iter: int,
    tol: float,
    n_jobs: int | None,
) -> tuple[Objective, Minimum]:
    """Minimize by L-BFGS with the coarsest scale, then with the next ones added; with the last cost.

    ``cost_of`` is the cost for the mean affinities (n, n) of so many scales.
    """
    Z, steps = start, 0
    for count, P in enumerate(_mean_affinities(knn, perplexities, n_jobs), 1):
        cost = cost_of(P, count)
        times = _LAST if count == len(perplexities) else 1
        found = lbfgs(cost, Z, max_iter=times * max_iter, tol=tol)
        Z, steps = found.point, steps + found.n_iter
    return cost, replace(found, n_iter=steps)


def _mean_affinities(knn: Neighbors, perplexities: np.ndarray, n_jobs: int | None) -> Iterator[np.ndarray]:
    """The mean affinities of the largest perplexity, of the two largest ones, and so on."""
    total = np.zeros(knn.distances.shape)
    for count, perplexity in enumerate(perplexities[::-1], 1):
        total += conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)[0]
        yield dense(knn, total / count)


# ---- Multiscale SNE: neighbourhoods of all sizes at once, in the data and in the map -------------


class MultiscaleSNE(Embedder):
    """SNE with Gaussians of all widths: preserve neighbours, groups, and groups of groups.

    ``p_j|i`` is the mean of the affinities of the perplexities 2, 4, 8, ... up to about n / 2, ``q_j|i`` that
    of as many Gaussians in the map, ``exp(-a_h |z_i - z_j|^2 / 2) / sum``. Their precisions
    ``a_h = 2^(1 + 2/d) (K_max / K_h)^(2U/d) / v`` belong to the perplexities ``K_h``, v being the variance of
    the start, and U, from 1 to 2, how fast the widths grow in the data. The map minimises
    ``sum p_j|i log(p_j|i / q_j|i)``, from coarse to fine: L-BFGS with the largest perplexity, then with the
    two largest ones, and so on. A new row minimises its own part of the cost, with the fitted rows fixed.

    Cost: ``O(n^2)`` time for each perplexity and step, and ``64 n^2`` bytes.

    Parameters
    ----------
    smallest : float
        The smallest perplexity; each next one is twice as large, up to about n / 2.
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists of neighbours that are known already, all the others of each row.
    max_iter : int
        Steps of L-BFGS at most for each perplexity that is added, twice as many with the last one.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    random_state : int, RandomState or None
        For random initialization, the rows of an initialization by classical scaling, and the approximate
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

    kl_divergence_: Annotated[float, Number()]
    perplexities_: Annotated[np.ndarray, Array("s", least=1)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[GaussianMap, Sub(GaussianMap)]

    def __init__(
        self,
        smallest: Annotated[float, Real("a perplexity of at least 1", least=1)] = 2.0,
        n_components: NComponents = 2,
        *,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        neighbors: NeighborLists = None,
        max_iter: MaxIter = 30,
        tol: Tolerance = 1e-6,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.smallest = smallest
        self.n_components = n_components
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, affinities of all scales, start, minima from coarse to fine. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        require_pair_memory(PAIR_BYTES, data.n)
        random, seed = seeded(self.random_state)
        perplexities = np.array(doubling_perplexities(data.n, float(self.smallest)))
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        listed = neighbors_for_perplexity(max(perplexities.tolist()), data.n)
        knn = neighbor_lists(distances, listed, self.metric, seed, self.neighbors)
        start = initial_embedding(distances, self.init, d, random)
        start = (start - start.mean(axis=0)) / np.abs(start).max()
        precisions = _precisions(start, knn, perplexities, n_jobs)

        def cost_of(P: np.ndarray, count: int) -> GaussianNeighbors:
            return GaussianNeighbors(P, precisions[-count:], n_jobs=n_jobs)

        cost, found = coarse_to_fine(knn, perplexities, start, cost_of, int(self.max_iter), float(self.tol),
                                     n_jobs)  # fmt: skip
        Z = merged_embedding(data, found.point)
        affinities = PerplexityAffinities(perplexities, knn.indices.shape[1])
        new_rows = GaussianMap(query, affinities, GaussianLayout(Z, precisions))
        return self._set_fit(Z, new_rows, kl_divergence_=max(cost(Z)[0], 0.0), n_iter_=found.n_iter,
                             perplexities_=perplexities.copy())  # fmt: skip


def _precisions(Z: np.ndarray, knn: Neighbors, perplexities: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Of the Gaussians in the map, for each perplexity."""
    d = Z.shape[1]
    widths = [conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)[1]
              for perplexity in perplexities]  # fmt: skip
    ratios = perplexities.max() / perplexities
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


# ---- Multiscale t-SNE: neighbourhoods of all sizes in the data, Student weights in the map -------


class MultiscaleTSNE(Embedder):
    """t-SNE without a perplexity: affinities are the mean of those of 2, 4, 8, ... up to about n / 2.

    Small and large neighbourhoods count alike, so that groups keep their places among each other. The
    affinities are symmetrised as in t-SNE, ``q_ij`` is proportional to ``(1 + |z_i - z_j|^2)^-1``, and the
    map minimises ``sum p log(p / q)`` from coarse to fine: L-BFGS with the largest perplexity, then with the
    two largest ones, and so on. A new row minimises its own part of the cost, with the fitted rows fixed.

    Cost: ``O(n^2)`` time for each perplexity and step, and ``64 n^2`` bytes.

    Parameters
    ----------
    smallest : float
        The smallest perplexity; each next one is twice as large, up to about n / 2.
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization, scaled to a standard deviation of 1; for metrics other than the Euclidean, ``"pca"``
        is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists of neighbours that are known already, all the others of each row.
    max_iter : int
        Steps of L-BFGS at most for each perplexity that is added, twice as many with the last one.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    random_state : int, RandomState or None
        For random initialization, the rows of an initialization by classical scaling, and the approximate
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

    kl_divergence_: Annotated[float, Number()]
    perplexities_: Annotated[np.ndarray, Array("s", least=1)]
    repulsion_: Annotated[str, Text("exact")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[StudentMap, Sub(StudentMap)]

    def __init__(
        self,
        smallest: Annotated[float, Real("a perplexity of at least 1", least=1)] = 2.0,
        n_components: NComponents = 2,
        *,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        neighbors: NeighborLists = None,
        max_iter: MaxIter = 30,
        tol: Tolerance = 1e-6,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.smallest = smallest
        self.n_components = n_components
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Neighbours, affinities of all scales, start, minima from coarse to fine. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        require_pair_memory(PAIR_BYTES, data.n)
        random, seed = seeded(self.random_state)
        perplexities = np.array(doubling_perplexities(data.n, float(self.smallest)))
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        listed = neighbors_for_perplexity(max(perplexities.tolist()), data.n)
        knn = neighbor_lists(distances, listed, self.metric, seed, self.neighbors)
        start = with_spread(initial_embedding(distances, self.init, d, random), 1.0)

        def cost_of(P: np.ndarray, count: int) -> StudentPairs:
            return StudentPairs(squareform(P + P.T, checks=False) / data.n, data.n, n_jobs=n_jobs)

        cost, found = coarse_to_fine(knn, perplexities, start, cost_of, int(self.max_iter), float(self.tol),
                                     n_jobs)  # fmt: skip
        Z = merged_embedding(data, found.point)
        affinities = PerplexityAffinities(perplexities, knn.indices.shape[1])
        new_rows = StudentMap(query, affinities, StudentLayout(Z, 1.0, "exact"))
        return self._set_fit(Z, new_rows, kl_divergence_=max(cost(Z)[0], 0.0), n_iter_=found.n_iter,
                             perplexities_=perplexities.copy(), repulsion_="exact")  # fmt: skip
