"""Multiscale t-SNE: neighbourhoods of all sizes in the data, Student weights in the map."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.spatial.distance import squareform

from ..._core.parameters import Real
from ..._core.specs import Array, Number, Text, Whole
from ..._core.state import Sub
from ...affinities import listed_for
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.parameters import MaxIter, MetricParameter, NComponents, NeighborLists, NJobs, Tolerance
from ...embedding.training_data import training_data
from ...objectives import StudentPairs
from .initialization import initial_embedding, merged_embedding, neighbor_lists, with_spread
from .multiscale import PAIR_BYTES, coarse_to_fine, doubling_perplexities
from .student import PerplexityAffinities, StudentLayout, StudentMap, require_pair_memory, seeded


class MultiscaleTSNE(Embedder):
    """t-SNE without a perplexity: affinities are the mean of those of 2, 4, 8, ... up to about n / 2.

    Small and large neighbourhoods count alike, so that groups keep their places among each other. The
    affinities are symmetrised as in t-SNE, ``q_ij`` is proportional to ``(1 + |z_i - z_j|^2)^-1``, and the
    map minimises ``sum p log(p / q)`` from coarse to fine: L-BFGS with the largest perplexity, then with the
    two largest ones, and so on. A new row goes down its own part of the cost, the fitted rows held.

    Cost: ``O(n^2)`` time for each perplexity and step, and ``64 n^2`` bytes.

    Parameters
    ----------
    smallest : float
        The smallest perplexity; each next one is twice as large, up to about n / 2.
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts, scaled to a standard deviation of 1; for metrics other than the
        Euclidean, ``"pca"`` is classical scaling.
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
        listed = listed_for(max(perplexities.tolist()), data.n)
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
