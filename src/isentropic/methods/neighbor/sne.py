"""SNE: stochastic neighbour embedding."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..._core.runtime import seeded
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ...affinities import checked_perplexity, conditional_affinities, listed_for
from ...embedding.embedder import Embedder
from ...embedding.initialization import previous_embedding
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
from ...objectives import GaussianNeighbors
from ...optim import lbfgs
from .student import (
    GaussianLayout,
    GaussianMap,
    PerplexityAffinities,
    dense,
    initial_embedding,
    merged_embedding,
    neighbor_lists,
    require_pair_memory,
    with_spread,
)

_SPREAD = 0.1  # standard deviation of the start
_PRECISION = 2.0  # weights exp(-d^2) in the map
_PAIR_BYTES = 40  # of lists, affinities and forces


class SNE(Embedder):
    """A map in which every row has the neighbours that it has in the data, by Gaussian weights in both.

    ``p_j|i`` is proportional to ``exp(-d_ij^2 / 2 sigma_i^2)``, with ``sigma_i`` such that about
    ``perplexity`` rows count, and ``q_j|i`` to ``exp(-|z_i - z_j|^2)``. The map minimises
    ``sum_i sum_j p_j|i log(p_j|i / q_j|i)`` by L-BFGS. A new row goes down its own part of the cost, the
    fitted rows held.

    Cost: ``O(n^2)`` time a step and ``40 n^2`` bytes.

    Parameters
    ----------
    perplexity : float
        About how many neighbours count, at least 1. From n - 1 on all rows count alike, with a warning.
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts, scaled to a standard deviation of 0.1; for metrics other than the
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
        The cost: the sum of the divergences of all rows.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hinton and Roweis (2002).

    Examples
    --------
    >>> from isentropic import SNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> sne = SNE().fit(iris.X)
    >>> sne.embedding_.shape
    (150, 2)
    >>> bool((sne.transform(iris.X[:5]) == sne.embedding_[:5]).all())
    True
    """

    kl_divergence_: Annotated[float, Number()]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[GaussianMap, Sub(GaussianMap)]

    def __init__(
        self,
        perplexity: float = 30.0,
        n_components: NComponents = 2,
        *,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        neighbors: NeighborLists = None,
        max_iter: MaxIter = 500,
        tol: Tolerance = 1e-6,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """Neighbours, affinities, start, minimum. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        require_pair_memory(_PAIR_BYTES, data.n)
        random, seed = seeded(self.random_state)
        perplexity = checked_perplexity(self.perplexity, data.n)
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        knn = neighbor_lists(distances, listed_for(perplexity, data.n), self.metric, seed, self.neighbors)
        P = conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)[0]
        loss = GaussianNeighbors(dense(knn, P), [_PRECISION], n_jobs=n_jobs)
        start = initial_embedding(distances, self.init, d, random, previous)
        start = with_spread(start, _SPREAD, previous)
        found = lbfgs(loss, start, max_iter=int(self.max_iter), tol=float(self.tol))
        Z = merged_embedding(data, found.point)
        affinities = PerplexityAffinities(np.array([perplexity]), knn.indices.shape[1])
        new_rows = GaussianMap(query, affinities, GaussianLayout(Z, np.array([_PRECISION])))
        return self._set_fit(Z, new_rows, kl_divergence_=max(loss(Z)[0], 0.0), n_iter_=found.n_iter)
