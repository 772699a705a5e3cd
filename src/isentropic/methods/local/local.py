"""Local methods: what ties each row to its neighbours, in a list of each row's. Lists and blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from ..._core.errors import require_count, require_number
from ..._core.runtime import row_blocks
from ..._core.state import Array, Double, Maybe, State, StateError, Whole
from ..._core.values import Knn
from ...affinities import barycentric_weights
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.spectral import SpectralEmbedder
from ...embedding.side_by_side import checked_parts
from ...neighbors import RowIndex, component_labels, listed_graph, nearest_neighbors, warn_of_parts

_NUMBERS_AT_ONCE = 2**20  # in the blocks, or the differences, of some rows


@dataclass(frozen=True, slots=True)
class NeighborLists:
    """The neighbours of every fitted row, self excluded; the ends of a bridge are in each other's list."""

    fitted: np.ndarray  # (g,) rows of the table
    near: np.ndarray  # (g, k) among the fitted ones, nearest first
    bridges: np.ndarray  # (b, 2)
    labels: np.ndarray | None = None  # (g,) the part of each, where parts are mapped by themselves

    def by_size(self, width: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Some rows, and their lists, which are equally long: so few that blocks of ``width`` are small."""
        extra: dict[int, list[int]] = {}
        for a, b in self.bridges.tolist():
            extra.setdefault(a, []).append(b)
            extra.setdefault(b, []).append(a)
        ends = np.array(sorted(extra), np.int64)
        inner = np.setdiff1d(np.arange(len(self.near)), ends, assume_unique=True)
        k = self.near.shape[1]
        for block in row_blocks(len(inner), "patches", size=max(1, _NUMBERS_AT_ONCE // (k * max(width, k)))):
            yield inner[block], self.near[inner[block]]
        for count in sorted({len(others) for others in extra.values()}):
            rows = np.array([i for i in ends if len(extra[i]) == count])
            added = np.array([sorted(extra[i]) for i in rows])
            yield rows, np.concatenate([self.near[rows], added], axis=1)


def neighbor_lists(
    X: np.ndarray, n_neighbors: int, on_disconnected: str = "bridge", n_jobs: int | None = None
) -> NeighborLists:
    """Of all rows, or of the largest part of the graph where that is the policy for parts."""
    found = nearest_neighbors(X, Knn(n_neighbors), n_jobs=n_jobs)
    if on_disconnected == "separate":
        n, k = found.indices.shape
        labels = component_labels(np.arange(0, n * k + 1, k), found.indices.ravel()).astype(np.int64)
        warn_of_parts(labels, "each is mapped by itself, and how they lie side by side means nothing")
        near = found.indices.astype(np.int64)
        return NeighborLists(np.arange(n), near, np.empty((0, 2), np.int64), labels)
    graph = listed_graph(X, found, on_disconnected=on_disconnected, n_jobs=n_jobs)
    if on_disconnected != "largest":
        return NeighborLists(np.arange(len(X)), found.indices.astype(np.int64), graph.bridges)
    fitted = np.flatnonzero(graph.components == 0)
    near = np.searchsorted(fitted, found.indices[fitted])  # lists never lead out of a part
    return NeighborLists(fitted, near, graph.bridges)


def reconstruction_weights(X: np.ndarray, lists: NeighborLists, regularization: float) -> csr_array:
    """``W`` (g, g): each fitted row of ``X`` as a sum of its neighbours, with weights of sum 1."""
    g = len(lists.fitted)
    X, heads, tails, weights = X[lists.fitted], [], [], []
    for rows, near in lists.by_size(X.shape[1]):
        heads.append(np.repeat(rows, near.shape[1]))
        tails.append(near.ravel())
        weights.append(barycentric_weights(X[rows], near, X, regularization).ravel())
    entries = np.concatenate(heads), np.concatenate(tails)
    return csr_array(coo_array((np.concatenate(weights), entries), shape=(g, g)))


class BarycentricEmbedder(SpectralEmbedder):
    """A new row is a sum of its nearest fitted rows, with weights that give the row itself in the data."""

    metric = "euclidean"
    _state = State(
        _n_nearest=Whole(1, below="g + 1"),
        _fit_regularization=Double(above=0),
        _labels=Maybe(Array("g", dtype=np.int64, below="g")),
    )

    def __init__(
        self, n_neighbors=10, n_components=2, *, regularization=1e-3, on_disconnected="bridge", n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.regularization = regularization
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def _listed(self, X) -> tuple[np.ndarray, NeighborLists, int, float]:
        """The table, its lists, the dimension and the regularisation, all checked."""
        d, share = self._checked_sums()
        X = checked_rows(self, X)
        lists = neighbor_lists(X, self.n_neighbors, self.on_disconnected, self.n_jobs)
        return X, lists, d, share

    def _checked_sums(self, *, separate: bool = True) -> tuple[int, float]:
        """The dimension and the regularisation, after the other parameters."""
        d = checked_components(self.n_components)
        share = require_number("regularization", self.regularization, "a positive number", above=0)
        checked_parts(self.on_disconnected, separate=separate)
        must_be = f"an integer of at least n_components = {d}"
        require_count("n_neighbors", self.n_neighbors, must_be, least=d)
        return d, float(share)

    def _sums(self, lists: NeighborLists, share: float) -> dict[str, Any]:
        """What placing a new row needs beside the map."""
        return {
            "_n_nearest": lists.near.shape[1],
            "_fit_regularization": share,
            "_labels": lists.labels,
        }

    def _place(self, X: np.ndarray) -> np.ndarray:
        near = self._nearest_of_part(X, self._n_nearest)
        weights = self._weights_of_new(X, near)
        return (weights[:, :, None] * self.embedding_[near]).sum(axis=1)

    def _weights_of_new(self, X: np.ndarray, near: np.ndarray) -> np.ndarray:
        return barycentric_weights(X, near, self._known.X, self._fit_regularization)

    def _nearest_of_part(self, X: np.ndarray, k: int) -> np.ndarray:
        """The k fitted rows nearest to each new row, in the part of the nearest if parts are separate."""
        if self._labels is None:
            return self._nearest_fitted(X, k)
        labels = self._labels[np.searchsorted(self._fitted, self._nearest_fitted(X, 1)[:, 0])]
        near = np.empty((len(X), k), np.int64)
        for label in np.unique(labels):
            rows, those = self._fitted[self._labels == label], labels == label
            index = RowIndex(self._known.X[rows], self._fit_metric)
            near[those] = rows[index.nearest(X[those], k, n_jobs=self.n_jobs)[0]]
        return near

    def _require_sound(self) -> None:
        super()._require_sound()
        if self._labels is None:
            return
        if (np.diff(self._fitted) <= 0).any():
            raise StateError("_fitted", "must be ascending")
        if np.unique(self._labels, return_counts=True)[1].min() < self._n_nearest:
            raise StateError("_labels", "must be of parts with as many rows as a new row has neighbours")
