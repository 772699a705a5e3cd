"""Neighbour embeddings: lists of neighbours, affinities, a layout from a start. They differ in the last two.

A method of this family asks for the lists of its rows (:meth:`NeighborEmbedder._listed`), makes affinities of
them, lets a start (:meth:`NeighborEmbedder._start`) run down its cost, and keeps the map
(:meth:`NeighborEmbedder._keep`). In ``_place`` a new row, whose neighbours among the fitted ones
:meth:`NeighborEmbedder._listed_among_fitted` finds, goes down its own part of the cost, the fitted rows held.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._core.errors import TableWarning, require, require_one_of, warn
from ..._core.runtime import row_blocks
from ..._core.state import Maybe, State, Value, Whole
from ..._core.values import GraphMetric, Knn, Neighbors
from ...distances import EUCLIDEAN, Metric, are_all_equal, metric_name, rows_per_block
from ...embedding.graph_distances import OverGraph, kind_of
from ...embedding.input_rows import checked_components, checked_coordinates, checked_rows, metric_of_rows
from ...embedding.pair_distances import Distances
from ...embedding.starts import given_start, landmark_start, principal_start, roughened
from ...embedding.warm_starts import WarmStart, WarmStarter
from ...kernels._jit import threads
from ...kernels.rows.row_descent import settle_rows
from ...neighbors import RowIndex, clipped_neighbors, lists_in_rows, searched_neighbors

_FLAT = 1e-9  # of the largest spread of a coordinate: rounding
_ROUGH = 1e-2  # of the same: the noise that takes the place of a coordinate without extent
_PLACED_AT_ONCE = 4096  # new rows
_ALL_EQUAL = "All rows are equal, and so are their places. Look for a column that tells them apart."


class NeighborEmbedder(WarmStarter):
    """A map that keeps neighbourhoods, and the lists of neighbours that it is made from.

    The constructor of a method stores ``metric``, ``neighbors`` (lists that the user gives, or None),
    ``init``, ``random_state`` and ``n_jobs``, whatever else it takes.
    """

    _state = State(n_iter_=Whole(0))
    _parameters = State(neighbors=Maybe(Value(Neighbors)))
    _starts: tuple[str, ...] = ("pca", "random")  # the names that init knows
    _found_again: tuple[str, ...] = ("_index_of_rows",)
    _index_of_rows: RowIndex | None

    def _checked_rows(self, X) -> np.ndarray:
        """Rows and what every method of the family has of parameters."""
        checked_components(self.n_components)
        return checked_rows(self, X, metric=metric_of_rows(self.metric))

    def _distances_of(self, X: np.ndarray, seed: int) -> Distances:
        """How far rows are from each other, with the graph that geodesics run over."""
        return Distances.of(X, self.metric, random_state=seed, n_jobs=self.n_jobs)

    def _listed(self, distances: Distances, k: int, seed: int) -> Neighbors:
        """The ``k`` nearest of every row: given, or found; all the others where there are no more."""
        if self.neighbors is not None:
            return _given_lists(self.neighbors, k, len(distances.X), self.metric)
        if distances.over is not None:
            return _lists_over_graph(distances.over, k, distances.n_jobs)
        return searched_neighbors(distances.X, Knn(k), metric=self.metric, random_state=seed,
                                 n_jobs=self.n_jobs)  # fmt: skip

    def _listed_among_fitted(self, X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` fitted rows nearest to each new row, and how far they are; each row by itself."""
        if self._fit_metric != "precomputed" and self._graph is None:
            return self._row_index().nearest(X, k, n_jobs=self.n_jobs)
        distances = self._distances_again()
        indices, near = np.empty((len(X), k), np.int32), np.empty((len(X), k))
        for block in row_blocks(len(X), "neighbours", size=rows_per_block(len(self.embedding_))):
            D = np.ascontiguousarray(distances.to_references(X[block], slice(None)))
            lists_in_rows(D, np.full(len(D), -1), indices[block], near[block], self.n_jobs)
        return indices, near

    def _row_index(self) -> RowIndex:
        """The fitted rows, prepared for searches."""
        index = getattr(self, "_index_of_rows", None)
        if index is None:
            index = self._index_of_rows = RowIndex(self._known_rows().X, self._fit_metric)
        return index

    def _start(
        self, distances: Distances, random: np.random.RandomState, warm: WarmStart | None = None
    ) -> np.ndarray:
        """Where the descent begins, in a scale of its own: principal components, noise, or what is given.

        Of distances that are no table of features, classical scaling takes the place of components.
        """
        if warm is not None:
            return self._warm_places(warm, distances.X)
        n, d = len(distances.X), self.n_components
        if not isinstance(self.init, str):
            Z = given_start(self.init, n, d, self._starts)
            apart = bool(np.ptp(Z, axis=0).any())
            require(apart, "init", "a start that tells rows apart", "the same place for all of them")
            return Z
        require_one_of("init", self.init, self._starts, hint="Or give the coordinates to start from.")
        if self.init == "random":
            return random.standard_normal((n, d))
        if distances.euclidean:
            Z = principal_start(distances.X, float(np.abs(distances.X).max()) or 1.0, d)
        else:
            Z = landmark_start(distances, d, random)
        spread = Z.std(axis=0)
        if not spread.any() and are_all_equal(distances.X):  # _keep warns of that
            return random.standard_normal((n, d))
        Z[:, spread <= _FLAT * spread.max()] = 0.0
        return roughened(Z, random, _ROUGH * float(spread.max()) or 1.0)

    def _keep(self, distances: Distances, Z: np.ndarray, n_iter: int) -> None:
        """The map, equal rows at one place, and what places new rows in it."""
        X = distances.X
        checked_coordinates(Z, "Take parameters nearer to their defaults.")
        if are_all_equal(X):
            warn(_ALL_EQUAL, TableWarning)
        self.embedding_ = self._one_place(X, Z)
        self.n_iter_, self._graph, self._index_of_rows = n_iter, distances.graph, None
        self._n_features_out = self.n_components
        self._remember(X)


