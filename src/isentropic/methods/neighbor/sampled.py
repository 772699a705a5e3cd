"""Stages of PaCMAP and TriMap: near rows by scaled distance, sampled rows, initialization.

Near rows are chosen by scaled distance, sampled rows hold the map apart, and it starts small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.runtime import require_memory, row_blocks
from ..._core.specs import Array, Number, Whole
from ..._core.values import Neighbors
from ...distances import distances_between, rows_per_block
from ...distances.pairwise_blocks import pair_distances
from ...embedding.row_distances import Distances
from ...embedding.training_data import Part
from ...kernels._jit import threads
from ...kernels.layouts.epochs import draw_beyond, draw_others
from .tsne_stages import neighbor_lists

LISTED_BYTES = 34  # of a listed neighbour, and while the nearest by scaled distance are chosen
_PAIRS_AT_ONCE = 2**18
_MORE = 50  # neighbours that are listed beyond the wanted ones, to choose from by scaled distance
_SPREAD = 0.01  # of a start, along its widest coordinate
_TIES = 1e-2  # of the median distance: the least width of a row


def other_rows(seed: int, purpose: int, n: int, count: int, n_jobs: int | None = None) -> np.ndarray:
    """``count`` other rows for each of n, equally likely: (n, count). A row's depend on seed and purpose."""
    drawn = np.empty((n, count), np.int64)
    with threads(n_jobs):
        draw_others(seed, purpose, drawn)
    return drawn


def rows_beyond(
    seed: int, purpose: int, near: np.ndarray, lengths: Sequence[int], count: int, n_jobs: int | None = None
) -> np.ndarray:
    """For each row and length k, ``count`` different rows: neither itself nor of its k first in ``near``.

    (n, lengths * count), at most n for a length; -1 where there are no more. A row's depend on seed and
    purpose.
    """
    count = min(count, len(near))
    drawn = np.full((len(near), len(lengths) * count), -1)
    with threads(n_jobs):
        draw_beyond(seed, purpose, np.ascontiguousarray(near, np.int32), np.array(lengths), count, drawn)
    return drawn


def distances_to(distances: Distances, others: np.ndarray) -> np.ndarray:
    """Distances of every row to others: (n, c). ``O(n c m)``, or whole rows where a metric has no pairs."""
    n, count = others.shape
    out = np.empty((n, count))
    single = None
    if distances.over is None:
        single = pair_distances(distances.X, distances.metric, distances.n_jobs)
    size = max(1, _PAIRS_AT_ONCE // count) if single is not None else rows_per_block(n)
    for block in row_blocks(n, "drawn rows", size=size):
        rows = np.arange(block.start, min(block.stop, n))
        if single is not None:
            out[block] = single(np.repeat(rows, count), others[block].ravel()).reshape(len(rows), count)
            continue
        if distances.over is not None:
            D = distances.over.rows(rows, distances.n_jobs)
        else:
            D = distances_between(distances.X[rows], distances.X, distances.metric, distances.n_jobs)
        out[block] = np.take_along_axis(np.asarray(D), others[block], axis=1)
    return out


def n_to_list(k: int, n: int, given: Neighbors | None = None) -> int:
    """Number of candidates for ``k`` neighbours: 50 more, or all other rows."""
    most = n - 1
    if isinstance(given, Neighbors) and np.ndim(given.indices) == 2:
        most = given.indices.shape[1]
    return max(k, min(k + _MORE, most))


def local_widths(distances: np.ndarray, first: int, least: float = 0.0) -> np.ndarray:
    """The mean of three distances in the list of each row, from number ``first`` on, or of its last ones.

    At least ``least``, for rows among their equals.
    """
    k = distances.shape[1]
    return np.maximum(distances[:, min(first, k) - 1 : first + 2].mean(axis=1), least)


def least_width(distances: np.ndarray) -> float:
    """A hundredth of the median positive distance: a row among its equals has no width of its own."""
    positive = distances[distances > 0]
    return _TIES * float(np.median(positive)) if len(positive) else 1.0


def scaled_nearest(indices, distances, own, widths, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` of each list that are nearest by ``d_ij^2 / (s_i s_j)``, and these; s the widths."""
    scaled = (distances / own[:, None]) * (distances / widths[indices])
    order = np.argsort(scaled, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(scaled, order, axis=1)


def small_initialization(Z: np.ndarray) -> np.ndarray:
    """Centre and scale initial coordinates to a standard deviation of 0.01 along the widest one."""
    Z = np.ldexp(Z, -np.frexp(np.abs(Z).max())[1])  # at most 1, without rounding: squares of Z may overflow
    Z = Z - Z.mean(axis=0)
    widest = float(Z.std(axis=0).max())
    return Z * (_SPREAD / widest) if widest > 0 else Z


# ---- near rows by scaled distance --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NearRows:
    """The rows near to each by ``d_ij^2 / (s_i s_j)``, and what finds those near to new rows."""

    distances: Distances
    rows: np.ndarray  # (n, k)
    scaled: np.ndarray  # (n, k)
    widths: np.ndarray  # s
    narrowest: float  # the least s that a row may have
    n_listed: int  # neighbours, of which the k are chosen
    seed: int  # of what is drawn for each row
    random: np.random.RandomState  # of what is drawn for all


def near_rows(
    distances: Distances, k: int, first: int, metric: Any, seed: int, random: Any, precomputed: Any
) -> NearRows:
    """The ``k`` near rows of each; widths begin with neighbor number ``first``."""
    listed = n_to_list(k, len(distances.X), precomputed)
    found = neighbor_lists(distances, listed, metric, seed, precomputed)
    narrowest = least_width(found.distances)
    widths = local_widths(found.distances, first, narrowest)
    listed = found.indices.shape[1]
    nearest = scaled_nearest(found.indices, found.distances, widths, widths, min(k, listed))
    return NearRows(distances, *nearest, widths, narrowest, listed, seed, random)


def require_sampled_memory(
    name: str, n: int, k: int, precomputed: Any, sampled_bytes: int, advice: str
) -> None:
    """Require enough memory for neighbor lists and ``sampled_bytes`` a row."""
    needed = n * (sampled_bytes + LISTED_BYTES * n_to_list(k, n, precomputed))
    require_memory(needed, f"{name} of {n:,} rows", advice)


@dataclass(frozen=True, eq=False)
class ScaledNeighbors(Part):
    """Finds the training rows near to new ones by scaled distance."""

    widths: Annotated[np.ndarray, Array("n", above=0)]
    least_width: Annotated[float, Number(above=0)]
    first: Annotated[int, Whole(1)]  # neighbor with which the width of a row begins
    n_listed: Annotated[int, Whole(1, below="n")]
    k: Annotated[int, Whole(1, below="n")]

    @classmethod
    def of(cls, near: NearRows, first: int) -> ScaledNeighbors:
        """As near rows of training rows were chosen."""
        return cls(near.widths, near.narrowest, first, near.n_listed, near.rows.shape[1])

    def nearest(
        self, X: np.ndarray, query: Any, n_jobs: int | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The near rows of new ones, their scaled distances, and the widths of the new rows."""
        indices, distances = query.nearest(X, self.n_listed, n_jobs)
        own = local_widths(distances, self.first, self.least_width)
        return *scaled_nearest(indices, distances, own, self.widths, self.k), own

    def of_new(self, X: np.ndarray, query: Any, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Near rows, and weights of 1."""
        rows, *_ = self.nearest(X, query, n_jobs)
        return rows, np.ones(rows.shape)
