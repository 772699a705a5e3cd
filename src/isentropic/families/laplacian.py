"""Laplacian methods: slow coordinates of a walk over the neighbour graph. They differ in the walk.

A method of this family takes its graph from :meth:`LaplacianEmbedder._fitted_graph`, finds coordinates, and
hands them to :meth:`LaplacianEmbedder._keep`. New rows are placed by one step of the walk (Nyström).
"""

from __future__ import annotations

import numpy as np

from .._errors import IsentropicWarning, require_one_of, warn
from .._runtime import row_blocks
from .._state import Array, Double, Number, OneOf, State, StateError, Value, Whole
from .._values import Knn, NeighborGraph, Percentile, Radius
from ..distances import rows_per_block
from ..neighbors import RowIndex, as_rule, distance_graph, entry_lists, warn_of_isolated
from .geodesic import subgraph
from .placement import RowKeeper
from .spectral import separating

_ALTERNATES = 1e-6  # an eigenvalue of the walk below this one has no step that could be undone


class LaplacianEmbedder(RowKeeper):
    """Eigenvectors of a walk over the neighbour graph, and where one step of it leads from a new row."""

    metric = "euclidean"
    _state = State(  # g rows are in the graph, the others placed
        graph_=Value(NeighborGraph, n="g"),
        eigenvalues_=Array("d"),
        eigengap_=Number(0),
        n_separating_=Whole(0),
        _fitted=Array("g", dtype=np.int64, below="n"),
        _fit_rule=OneOf(Value(Knn), Value(Radius), Value(Percentile)),
        _width=Double(above=0, infinite=True),
    )
    _found_again = ("_index_of_fitted",)
    _index_of_fitted: RowIndex | None

    def _checked_policy(self) -> None:
        hint = "A graph in parts has no distances here that could be inflated."
        require_one_of("on_disconnected", self.on_disconnected, ("bridge", "largest", "raise"), hint)

    def _fitted_graph(self, X: np.ndarray) -> NeighborGraph:
        """The neighbour graph of the rows that are fitted."""
        rule = as_rule(self.n_neighbors if self.neighbors is None else self.neighbors)
        graph = distance_graph(X, rule, on_disconnected=self.on_disconnected, n_jobs=self.n_jobs)
        self._fitted, self._fit_rule, self._index_of_fitted = np.arange(len(X)), rule, None
        if self.on_disconnected == "largest" and graph.n_components > 1:
            self._fitted = np.flatnonzero(graph.components == 0)
            graph = subgraph(graph, self._fitted)
        self.graph_ = graph
        return graph

    def _keep(self, X: np.ndarray, Z: np.ndarray, changes: np.ndarray, *, size: float) -> None:
        """The map of the fitted rows, zero in coordinates that so few do not have; the others are placed.

        ``changes`` are the eigenvalues of the Laplacian, smallest first, with one more if there is one.
        """
        n, found = Z.shape
        d = self.n_components
        self.eigengap_ = _eigengap(changes, found)
        self.n_separating_ = separating(changes, found, size=size)
        if found < d:
            warn(f"X has {n} rows: the last {d - found} of {d} coordinates are zero.", IsentropicWarning)
        self._n_features_out = d
        self.embedding_ = np.zeros((len(X), d))
        self.embedding_[self._fitted, :found] = Z
        self._remember(X)
        others = np.setdiff1d(np.arange(len(X)), self._fitted)
        if len(others):
            self.embedding_[others] = self._place(X[others])
        self.embedding_ = self._one_place(X, self.embedding_)

    def _step(self, X: np.ndarray, Z: np.ndarray, rule, shares: np.ndarray | None) -> tuple:
        """The mean of ``Z`` over the neighbours of new rows, by the weights of a step, and the sums of those.

        ``shares`` weigh the fitted rows beside the heat. One sum after the other, so that it has the same
        bits however long the lists of other rows are.
        """
        means, degrees, isolated = np.empty((len(X), Z.shape[1])), np.empty(len(X)), 0
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(Z))):
            entries = entry_lists(X[block], self._rows_of_graph(), self.graph_, rule, n_jobs=self.n_jobs)
            isolated += entries.isolated
            there, near = np.isfinite(entries.distances), entries.indices
            squared = (
                np.where(there, np.where(there, entries.distances, 0.0) / np.sqrt(self._width), np.inf) ** 2
            )
            least = squared.min(axis=1, keepdims=True)  # so that the nearest has a weight, however far
            weights = np.exp(-(squared - least)) * (1.0 if shares is None else shares[near])
            sums = np.cumsum(weights, axis=1)[:, -1]
            means[block] = np.cumsum(weights[:, :, None] * Z[near], axis=1)[:, -1] / sums[:, None]
            degrees[block] = sums * np.exp(-least[:, 0])
        warn_of_isolated(isolated, len(X))
        return means, degrees

    def _rows_of_graph(self) -> RowIndex:
        index = getattr(self, "_index_of_fitted", None)
        if index is None:
            index = self._index_of_fitted = RowIndex(self._known.X[self._fitted], self._fit_metric)
        return index

    def _require_sound(self) -> None:
        super()._require_sound()
        if not self.graph_.is_distance:
            raise StateError("graph_.kind", "must be one whose weights are distances")
        if self._fit_metric != "euclidean":
            raise StateError("_fit_metric", "must be euclidean")


def undone(walk: np.ndarray) -> np.ndarray:
    """What the mean of a step is divided by; 1 for coordinates that alternate between neighbours."""
    return np.where(walk > _ALTERNATES, walk, 1.0)


def tell_of_alternating(walk: np.ndarray) -> None:
    """Warn of coordinates in which neighbours lie apart, not together."""
    count = int(np.count_nonzero(walk <= _ALTERNATES))
    if count:
        warn(
            f"The last {count} of {len(walk)} coordinates alternate between neighbours: new rows get the "
            "mean of theirs. Take fewer components.",
            IsentropicWarning,
        )


def _eigengap(values: np.ndarray, count: int) -> float:
    """How far the last of ``count`` values is below the next one, as a share of that; 1 without a next."""
    if len(values) == count:
        return 1.0
    last, following = np.maximum(values[count - 1 : count + 1], 0.0)
    return float(max(1.0 - last / following, 0.0)) if following > 0 else 0.0
