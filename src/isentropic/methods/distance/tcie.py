"""TCIE: topologically constrained isometric embedding, geodesic stress without paths bent by a boundary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from ..._core.errors import require
from ..._core.runtime import require_memory, seeded
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ..._core.values import Geodesic
from ...embedding.embedder import Embedder
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import (
    MaxIter,
    NComponents,
    NJobs,
    RowMetric,
    Tolerance,
    TrainingData,
    training_data,
)
from ...geodesics import boundary_rows, from_neighbors
from ...kernels._jit import threads
from ...kernels.pairs.pair_stress import consistent_pairs
from ...objectives import ListedPairs, ListedStress
from ...optim import Minimum
from .pairs import (
    PairedRows,
    ReferenceMap,
    as_minimum,
    initial_coordinates,
    minimize,
    optimizer_of,
    paired_rows,
)
from .stress import optimize_stress

_NO_BOUNDARY = 1e300  # how far it is, in units: farther than any path is long
_LEAST_REFERENCES = 10  # that a new row is placed by, however near the boundary is


@dataclass(frozen=True, eq=False)
class ConsistentMap(ReferenceMap):
    """New rows minimize the stress of their consistent geodesics, and of those to the nearest rows."""

    to_boundary: Annotated[np.ndarray, Array("n", least=0)]  # of the training rows, in units

    def optimize(self, distances: np.ndarray, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows, in units."""
        wanted = distances / self.unit
        return optimize_stress(self._weights(wanted), wanted, Z, n_jobs)

    def _weights(self, distances: np.ndarray) -> np.ndarray:
        """1 for references whose way to the new row is consistent, and for the nearest; 0 for others."""
        to_boundary = self.to_boundary[self.references]
        own = (distances + to_boundary).min(axis=1, keepdims=True)
        few = min(_LEAST_REFERENCES, distances.shape[1]) - 1
        near = np.partition(distances, few, axis=1)[:, few : few + 1]
        return ((distances <= own + to_boundary) | (distances <= near)).astype(float)


class TCIE(Embedder):
    """TCIE: unroll a surface with holes or a notched boundary; paths around them are left out.

    G are the shortest paths over the neighbour graph and B the rows on the boundary of the surface. A pair is
    consistent if ``G_ij <= G(i, B) + G(j, B)``: its path cannot have gone along a boundary, so that its
    length is that of a straight line on the surface. The map minimises ``sum (G_ij - |z_i - z_j|)^2`` over
    consistent pairs and edges of the graph, from ISOMAP's map. A new row enters the graph as in ISOMAP and
    minimises its own part, with the fitted rows fixed.

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
    pair_share_ : float
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
    >>> bool(tcie.pair_share_ < 0.2)
    True
    >>> bool((tcie.transform(roll.X[:5]) == tcie.embedding_[:5]).all())
    True
    """

    boundary_: Annotated[np.ndarray, Array("n", dtype=np.bool_)]
    pair_share_: Annotated[float, Number(0, most=1)]
    cost_: Annotated[float, Number(nan=True)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[ConsistentMap, Sub(ConsistentMap)]

    def __init__(
        self,
        n_neighbors: Any = 10,
        n_components: NComponents = 2,
        *,
        boundary: Any = None,
        metric: RowMetric = "euclidean",
        max_iter: MaxIter = 500,
        tol: Tolerance = 1e-6,
        random_state: Any = None,
        n_jobs: NJobs = None,
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
        d, n_jobs, geodesic = self.n_components, self.n_jobs, Geodesic(self.n_neighbors, self.metric)
        data = training_data(self, X, metric=geodesic)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, "all", random, seed, n_jobs)
        start = initial_coordinates(rows, "pca", d, random)  # the map of ISOMAP
        boundary = _boundary(data, self.boundary, d, n_jobs)
        to_boundary = _nearest_of(boundary, rows)
        found, kept = _least_consistent(rows, start, to_boundary, optimizer_of(self.max_iter, self.tol))
        Z = data.merge_duplicates(rows.embedding(found.point))
        every = np.arange(data.n)  # those whose ways are consistent are near ones
        new_rows = ConsistentMap(query, Z, rows.unit, every, to_boundary)
        return self._set_fit(Z, new_rows, boundary_=boundary, pair_share_=kept, cost_=found.value,
                             n_iter_=found.n_iter)  # fmt: skip


def _boundary(data: TrainingData, given: Any, n_components: int, n_jobs: int | None) -> np.ndarray:
    """Rows on the boundary: those of the user, or detected ones."""
    if given is None:
        return boundary_rows(data.table, n_components, metric=data.row_metric, n_jobs=n_jobs)
    given = np.asarray(given)
    must_be = f"None or an array of {data.n} booleans, one a row"
    fits = given.dtype == bool and given.shape == (data.n,)
    require(fits, "boundary", must_be, f"{given.dtype} of shape {given.shape}")
    return given.copy()


def _least_consistent(
    rows: PairedRows, start: np.ndarray, to_boundary: np.ndarray, optimizer: partial[Minimum]
) -> tuple[Minimum, float]:
    """The map of least stress over consistent pairs and edges, and the share of pairs that these are."""
    if not rows.unit:
        return as_minimum(start), 1.0
    pairs = _consistent_edges_and_pairs(rows, to_boundary)
    kept = len(pairs.indices) / (rows.pairs.n * (rows.pairs.n - 1))
    return minimize(ListedStress(pairs, n_jobs=rows.n_jobs), start, optimizer), kept


def _nearest_of(boundary: np.ndarray, rows: PairedRows) -> np.ndarray:
    """How far each row is from the boundary along the surface, in units."""
    at_edge, distances = np.flatnonzero(boundary)[None, :], rows.distances
    if at_edge.size == 0 or rows.unit == 0:
        return np.full(len(boundary), _NO_BOUNDARY)
    assert distances.graph is not None
    found = from_neighbors(distances.graph, at_edge, np.zeros(at_edge.shape), n_jobs=distances.n_jobs)
    return found[0] / rows.unit


def _consistent_edges_and_pairs(rows: PairedRows, to_boundary: np.ndarray) -> ListedPairs:
    """Edges and consistent pairs with the lengths of their paths, in units."""
    graph, n, n_jobs = rows.distances.graph, rows.pairs.n, rows.distances.n_jobs
    assert graph is not None
    starts, none = np.zeros(n + 1, np.int64), np.empty(0)
    geodesics = rows.pairs.distances / rows.unit
    with threads(n_jobs):
        consistent_pairs(geodesics, to_boundary, graph.indptr, graph.indices, starts, none.astype(np.int32),
                         none)  # fmt: skip
        np.cumsum(starts, out=starts)
        count = int(starts[-1])
        require_memory(20 * count, f"{count // 2:,} pairs", "Give a boundary, or fewer rows.")
        indices, wanted = np.empty(count, np.int32), np.empty(count)
        consistent_pairs(geodesics, to_boundary, graph.indptr, graph.indices, starts, indices, wanted)
    return ListedPairs(starts, indices, wanted, np.ones(count))
