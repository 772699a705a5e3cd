"""Geodesic methods: graph, shortest paths, classical scaling. They differ in the graph and its weights.

A method of this family builds its graph in ``fit`` and calls :meth:`GeodesicEmbedder._embed_graph`; in
``_entries`` it says where, and at what distance, a new row enters the graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from .._errors import is_whole, require
from .._runtime import one_blas_thread, row_blocks
from .._state import Absent, Array, Double, Maybe, Number, State, StateError, Tuple, Value
from .._values import Inflate, Landmarks, NeighborGraph
from ..distances import LARGEST, distances_between, rows_per_block
from ..geodesics import all_pairs, from_neighbors, from_rows
from ..kernels._jit import threads
from ..kernels.condensed import combined_comoments
from ..kernels.placement import through_neighbors
from ..linalg import Scaling, classical_scaling, residual_variance, unexplained
from ..neighbors import Entries, RowIndex, checked_policy, warn_of_isolated
from .input_rows import checked_components, checked_rows, one_place_for_equals, require_columns
from .landmarks import chosen_landmarks
from .placement import RowKeeper

_PLACED_AT_ONCE = 256  # new rows whose distances to all fitted rows are held together


class GeodesicEmbedder(RowKeeper):
    """Classical scaling of shortest paths, exact or through landmarks, and the placement of new rows."""

    _state = State(  # g rows are in the graph, r of them are references: landmarks, or all
        graph_=Value(NeighborGraph, n="g"),
        _fitted=Array("g", dtype=np.int64, below="n"),
        _unreachable=Double(0, infinite=True),
        _fit_X=Array("g", "columns", within=LARGEST, empty=True),
        landmarks_=Maybe(Array("r", dtype=np.int64, below="n")),
        _landmark_nodes=Absent(Array("r", dtype=np.int64, below="g")),
        _scaling=Value(Scaling, n="r", d="d"),
        eigenvalues_=Array("d"),
        euclidean_defect_=Tuple(Number(), Number()),
        residual_variance_=Number(),
    )
    _found_again = ("_landmark_geodesics", "_index_of_fitted")
    # Parameters of every member: n_components, n_landmarks, on_disconnected, metric, random_state, n_jobs.
    embedding_: np.ndarray
    landmarks_: np.ndarray | None
    _landmark_nodes: Any
    _index_of_fitted: RowIndex | None
    _landmark_geodesics: np.ndarray | None

    def _entries(self, X: np.ndarray) -> Entries:
        """Neighbours of new rows among the fitted ones, and the weights of those edges."""
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
        rows = _to_nodes(_rows_of(X, fitted), fitted, self.metric)
        n_landmarks = self._landmark_count(len(fitted))
        if n_landmarks is None:
            self._scale_all(n_components)
        else:
            self._scale_landmarks(rows, n_landmarks, n_components)
        self._n_features_out = n_components
        self._index_of_fitted = None
        self._remember(X)  # now that the distances between the rows are gone
        kept = np.empty((len(X), 0)) if self._known is None else self._known.X
        self._fit_X = _rows_of(kept, fitted)
        self._place_unfitted(X)
        if self._known is not None:
            self.embedding_ = one_place_for_equals(X, self.embedding_)

    def _landmark_count(self, n: int) -> int | None:
        """How many landmarks; None when every row is one, which is the exact method."""
        if self.n_landmarks is None:
            return None
        count = self.n_landmarks.n if isinstance(self.n_landmarks, Landmarks) else self.n_landmarks
        smallest = self.n_components + 2
        must_be = f"an integer of at least n_components + 2 = {smallest}, Landmarks(...) or None"
        require(is_whole(count) and count >= smallest, "n_landmarks", must_be, self.n_landmarks)
        return None if count >= n else int(count)

    def _scale_all(self, n_components: int) -> None:
        n = self.graph_.n_rows
        G = all_pairs(self.graph_, n_jobs=self.n_jobs)
        self._inflate(G)
        self.landmarks_, self._landmark_nodes, self._landmark_geodesics = None, None, None
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
        self._set_scaling(classical_scaling(between, len(chosen), n_components, n_jobs=self.n_jobs))
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

    def _require_sound(self) -> None:
        require_columns(self, self._fit_X)
        super()._require_sound()
        if not self.graph_.is_distance:
            raise StateError("graph_.kind", "must be one whose weights are distances")
        if self.landmarks_ is None and len(self._scaling.means) != self.graph_.n_rows:
            raise StateError("_scaling.means", "must be one for each row of the graph")
        if self.landmarks_ is not None and getattr(self, "_landmark_nodes", None) is None:
            raise StateError("_landmark_nodes", "must be there for landmarks")

    def _fitted_rows(self) -> RowIndex:
        """The rows of the graph, prepared for the search of neighbours among them."""
        index = getattr(self, "_index_of_fitted", None)
        if index is None:
            index = self._index_of_fitted = RowIndex(self._fit_X, self._fit_metric)
        return index

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
        embedding[others] = self._place(X[others])
        self.embedding_ = embedding

    def _place(self, X: np.ndarray) -> np.ndarray:
        X = _to_nodes(X, self._fitted, self._fit_metric)
        Z = np.empty((len(X), self._n_features_out))
        isolated = 0
        for block in row_blocks(len(X), "placing rows", size=_PLACED_AT_ONCE):
            entries = self._entries(X[block])
            isolated += entries.isolated
            G = self._geodesics_of_new(entries)
            G[np.isinf(G)] = self._unreachable
            Z[block] = self._scaling.place(G, n_jobs=self.n_jobs)
        warn_of_isolated(isolated, len(X))
        return Z

    def _geodesics_of_new(self, entries: Entries) -> np.ndarray:
        if self.landmarks_ is None:
            return from_neighbors(self.graph_, entries.indices, entries.distances, n_jobs=self.n_jobs)
        G = np.empty((len(entries.indices), len(self.landmarks_)))
        with threads(self.n_jobs):
            through_neighbors(entries.indices, entries.distances, self._geodesics_to_landmarks(), G)
        return G


def subgraph(graph: NeighborGraph, rows: np.ndarray) -> NeighborGraph:
    """The graph of some rows that make up a whole component."""
    number = np.full(graph.n_rows, -1, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    inside = np.repeat(number >= 0, np.diff(graph.indptr))
    indptr = np.concatenate([[0], np.cumsum(np.diff(graph.indptr)[rows])])
    return replace(graph, indptr=indptr, indices=number[graph.indices[inside]], weights=graph.weights[inside],
                   components=np.zeros(len(rows), np.int32))  # fmt: skip


def _rows_of(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some rows, in order; the table itself where those are all."""
    return X if len(rows) == len(X) else X[rows]


