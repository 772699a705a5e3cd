"""t-SNE, and its relatives SNE and global t-SNE."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Real
from ..._core.runtime import seeded
from ..._core.specs import Number, Text, Whole
from ..._core.state import Sub
from ..._core.values import GraphMetric
from ...affinities import checked_perplexity, conditional_affinities, neighbors_for_perplexity
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
from ...objectives import GaussianNeighbors, StudentNeighbors
from ...optim import lbfgs
from .tsne_stages import (
    MOST_DOF,
    GaussianLayout,
    GaussianMap,
    PerplexityAffinities,
    StudentLayout,
    StudentMap,
    dense,
    descend,
    initial_embedding,
    merged_embedding,
    neighbor_lists,
    over_all_pairs,
    over_sampled_pairs,
    require_pair_memory,
    schedule,
    student_affinities,
    with_spread,
)


class TSNE(Embedder):
    """t-SNE: match the neighbour affinities of the data by Student weights in the map.

    A row has the affinities ``p_j|i``, proportional to ``exp(-d_ij^2 / 2 sigma_i^2)``, with ``sigma_i`` such
    that about ``perplexity`` rows count; ``p_ij = (p_j|i + p_i|j) / 2n``. The map has the weights ``q_ij``,
    proportional to ``(1 + |z_i - z_j|^2 / t)^(-(t+1)/2)`` with t degrees of freedom, and minimises
    ``sum p log(p / q)`` by gradient descent with momentum and gains, at a rate of ``n / exaggeration``. P is
    exaggerated in the first third of the steps, at most 250. A new row minimises its own part of the cost,
    with the fitted rows fixed.

    The ``3 perplexity`` nearest neighbours stand for all. All pairs of the map repel each other: exactly up
    to 4,000 rows, ``O(n^2)`` a step; else by a field on a grid (particle-mesh, Fourier transforms), ``O(n)``
    a step, and beyond two dimensions by a tree of boxes (Barnes and Hut), ``O(n log n)``; both within 1.5% of
    the exact push.

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
        Initialization, scaled to a standard deviation of 1e-4; for metrics other than the Euclidean,
        ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Precomputed lists of neighbours, at least ``3 perplexity`` a row.
    max_iter : int
        Steps in all.
    random_state : int, RandomState or None
        For random initialization, the rows of an initialization by classical scaling, and the approximate
        search. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    kl_divergence_ : float
        ``sum p log(p / q)`` of the map; within 1e-3 by fields, within 5e-3 by boxes.
    repulsion_ : {"exact", "fields", "barnes-hut"}
        How the repulsion of all pairs was computed.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    van der Maaten and Hinton (2008); van der Maaten (2014); Linderman, Rachh, Hoskins, Steinerberger and
    Kluger (2019).

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
    repulsion_: Annotated[str, Text("exact", "fields", "barnes-hut")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[StudentMap, Sub(StudentMap)]
    _refines = True
    _keeps_single = True

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
        knn = neighbor_lists(
            distances, neighbors_for_perplexity(perplexity, data.n), self.metric, seed, self.neighbors
        )
        k, dof = knn.indices.shape[1], float(self.dof)
        P = student_affinities(knn, perplexity, n_jobs)
        del knn  # at a million rows its lists matter, and then P, of which the loss has the edges
        loss = StudentNeighbors(P, n_components=d, dof=dof, n_jobs=n_jobs)
        del P
        late = 1.0 if self.exaggeration is None else float(self.exaggeration)
        steps = schedule(int(self.max_iter), float(self.early_exaggeration), late, previous)
        Z = merged_embedding(data, descend(loss, distances, steps, self.init, d, random, previous))
        affinities = PerplexityAffinities(np.array([perplexity]), k)
        new_rows = StudentMap(query, affinities, StudentLayout(Z, loss.dof, loss.repulsion))
        return self._set_fit(Z, new_rows, kl_divergence_=loss.divergence(Z), repulsion_=loss.repulsion,
                             n_iter_=sum(count for count, _ in steps))  # fmt: skip


_SNE_SPREAD = 0.1  # standard deviation of the start
_PRECISION = 2.0  # weights exp(-d^2) in the map
_PAIR_BYTES = 40  # of lists, affinities, and what they are made of


class SNE(Embedder):
    """SNE: match the neighbour affinities of the data by Gaussian weights in the map.

    ``p_j|i`` is proportional to ``exp(-d_ij^2 / 2 sigma_i^2)``, with ``sigma_i`` such that about
    ``perplexity`` rows count, and ``q_j|i`` to ``exp(-|z_i - z_j|^2)``. The map minimises
    ``sum_i sum_j p_j|i log(p_j|i / q_j|i)`` by L-BFGS. A new row minimises its own part of the cost, with the
    fitted rows fixed.

    Cost: ``O(n^2)`` time a step and ``40 n^2`` bytes.

    Parameters
    ----------
    perplexity : float
        About how many neighbours count, at least 1. From n - 1 on all rows count alike, with a warning.
    n_components : int
        Dimension of the map.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization, scaled to a standard deviation of 0.1; for metrics other than the Euclidean, ``"pca"``
        is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Precomputed lists of neighbours, at least ``3 perplexity`` a row.
    max_iter : int
        Steps of L-BFGS at most.
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
        knn = neighbor_lists(
            distances, neighbors_for_perplexity(perplexity, data.n), self.metric, seed, self.neighbors
        )
        P = conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)[0]
        loss = GaussianNeighbors(dense(knn, P), [_PRECISION], n_jobs=n_jobs)
        start = initial_embedding(distances, self.init, d, random, previous)
        start = with_spread(start, _SNE_SPREAD, previous)
        found = lbfgs(loss, start, max_iter=int(self.max_iter), tol=float(self.tol))
        Z = merged_embedding(data, found.point)
        affinities = PerplexityAffinities(np.array([perplexity]), knn.indices.shape[1])
        new_rows = GaussianMap(query, affinities, GaussianLayout(Z, np.array([_PRECISION])))
        return self._set_fit(Z, new_rows, kl_divergence_=max(loss(Z)[0], 0.0), n_iter_=found.n_iter)


ALL_PAIRS_UP_TO = 4_000  # rows: beyond, fields and sampled pairs take a sixth of the time, or less
_MOST_SAMPLED = 5.0  # weight of far pairs: beyond, the map fits the sample, and gradient descent may not end
_STEPS = 1.5  # of gradient descent for a step of L-BFGS
_GLOBAL_SPREAD = 1e-2  # standard deviation of the start


class GlobalTSNE(Embedder):
    """t-SNE that preserves large distances as well:  ``KL(P || Q) + l KL(P' || Q')``.

    P and Q are those of t-SNE. ``p'_ij`` is proportional to ``1 + d_ij^2`` and ``q'_ij`` to
    ``1 + |z_i - z_j|^2``, so that pairs weigh more the farther they are apart. Distances are in units in
    which their root mean square is 10: then 1 does not matter, and the map has no unit. A new row goes down
    the part of t-SNE in the cost, with the fitted rows fixed.

    Up to 4,000 rows all pairs are summed, ``O(n^2)`` time a step and ``40 n^2`` bytes, and the cost is
    minimised by L-BFGS. Beyond, ``p'`` is that of 128 sampled partners a row, the repulsion of t-SNE a field
    as in ``TSNE``, and the cost is minimised by its gradient descent, both parts exaggerated at first:
    ``O(n)`` time a step and ``O(n k)`` memory. Distances over a graph, and weights above 5, take all pairs.

    Parameters
    ----------
    perplexity : float
        About how many neighbours count, at least 1. From n - 1 on all rows count alike, with a warning.
    n_components : int
        Dimension of the map.
    global_weight : float
        The weight l of the second divergence; 0 is t-SNE.
    init : {"pca", "random"} or array of shape (n, n_components)
        Initialization, scaled to a standard deviation of 0.01; for metrics other than the Euclidean,
        ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest paths over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Precomputed lists of neighbours, at least ``3 perplexity`` a row.
    max_iter : int
        Steps of L-BFGS at most; with sampled pairs, 3 steps of gradient descent for 2 of these.
    tol : float
        A step of L-BFGS that lowers the cost by less than this share of the first cost is the last one.
    random_state : int, RandomState or None
        For random initialization, the rows of an initialization by classical scaling, sampled pairs, and the
        approximate search. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    kl_divergence_ : float
        ``KL(P || Q) + l KL(P' || Q')``; over the sampled pairs, lower than over all by about 0.01.
    repulsion_ : {"exact", "fields", "barnes-hut"}
        How the repulsion of all pairs was computed.
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
    repulsion_: Annotated[str, Text("exact", "fields", "barnes-hut")]
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
        weight = float(self.global_weight)
        sampled = data.n > ALL_PAIRS_UP_TO and weight <= _MOST_SAMPLED
        sampled = sampled and not isinstance(data.metric, GraphMetric)
        if not sampled:
            require_pair_memory(_PAIR_BYTES, data.n)
        random, seed = seeded(self.random_state)
        perplexity = checked_perplexity(self.perplexity, data.n)
        query = NearestRows.fit(data, seed, n_jobs)
        distances = query.distances(n_jobs)
        knn = neighbor_lists(
            distances, neighbors_for_perplexity(perplexity, data.n), self.metric, seed, self.neighbors
        )
        P = student_affinities(knn, perplexity, n_jobs)
        if sampled:
            steps = schedule(int(_STEPS * self.max_iter), previous=previous)
            loss = over_sampled_pairs(P, distances, weight, d, random.permutation(data.n), seed)
            Z = merged_embedding(data, descend(loss, distances, steps, self.init, d, random, previous))
            value, n_iter, repulsion = loss.divergence(Z), sum(count for count, _ in steps), loss.repulsion
        else:
            start = initial_embedding(distances, self.init, d, random, previous)
            start = with_spread(start, _GLOBAL_SPREAD, previous)
            cost = over_all_pairs(P, distances, weight)
            found = lbfgs(cost, start, max_iter=int(self.max_iter), tol=float(self.tol))
            Z = merged_embedding(data, found.point)
            value, n_iter, repulsion = cost(Z)[0], found.n_iter, "exact"
        affinities = PerplexityAffinities(np.array([perplexity]), knn.indices.shape[1])
        new_rows = StudentMap(query, affinities, StudentLayout(Z, 1.0, repulsion))
        return self._set_fit(Z, new_rows, kl_divergence_=max(value, 0.0), repulsion_=repulsion,
                             n_iter_=n_iter)  # fmt: skip
