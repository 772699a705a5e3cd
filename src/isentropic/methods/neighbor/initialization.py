"""How neighbor embeddings begin and end: neighbor lists, initial coordinates, checked results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..._core.errors import TableWarning, require, require_one_of, warn
from ..._core.runtime import row_blocks
from ..._core.values import GraphMetric, Knn, Neighbors
from ...distances import EUCLIDEAN, Metric, are_all_equal, metric_name, rows_per_block
from ...embedding.graph_distances import OverGraph, kind_of
from ...embedding.input_rows import checked_coordinates
from ...embedding.pair_distances import Distances
from ...embedding.starts import given_start, landmark_start, principal_start, roughened
from ...embedding.training_data import TrainingData
from ...embedding.warm_starts import WarmStart, completed_places
from ...neighbors import clipped_neighbors, lists_in_rows, searched_neighbors

STARTS = ("pca", "random")  # the names that init knows
_FLAT = 1e-9  # of the largest spread of a coordinate: rounding
_ROUGH = 1e-2  # of the same: the noise that takes the place of a coordinate without extent
_ALL_EQUAL = "All rows are equal, and so are their places. Look for a column that tells them apart."


def neighbor_lists(
    distances: Distances, k: int, metric: Any, seed: int, precomputed: Any = None
) -> Neighbors:
    """The ``k`` nearest of every row: ``precomputed``, or found; all the others where there are no more."""
    if precomputed is not None:
        return _checked_lists(precomputed, k, len(distances.X), metric)
    if distances.over is not None:
        return _lists_over_graph(distances.over, k, distances.n_jobs)
    return searched_neighbors(distances.X, Knn(k), metric=metric, random_state=seed, n_jobs=distances.n_jobs)


def initial_embedding(
    distances: Distances,
    init: Any,
    n_components: int,
    random: np.random.RandomState,
    previous: WarmStart | None = None,
    starts: tuple[str, ...] = STARTS,
) -> np.ndarray:
    """Where the descent begins, in a scale of its own: principal components, noise, or what is given.

    Of distances that are no table of features, classical scaling takes the place of components.
    """
    if previous is not None:
        return completed_places(previous, distances.X, distances.metric, distances.n_jobs)
    n, d = len(distances.X), n_components
    if not isinstance(init, str):
        Z = given_start(init, n, d, starts)
        apart = bool(np.ptp(Z, axis=0).any())
        require(apart, "init", "a start that tells rows apart", "the same place for all of them")
        return Z
    require_one_of("init", init, starts, hint="Or give the coordinates to start from.")
    if init == "random":
        return random.standard_normal((n, d))
    if distances.euclidean:
        Z = principal_start(distances.X, float(np.abs(distances.X).max()) or 1.0, d)
    else:
        Z = landmark_start(distances, d, random)
    spread = Z.std(axis=0)
    if not spread.any() and are_all_equal(distances.X):  # merged_embedding warns of that
        return random.standard_normal((n, d))
    Z[:, spread <= _FLAT * spread.max()] = 0.0
    return roughened(Z, random, _ROUGH * float(spread.max()) or 1.0)


def with_spread(Z: np.ndarray, spread: float, previous: WarmStart | None = None) -> np.ndarray:
    """Initial coordinates, the widest with this standard deviation; an earlier map as large as it is."""
    if previous is not None:
        return Z
    Z = Z / np.abs(Z).max()
    Z -= Z.mean(axis=0)
    return Z * (spread / Z.std(axis=0).max())


def merged_embedding(data: TrainingData, Z: np.ndarray) -> np.ndarray:
    """The embedding, finite everywhere, duplicates at one place."""
    checked_coordinates(Z, "Take parameters nearer to their defaults.")
    if are_all_equal(data.table):
        warn(_ALL_EQUAL, TableWarning)
    return data.merge_duplicates(Z)


def _checked_lists(given: Neighbors, k: int, n: int, metric: Metric | GraphMetric) -> Neighbors:
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
