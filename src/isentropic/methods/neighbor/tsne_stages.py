"""Stages of t-SNE and its variants: neighbours, affinities, schedule, descent, and the map of new rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, squareform

from ..._core.errors import DisconnectedGraphWarning, TableWarning, require, require_one_of, warn
from ..._core.runtime import require_memory, row_blocks
from ..._core.specs import Array, Double, StateError, Text, Whole
from ..._core.state import Sub
from ..._core.values import GraphMetric, Knn, NeighborGraph, Neighbors
from ...affinities import checked_perplexity, conditional_affinities, joint_affinities
from ...distances import EUCLIDEAN, LARGEST, Metric, are_all_equal, metric_name, rows_per_block
from ...embedding.initialization import (
    WarmStart,
    complete_coordinates,
    jittered,
    landmark_initialization,
    pca_initialization,
    user_initialization,
)
from ...embedding.input_rows import checked_coordinates
from ...embedding.maps.row_optimizer import NearestRows, RowOptimizer
from ...embedding.row_distances import PAIRS_PER_ROW, Distances, GraphDistances, kind_of, sampled_shifts
from ...embedding.training_data import Part, TrainingData
from ...kernels._jit import threads
from ...kernels.rows.row_descent import GAUSSIANS, STUDENT, STUDENT_FIELD, optimize_rows
from ...neighbors import clipped_neighbors, first_neighbors, graph_of_lists, lists_in_rows, searched_neighbors
from ...objectives import Field, GlobalNeighbors, StudentNeighbors, StudentPairs
from ...optim import Phase, phased_descent

# ---- How neighbor embeddings begin and end: neighbor lists, initial coordinates, checked results ----


STARTS = ("pca", "random")  # the names that init knows
_FLAT = 1e-9  # of the largest spread of a coordinate: rounding
_ROUGH = 1e-2  # of the same: the noise that takes the place of a coordinate without extent
_ALL_EQUAL = "All rows are equal, and so are their places. Look for a column that tells them apart."


def neighbor_lists(
    distances: Distances, k: int, metric: Any, seed: int, precomputed: Any = None
) -> Neighbors:
    """The ``k`` nearest neighbors of every row, precomputed or searched; all other rows if fewer."""
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
    """Initialize by principal components, noise, or coordinates of the user, at any scale.

    For distances other than Euclidean ones, classical scaling takes the place of components.
    """
    if previous is not None:
        return complete_coordinates(previous, distances.X, distances.metric, distances.n_jobs)
    n, d = len(distances.X), n_components
    if not isinstance(init, str):
        Z = user_initialization(init, n, d, starts)
        apart = bool(np.ptp(Z, axis=0).any())
        require(apart, "init", "a start that tells rows apart", "the same place for all of them")
        return Z
    require_one_of("init", init, starts, hint="Or give the coordinates to start from.")
    if init == "random":
        return random.standard_normal((n, d))
    if distances.euclidean:
        unit = float(max(distances.X.max(), -distances.X.min()))  # of magnitudes, without a table of them
        Z = pca_initialization(distances.X, unit or 1.0, d)
    else:
        Z = landmark_initialization(distances, d, random)
    spread = Z.std(axis=0)
    if not spread.any() and are_all_equal(distances.X):  # merged_embedding warns of that
        return random.standard_normal((n, d))
    Z[:, spread <= _FLAT * spread.max()] = 0.0
    return jittered(Z, random, _ROUGH * float(spread.max()) or 1.0)


def with_spread(Z: np.ndarray, spread: float, previous: WarmStart | None = None) -> np.ndarray:
    """Scale initial coordinates to this standard deviation of the widest; an earlier map stays as it is."""
    if previous is not None:
        return Z
    Z = Z / np.abs(Z).max()
    Z -= Z.mean(axis=0)
    return Z * (spread / Z.std(axis=0).max())


def merged_embedding(data: TrainingData, Z: np.ndarray) -> np.ndarray:
    """Check that the embedding is finite, and merge duplicates."""
    checked_coordinates(Z, "Take parameters nearer to their defaults.")
    if are_all_equal(data.table):
        warn(_ALL_EQUAL, TableWarning)
    return data.merge_duplicates(Z)


def _checked_lists(given: Neighbors, k: int, n: int, metric: Metric | GraphMetric) -> Neighbors:
    """Check neighbor lists of the user: other rows, each once, nearest first, of this metric."""
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


def _lists_over_graph(over: GraphDistances, k: int, n_jobs: int | None) -> Neighbors:
    """Neighbor lists by distances over a graph, in blocks of rows."""
    graph, n = over.graph, over.graph.n_rows
    k = clipped_neighbors(k, n - 1)
    indices, near = np.empty((n, k), np.int32), np.empty((n, k))
    for block in row_blocks(n, "neighbours", size=rows_per_block(n)):
        rows = np.arange(block.start, block.stop)
        lists_in_rows(over.rows(rows, n_jobs), rows, indices[block], near[block], n_jobs)
    return Neighbors(indices, near, over.name, exact=graph.exact, recall=graph.recall)


MOST_DOF = 1e6  # degrees of freedom: a Gaussian, to six digits; many more overflow
_MARGIN = 32  # nodes of a field around the map
_SPREAD = 1e-4  # standard deviation of the initial coordinates
_EARLY = 250  # steps with early exaggeration, at most a third of all
_LONGEST = 5.0  # step of a row
_DOUBLINGS = 10  # of the width of a map, from 1 on
_CLOSE = 1.05  # times the least divergence

Schedule = list[tuple[int, float]]  # steps and exaggeration


# ---- new rows ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PerplexityAffinities(Part):
    """Gaussian affinities of new rows to the ``k`` nearest training rows, the mean over perplexities."""

    perplexities: Annotated[np.ndarray, Array("s", least=1)]
    k: Annotated[int, Whole(1, below="n")]

    def of_new(self, X: np.ndarray, query: Any, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Near rows and their affinities, (b, k) each."""
        indices, distances = query.nearest(X, self.k, n_jobs)
        mean = np.zeros(distances.shape)
        for perplexity in self.perplexities:
            mean += conditional_affinities(distances, perplexity, n_jobs=n_jobs)[0]
        return indices, mean / len(self.perplexities)


