"""Geodesic methods: graph, shortest paths, classical scaling. They differ in the graph and its weights.

A method of this family builds its graph in ``fit`` and calls :meth:`GeodesicEmbedder._embed_graph`; in
``_entries`` it says where, and at what distance, a new row enters the graph.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._errors import require, require_one_of
from .._runtime import row_blocks
from .._values import Inflate, Landmarks, NeighborGraph
from ..geodesics import all_pairs, from_neighbors, from_rows
from ..kernels._jit import threads
from ..kernels.condensed import combined_comoments
from ..kernels.nearest import shrink_gaps
from ..kernels.placement import through_neighbors
from ..linalg import classical_scaling, residual_variance, unexplained
from ..neighbors import EUCLIDEAN, Metric, checked_policy, distances_between, rows_per_block
from .embedder import Embedder
from .rows import KnownRows, checked_components, checked_rows

_WORTH_THREADS = 1_000_000  # entries of X: below that, waking threads costs more than one landmark's work
_PLACED_AT_ONCE = 256  # new rows whose distances to all fitted rows are held together


class GeodesicEmbedder(Embedder):
    """Classical scaling of shortest paths, exact or through landmarks, and the placement of new rows."""

    # Parameters of every member: n_components, n_landmarks, on_disconnected, metric, random_state, n_jobs.
    landmarks_: np.ndarray | None
    _landmark_geodesics: np.ndarray | None

    def _entries(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours of new rows among the fitted ones, and the weights of those edges: (b, k) each."""
        raise NotImplementedError

    def _checked_rows(self, X) -> np.ndarray:
        """Parameters and rows, checked before anything costly starts."""
        checked_components(self.n_components)
        self._landmark_count(0)
        checked_policy(self.on_disconnected)
        return checked_rows(self, X, metric=self.metric)

    def _embed_graph(self, X: np.ndarray, graph: NeighborGraph) -> None:
        """Geodesics of the graph, their classical scaling, and everything that ``transform`` needs."""
        n_components = self.n_components
        in_parts = graph.n_components > 1 and len(graph.bridges) == 0
        fitted = np.arange(len(X))
        if in_parts and self.on_disconnected == "largest":
            fitted = np.flatnonzero(graph.components == 0)
            graph = subgraph(graph, fitted)
        self.graph_, self._fitted, self._unreachable = graph, fitted, np.inf
        rows = _rows_of(X, fitted, self.metric)
        self._remember(X, rows)
        n_landmarks = self._landmark_count(len(fitted))
        if n_landmarks is None:
            self._scale_all(n_components)
        else:
            self._scale_landmarks(rows, n_landmarks, n_components)
        self._n_features_out = n_components
        self._place_unfitted(X)

    def _remember(self, X: np.ndarray, rows: np.ndarray) -> None:
        """Keep the rows that new ones are compared with; distances come with the new rows themselves."""
        if self.metric == "precomputed":
            self._fit_X = np.empty((len(rows), 0))
            return
        self._fit_X = rows
        with threads(self.n_jobs):
            self._known = KnownRows.of(X)

    def _landmark_count(self, n: int) -> int | None:
        """How many landmarks; None when every row is one, which is the exact method."""
        if self.n_landmarks is None:
            return None
        count = self.n_landmarks.n if isinstance(self.n_landmarks, Landmarks) else self.n_landmarks
        is_count = isinstance(count, int | np.integer) and not isinstance(count, bool)
        smallest = self.n_components + 2
        must_be = f"an integer of at least n_components + 2 = {smallest}, Landmarks(...) or None"
        require(is_count and count >= smallest, "n_landmarks", must_be, self.n_landmarks)
        return None if count >= n else int(count)

    def _scale_all(self, n_components: int) -> None:
        n = self.graph_.n_rows
        G = all_pairs(self.graph_, n_jobs=self.n_jobs)
        self._inflate(G)
        self.landmarks_, self._landmark_geodesics = None, None
        self._set_scaling(classical_scaling(G, n, n_components, n_jobs=self.n_jobs))
        self.embedding_ = self._scaling.embedding
        self.residual_variance_ = residual_variance(G, self.embedding_, n_jobs=self.n_jobs)

    def _scale_landmarks(self, rows: np.ndarray, count: int, n_components: int) -> None:
        n = self.graph_.n_rows
        rule = self.n_landmarks.rule if isinstance(self.n_landmarks, Landmarks) else "maxmin"
        chosen = chosen_landmarks(rows, count, rule, metric=self.metric, random_state=self.random_state,
                                  n_jobs=self.n_jobs)  # fmt: skip
        self._landmark_nodes, self.landmarks_ = chosen, self._fitted[chosen]
        G = from_rows(self.graph_, chosen, n_jobs=self.n_jobs)
        self._inflate(G)
        self._landmark_geodesics = G
        between = squareform(G[:, chosen], checks=False)
        self._set_scaling(classical_scaling(between, count, n_components, n_jobs=self.n_jobs))
        self.embedding_ = np.empty((n, n_components))
        for block in row_blocks(n, "placing rows", size=4096):
            self.embedding_[block] = self._scaling.place(G[:, block].T, n_jobs=self.n_jobs)
        self.residual_variance_ = _landmark_residual_variance(G, chosen, self.embedding_, self.n_jobs)

    def _set_scaling(self, scaling) -> None:
        self._scaling = scaling
        self.eigenvalues_ = scaling.eigenvalues
        self.euclidean_defect_ = scaling.euclidean_defect

    def _inflate(self, G: np.ndarray) -> None:
        """Missing paths become a multiple of the longest one (they exist under that policy only)."""
        policy = Inflate() if self.on_disconnected == "inflate" else self.on_disconnected
        if isinstance(policy, Inflate) and self.graph_.n_components > 1:
            self._unreachable = policy.factor * _largest_finite(G)
            np.copyto(G, self._unreachable, where=np.isinf(G))

    def __getstate__(self):
        """Without the geodesics of the landmarks: they are large, and the graph gives them again."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_landmark_geodesics"}

    def _geodesics_to_landmarks(self) -> np.ndarray:
        G = getattr(self, "_landmark_geodesics", None)
        if G is None:
            G = from_rows(self.graph_, self._landmark_nodes, n_jobs=self.n_jobs)
            G[np.isinf(G)] = self._unreachable
            self._landmark_geodesics = G
        return G

    def _place_unfitted(self, X: np.ndarray) -> None:
        """Rows outside the largest part are placed as new ones."""
        if len(self._fitted) == len(X):
            return
        embedding = np.empty((len(X), self._n_features_out))
        embedding[self._fitted] = self.embedding_
        others = np.setdiff1d(np.arange(len(X)), self._fitted)
        embedding[others] = self._placed(_rows_of(X, others, self.metric, columns=self._fitted))
        self.embedding_ = embedding

    def transform(self, X) -> np.ndarray:
        """Coordinates of rows, each placed by itself; a fitted row gets its own coordinates."""
        check_is_fitted(self)
        X = checked_rows(self, X, metric=self.metric, fitting=False)
        known = self._find(X)
        new = np.flatnonzero(known < 0)
        Z = self.embedding_[known]
        if len(new):
            Z[new] = self._placed(_rows_of(X, new, self.metric, columns=self._fitted))
        return Z

    def _find(self, X: np.ndarray) -> np.ndarray:
        """The fitted row that each row of ``X`` is, or -1."""
        if self.metric != "precomputed":
            with threads(self.n_jobs):
                return self._known.find(X)
        nearest = X.argmin(axis=1)
        return np.where(X[np.arange(len(X)), nearest] == 0, nearest, -1)

    def _placed(self, X: np.ndarray) -> np.ndarray:
        indices, distances = self._entries(X)
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "placing rows", size=_PLACED_AT_ONCE):
            G = self._geodesics_of_new(indices[block], distances[block])
            G[np.isinf(G)] = self._unreachable
            Z[block] = self._scaling.place(G, n_jobs=self.n_jobs)
        return Z

    def _geodesics_of_new(self, indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
        if self.landmarks_ is None:
            return from_neighbors(self.graph_, indices, distances, n_jobs=self.n_jobs)
        G = np.empty((len(indices), len(self.landmarks_)))
        with threads(self.n_jobs):
            through_neighbors(indices, distances, self._geodesics_to_landmarks(), G)
        return G


def subgraph(graph: NeighborGraph, rows: np.ndarray) -> NeighborGraph:
    """The graph of some rows that make up a whole component."""
    number = np.full(graph.n_rows, -1, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    inside = np.repeat(number >= 0, np.diff(graph.indptr))
    indptr = np.concatenate([[0], np.cumsum(np.diff(graph.indptr)[rows])])
    return replace(graph, indptr=indptr, indices=number[graph.indices[inside]], weights=graph.weights[inside],
                   components=np.zeros(len(rows), np.int32))  # fmt: skip


def chosen_landmarks(
    X: np.ndarray,
    count: int,
    rule: str = "maxmin",
    *,
    metric: Metric = "euclidean",
    random_state=None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Rows that stand for all: each the farthest from those before it, or drawn at random.

    ``O(count n m)`` time. No ``random_state`` means a fixed seed.
    """
    require_one_of("landmark rule", rule, ("maxmin", "random"))
    if rule == "random":
        random = check_random_state(0 if random_state is None else random_state)
        return np.sort(random.permutation(len(X))[:count])
    centre = X.mean(axis=0, keepdims=True) if metric in EUCLIDEAN else X[:1]
    current = int(distances_between(centre, X, metric, n_jobs)[0].argmax())
    gap = np.full(len(X), np.inf)
    landmarks = np.empty(count, np.int64)
    n_jobs = n_jobs if X.size > _WORTH_THREADS else 1
    for block in row_blocks(count, "landmarks", size=1):
        landmarks[block] = current
        if metric in EUCLIDEAN:
            with threads(n_jobs) as workers:
                shrink_gaps(X, current, workers, gap)
        else:
            np.minimum(gap, distances_between(X[current : current + 1], X, metric, n_jobs)[0], out=gap)
        current = int(gap.argmax())
    return landmarks


