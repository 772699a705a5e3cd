"""Supervised t-SNE over neighbor graphs: what SGt-SNE and SEt-SNE share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..._core.errors import DisconnectedGraphWarning
from ..._core.runtime import require_memory, row_blocks
from ..._core.values import Knn, NeighborGraph, Neighbors
from ...affinities import checked_perplexity
from ...neighbors import clipped_neighbors, first_neighbors, graph_of_lists, searched_neighbors

LOW_DIMENSIONAL = ("euclidean", "graph")  # what the weights of the map are made of
_PERPLEXITY = 30.0  # or a third of the other rows, where there are fewer than 90
_RATE, _MOMENTUM, _SPREAD = 30.0, 0.9, 1e-2  # of the descent as published
_PAIR_BYTES = 64  # of it: lengths, affinities of both sides and their products


def default_perplexity(perplexity: Any, n: int) -> float:
    """The perplexity; 30 or a third of the other rows where none is given."""
    wanted = min(_PERPLEXITY, max((n - 1) / 3, 1.0)) if perplexity is None else perplexity
    return checked_perplexity(wanted, n)


def n_graph_neighbors(n_neighbors: Any, n: int) -> int:
    """Neighbours of a row in the graph: the root of the number of rows, where none is given."""
    if n_neighbors is None:
        return min(max(round(np.sqrt(n)), 1), n - 1)
    return clipped_neighbors(n_neighbors, n - 1)


def plain_graph(
    X: np.ndarray, longest: int, k: int, seed: int, n_jobs: int | None
) -> tuple[Neighbors, NeighborGraph]:
    """Lists of so many neighbours by X alone, and the graph of the first k, bridged where in parts."""
    found = searched_neighbors(X, Knn(min(longest, len(X) - 1)), random_state=seed, n_jobs=n_jobs)
    return found, graph_of_lists(X, first_neighbors(found, k), n_jobs=n_jobs)


def edges_of(graph: NeighborGraph) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of every entry of a graph."""
    return np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr)), graph.indices.astype(np.int64)


def graph_of_map(Z: np.ndarray, k: int, n_jobs: int | None) -> tuple[Neighbors, NeighborGraph]:
    """Lists and graph of the k nearest places of a map, bridged without a word where it is in parts."""
    found = searched_neighbors(Z, Knn(k), n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return found, graph_of_lists(Z, found, n_jobs=n_jobs)


def published_descent(
    P: Any,
    in_map: Callable[[np.ndarray], np.ndarray],
    n_components: int,
    n_iter: int,
    random: np.random.RandomState,
) -> np.ndarray:
    """Steps along t-SNE's gradient, its weights ``1 / (1 + D^2)`` of squares D^2 that ``in_map`` gives.

    The rest of the gradient is that of Euclidean weights, so that no cost need fall. ``O(n^2)`` a step and
    what ``in_map`` takes.
    """
    n = P.shape[0]
    require_memory(_PAIR_BYTES * n * n, f"All pairs of {n:,} rows", "Take low_dimensional='euclidean'.")
    Z, P = _SPREAD * random.standard_normal((n, n_components)), P.toarray()
    step = np.zeros_like(Z)
    for _ in row_blocks(n_iter, "descent steps", size=1):
        weights = 1.0 / (1.0 + in_map(Z))
        np.fill_diagonal(weights, 0.0)
        force = (P - weights / weights.sum()) / (1.0 + cdist(Z, Z, "sqeuclidean"))
        step = _MOMENTUM * step - 4.0 * _RATE * (force.sum(axis=1)[:, None] * Z - force @ Z)
        Z = Z + step
    return Z
