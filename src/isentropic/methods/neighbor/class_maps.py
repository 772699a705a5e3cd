"""Supervised t-SNE: affinities of a dissimilarity that knows the classes of the fitted rows.

A method finds the rows that are the nearest to each fitted one by its dissimilarity, and says in
``_listed_among_fitted`` which are the nearest to a new row, whose class nobody tells.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ..._core.errors import DisconnectedGraphWarning, require_one_of
from ..._core.runtime import generator, require_memory, row_blocks
from ..._core.values import Knn, NeighborGraph, Neighbors
from ...affinities import checked_perplexity, joint_affinities, listed_for
from ...embedding.classes.fitted_classes import FittedClasses, PairClasses
from ...neighbors import clipped_neighbors, first_neighbors, listed_graph, nearest_neighbors
from ...objectives import StudentNeighbors
from .perplexity_maps import Listed
from .student_maps import StudentMap

_PERPLEXITY = 30.0  # or a third of the other rows, where there are fewer than 90
_RATE, _MOMENTUM, _SPREAD = 30.0, 0.9, 1e-2  # of the descent as published
_PAIR_BYTES = 64  # of it: lengths, affinities of both sides and their products
_MAPS = ("euclidean", "graph")


class Frame(NamedTuple):
    """How many neighbours count and are listed, and where chance comes from."""

    perplexities: np.ndarray  # one
    listed: int
    seed: int
    random: np.random.RandomState


class ClassStudentMap(PairClasses, StudentMap):
    """t-SNE's descent on lists by a dissimilarity of rows and classes."""

    _found_again = (*PairClasses._found_again, *StudentMap._found_again)
    neighbors = None

    def _frame(self, n: int) -> Frame:
        """The perplexity, 30 or a third of the other rows where none is given, and what follows from it."""
        random = generator(self.random_state)
        seed = int(random.randint(2**31 - 1))
        wanted = min(_PERPLEXITY, max((n - 1) / 3, 1.0)) if self.perplexity is None else self.perplexity
        perplexity = checked_perplexity(wanted, n)
        return Frame(np.array([perplexity]), listed_for(perplexity, n), seed, random)

    def _given(self, X: np.ndarray, frame: Frame, lists: Neighbors) -> Listed:
        return Listed(self._distances_of(X, frame.seed), lists, frame.perplexities, frame.random)


class GraphStudentMap(ClassStudentMap):
    """One whose dissimilarity differs from distances on the edges of a neighbour graph: SGt-SNE, SEt-SNE."""

    metric, init = "euclidean", "pca"

    def _n_edges(self, n: int) -> int:
        """Neighbours of a row in the graph: the root of the number of rows, where none is given."""
        if self.n_neighbors is None:
            return min(max(round(np.sqrt(n)), 1), n - 1)
        return clipped_neighbors(self.n_neighbors, n - 1)

    def _plain_graph(self, X: np.ndarray, longest: int, k: int, seed: int) -> tuple[Neighbors, NeighborGraph]:
        """Lists of so many neighbours by X alone, and the graph of the first k, bridged where in parts."""
        found = nearest_neighbors(X, Knn(min(longest, len(X) - 1)), random_state=seed, n_jobs=self.n_jobs)
        return found, listed_graph(X, first_neighbors(found, k), n_jobs=self.n_jobs)

    def _embed(
        self,
        given: Listed,
        classes: FittedClasses,
        k: int,
        in_map: Callable[[np.ndarray, FittedClasses, int], np.ndarray],
    ) -> None:
        """Descent by Euclidean weights of the map or, as published, by its own dissimilarities ``in_map``."""
        require_one_of("low_dimensional", self.low_dimensional, _MAPS)
        steps, conditional = self._phases(), self._affinities(given)
        if self.low_dimensional == "euclidean":
            Z, cost = self._descended(given, conditional, steps)
        else:
            P = joint_affinities(given.lists, conditional, n_jobs=self.n_jobs)
            n = P.shape[0]
            hint = "Take low_dimensional='euclidean'."
            require_memory(_PAIR_BYTES * n * n, f"All pairs of {n:,} rows", hint)
            cost = StudentNeighbors(P, n_components=self.n_components, n_jobs=self.n_jobs)
            start = _SPREAD * given.random.standard_normal((n, self.n_components))
            Z = _published_descent(P.toarray(), start, lambda Z: in_map(Z, classes, k), self.max_iter)
        self._learn_pairs(given.distances.X, classes, k)
        self._keep_student(given, Z, cost, self.max_iter)


def edges_of(graph: NeighborGraph) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of every entry of a graph."""
    return np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr)), graph.indices.astype(np.int64)


def graph_of_map(Z: np.ndarray, k: int, n_jobs: int | None) -> tuple[Neighbors, NeighborGraph]:
    """Lists and graph of the k nearest places of a map, bridged without a word where it is in parts."""
    found = nearest_neighbors(Z, Knn(k), n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return found, listed_graph(Z, found, n_jobs=n_jobs)


def _published_descent(
    P: np.ndarray, start: np.ndarray, in_map: Callable[[np.ndarray], np.ndarray], n_iter: int
) -> np.ndarray:
    """Steps along t-SNE's gradient, its weights ``1 / (1 + D^2)`` of squares D^2 that ``in_map`` gives.

    The rest of the gradient is that of Euclidean weights, so that no cost need fall. ``O(n^2)`` a step and
    what ``in_map`` takes.
    """
    Z, step = start, np.zeros_like(start)
    for _ in row_blocks(n_iter, "descent steps", size=1):
        weights = 1.0 / (1.0 + in_map(Z))
        np.fill_diagonal(weights, 0.0)
        force = (P - weights / weights.sum()) / (1.0 + cdist(Z, Z, "sqeuclidean"))
        step = _MOMENTUM * step - 4.0 * _RATE * (force.sum(axis=1)[:, None] * Z - force @ Z)
        Z = Z + step
    return Z
