"""Global t-SNE: t-SNE with a second divergence, of large distances."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.spatial.distance import squareform

from ..._core.arguments import Real
from ..._core.runtime import seeded
from ..._core.specs import Number, Text, Whole
from ..._core.state import Sub
from ...affinities import checked_perplexity, listed_for
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
from ...objectives import StudentPairs
from ...optim import lbfgs
from .student import (
    PerplexityAffinities,
    StudentLayout,
    StudentMap,
    initial_embedding,
    merged_embedding,
    neighbor_lists,
    require_pair_memory,
    student_affinities,
    with_spread,
)

_SPREAD = 1e-2  # standard deviation of the start
_RMS = 10.0  # of the distances, so that the 1 in 1 + d^2 does not matter
_PAIR_BYTES = 40  # of lists, affinities and forces


class GlobalTSNE(Embedder):
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

    kl_divergence_: Annotated[float, Number()]
    repulsion_: Annotated[str, Text("exact")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[StudentMap, Sub(StudentMap)]

    def __init__(
        self,
        perplexity: float = 30.0,
        n_components: NComponents = 2,
        *,
        global_weight: Annotated[float, Real("a number of at least 0", hint="Take 0 for t-SNE.")] = 1.0,
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
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        require_pair_memory(_PAIR_BYTES, data.n)
        random, seed = seeded(self.random_state)
        perplexity = checked_perplexity(self.perplexity, data.n)
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        knn = neighbor_lists(distances, listed_for(perplexity, data.n), self.metric, seed, self.neighbors)
        P = 2.0 * squareform(student_affinities(knn, perplexity, n_jobs).toarray(), checks=False)
        weight, D = float(self.global_weight), _in_units(distances.all().distances)
        loss = StudentPairs(P, data.n, distances=D, weight=weight, n_jobs=n_jobs)  # P of unordered pairs
        start = initial_embedding(distances, self.init, d, random, previous)
        start = with_spread(start, _SPREAD, previous)
        found = lbfgs(loss, start, max_iter=int(self.max_iter), tol=float(self.tol))
        Z = merged_embedding(data, found.point)
        affinities = PerplexityAffinities(np.array([perplexity]), knn.indices.shape[1])
        new_rows = StudentMap(query, affinities, StudentLayout(Z, 1.0, "exact"))
        return self._set_fit(Z, new_rows, kl_divergence_=max(loss(Z)[0], 0.0), repulsion_="exact",
                             n_iter_=found.n_iter)  # fmt: skip


def _in_units(distances: np.ndarray) -> np.ndarray:
    """Distances whose root mean square is 10."""
    distances = distances / (float(distances.max(initial=0.0)) or 1.0)
    distances *= _RMS / (np.sqrt((distances**2).mean()) or 1.0)
    return distances
