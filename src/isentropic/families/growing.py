"""Maps of a graph that grow: rows appended to those that are fitted."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._errors import message, require, require_flag
from .._state import Number, State, Text, is_fitted
from .._values import Knn, NeighborGraph
from ..neighbors import appended_lists, listed_graph, lists_of_graph, use_approximate
from .geodesic import GeodesicEmbedder
from .geodesic_map import warm_map
from .input_rows import checked_rows

_VECTORS = 8  # of the last map, that the next one starts from


@dataclass(frozen=True, slots=True)
class Update:
    """How the last ``partial_fit`` found its map.

    ``kind`` is ``"fit"`` for the first rows, ``"appended"`` where neighbour lists were updated and the
    eigenvectors of the map before started the next, ``"refit"`` where all was done anew. ``affected`` is the
    share of the old rows that have a new neighbour (1 for a refit).
    """

    kind: Literal["fit", "appended", "refit"]
    affected: float
    seconds: float
    _state = State(kind=Text("fit", "appended", "refit"), affected=Number(0, most=1), seconds=Number(0))


_ANEW = "Distances between all rows are needed: fit them anew."


def _takes_tables(model: Any) -> bool:
    """Rows of given distances cannot be appended: ``partial_fit`` is no method then."""
    if model.metric == "precomputed":
        raise AttributeError(
            message("metric", "that of a table, for rows to be appended", model.metric, _ANEW)
        )
    return True


class GrowingEmbedder(GeodesicEmbedder):
    """A geodesic method of neighbour lists, which takes more rows after it is fitted."""

    _found_again: tuple[str, ...] = ("_ritz",)
    update_: Update
    _fit_rule: Any
    _ritz: np.ndarray | None

    @available_if(_takes_tables)
    def partial_fit(self, X, y=None, *, align_to_previous: bool = False):
        """Append rows: the map is that of ``fit`` on all rows so far, up to rounding.

        ``align_to_previous`` turns and mirrors the new map about its middle so that the old rows stay where
        they were as far as they can (Procrustes); its axes then are no longer those of ``eigenvalues_``. A
        first call is ``fit``. ``update_`` says what was done.
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
        self._checked_parameters()
        return checked_rows(self, X, metric=self.metric, fitting=False)

    def _append(self, table: np.ndarray) -> tuple[Literal["appended", "refit"], float]:
        if not self._can_append(table):
            names = getattr(self, "feature_names_in_", None)
            self.fit(table)  # which forgets the names that an array has not
            if names is not None:
                self.feature_names_in_ = names
            return "refit", 1.0
        known = lists_of_graph(self.graph_, self._fit_rule.k)
        lists, affected = appended_lists(table, known, metric=self.metric, n_jobs=self.n_jobs)
        graph = listed_graph(table, lists, metric=self.metric, on_disconnected=self.on_disconnected,
                             n_jobs=self.n_jobs)  # fmt: skip
        self._embed_appended(table, graph)
        return "appended", affected

    def _can_append(self, table: np.ndarray) -> bool:
        """Whether the lists of the fitted rows are in the graph, and still what the parameters ask for."""
        rule, n = self._fit_rule, self.graph_.n_rows
        same = isinstance(rule, Knn) and rule == self._asked_rule() and self.metric == self._fit_metric
        whole = n == len(self.embedding_) and self.graph_.exact and not self._reweighted()
        return same and whole and rule.k < n and not use_approximate(rule, table, self.metric)

    def _forget_update(self) -> None:
        """After a fit there is none."""
        self.__dict__.pop("update_", None)
        self._ritz = None

    def _asked_rule(self) -> Any:
        """The rule that the parameters ask for now."""
        raise NotImplementedError

    def _reweighted(self) -> bool:
        """Whether weights of the graph are other than distances."""
        return False

    def _embed_appended(self, table: np.ndarray, graph: NeighborGraph) -> None:
        """Map from the last eigenvectors; by landmarks, shifted or in parts, as ``fit`` does."""
        in_parts = graph.n_components > 1 and len(graph.bridges) == 0
        if self.n_landmarks is not None or self.positive or in_parts:
            self._embed_graph(table, graph)
            return
        start = self._start(len(table))
        found, Z, variance, self._ritz = warm_map(graph, self.n_components, start, self.n_jobs)
        self._keep(table, np.arange(len(table)), found, Z, variance)

    def _start(self, n: int) -> np.ndarray:
        """Vectors of the map before, 0 in the new rows, and fixed random ones beside them."""
        d = self.n_components
        start = np.random.default_rng(0).uniform(-1, 1, (n, _VECTORS * -(-(d + 6) // _VECTORS)))
        known = getattr(self, "_ritz", None)
        known = self._scaling.embedding if known is None else known
        if known.shape[0] == len(self.embedding_) and known.shape[1] <= start.shape[1]:
            size = np.linalg.norm(known, axis=0)
            start[:, : known.shape[1]] = 0.0
            start[: len(known), : known.shape[1]] = known / np.where(size > 0, size, 1.0)
        return start

    def _turn_onto(self, old: np.ndarray) -> None:
        if old.shape[1] != self.embedding_.shape[1]:
            return  # other components than before: there is nothing to turn onto
        left, _, right = np.linalg.svd(self.embedding_[: len(old)].T @ old)
        turn = left @ right
        scaling = self._scaling
        self._scaling = replace(
            scaling, embedding=scaling.embedding @ turn, projection=scaling.projection @ turn
        )
        self.embedding_ = self.embedding_ @ turn