@dataclass(frozen=True, eq=False)
class StudentLayout(Part):
    """An embedding with Student weights; new rows are repelled by all its rows, or by a field on a grid."""

    Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
    dof: Annotated[float, Double(above=0, most=MOST_DOF)]
    repulsion: Annotated[str, Text("exact", "fields", "barnes-hut")]

    def optimize(self, rows: np.ndarray, P: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows by damped Newton steps from the nearest row, or from the mean."""
        starts, near = initial_guesses(self.Z, rows, P), rows.astype(np.int64)
        far = np.empty((len(starts), 0), np.int64)
        with threads(n_jobs):
            if self.repulsion != "fields":
                return optimize_rows(STUDENT, starts, self.Z, near, P, far, np.array([self.dof]))
            unit = np.sqrt(self.dof)
            return (
                optimize_rows(STUDENT_FIELD, starts / unit, self.Z / unit, near, P, far, self._field) * unit
            )

    @cached_property
    def _field(self) -> np.ndarray:
        field = Field((self.dof + 1) / 2)
        plane = np.zeros((len(self.Z), 2), np.float32)
        plane[:, : self.Z.shape[1]] = self.Z / np.sqrt(self.dof)
        nodes, origin, spacing = field.nodes(plane, _MARGIN)
        header = [field.power, *origin.astype(float), spacing, *nodes.shape]
        return np.concatenate([header, nodes.ravel()])

    def _require_sound(self) -> None:
        if self.repulsion == "fields" and self.Z.shape[1] > 2:
            raise StateError("repulsion", "must not be that of fields beyond two dimensions")


class StudentMap(RowOptimizer):
    """The out-of-sample map of t-SNE."""

    query: Annotated[NearestRows, Sub(NearestRows)]
    affinities: Annotated[PerplexityAffinities, Sub(PerplexityAffinities)]
    layout: Annotated[StudentLayout, Sub(StudentLayout)]


def initial_guesses(Z: np.ndarray, rows: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Two initial guesses for each new row: its nearest row, and the weighted mean of near ones."""
    near = Z[rows]
    return np.stack((near[:, 0], np.einsum("ij,ijc->ic", P, near)), axis=1)


@dataclass(frozen=True, eq=False)
class GaussianLayout(Part):
    """An embedding with the mean of Gaussian weights of some precisions: SNE and multiscale SNE."""

    Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
    precisions: Annotated[np.ndarray, Array("s", above=0)]

    def optimize(self, rows: np.ndarray, P: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of new rows by damped Newton steps from the nearest row, or from the mean."""
        starts, near = initial_guesses(self.Z, rows, P), rows.astype(np.int64)
        far = np.empty((len(starts), 0), np.int64)
        with threads(n_jobs):
            return optimize_rows(GAUSSIANS, starts, self.Z, near, P, far, self.precisions)


class GaussianMap(RowOptimizer):
    """The out-of-sample map of SNE and multiscale SNE."""

    query: Annotated[NearestRows, Sub(NearestRows)]
    affinities: Annotated[PerplexityAffinities, Sub(PerplexityAffinities)]
    layout: Annotated[GaussianLayout, Sub(GaussianLayout)]


def dense(knn: Neighbors, P: np.ndarray) -> np.ndarray:
    """Affinities of neighbor lists as a square array."""
    square = np.zeros((len(P), len(P)))
    np.put_along_axis(square, knn.indices.astype(np.int64), P, axis=1)
    return square


# ---- the descent -------------------------------------------------------------------------------


def require_pair_memory(bytes_a_pair: int, n: int) -> None:
    """Require enough memory for all pairs."""
    require_memory(bytes_a_pair * n * n, f"All pairs of {n:,} rows", "Take TSNE.")


def schedule(
    max_iter: int, early: float = 12.0, late: float = 1.0, previous: WarmStart | None = None
) -> Schedule:
    """Steps and exaggeration, early and late; from an earlier map a third of the steps, none early."""
    first = min(_EARLY, max_iter // 3)
    if previous is not None:
        return [(first if previous.steps is None else previous.steps, late)]
    return [(first, early), (max_iter - first, late)]


def student_affinities(knn: Neighbors, perplexity: float, n_jobs: int | None) -> Any:
    """The joint affinities P of t-SNE: conditional ones of a perplexity, symmetrized."""
    # not held by a name here: the sides are joined without the lists that they are made of
    return joint_affinities(
        knn, conditional_affinities(knn.distances, perplexity, n_jobs=n_jobs)[0], n_jobs=n_jobs
    )


def descend(
    loss: StudentNeighbors | GlobalNeighbors,
    distances: Distances,
    steps: Schedule,
    init: Any,
    n_components: int,
    random: np.random.RandomState,
    previous: WarmStart | None = None,
) -> np.ndarray:
    """Minimize the loss from initial coordinates, by momentum and gains."""
    Z = initial_embedding(distances, init, n_components, random, previous)
    Z = with_spread(Z, _SPREAD, previous)
    if previous is not None and previous.steps is None:
        Z = _sized(loss, Z)
    phases = [Phase(count, factor, len(Z) / factor) for count, factor in steps]
    return phased_descent(loss.gradient, Z, phases, longest=_LONGEST, n_jobs=distances.n_jobs)


def _sized(loss: StudentNeighbors | GlobalNeighbors, Z: np.ndarray) -> np.ndarray:
    """Rescale an earlier map if it is far better at another size, as that of another method may be."""
    width = float(np.ptp(Z, axis=0).max())
    sizes = [2.0**power / width for power in range(_DOUBLINGS)]
    if 0.1 < width < 10 * 2**_DOUBLINGS:
        sizes.insert(0, 1.0)
    values = [loss.divergence(Z * size) for size in sizes]
    best = int(np.argmin(values))
    return Z if sizes[0] == 1.0 and values[0] <= _CLOSE * values[best] else Z * sizes[best]


# ---- global t-SNE -------------------------------------------------------------------------------


_RMS = 10.0  # of the distances, so that the 1 in 1 + d^2 does not matter


def over_all_pairs(P: csr_array, distances: Distances, weight: float) -> StudentPairs:
    """The cost over all pairs."""
    near = 2.0 * squareform(P.toarray(), checks=False)  # of unordered pairs
    far = distances_in_units(distances.all().distances)
    return StudentPairs(near, len(distances.X), distances=far, weight=weight, n_jobs=distances.n_jobs)


def over_sampled_pairs(
    P: csr_array, distances: Distances, weight: float, d: int, order: np.ndarray, seed: int
) -> GlobalNeighbors:
    """The cost with large distances of sampled pairs."""
    near = StudentNeighbors(P, n_components=d, n_jobs=distances.n_jobs)
    pairs = distances.sample(sampled_shifts(len(order), PAIRS_PER_ROW // 2, seed), order)
    pairs = replace(pairs, distances=distances_in_units(pairs.distances))
    return GlobalNeighbors(near, pairs, weight=weight, n_jobs=distances.n_jobs)


def distances_in_units(distances: np.ndarray) -> np.ndarray:
    """Distances whose root mean square is 10."""
    distances = distances / (float(distances.max(initial=0.0)) or 1.0)
    distances *= _RMS / (np.sqrt((distances**2).mean()) or 1.0)
    return distances


# ---- t-SNE by graphs of data and map ------------------------------------------------------------


LOW_DIMENSIONAL = ("euclidean", "graph")  # what the weights of the map are made of
_PERPLEXITY = 30.0  # or a third of the other rows, where there are fewer than 90
_RATE, _MOMENTUM, _PUBLISHED_SPREAD = 30.0, 0.9, 1e-2  # of the descent as published
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
    """Neighbor lists by X alone, and the graph of the first k, connected by bridges."""
    found = searched_neighbors(X, Knn(min(longest, len(X) - 1)), random_state=seed, n_jobs=n_jobs)
    return found, graph_of_lists(X, first_neighbors(found, k), n_jobs=n_jobs)


def edges_of(graph: NeighborGraph) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of every entry of a graph."""
    return np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr)), graph.indices.astype(np.int64)


def graph_of_map(Z: np.ndarray, k: int, n_jobs: int | None) -> tuple[Neighbors, NeighborGraph]:
    """Neighbor lists and graph of a map, connected by bridges without a warning."""
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
    Z, P = _PUBLISHED_SPREAD * random.standard_normal((n, n_components)), P.toarray()
    step = np.zeros_like(Z)
    for _ in row_blocks(n_iter, "descent steps", size=1):
        weights = 1.0 / (1.0 + in_map(Z))
        np.fill_diagonal(weights, 0.0)
        force = (P - weights / weights.sum()) / (1.0 + cdist(Z, Z, "sqeuclidean"))
        step = _MOMENTUM * step - 4.0 * _RATE * (force.sum(axis=1)[:, None] * Z - force @ Z)
        Z = Z + step
    return Z
