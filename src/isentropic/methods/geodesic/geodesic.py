"""Geodesic methods: graph, shortest paths, classical scaling. They differ in the graph and its weights.

A method of this family builds its graph in ``fit`` and calls :meth:`GeodesicEmbedder._embed_graph`; in
``_entries`` it says where, and at what distance, a new row enters the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core.state import Absent, Array, Double, Maybe, Number, State, StateError, Tuple, Value
from ..._core.values import NeighborGraph
from ...embedding.input_rows import checked_components, checked_rows, require_columns, table_of
from ...embedding.landmarks import checked_landmarks
from ...embedding.maps.geodesic import GeodesicMap, exact_map, landmark_map
from ...embedding.placement import RowKeeper
from ...geodesics import from_rows
from ...linalg import Scaling
from ...neighbors import Entries, RowIndex, checked_policy, subgraph


class GeodesicEmbedder(RowKeeper):
    """Classical scaling of shortest paths, exact or through landmarks, and the placement of new rows."""

    _state = State(  # g rows are in the graph, r of them are references: landmarks, or all
        graph_=Value(NeighborGraph, n="g"),
        _fitted=Array("g", dtype=np.int64, below="n"),
        _unreachable=Double(0, infinite=True),
        _fit_X=table_of("g", "columns", empty=True),
        landmarks_=Maybe(Array("r", dtype=np.int64, below="n")),
        _landmark_nodes=Absent(Array("r", dtype=np.int64, below="g")),
        _scaling=Value(Scaling, n="r", d="d"),
        eigenvalues_=Array("d"),
        euclidean_defect_=Tuple(Number(), Number()),
        residual_variance_=Number(),
    )
    _found_again: tuple[str, ...] = ("_landmark_geodesics", "_index_of_fitted")
    positive = False  # whether a constant makes geodesics Euclidean (kernel ISOMAP)
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
        self._checked_parameters()
        return checked_rows(self, X, metric=self.metric)

    def _checked_parameters(self) -> None:
        checked_components(self.n_components)
        checked_landmarks(self.n_landmarks, self.n_components, 0)
        checked_policy(self.on_disconnected)

    def _embed_graph(
        self,
        X: np.ndarray,
        graph: NeighborGraph,
        rows: np.ndarray | None = None,
        paths: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        """Geodesics of the graph, their classical scaling, and everything that ``transform`` needs.

        ``rows`` of the table are in the graph, all where it is None; the others are placed. ``paths`` gives
        the geodesics from landmarks, where they need not be searched for.
        """
        self._keep(X, *self._mapped(X, graph, rows, paths))

    def _keep(self, X: np.ndarray, fitted: np.ndarray, found: GeodesicMap, Z: np.ndarray, variance) -> None:
        """Set what was found: the map, and all that places new rows in it."""
        self.residual_variance_ = variance
        self.graph_, self._fitted, self._unreachable = found.graph, fitted, found.unreachable
        self._landmark_nodes, self._landmark_geodesics = found.landmarks, found.geodesics
        self.landmarks_ = None if found.landmarks is None else fitted[found.landmarks]
        self._scaling, self.eigenvalues_ = found.scaling, found.scaling.eigenvalues
        self.euclidean_defect_ = found.scaling.euclidean_defect
        self._n_features_out, self._index_of_fitted = self.n_components, None
        self._remember(X)  # now that the distances between the rows are gone
        kept = np.empty((len(X), 0)) if self._known is None else self._known.X
        self._fit_X = _rows_of(kept, fitted)
        self.embedding_ = self._all_placed(X, fitted, Z, self._place)

    def _mapped(
        self,
        X: np.ndarray,
        graph: NeighborGraph,
        rows: np.ndarray | None = None,
        paths: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> tuple[np.ndarray, GeodesicMap, np.ndarray, float]:
        """The rows that are fitted, their map, their coordinates, the residual variance; nothing is set."""
        n_components, policy, n_jobs = self.n_components, self.on_disconnected, self.n_jobs
        in_parts = graph.n_components > 1 and len(graph.bridges) == 0
        fitted = np.arange(len(X)) if rows is None else rows
        if in_parts and policy == "largest":
            nodes = np.flatnonzero(graph.components == 0)
            fitted, graph = fitted[nodes], subgraph(graph, nodes)
        landmarks = checked_landmarks(self.n_landmarks, n_components, len(fitted))
        if landmarks is None:
            return fitted, *exact_map(
                graph, n_components, policy, n_jobs, self._blended(fitted), positive=self.positive
            )
        table = _to_nodes(_rows_of(X, fitted), fitted, self.metric)
        options = {"random_state": self.random_state, "n_jobs": n_jobs, "positive": self.positive}
        found = landmark_map(graph, table, landmarks, n_components, policy, metric=self.metric,
                             blend=self._blended(fitted), paths=paths, **options)  # fmt: skip
        return fitted, *found

    def _blended(self, fitted: np.ndarray) -> Callable[[np.ndarray, np.ndarray | None], None] | None:
        """What changes the lengths of the paths between fitted rows, from landmarks or of all pairs."""
        return None

    def _blended_new(self) -> Callable[[np.ndarray, np.ndarray], None] | None:
        """What changes the lengths of the paths of new rows to the references."""
        return None

    def _all_placed(
        self, X: np.ndarray, fitted: np.ndarray, Z: np.ndarray, place: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Coordinates of all rows: those outside the largest part placed as new ones, equal ones alike."""
        if len(fitted) < len(X):
            others = np.setdiff1d(np.arange(len(X)), fitted)
            found, Z = Z, np.empty((len(X), Z.shape[1]))
            Z[fitted], Z[others] = found, place(X[others])
        return self._one_place(X, Z)

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

    def _place(self, X: np.ndarray) -> np.ndarray:
        geodesics = None if self.landmarks_ is None else self._geodesics_to_landmarks()
        found = GeodesicMap(self.graph_, self._scaling, self._unreachable, geodesics=geodesics)
        nodes = _to_nodes(X, self._fitted, self._fit_metric)
        return found.place(nodes, self._entries, self.n_jobs, self._blended_new())


def _rows_of(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some rows, in order; the table itself where those are all."""
    return X if len(rows) == len(X) else X[rows]


def _to_nodes(X: np.ndarray, nodes: np.ndarray, metric) -> np.ndarray:
    """Of given distances to all rows, those to the rows of the graph."""
    every = metric != "precomputed" or len(nodes) == X.shape[1]
    return X if every else np.ascontiguousarray(X[:, nodes])
