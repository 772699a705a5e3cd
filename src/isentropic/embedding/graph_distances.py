"""Distances over a neighbour graph: shortest ways, and how differently walks spread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from .._core.errors import require, require_count, require_number
from .._core.values import MOST_STEPS, Diffusion, Geodesic, GraphMetric, Knn, NeighborGraph
from ..affinities import checked_heat, heat_walk, heat_width, step_weights
from ..distances import Walks, store_distances
from ..geodesics import all_pairs, from_neighbors, from_rows
from ..neighbors import RowIndex, as_rule, distance_graph, entry_lists, warn_of_isolated

_POLICIES = ("bridge", "raise")


class OverGraph(ABC):
    """A graph of rows, and what is a distance over it. New rows enter it at their neighbours."""

    name: str  # what such distances are called

    def __init__(self, X: np.ndarray, metric: Any, graph: NeighborGraph):
        self.graph = graph
        self._rule, self._index = as_rule(metric.neighbors), RowIndex(X, metric.metric)

    @abstractmethod
    def condensed(self, n_jobs: int | None) -> np.ndarray:
        """Of all pairs i < j."""

    @abstractmethod
    def rows(self, numbers: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Of some rows to all: (b, n)."""

    @abstractmethod
    def of_new(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Of new rows, each by itself, to all of the graph: (b, n)."""

    def _entries(self, X: np.ndarray, rule: Any, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        entries = entry_lists(X, self._index, self.graph, rule, n_jobs=n_jobs)
        warn_of_isolated(entries.isolated, len(X))
        return entries.indices, entries.distances


class _Ways(OverGraph):
    """Lengths of the shortest ways."""

    name = "geodesic"

    def condensed(self, n_jobs: int | None) -> np.ndarray:
        return all_pairs(self.graph, n_jobs=n_jobs)

    def rows(self, numbers: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return from_rows(self.graph, numbers, n_jobs=n_jobs)

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return from_neighbors(self.graph, *self._entries(X, self._rule, n_jobs), n_jobs=n_jobs)


class _Spreads(OverGraph):
    """Diffusion distances. The walk from a new row has its first step among the row's neighbours."""

    name = "diffusion"

    def __init__(self, X: np.ndarray, metric: Any, graph: NeighborGraph):
        super().__init__(X, metric, graph)
        if isinstance(self._rule, Knn):  # a row that moves onto a fitted one sees it and its neighbours
            self._rule = replace(self._rule, k=self._rule.k + 1)
        self._width = heat_width(graph, metric.sigma)
        walk, degrees, self._shares = heat_walk(graph, self._width, metric.alpha)
        self._walks = Walks(walk, degrees, metric.t)

    def condensed(self, n_jobs: int | None) -> np.ndarray:
        n = self.graph.n_rows
        return store_distances(self._walks.source(), np.empty(n * (n - 1) // 2), n_jobs=n_jobs)

    def rows(self, numbers: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return self._walks.rows(numbers)

    def of_new(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        near, distances = self._entries(X, self._rule, n_jobs)
        weights = step_weights(distances, self._width)[0] * self._shares[near]
        return self._walks.of_steps(near, weights / np.cumsum(weights, axis=1)[:, -1:])


_KINDS: dict[type, type[OverGraph]] = {Geodesic: _Ways, Diffusion: _Spreads}


def kind_of(metric: GraphMetric) -> type[OverGraph]:
    return _KINDS[type(metric)]


def over_graph(X: np.ndarray, metric: GraphMetric, graph: NeighborGraph) -> OverGraph:
    """Distances over a graph that is there already."""
    return kind_of(metric)(X, metric, graph)


def built(X: np.ndarray, metric: GraphMetric, *, random_state, n_jobs: int | None) -> OverGraph:
    """Distances over the neighbour graph of a table, or of given distances."""
    kind = kind_of(metric)
    if isinstance(metric, Diffusion):
        steps = require_count("t", metric.t, "a number of steps, an integer of at least 1")
        hint = "Take DiffusionMaps for more: it takes powers of eigenvalues."
        require(steps <= MOST_STEPS, "t", f"at most {MOST_STEPS:,} steps", steps, hint)
        checked_heat(metric.sigma, "sigma")
        require_number("alpha", metric.alpha, "a number from 0 to 1", most=1.0)
    must_be = f"one of {', '.join(_POLICIES)} for {kind.name} distances"
    require(metric.on_disconnected in _POLICIES, "on_disconnected", must_be, metric.on_disconnected)
    rule = as_rule(metric.neighbors)
    graph = distance_graph(X, rule, metric=metric.metric, on_disconnected=metric.on_disconnected,
                           random_state=random_state, n_jobs=n_jobs)  # fmt: skip
    return kind(X, metric, graph)