def settled_among(cost, Z: np.ndarray, rows, weights, far, shape, n_jobs: int | None) -> np.ndarray:
    """Places of new rows, each at a minimum of its ``cost``: from its nearest row, or the mean of near ones.

    ``rows`` and ``weights`` (b, k) are near ones; the fitted rows ``far`` are those that push any new one.
    """
    out = np.empty((len(rows), Z.shape[1]))
    for block in row_blocks(len(rows), "placing rows", size=_PLACED_AT_ONCE):
        w, near = weights[block], rows[block].astype(np.int64)
        mean = (w[:, :, None] * Z[near]).sum(axis=1) / w.sum(axis=1, keepdims=True)
        starts = np.stack([Z[near[:, 0]], mean], axis=1)
        pushing = np.ascontiguousarray(np.broadcast_to(far, (len(w), len(far))))
        with threads(n_jobs):
            out[block] = settle_rows(cost, starts, Z, near, w, pushing, shape)
    return out


def _given_lists(given: Neighbors, k: int, n: int, metric: Metric | GraphMetric) -> Neighbors:
    """Lists of the user's, of this metric: a row names others, each once, nearest first."""
    hint = "nearest_neighbors(X, Knn(k)) makes such lists."
    require(isinstance(given, Neighbors), "neighbors", "None or lists of neighbours", given, hint)
    indices, distances = np.asarray(given.indices), np.asarray(given.distances)
    alike = indices.ndim == 2 and indices.shape == distances.shape and len(indices) == n and indices.size
    require(bool(alike), "neighbors", f"lists of {n} rows, one neighbour or more", indices.shape, hint)
    kinds = indices.dtype.kind + distances.dtype.kind
    numbers = kinds[0] in "iu" and kinds[1] in "iuf"
    require(numbers, "neighbors", "whole numbers of rows, and distances", indices.dtype, hint)
    sound = (
        bool(((indices >= 0) & (indices < n)).all())
        and not bool((indices == np.arange(n)[:, None]).any())
        and not bool((np.diff(np.sort(indices, axis=1), axis=1) == 0).any())
        and bool(np.isfinite(distances).all())
        and bool((np.diff(distances, axis=1, prepend=0.0) >= 0).all())
    )
    must_be = "other rows, each once, nearest first, at finite distances"
    require(sound, "neighbors", must_be, "lists that are not", hint)
    wanted = kind_of(metric).name if isinstance(metric, GraphMetric) else metric_name(metric)
    # a matrix does not say which metric it is of
    known = given.metric == wanted or wanted == "precomputed" or {given.metric, wanted} <= set(EUCLIDEAN)
    require(known, "neighbors", f"lists of the metric {wanted!r}", given.metric, hint)
    k = clipped_neighbors(k, indices.shape[1], "those in the given lists", name="The neighbours of a row")
    return replace(given, indices=indices[:, :k].astype(np.int32), distances=distances[:, :k].astype(float))


def _lists_over_graph(over: OverGraph, k: int, n_jobs: int | None) -> Neighbors:
    """The nearest rows by distances over a graph, of some rows at a time."""
    graph, n = over.graph, over.graph.n_rows
    k = clipped_neighbors(k, n - 1)
    indices, near = np.empty((n, k), np.int32), np.empty((n, k))
    for block in row_blocks(n, "neighbours", size=rows_per_block(n)):
        rows = np.arange(block.start, block.stop)
        lists_in_rows(over.rows(rows, n_jobs), rows, indices[block], near[block], n_jobs)
    return Neighbors(indices, near, over.name, exact=graph.exact, recall=graph.recall)
