"""TCIE: topologically constrained isometric embedding, geodesic stress without paths bent by a boundary."""

from __future__ import annotations

import numpy as np

from ..._core.errors import require
from ..._core.runtime import generator, require_memory
from ..._core.state import Array, Number, State
from ..._core.values import Geodesic
from ...embedding.input_rows import KnownRows, checked_components, checked_rows, one_place_for_equals
from ...embedding.pair_distances import Distances
from ...embedding.starts import scaled_start
from ...geodesics import boundary_rows, from_neighbors
from ...kernels._jit import threads
from ...kernels.pairs.consistent_pairs import consistent_pairs
from ...objectives import ListedPairs, ListedStress
from ...optim import Minimum
from .pairs_embedder import Problem, minimised
from .stress_embedder import StressEmbedder

_NO_BOUNDARY = 1e300  # how far it is, in units: farther than any path is long
_LEAST_REFERENCES = 10  # that a new row is placed by, however near the boundary is


class TCIE(StressEmbedder):
    """Unrolls a surface with holes or a notched edge, where ISOMAP bends: paths around a hole do not count.

    G are the shortest paths over the neighbour graph and B the rows on the boundary of the surface. A pair
    is consistent if ``G_ij <= G(i, B) + G(j, B)``: its path cannot have gone along a boundary, so that its
    length is that of a straight line on the surface. The map minimises ``sum (G_ij - |z_i - z_j|)^2`` over
    consistent pairs and edges of the graph, from ISOMAP's map. A new row enters the graph as in ISOMAP and
    minimises its own part, the fitted rows held.

    Without a boundary all pairs are kept: the method is then metric MDS of geodesic distances.

    Cost: ``O(n^2 (k + log n))`` time and ``4 n^2`` bytes, and 12 to 20 bytes for each kept pair.

    Parameters
    ----------
    n_neighbors : int, Knn, Radius or Percentile
        Neighbours of each row in the graph.
    n_components : int
        Dimension of the map, and of the surface whose boundary is looked for.
    boundary : array of n booleans, optional
        The rows on the boundary. None: those whose 20 nearest rows leave 110 degrees around them empty (in
        one dimension a side, in three or more a half space, but for a tenth).
    metric : str or callable
        Any metric of scikit-learn, or ``"precomputed"``: X is then a square matrix of distances, and the
        rows given to ``transform`` are distances to the fitted rows.
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    random_state : int, RandomState or None
        For approximate neighbours. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    boundary_ : array of shape (n,)
        Which rows are on the boundary.
    kept_ : float
        Share of all pairs that are kept.
    cost_ : float
        ``sum (G - e)^2 / sum G^2`` over the kept pairs.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Rosman, Bronstein, Bronstein and Kimmel (2010).

    Examples
    --------
    >>> from isentropic import TCIE, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> tcie = TCIE(n_neighbors=10).fit(roll.X)
    >>> tcie.embedding_.shape
    (1000, 2)
    >>> bool(tcie.kept_ < 0.2)
    True
    >>> bool((tcie.transform(roll.X[:5]) == tcie.embedding_[:5]).all())
    True
    """

    _state = State(
        boundary_=Array("n", dtype=np.bool_),
        kept_=Number(0, most=1),
        _to_boundary=Array("n", least=0),
    )

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        boundary=None,
        metric="euclidean",
        max_iter=500,
        tol=1e-6,
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.boundary = boundary
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Graph, geodesics, boundary, consistent pairs, least stress. ``y`` is not used."""
        optimizer = self._checked_optimizer()
        problem = self._geodesic_problem(X)
        boundary = self._boundary(problem.distances.X)
        to_boundary = _nearest_of(boundary, problem)
        minimum, kept = Minimum(problem.start, 0.0, 0, True), 1.0
        if problem.unit:
            pairs = _kept_pairs(problem, to_boundary)
            kept = len(pairs.indices) / (problem.pairs.n * (problem.pairs.n - 1))
            objective = ListedStress(pairs, n_jobs=self.n_jobs)
            minimum = minimised(objective, problem.start, optimizer)
        self._keep(problem, minimum)
        self.boundary_, self._to_boundary, self.kept_ = boundary, to_boundary, kept
        self._references = np.arange(len(boundary))  # those whose ways are consistent are near ones
        return self

    def _geodesic_problem(self, X) -> Problem:
        """Rows and parameters checked, geodesics, and ISOMAP's map as the start."""
        checked_components(self.n_components)
        X = checked_rows(self, X, metric=self.metric)
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        distances = Distances.of(X, self._geodesic(), random_state=seed, n_jobs=self.n_jobs)
        pairs = distances.all()
        unit = distances.largest(pairs)
        start = np.zeros((len(X), self.n_components))
        if unit:
            start = scaled_start(distances, pairs, unit, self.n_components, random)
        return Problem(distances, pairs, unit, start, seed)

    def _geodesic(self) -> Geodesic:
        return Geodesic(self.n_neighbors, self.metric)

    def _boundary(self, X: np.ndarray) -> np.ndarray:
        if self.boundary is None:
            return boundary_rows(X, self.n_components, metric=self.metric, n_jobs=self.n_jobs)
        given = np.asarray(self.boundary)
        must_be = f"None or an array of {len(X)} booleans, one a row"
        fits = given.dtype == bool and given.shape == (len(X),)
        require(fits, "boundary", must_be, f"{given.dtype} of shape {given.shape}")
        return given.copy()

    def _remember(self, X: np.ndarray, classes: np.ndarray | None = None) -> None:
        self._fit_metric = self._geodesic()
        with threads(self.n_jobs):
            self._known = KnownRows.of(X.copy(), classes)
        self.embedding_ = one_place_for_equals(X, self.embedding_)  # also where distances are given

    def _row_weights(self, distances: np.ndarray) -> np.ndarray:
        """1 for references whose way to the new row is consistent, and for the nearest; 0 for others."""
        to_boundary = self._to_boundary[self._references]
        own = (distances + to_boundary).min(axis=1, keepdims=True)
        few = min(_LEAST_REFERENCES, distances.shape[1]) - 1
        near = np.partition(distances, few, axis=1)[:, few : few + 1]
        return ((distances <= own + to_boundary) | (distances <= near)).astype(float)


