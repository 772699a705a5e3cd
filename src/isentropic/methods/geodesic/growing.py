"""Maps of a graph that grow: rows appended to those that are fitted."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._core.errors import message, require, require_flag
from ..._core.state import Number, State, Text, is_fitted
from ..._core.values import Knn, NeighborGraph, Neighbors
from ...distances import is_gower, metric_name
from ...embedding.embedder import all_or_nothing
from ...embedding.input_rows import checked_rows, require_dense_rows
from ...embedding.maps.geodesic import warm_map
from ...geodesics import GrowingPaths, PairSequence, grown_rows
from ...linalg import rotation
from ...neighbors import appended_lists, listed_graph, lists_of_graph, use_approximate
from .geodesic import GeodesicEmbedder

_VECTORS = 8  # of the last map, that the next one starts from


Kind = Literal["fit", "repaired", "appended", "refit"]


@dataclass(frozen=True, slots=True)
class Update:
    """How the last ``partial_fit`` found its map.

    ``kind`` is ``"fit"`` for the first rows, ``"refit"`` where all was done anew. Else neighbour lists were
    updated, and the eigenvectors of the map before started the next; shortest paths were all searched
    (``"appended"``) or those that lost an edge (``"repaired"``). ``affected`` is the share of the distances
    between old rows that were searched again, 1 for all of them.
    """

    kind: Kind
    affected: float
    seconds: float
    _state = State(
        kind=Text("fit", "repaired", "appended", "refit"), affected=Number(0, most=1), seconds=Number(0)
    )


_ANEW = "The distances between all rows are needed: fit them anew, or place new ones by transform."


def _takes_tables(model: Any) -> bool:
    """Rows of given distances, or in the ranges of all, cannot be appended: ``partial_fit`` is no method."""
    if model.metric == "precomputed" or is_gower(model.metric):
        must_be = "one that more rows do not change, for these to be appended"
        raise AttributeError(message("metric", must_be, metric_name(model.metric), _ANEW))
    return True


class GrowingEmbedder(GeodesicEmbedder):
    """A geodesic method of neighbour lists, which takes more rows after it is fitted."""

    _found_again: tuple[str, ...] = ("_ritz", "_paths", "_listed")
    update_: Update
    _fit_rule: Any
    _ritz: np.ndarray | None
    _paths: GrowingPaths | None
    _listed: tuple[NeighborGraph, Neighbors] | None

    @available_if(_takes_tables)
    @all_or_nothing
    def partial_fit(self, X, y=None, *, align_to_previous: bool = False):
        """Append rows: the map is that of ``fit`` on all rows so far, up to rounding.

        ``align_to_previous`` turns and mirrors the new map about its middle so that the old rows stay where
        they were as far as they can (Procrustes); its axes then are no longer those of ``eigenvalues_``. A
        first call is ``fit``. ``update_`` says what was done. ``y`` is not used. A call that fails, or that
        Ctrl-C ends, changes nothing.
        """
        began = time.perf_counter()
        require_flag("align_to_previous", align_to_previous)
        if not is_fitted(self):
            self.fit(X)
            self.update_ = Update("fit", 1.0, time.perf_counter() - began)
            return self
        X, old = self._checked_new(X), self.embedding_
        table = np.concatenate([self._known_rows().X, X])
        kind, affected = self._append(table)
        if align_to_previous:
            self._turn_onto(old)
        self.update_ = Update(kind, affected, time.perf_counter() - began)
        return self

    def _checked_new(self, X) -> np.ndarray:
        check_is_fitted(self)
        must_be = "that of a table, for rows to be appended"
        require(self._fit_metric != "precomputed", "metric of the fitted rows", must_be, "precomputed", _ANEW)
        require_dense_rows(self)
        self._checked_parameters()
        return checked_rows(self, X, metric=self.metric, fitting=False)

    def _append(self, table: np.ndarray) -> tuple[Kind, float]:
        if not self._can_append(table):
            names = getattr(self, "feature_names_in_", None)
            self.fit(table)  # which forgets the names that an array has not
            if names is not None:
                self.feature_names_in_ = names
            return "refit", 1.0
        lists = appended_lists(table, self._known_lists(), metric=self.metric, n_jobs=self.n_jobs)
        graph = listed_graph(table, lists, metric=self.metric, on_disconnected=self.on_disconnected,
                             n_jobs=self.n_jobs)  # fmt: skip
        affected = self._embed_appended(table, graph)
        self._listed = graph, lists
        return ("appended", 1.0) if affected is None else ("repaired", affected)

    def _known_lists(self) -> Neighbors:
        """The lists of the fitted rows: those of the last update, or found again in the graph."""
        graph, lists = getattr(self, "_listed", None) or (None, None)
        if lists is None or graph is not self.graph_:
            lists = lists_of_graph(
                self._known_rows().X, self.graph_, self._fit_rule.k, metric=self.metric, n_jobs=self.n_jobs
            )
        return lists

    def _can_append(self, table: np.ndarray) -> bool:
        """Whether the lists of the fitted rows are in the graph, and still what the parameters ask for."""
        rule, n = self._fit_rule, self.graph_.n_rows
        same = isinstance(rule, Knn) and rule == self._asked_rule() and self.metric == self._fit_metric
        whole = n == len(self.embedding_) and self.graph_.exact and not self._reweighted()
        return same and whole and rule.k < n and not use_approximate(rule, table, self.metric)

    def _forget_update(self) -> None:
        """After a fit there is none."""
        self.__dict__.pop("update_", None)
        self._ritz, self._paths, self._listed = None, None, None

    def _asked_rule(self) -> Any:
        """The rule that the parameters ask for now."""
        raise NotImplementedError

    def _reweighted(self) -> bool:
        """Whether weights of the graph are other than distances."""
        return False

    def _embed_appended(self, table: np.ndarray, graph: NeighborGraph) -> float | None:
        """Map from the last eigenvectors; by landmarks, shifted or in parts, as ``fit`` does.

        The share of distances that were repaired; None where all were searched.
        """
        known = self.__dict__.pop("_paths", None)
        in_parts = _is_in_parts(graph)
        if self.n_landmarks is not None and self.landmarks_ is not None and not in_parts:
            return self._embed_by_landmarks(table, graph)
        if self.n_landmarks is not None or self.positive or in_parts:
            self._embed_graph(table, graph)
            return None
        start, n_jobs = self._start(graph), self.n_jobs
        G, rows, paths, affected = _grown(known if _is_of(known, self.graph_) else None, graph, n_jobs)
        found, Z, variance, ritz = warm_map(graph, G, rows, self.n_components, start, n_jobs)
        self._keep(table, np.arange(len(table)), found, Z, variance)
        self._ritz, self._paths = ritz, paths
        return affected

    def _embed_by_landmarks(self, table: np.ndarray, graph: NeighborGraph) -> float | None:
        """Geodesics of rows that still are landmarks are repaired."""
        known, affected = getattr(self, "_landmark_geodesics", None), None
        if known is None or _is_in_parts(self.graph_):
            self._embed_graph(table, graph)
            return None

        def paths(chosen: np.ndarray) -> np.ndarray:
            nonlocal affected
            G, affected = grown_rows(
                known, self._landmark_nodes, self.graph_, graph, chosen, n_jobs=self.n_jobs
            )
            return G

        self._embed_graph(table, graph, paths=paths)
        return affected

    def _start(self, graph: NeighborGraph) -> np.ndarray:
        """Vectors of the map before, new rows at the mean of their neighbours; others are random."""
        d, n = self.n_components, graph.n_rows
        start = np.random.default_rng(0).uniform(-1, 1, (n, _VECTORS * -(-(d + 6) // _VECTORS)))
        known = getattr(self, "_ritz", None)
        known = self._scaling.embedding if known is None else known
        n_known, width = known.shape
        if n_known == len(self.embedding_) and width <= start.shape[1]:
            size = np.linalg.norm(known, axis=0)
            start[:n_known, :width] = known / np.where(size > 0, size, 1.0)
            for row in range(n_known, n):
                near = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
                start[row, :width] = start[near[near < row], :width].sum(axis=0) / max((near < row).sum(), 1)
        return start

    def _turn_onto(self, old: np.ndarray) -> None:
        if old.shape[1] != self.embedding_.shape[1]:
            return  # other components than before: there is nothing to turn onto
        turn = rotation(self.embedding_[: len(old)], old)
        scaling = self._scaling
        self._scaling = replace(
            scaling, embedding=scaling.embedding @ turn, projection=scaling.projection @ turn
        )
        self.embedding_ = self.embedding_ @ turn


def _grown(
    paths: GrowingPaths | None, graph: NeighborGraph, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, GrowingPaths | None, float | None]:
    """All geodesics, the order of their rows, what repairs them next time, and the share repaired now.

    Where memory has no room for whole rows, nothing is kept; where nothing is repaired, the share is None.
    """
    affected = None
    if paths is not None and paths.has_room(graph.n_rows):
        affected = paths.grow(graph, n_jobs=n_jobs)
    elif GrowingPaths.fit_memory(graph.n_rows):
        paths = GrowingPaths(graph, n_jobs=n_jobs)
    else:
        sequence = PairSequence(graph, n_jobs=n_jobs)
        return sequence.all_pairs(graph), sequence.rows, None, None
    return paths.distances, paths.rows, paths, affected


def _is_of(paths: GrowingPaths | None, graph: NeighborGraph) -> bool:
    return paths is not None and paths.graph is graph


def _is_in_parts(graph: NeighborGraph) -> bool:
    return graph.n_components > 1 and len(graph.bridges) == 0
