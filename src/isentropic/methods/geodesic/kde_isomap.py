"""KDE-ISOMAP: geodesics over divergences between kernel density estimates around the rows."""

from __future__ import annotations

import numpy as np

from ..._core.errors import require_count, require_flag, require_number
from ..._core.runtime import row_blocks
from ..._core.specs import Sizes
from ..._core.state import Absent, Array, Checked, Double, Flag, Starts, State, Tuple, Value, Whole
from ..._core.values import Percentile
from ...divergences import (
    bandwidth_floors,
    checked_bandwidth,
    checked_weights,
    density_unit,
    kde_divergences,
    reweighted,
)
from ...neighbors import Entries, directed_within, entry_lists, joined_graph
from .geodesic import GeodesicEmbedder

_NEW_AT_ONCE = 64  # new rows whose patches, and those of their neighbours, are held together


class KDEIsomap(GeodesicEmbedder):
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
        What to do about a graph in parts, as in ISOMAP. The published programs use ``"inflate"``.
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

    metric = "euclidean"
    _unit = 1.0  # of a model that was saved before tables were measured in units of their own
    _state = State(
        _fit_rule=Value(Percentile),
        _fit_as=Tuple(Checked(checked_bandwidth), Flag()),
        _lists=Tuple(Starts("n", "members"), Array("members", dtype=np.int32, below="n", empty=True)),
        _unit=Absent(Double(above=0)),
        _grid=Tuple(Double(), Double(), Whole(2)),
        _floors=Tuple(Array("m", above=0), Array("m", above=0)),
    )

    def __init__(
        self,
        percentile=10,
        n_components=2,
        *,
        bandwidth="silverman",
        bandwidth_floor=0.05,
        n_bins=256,
        root=False,
        n_landmarks=None,
        on_disconnected="bridge",
        random_state=None,
        n_jobs=None,
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
        X = self._checked_rows(X)
        self._fit_rule, self._fit_as = Percentile(self.percentile), (self.bandwidth, self.root)
        near = directed_within(X, self._fit_rule, "euclidean", self.n_jobs)
        graph = joined_graph(X, near, "percentile", on_disconnected=self.on_disconnected, n_jobs=self.n_jobs)
        self._set_grid(X)
        self._lists = near.indptr.astype(np.int64), near.indices.astype(np.int32)
        indptr, members = with_own_rows(*self._lists, np.arange(len(X)))
        graph = reweighted(graph, lambda heads, tails: self._weights(X, indptr, members, heads, tails))
        self._embed_graph(X, graph)
        return self

    def _checked_rows(self, X) -> np.ndarray:
        require_number("percentile", self.percentile, "a number in (0, 100]", above=0, most=100)
        checked_bandwidth(self.bandwidth)
        require_flag("root", self.root)
        require_count("n_bins", self.n_bins, least=2)
        return super()._checked_rows(X)

    def _set_grid(self, X: np.ndarray) -> None:
        """The unit, the grid, and the floors of the bandwidths, which new rows share."""
        self._unit = density_unit(X)
        low, high = float(X.min()), float(X.max())
        self._grid = (low / self._unit, high / self._unit, int(self.n_bins))
        step = (high - low) / (self.n_bins - 1)
        below, least = bandwidth_floors(X, self.bandwidth, self.bandwidth_floor, step)
        self._floors = below / self._unit, least / self._unit

    def _weights(self, X, indptr, members, heads, tails) -> np.ndarray:
        bandwidth, root = self._fit_as
        bandwidth = bandwidth if isinstance(bandwidth, str) else bandwidth / self._unit
        values = kde_divergences(X / self._unit, indptr, members, heads, tails, grid=self._grid,
                                 bandwidth=bandwidth, floors=self._floors, n_jobs=self.n_jobs)  # fmt: skip
        values = checked_weights(values, len(heads))
        return np.sqrt(values) if root else values

    def _require_sound(self) -> None:
        super()._require_sound()
        Double(above=0).check(self._unit, "_unit", Sizes())  # absent in older files, but never None

    def _entries(self, X: np.ndarray) -> Entries:
        found = entry_lists(X, self._fitted_rows(), self.graph_, self._fit_rule, n_jobs=self.n_jobs)
        listed = np.isfinite(found.distances)
        weights = np.full(listed.shape, np.inf)
        for block in row_blocks(len(X), "divergences of new rows", size=_NEW_AT_ONCE):
            neighbors = self._fitted[found.indices[block]]
            weights[block][listed[block]] = self._weights_of_new(X[block], neighbors, listed[block])
        return Entries(found.indices, weights, found.isolated)

    def _weights_of_new(self, X: np.ndarray, neighbors: np.ndarray, listed: np.ndarray) -> np.ndarray:
        """Divergences between the patches of new rows and those of their neighbours, where listed."""
        row, _ = np.nonzero(listed)
        near = neighbors[listed]
        known, tails = np.unique(near, return_inverse=True)
        n = len(self._known.X)
        sizes = np.concatenate([np.diff(self._lists[0])[known], listed.sum(axis=1)])
        lists = [self._lists[1][self._lists[0][i] : self._lists[0][i + 1]] for i in known]
        indptr, members = with_own_rows(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([*lists, near]),
            np.concatenate([known, n + np.arange(len(X))]),
        )
        used, members = np.unique(members, return_inverse=True)
        rows = np.concatenate([self._known.X[used[used < n]], X])
        return self._weights(rows, indptr, members, len(known) + row, tails.ravel())


def with_own_rows(indptr: np.ndarray, indices: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists with the row that each belongs to put first: its patch."""
    starts = indptr + np.arange(len(indptr))
    members = np.empty(starts[-1], np.int64)
    is_own = np.zeros(len(members), bool)
    is_own[starts[:-1]] = True
    members[is_own], members[~is_own] = own, indices
    return starts, members
