"""Distances between directions: cosine and correlation, each pair by itself.

The libraries multiply whole matrices, and round a row otherwise in another batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels._jit import threads
from ..kernels.distances.directions import LANES, direction_pairs, direction_rows, direction_tiles

DIRECTIONS = ("cosine", "correlation")
# Distances where neither row, or one of them only, has a direction: a row of zeros, or without variance.
UNDIRECTED = {"cosine": (0.0, 1.0), "correlation": (np.nan, np.nan)}
_WORTH_THREADS = 1_000_000  # products: below that, waking threads costs more than the work


@dataclass(frozen=True, slots=True)
class Directions:
    """The rows of a table as directions, laid out for the kernels. As much memory as the table."""

    tiles: np.ndarray  # (n / LANES, m, LANES), filled up with zeros
    norms: np.ndarray  # (n / LANES, LANES), squared
    metric: str
    n_jobs: int | None

    @classmethod
    def of(cls, X: np.ndarray, metric: str, n_jobs: int | None) -> Directions:
        tiles = np.empty((-(-len(X) // LANES), X.shape[1], LANES))
        norms = np.empty((len(tiles), LANES))
        with threads(n_jobs):
            direction_tiles(X, metric == "correlation", tiles, norms)
        return cls(tiles, norms, metric, n_jobs)

    def pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Distances of rows, one by one, in the bits of :func:`between_directions`."""
        out = np.empty(len(first))
        with threads(self.n_jobs):
            direction_pairs(self.tiles, self.norms, first, second, *UNDIRECTED[self.metric], out)
        return out


def has_directions(X: Any, metric: Any) -> bool:
    """Whether a metric compares the directions of these rows, which are dense."""
    return isinstance(X, np.ndarray) and isinstance(metric, str) and metric in DIRECTIONS


def unit_directions(X: np.ndarray, metric: str, n_jobs: int | None) -> np.ndarray:
    """Rows of length 1, (n, m + 1), whose squared Euclidean distances are twice those by the metric.

    Up to rounding: the last column is 1 for rows without a direction, which are perpendicular to all others.
    """
    found, (n, m) = Directions.of(X, metric, n_jobs), X.shape
    lengths = np.sqrt(found.norms.ravel()[:n])
    out = np.zeros((n, m + 1))
    out[:, :m] = (
        found.tiles.transpose(0, 2, 1).reshape(-1, m)[:n] / np.where(lengths > 0, lengths, 1)[:, None]
    )
    out[:, m] = lengths == 0
    return out


def between_directions(queries: np.ndarray, data: np.ndarray, metric: str, n_jobs: int | None) -> np.ndarray:
    """Distances of every query to every row of ``data``. ``O(b n m)`` time, ``8 (b + n) m`` bytes."""
    n_jobs = n_jobs if len(queries) * data.size > _WORTH_THREADS else 1
    own, others = (Directions.of(X, metric, n_jobs) for X in (queries, data))
    out = np.empty((len(queries), len(data)))
    with threads(n_jobs):
        direction_rows(own.tiles, own.norms, others.tiles, others.norms, *UNDIRECTED[metric], out)
    return out