def _to_nodes(X: np.ndarray, nodes: np.ndarray, metric) -> np.ndarray:
    """Of given distances to all rows, those to the rows of the graph."""
    every = metric != "precomputed" or len(nodes) == X.shape[1]
    return X if every else np.ascontiguousarray(X[:, nodes])


def _largest_finite(G: np.ndarray) -> float:
    return float(np.max(G, where=np.isfinite(G), initial=0.0))


def _landmark_residual_variance(
    G: np.ndarray, landmarks: np.ndarray, Z: np.ndarray, n_jobs: int | None
) -> float:
    """``1 - corr(G, D_Z)^2`` over the pairs of a landmark and any row, itself included."""
    moments = np.empty((len(landmarks), 6))
    for block in row_blocks(len(landmarks), "residual variance", size=rows_per_block(len(Z))):
        mapped = distances_between(Z[landmarks[block]], Z, "euclidean", n_jobs)
        with one_blas_thread():  # several would add up in another order, and take the cores from the kernels
            for i, (g, d) in enumerate(zip(G[block], mapped, strict=True), start=block.start):
                a, b = g - g.mean(), d - d.mean()
                moments[i] = len(g), g.mean(), d.mean(), a @ a, b @ b, a @ b
    return unexplained(*combined_comoments(moments))
