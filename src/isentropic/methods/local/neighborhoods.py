"""Neighborhoods: what ties each row to its neighbors, in a list of each row's. Lists and blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from ..._core.arguments import Choice, Real
from ..._core.errors import require_count
from ..._core.runtime import row_blocks
from ..._core.values import Knn
from ...affinities import barycentric_weights
from ...embedding.maps.barycentric import BarycentricMap, BarycentricWeights, RowsOfParts
from ...embedding.maps.embedded_rows import EmbeddedRows, complete_embedding, initial_coordinates
from ...embedding.packed_components import operator_block, rows_of_parts, side_by_side
from ...embedding.training_data import TrainingData
from ...linalg import bottom_eigenpairs, bottom_squared_eigenpairs
from ...linalg.eigen import count_still_coordinates, eigengap, padded
from ...neighbors import component_labels, graph_of_lists, searched_neighbors, warn_of_components

_NUMBERS_AT_ONCE = 2**20  # in the blocks, or the differences, of some rows
_NO_DISTANCES = "A graph in parts has no distances here that could be inflated."
Regularization = Annotated[float, Real("a positive number", above=0)]
OnDisconnected = Annotated[str, Choice("bridge", "largest", "raise", "separate", hint=_NO_DISTANCES)]
Connected = Annotated[str, Choice("bridge", "largest", "raise", hint=_NO_DISTANCES)]


@dataclass(frozen=True, slots=True)
class Neighborhoods:
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


def find_neighborhoods(
    X: np.ndarray, n_neighbors: int, on_disconnected: str = "bridge", n_jobs: int | None = None
) -> Neighborhoods:
    """Of all rows, or of the largest part of the graph where that is the policy for parts."""
    found = searched_neighbors(X, Knn(n_neighbors), n_jobs=n_jobs)
    if on_disconnected == "separate":
        n, k = found.indices.shape
        labels = component_labels(np.arange(0, n * k + 1, k), found.indices.ravel()).astype(np.int64)
        warn_of_components(labels, "each is mapped by itself, and how they lie side by side means nothing")
        near = found.indices.astype(np.int64)
        return Neighborhoods(np.arange(n), near, np.empty((0, 2), np.int64), labels)
    graph = graph_of_lists(X, found, on_disconnected=on_disconnected, n_jobs=n_jobs)
    if on_disconnected != "largest":
        return Neighborhoods(np.arange(len(X)), found.indices.astype(np.int64), graph.bridges)
    fitted = np.flatnonzero(graph.components == 0)
    near = np.searchsorted(fitted, found.indices[fitted])  # lists never lead out of a part
    return Neighborhoods(fitted, near, graph.bridges)


def reconstruction_weights(X: np.ndarray, lists: Neighborhoods, regularization: float) -> csr_array:
    """``W`` (g, g): each fitted row of ``X`` as a sum of its neighbours, with weights of sum 1."""
    g = len(lists.fitted)
    X, heads, tails, weights = X[lists.fitted], [], [], []
    for rows, near in lists.by_size(X.shape[1]):
        heads.append(np.repeat(rows, near.shape[1]))
        tails.append(near.ravel())
        weights.append(barycentric_weights(X[rows], near, X, regularization).ravel())
    entries = np.concatenate(heads), np.concatenate(tails)
    return csr_array(coo_array((np.concatenate(weights), entries), shape=(g, g)))


def require_neighbors(n_neighbors: Any, n_components: int) -> int:
    """The number of neighbors that sums of them need: no less than coordinates."""
    must_be = f"an integer of at least n_components = {n_components}"
    return require_count("n_neighbors", n_neighbors, must_be, least=n_components)


def barycentric_map(
    data: TrainingData, lists: Neighborhoods, regularization: float, Z: np.ndarray, d: int,
    n_jobs: int | None, *, convex: bool = False,
) -> BarycentricMap:  # fmt: skip
    """The map by which a new row is a sum of its nearest rows, with coordinates for all training rows.

    ``Z`` are those of the embedded ones.
    """
    rows, parts = lists.fitted, lists.labels
    query = EmbeddedRows(data, rows) if parts is None else RowsOfParts(data, rows, parts)
    weights = BarycentricWeights(lists.near.shape[1], regularization, convex)
    new_rows = BarycentricMap(query, weights, initial_coordinates(query, Z, d))
    found: BarycentricMap = complete_embedding(new_rows, rows, n_jobs)
    return found


# ---- Coordinates of local methods: bottom eigenvectors of an operator that ties neighbors --------


def bottom_coordinates(
    operator: csr_array, n_components: int, parts: np.ndarray | None = None, *, squared: bool = False
) -> tuple[np.ndarray, dict[str, Any]]:
    """The bottom eigenvectors of the operator, or of its square ``A'A``, each of mean square 1; and figures.

    The constant one is left out. Where there are ``parts``, each row's, each part has its own eigenvectors,
    and the figures are those of the first, the largest.
    """
    members = [np.arange(operator.shape[0])] if parts is None else rows_of_parts(parts)
    blocks = [operator_block(operator, rows) for rows in members]
    pairs = [_bottom(one, n_components, squared) for one in blocks]
    values, Z = pairs[0]
    count = Z.shape[1]
    results = {
        "eigenvalues_": padded(values[:count], n_components),
        "eigengap_": eigengap(values, count),
        "n_separating_": count_still_coordinates(Z, blocks[0]),
    }
    if len(members) > 1:
        wide = [np.pad(one, ((0, 0), (0, n_components - one.shape[1]))) for _, one in pairs]
        Z = side_by_side(wide, members)
    return Z, results


def _bottom(operator: csr_array, n_components: int, squared: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, one more than coordinates if there is one, and these, as many as there are."""
    n = operator.shape[0]
    count = min(n_components, n - 1)
    eigenpairs = bottom_squared_eigenpairs if squared else bottom_eigenpairs
    values, vectors = eigenpairs(operator, min(count + 1, n - 1), known=np.ones(n))
    return values, np.sqrt(n) * vectors[:, :count]