def _rows_of(
    X: np.ndarray, rows: np.ndarray, metric: Metric, columns: np.ndarray | None = None
) -> np.ndarray:
    """Some rows; of a distance matrix also only the columns of the fitted rows."""
    part = X if len(rows) == len(X) else X[rows]
    if metric != "precomputed":
        return part
    columns = rows if columns is None else columns
    return part if len(columns) == part.shape[1] else np.ascontiguousarray(part[:, columns])


def _largest_finite(G: np.ndarray) -> float:
    return float(np.max(G, where=np.isfinite(G), initial=0.0))


def _landmark_residual_variance(
    G: np.ndarray, landmarks: np.ndarray, Z: np.ndarray, n_jobs: int | None
) -> float:
    """``1 - corr(G, D_Z)^2`` over the pairs of a landmark and any row, itself included."""
    moments = np.empty((len(landmarks), 6))
    for block in row_blocks(len(landmarks), "residual variance", size=rows_per_block(len(Z))):
        mapped = distances_between(Z[landmarks[block]], Z, "euclidean", n_jobs)
        for i, (g, d) in enumerate(zip(G[block], mapped, strict=True), start=block.start):
            a, b = g - g.mean(), d - d.mean()
            moments[i] = len(g), g.mean(), d.mean(), a @ a, b @ b, a @ b
    return unexplained(*combined_comoments(moments))
