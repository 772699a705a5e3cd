"""Layouts by drawn rows: near rows chosen by scaled distance, rows drawn to hold apart, a small start."""

from __future__ import annotations

import numpy as np

from .._runtime import row_blocks
from .._values import Neighbors
from ..distances import distances_between, rows_per_block
from ..distances.pairs import pair_distances
from ..geodesics import from_rows
from .pair_distances import Distances

LISTED_BYTES = 34  # of a listed neighbour, and while the nearest by scaled distance are chosen
_WHOLE_ROWS = 256  # up to so many rows, all others of a row are put in a random order
_PAIRS_AT_ONCE = 2**18
_MORE = 50  # neighbours that are listed beyond the wanted ones, to choose from by scaled distance
_SPREAD = 0.01  # of a start, along its widest coordinate
_TIES = 1e-2  # of the median distance: the least width of a row


def other_rows(random: np.random.RandomState, n: int, count: int) -> np.ndarray:
    """``count`` other rows for each of n, equally likely: (n, count)."""
    drawn = random.randint(n - 1, size=(n, count))
    return drawn + (drawn >= np.arange(n)[:, None])


def rows_beyond(random: np.random.RandomState, near: np.ndarray, count: int) -> np.ndarray:
    """``count`` rows for each that are neither itself nor in its list ``near``; -1 where there are none."""
    n = len(near)
    if n <= _WHOLE_ROWS or near.shape[1] > n // 2:
        keys = random.uniform(size=(n, n))
        np.put_along_axis(keys, near.astype(np.int64), np.inf, axis=1)
        np.fill_diagonal(keys, np.inf)
        order = np.argsort(keys, axis=1, kind="stable")[:, : min(count, n)]
        free = np.isfinite(np.take_along_axis(keys, order, axis=1))
        return np.where(free, order, -1)
    drawn = other_rows(random, n, count)
    for _ in range(64):  # a share of k / n of them is drawn again, and so on: few rounds are needed
        rows, columns = np.nonzero(_listed(drawn, near))
        if len(rows) == 0:
            break
        again = random.randint(n - 1, size=len(rows))
        drawn[rows, columns] = again + (again >= rows)
    return drawn


def _listed(drawn: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Whether each drawn row is in the list of its row, one column of the lists after the other."""
    taken = np.zeros(drawn.shape, bool)
    for column in near.T:
        taken |= drawn == column[:, None]
    return taken


def distances_to(distances: Distances, others: np.ndarray) -> np.ndarray:
    """Distances of every row to others: (n, c). ``O(n c m)``, or whole rows where a metric has no pairs."""
    n, count = others.shape
    out = np.empty((n, count))
    single = None
    if distances.graph is None:
        single = pair_distances(distances.X, distances.metric, distances.n_jobs)
    size = max(1, _PAIRS_AT_ONCE // count) if single is not None else rows_per_block(n)
    for block in row_blocks(n, "drawn rows", size=size):
        rows = np.arange(block.start, min(block.stop, n))
        if single is not None:
            out[block] = single(np.repeat(rows, count), others[block].ravel()).reshape(len(rows), count)
            continue
        if distances.graph is not None:
            D = from_rows(distances.graph, rows, n_jobs=distances.n_jobs)
        else:
            D = distances_between(distances.X[rows], distances.X, distances.metric, distances.n_jobs)
        out[block] = np.take_along_axis(np.asarray(D), others[block], axis=1)
    return out


def n_to_list(k: int, n: int, given: Neighbors | None = None) -> int:
    """How many neighbours to list, for ``k`` to be chosen from: 50 more, or as many as there are."""
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


def small_start(Z: np.ndarray) -> np.ndarray:
    """A start around 0, of standard deviation 0.01 along its widest coordinate."""
    Z = np.ldexp(Z, -np.frexp(np.abs(Z).max())[1])  # at most 1, without rounding: squares of Z may overflow
    Z = Z - Z.mean(axis=0)
    widest = float(Z.std(axis=0).max())
    return Z * (_SPREAD / widest) if widest > 0 else Z
