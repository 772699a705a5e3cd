"""Local multidimensional scaling."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..._core.errors import require_count, require_number
from ..._core.runtime import row_blocks
from ..._core.state import Double, State, Whole
from ...kernels._jit import threads
from ...kernels.pairs.near_pairs import kth_smallest, near_weights
from ...neighbors import clipped_neighbors
from ...objectives import Stress, worth_threads
from ...optim import Minimum, lbfgs
from .pairs_embedder import Problem, minimised
from .stress_embedder import StressEmbedder, row_starts, with_their_own

_STEPS = 4  # of a stage, for which the weights are held
_STAGES_OF_ROW = 10


class LocalMDS(StressEmbedder):
    """A map that keeps the distances of neighbours, in the data or in the map (local MDS).

    Minimises ``sum (d - e)^2 ((1 - balance) F(d) + balance F(e))`` over pairs, d the distances in the data
    and e those in the map, F 1 within the radius of a row and 0 beyond, the mean of both rows. Pairs that are
    near in the data hold together what belongs together (continuity); pairs that are near in the map push
    apart what does not (trustworthiness): at 1 it is curvilinear component analysis. The radius shrinks from
    the largest distance to that of the k-th neighbour, weights held for four steps of L-BFGS at a time. A new
    row goes through ten such stages, the fitted rows held.

    Cost: ``O(n^2)`` time a step and ``8 n^2`` bytes.

    Parameters
    ----------
    n_neighbors : int
        Neighbours within the last radius of a row. From n on all are taken, with a warning.
    n_components : int
        Dimension of the map.
    balance : float
        From 0, for neighbours in the data alone, to 1, for those in the map alone.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Steps of L-BFGS at most, four a stage.
    random_state : int, RandomState or None
        For random starts. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In the units of the data.
    cost_ : float
        ``sum w (d - e)^2 / sum w d^2`` with the last weights.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Venna and Kaski (2006).

    Examples
    --------
    >>> from isentropic import LocalMDS, datasets
    >>> roll = datasets.load("builtin:swiss-roll").X[:200]
    >>> LocalMDS(n_neighbors=10).fit_transform(roll).shape
    (200, 2)
    """

    tol, pairs = 0.0, "all"
    _state = State(_neighbors=Whole(1), _balance=Double(0))

    def __init__(
        self,
        n_neighbors=20,
        n_components=2,
        *,
        balance=0.5,
        init="pca",
        metric="euclidean",
        max_iter=240,
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.balance = balance
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Distances, start, and a map for one radius after the other. ``y`` is not used."""
        require_count("n_neighbors", self.n_neighbors)
        require_number("balance", self.balance, "a number from 0 to 1", most=1)
        super().fit(X)
        self._neighbors, self._balance = int(self.n_neighbors), float(self.balance)
        self._references = np.arange(len(self.embedding_))  # neighbours matter, and any row may be one
        return self

    def _minimum(self, problem: Problem, optimizer: partial[Minimum]) -> Minimum:
        d, n = problem.pairs.distances, problem.pairs.n
        last = np.empty(n)
        k = clipped_neighbors(self.n_neighbors, n - 1)
        n_jobs = worth_threads(len(d), self.n_jobs)
        with threads(n_jobs):
            kth_smallest(d, n, k, last)
        cost, _ = Stress(problem.pairs, counts=problem.counts, n_jobs=self.n_jobs)(problem.start)
        found = Minimum(problem.start, cost, 0, True)
        weights = np.empty(len(d))
        for shares in _shrinking(optimizer.keywords["max_iter"] // _STEPS):
            radii = last**shares  # the largest distance is 1
            with threads(n_jobs):
                near_weights(d, np.ascontiguousarray(found.point.T), radii, float(self.balance), weights)
            step = self._stage(problem, found.point, weights)
            found = Minimum(step.point, step.value, found.n_iter + step.n_iter, True)
        return found

    def _stage(self, problem: Problem, Z: np.ndarray, weights: np.ndarray) -> Minimum:
        if not weights.any():  # no two rows are near in the map, and nothing else counts
            return Minimum(Z, 0.0, 0, True)
        d, counts = problem.pairs.distances, problem.counts
        total = float(np.einsum("i,i,i->", weights, d, d)) if counts is None else None
        stress = Stress(problem.pairs, weights=weights, counts=counts, normaliser=total, n_jobs=self.n_jobs)
        return minimised(stress, Z, partial(lbfgs, max_iter=_STEPS, tol=0.0))

    def _settle(self, distances: np.ndarray, Z: np.ndarray) -> np.ndarray:
        wanted = distances / self._unit
        k = min(self._neighbors, wanted.shape[1])
        last = np.partition(wanted, k - 1, axis=1)[:, k - 1 : k]
        most = wanted.max(axis=1, keepdims=True)
        starts = row_starts(wanted, Z, self.n_jobs)
        places = self._settled(np.ones_like(wanted), wanted, Z, starts)
        for share in np.linspace(0.0, 1.0, _STAGES_OF_ROW):
            radius = most ** (1.0 - share) * last**share
            mapped = np.sqrt(((places[:, None] - Z) ** 2).sum(axis=2))
            weights = (1.0 - self._balance) * (wanted <= radius) + self._balance * (mapped <= radius)
            places = self._settled(weights, wanted, Z, places[:, None].copy())
        return with_their_own(places, wanted, Z)


def _shrinking(stages: int):
    """From 0 to 1 in equal steps, with progress."""
    for block in row_blocks(stages, "stages", size=1):
        yield block.start / max(stages - 1, 1)
