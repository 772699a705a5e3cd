"""t-SNE: t-distributed stochastic neighbour embedding."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

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
    training_data,
)
from ...objectives import StudentNeighbors
from .student import (
    MOST_DOF,
    PerplexityAffinities,
    StudentLayout,
    StudentMap,
    descend,
    merged_embedding,
    neighbor_lists,
    schedule,
    student_affinities,
)


class TSNE(Embedder):
    """A map in which near rows stay near: affinities of the data as weights of a Student distribution.

    A row has the affinities ``p_j|i``, proportional to ``exp(-d_ij^2 / 2 sigma_i^2)``, with ``sigma_i`` such
    that about ``perplexity`` rows count; ``p_ij = (p_j|i + p_i|j) / 2n``. The map has the weights ``q_ij``,
    proportional to ``(1 + |z_i - z_j|^2 / t)^(-(t+1)/2)`` with t degrees of freedom, and minimises
    ``sum p log(p / q)`` by gradient descent with momentum and gains, at a rate of ``n / exaggeration``. P is
    exaggerated in the first third of the steps, at most 250. A new row goes down its own part of the cost,
    the fitted rows held.

    The ``3 perplexity`` nearest neighbours stand for all. All pairs of the map repel each other: exactly up
    to 4,000 rows and beyond two dimensions, ``O(n^2)`` a step; else by a field on a grid (particle-mesh,
    Fourier transforms), ``O(n)`` a step and within 1.5% of the exact push.

    Parameters
    ----------
    perplexity : float
        About how many neighbours count, at least 1. From n - 1 on all rows count alike, with a warning.
    n_components : int
        Dimension of the map.
    early_exaggeration : float
        Factor of P in the first steps, which brings neighbours together.
    exaggeration : float, optional
        Factor of P after them; None is 1. More draws clusters together.
    dof : float
        Degrees of freedom t, at most 1e6: below 1, heavier tails, which show finer clusters.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the descent starts, scaled to a standard deviation of 1e-4; for metrics other than the
        Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists of neighbours that are known already, ``3 perplexity`` a row or more.
    max_iter : int
        Steps in all.
    random_state : int, RandomState or None
        For random starts, the rows that a start by classical scaling is made from, and the approximate
        search. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    kl_divergence_ : float
        ``sum p log(p / q)`` of the map; with ``repulsion_ == "fields"`` within 1e-3.
    repulsion_ : {"exact", "fields"}
        How the push of all pairs was summed.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    van der Maaten and Hinton (2008); Linderman, Rachh, Hoskins, Steinerberger and Kluger (2019).

    Examples
    --------
    >>> from isentropic import TSNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> tsne = TSNE(max_iter=250).fit(iris.X)
    >>> tsne.embedding_.shape
    (150, 2)
    >>> bool((tsne.transform(iris.X[:5]) == tsne.embedding_[:5]).all())
    True
    """

    kl_divergence_: Annotated[float, Number()]
    repulsion_: Annotated[str, Text("exact", "fields")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[StudentMap, Sub(StudentMap)]
    _refines = True

    def __init__(
        self,
        perplexity: float = 30.0,
        n_components: NComponents = 2,
        *,
        early_exaggeration: Annotated[float, Real("a factor of at least 1", least=1.0)] = 12.0,
        exaggeration: Annotated[
            float | None, Real("None or a positive factor", above=0, optional=True)
        ] = None,
        dof: Annotated[float, Real("a positive number of at most 1e6", above=0, most=MOST_DOF)] = 1.0,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        neighbors: NeighborLists = None,
        max_iter: MaxIter = 750,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.early_exaggeration = early_exaggeration
        self.exaggeration = exaggeration
        self.dof = dof
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """Neighbours, affinities, start, descent. ``y`` is not used.

        ``init`` is an earlier map to go on from, at its own size, in a third of the steps: a fitted
        estimator, a DataFrame of coordinates by row name, or an array.
        """
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        random, seed = seeded(self.random_state)
        perplexity = checked_perplexity(self.perplexity, data.n)
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        knn = neighbor_lists(distances, listed_for(perplexity, data.n), self.metric, seed, self.neighbors)
        P = student_affinities(knn, perplexity, n_jobs)
        loss = StudentNeighbors(P, n_components=d, dof=float(self.dof), n_jobs=n_jobs)
        late = 1.0 if self.exaggeration is None else float(self.exaggeration)
        steps = schedule(int(self.max_iter), float(self.early_exaggeration), late, previous)
        Z = merged_embedding(data, descend(loss, distances, steps, self.init, d, random, previous))
        affinities = PerplexityAffinities(np.array([perplexity]), knn.indices.shape[1])
        new_rows = StudentMap(query, affinities, StudentLayout(Z, loss.dof, loss.repulsion))
        return self._set_fit(Z, new_rows, kl_divergence_=loss.divergence(Z), repulsion_=loss.repulsion,
                             n_iter_=sum(count for count, _ in steps))  # fmt: skip