def _nearest_of(boundary: np.ndarray, problem: Problem) -> np.ndarray:
    """How far each row is from the boundary along the surface, in units."""
    at_edge, distances = np.flatnonzero(boundary)[None, :], problem.distances
    if at_edge.size == 0 or problem.unit == 0:
        return np.full(len(boundary), _NO_BOUNDARY)
    assert distances.graph is not None
    found = from_neighbors(distances.graph, at_edge, np.zeros(at_edge.shape), n_jobs=distances.n_jobs)
    return found[0] / problem.unit


def _kept_pairs(problem: Problem, to_boundary: np.ndarray) -> ListedPairs:
    """Edges and consistent pairs with the lengths of their paths, in units."""
    graph, n, n_jobs = problem.distances.graph, problem.pairs.n, problem.distances.n_jobs
    assert graph is not None
    starts, none = np.zeros(n + 1, np.int64), np.empty(0)
    geodesics = problem.pairs.distances / problem.unit
    with threads(n_jobs):
        consistent_pairs(geodesics, to_boundary, graph.indptr, graph.indices, starts, none.astype(np.int32),
                         none)  # fmt: skip
        np.cumsum(starts, out=starts)
        count = int(starts[-1])
        require_memory(20 * count, f"{count // 2:,} pairs", "Give a boundary, or fewer rows.")
        indices, wanted = np.empty(count, np.int32), np.empty(count)
        consistent_pairs(geodesics, to_boundary, graph.indptr, graph.indices, starts, indices, wanted)
    return ListedPairs(starts, indices, wanted, np.ones(count))
