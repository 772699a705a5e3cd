"""KDE-ISOMAP: geodesics over divergences between kernel density estimates around the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Count, Parameter, Real, Switch
from ..._core.runtime import row_blocks
from ..._core.specs import Array, Checked, Double, Flag, Maybe, Number, Starts, StateError, Tuple, Whole
from ..._core.state import Sub, Value
from ..._core.values import NeighborGraph, Percentile
from ...divergences import (
    bandwidth_floors,
    checked_bandwidth,
    checked_weights,
    density_unit,
    kde_divergences,
    reweighted,
)
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_landmarks
from ...embedding.maps.geodesic import GeodesicMap
from ...embedding.training_data import NComponents, NJobs, Part, TrainingData, training_data
from ...neighbors import QueryEdges, directed_within, joined_graph, query_edges
from .geodesic_scaling import Policy, embedded_component, geodesic_results, scaled_geodesics

_NEW_AT_ONCE = 64  # new rows whose patches, and those of their neighbours, are held together


class _Bandwidth(Parameter):
    def _accepted(self, name: str, value: Any) -> Any:
        checked_bandwidth(value)
        return value


@dataclass(frozen=True, eq=False)
class DensityEdges(Part):
    """A new row enters the graph at the rows within its radius, by the divergences of their densities."""

    data: Annotated[TrainingData, Sub(TrainingData)]
    rule: Annotated[Percentile, Value(Percentile)]
    indptr: Annotated[np.ndarray, Starts("n", "members")]  # of the patches of training rows
    members: Annotated[np.ndarray, Array("members", dtype=np.int32, below="n", empty=True)]
    bandwidth: Annotated[Any, Checked(checked_bandwidth)]
    root: Annotated[bool, Flag()]
    unit: Annotated[float, Double(above=0)]
    grid: Annotated[tuple[float, float, int], Tuple(Double(), Double(), Whole(2))]
    floors: Annotated[tuple[np.ndarray, np.ndarray], Tuple(Array("m", above=0), Array("m", above=0))]

    def of_new(self, X: np.ndarray, paths: GeodesicMap, n_jobs: int | None) -> QueryEdges:
        """The edges of new rows."""
        found = query_edges(X, paths.index, paths.graph, self.rule, n_jobs=n_jobs)
        listed = np.isfinite(found.distances)
        weights = np.full(listed.shape, np.inf)
        for block in row_blocks(len(X), "divergences of new rows", size=_NEW_AT_ONCE):
            neighbors = paths.nodes[found.indices[block]]
            weights[block][listed[block]] = self._of_patches(X[block], neighbors, listed[block], n_jobs)
        return QueryEdges(found.indices, weights, found.isolated)

    def between(self, heads: np.ndarray, tails: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Divergences between the patches of training rows."""
        indptr, members = with_own_rows(self.indptr, self.members, np.arange(self.data.n))
        return self._divergences(self.data.X, indptr, members, heads, tails, n_jobs)

    def _of_patches(
        self, X: np.ndarray, neighbors: np.ndarray, listed: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """Divergences between the patches of new rows and those of their neighbours, where listed."""
        row, _ = np.nonzero(listed)
        near = neighbors[listed]
        known, tails = np.unique(near, return_inverse=True)
        n = self.data.n
        sizes = np.concatenate([np.diff(self.indptr)[known], listed.sum(axis=1)])
        lists = [self.members[self.indptr[i] : self.indptr[i + 1]] for i in known]
        indptr, members = with_own_rows(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([*lists, near]),
            np.concatenate([known, n + np.arange(len(X))]),
        )
        used, members = np.unique(members, return_inverse=True)
        rows = np.concatenate([self.data.X[used[used < n]], X])
        return self._divergences(rows, indptr, members, len(known) + row, tails.ravel(), n_jobs)

    def _divergences(self, X, indptr, members, heads, tails, n_jobs) -> np.ndarray:
        bandwidth = self.bandwidth if isinstance(self.bandwidth, str) else self.bandwidth / self.unit
        values = kde_divergences(X / self.unit, indptr, members, heads, tails, grid=self.grid,
                                 bandwidth=bandwidth, floors=self.floors, n_jobs=n_jobs)  # fmt: skip
        values = checked_weights(values, len(heads))
        return np.sqrt(values) if self.root else values

    def _require_sound(self) -> None:
        if self.data.X is None:
            raise StateError("data.X", "must be there, for the patches of new rows")


class DensityGeodesicMap(GeodesicMap):
    """The out-of-sample map of KDE-ISOMAP."""

    edges: Annotated[DensityEdges, Sub(DensityEdges)]


class KDEIsomap(Embedder):
    """ISOMAP whose edges compare the distributions of every feature around two rows.

    Each row has its own radius, a percentile of its distances; the rows within it are its patch. A
    Gaussian kernel density estimate describes each feature of a patch, on L points between the least
    and the largest number of the whole table. An edge weighs ``sum_f D_f^2``, with
    ``D_f = 1/2L sum (p - q) log(p/q)`` the symmetrised Kullback-Leibler divergence of feature f. Shortest
    paths and classical scaling follow as in ISOMAP. A new row makes a patch with the fitted rows within
    its own radius, and enters the graph by the divergences to their patches, by itself.

    Standardise the features first: they share one grid. Densities are those of the table in units of the
    root mean variance of its features, 1 where they are standardised, so that the map of a table and of its
    multiple are the same. As published, the weight is a squared norm and
    ISOMAP squares the path again, so that one long coordinate may be all there is; ``root=True`` takes
    the norm.

    Cost: with N rows in a patch ``O(n^2 m + n N m L)`` time, beside the shortest paths of ISOMAP; ``16 n L``
    bytes beside its ``4 n^2``.

    Parameters
    ----------
    percentile : float
        Percentile, in (0, 100], of a row's distances to all rows, its own 0 included, that is its radius.
    n_components : int
        Dimension of the map.
    bandwidth : float, "silverman", "scott" or "scott-histogram"
        A number for all, or a rule for each patch of N rows and feature: ``0.9 min(s, IQR/1.34) N^(-1/5)``;
        ``1.059 min(s, IQR/1.349) N^(-1/5)``, s where the IQR is 0; or ``3.49 s N^(-1/3)``.
    bandwidth_floor : float or "reference"
        The least bandwidth of a rule, as a share of each feature's standard deviation over all rows;
        ``"reference"``: 0.05 for silverman, and 0.1 where scott is below 0.05, as the published programs
        have it. A hundredth of the grid's step is the least in any case, so that constant features and
        patches of equal rows stay finite.
    n_bins : int
        Points of the grid, L.
    root : bool
        Weigh an edge by the norm, not the squared norm.
    n_landmarks : int or Landmarks, optional
        Work through this many rows, spread out by farthest-first choice, instead of all.
    on_disconnected : {"bridge", "largest", "raise", "inflate"} or Inflate
        What to do about a disconnected graph, as in ISOMAP. The published programs use ``"inflate"``.
    random_state : int, RandomState or None
        For random landmarks. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. None is all cores, or one inside a parallel worker. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Largest first; coordinates of a negative one are zero, with a warning.
    residual_variance_ : float
        ``1 - corr(G, D_Z)^2`` over all pairs of rows (with landmarks: of a landmark and a row).
    euclidean_defect_ : (float, float)
        Bounds of the negative share of the spectrum, which no map can show.
    landmarks_ : array or None
        The rows that are landmarks, None for the exact method.
    graph_ : NeighborGraph
        The graph of the fitted rows; its weights are divergences.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Cervati Neto (2024), Dimensionality reduction-based metric learning using information theoretic measures,
    section 3.5.

    Examples
    --------
    >>> from isentropic import KDEIsomap, datasets
    >>> wine = datasets.load("builtin:wine", scaling="standard")
    >>> isomap = KDEIsomap(percentile=10).fit(wine.X)
    >>> isomap.embedding_.shape
    (178, 2)
    >>> bool((isomap.transform(wine.X[:5]) == isomap.embedding_[:5]).all())
    True
    """

    graph_: Annotated[NeighborGraph, Value(NeighborGraph, n="g")]
    landmarks_: Annotated[np.ndarray | None, Maybe(Array("r", dtype=np.int64, below="n"))]
    eigenvalues_: Annotated[np.ndarray, Array("d")]
    euclidean_defect_: Annotated[tuple[float, float], Tuple(Number(), Number())]
    residual_variance_: Annotated[float, Number()]
    _map: Annotated[DensityGeodesicMap, Sub(DensityGeodesicMap)]

    def __init__(
        self,
        percentile: Annotated[float, Real("a number in (0, 100]", above=0, most=100)] = 10,
        n_components: NComponents = 2,
        *,
        bandwidth: Annotated[Any, _Bandwidth()] = "silverman",
        bandwidth_floor: Any = 0.05,
        n_bins: Annotated[int, Count(least=2)] = 256,
        root: Annotated[bool, Switch()] = False,
        n_landmarks: Any = None,
        on_disconnected: Annotated[Any, Policy()] = "bridge",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.percentile = percentile
        self.n_components = n_components
        self.bandwidth = bandwidth
        self.bandwidth_floor = bandwidth_floor
        self.n_bins = n_bins
        self.root = root
        self.n_landmarks = n_landmarks
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Radii, a density for each feature of each patch, divergences on the edges, geodesics, scaling.

        ``y`` is not used.
        """
        data, policy, n_jobs = training_data(self, X), self.on_disconnected, self.n_jobs
        checked_landmarks(self.n_landmarks, self.n_components, 0)
        rule = Percentile(self.percentile)
        near = directed_within(data.X, rule, "euclidean", n_jobs)
        graph = joined_graph(data.X, near, "percentile", on_disconnected=policy, n_jobs=n_jobs)
        lists = near.indptr.astype(np.int64), near.indices.astype(np.int32)
        densities = _densities(data.X, self.bandwidth, self.bandwidth_floor, int(self.n_bins))
        edges = DensityEdges(data, rule, *lists, self.bandwidth, self.root, *densities)
        graph = reweighted(graph, partial(edges.between, n_jobs=n_jobs))
        nodes, graph = embedded_component(graph, policy)
        found = scaled_geodesics(data, nodes, graph, self.n_landmarks, self.n_components, policy,
                                 random_state=self.random_state, n_jobs=n_jobs)  # fmt: skip
        Z, paths, results = geodesic_results(DensityGeodesicMap, data, nodes, edges, found, n_jobs)
        return self._set_fit(Z, paths, **results)


def _densities(
    X: np.ndarray, bandwidth: Any, bandwidth_floor: Any, n_bins: int
) -> tuple[float, tuple[float, float, int], tuple[np.ndarray, np.ndarray]]:
    """The unit, the grid, and the floors of the bandwidths, which new rows share."""
    unit = density_unit(X)
    low, high = float(X.min()), float(X.max())
    step = (high - low) / (n_bins - 1)
    below, least = bandwidth_floors(X, bandwidth, bandwidth_floor, step)
    return unit, (low / unit, high / unit, n_bins), (below / unit, least / unit)


def with_own_rows(indptr: np.ndarray, indices: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Patches: each row before its neighbours."""
    starts = indptr + np.arange(len(indptr))
    members = np.empty(starts[-1], np.int64)
    is_own = np.zeros(len(members), bool)
    is_own[starts[:-1]] = True
    members[is_own], members[~is_own] = own, indices
    return starts, members
