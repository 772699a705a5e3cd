"""The boundary of a sampled surface: rows whose neighbours all lie to one side."""

from __future__ import annotations

import numpy as np

from .._core.errors import require, require_count
from .._core.runtime import one_blas_thread, row_blocks
from .._core.values import Knn
from ..distances import Metric, distances_between, measurable_rows
from ..neighbors import searched_neighbors

_NEIGHBORS = 20
_EMPTY_ANGLE = np.radians(110.0)
_DIRECTIONS, _LEAST_SHARE = 64, 0.1  # of the half spaces tried in three or more dimensions
_AT_ONCE = 256  # patches


def boundary_rows(
    X: np.ndarray, n_dimensions: int, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> np.ndarray:
    """Which rows are at the edge of a surface of so many dimensions; a matrix of distances if precomputed.

    The 20 nearest rows are laid out around each by classical scaling, as the local principal plane. In two
    dimensions a row is at the edge if an angle of 110 degrees is empty; in one, if a side is; in more, if
    one of 64 fixed half spaces (Tukey's depth) holds less than a tenth of them. ``O(n (k^3 + k^2 m))``
    beyond the search.

    >>> import numpy as np
    >>> from isentropic.geodesics import boundary_rows
    >>> grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    >>> np.flatnonzero(~boundary_rows(grid, 2)[:27]).tolist()
    [10, 11, 12, 13, 14, 15, 16, 19, 20, 21, 22, 23, 24, 25]
    """
    X = measurable_rows(X, metric)
    n, n_dimensions = len(X), require_count("n_dimensions", n_dimensions)
    require(n >= 2, "X", "a table of at least 2 rows", n)
    near = searched_neighbors(X, Knn(min(_NEIGHBORS, n - 1)), metric=metric, n_jobs=n_jobs).indices
    at_edge = np.empty(n, bool)
    for block in row_blocks(n, "boundary", size=_AT_ONCE):
        patches = np.column_stack([np.arange(block.start, block.stop), near[block]])
        around = _around_first(_distances_within(X, patches, metric), n_dimensions)
        at_edge[block] = _to_one_side(around)
    return at_edge


def _distances_within(X: np.ndarray, patches: np.ndarray, metric: Metric) -> np.ndarray:
    """Distances between the rows of each patch: (b, k + 1, k + 1)."""
    if metric == "precomputed":
        return X[patches[:, :, None], patches[:, None, :]]
    return np.stack([distances_between(X[rows], X[rows], metric, 1) for rows in patches])


def _around_first(D: np.ndarray, n_dimensions: int) -> np.ndarray:
    """Coordinates of each patch by classical scaling, seen from its first row: (b, k, d)."""
    largest = D.max(axis=(1, 2), keepdims=True)
    squares = np.divide(D, largest, out=np.zeros_like(D), where=largest > 0) ** 2
    gram = squares - squares.mean(axis=1, keepdims=True) - squares.mean(axis=2, keepdims=True)
    gram = -0.5 * (gram + squares.mean(axis=(1, 2), keepdims=True))
    with one_blas_thread():
        values, vectors = np.linalg.eigh(gram)
    leading = slice(-1, -1 - min(n_dimensions, D.shape[1]), -1)
    Z = vectors[:, :, leading] * np.sqrt(np.maximum(values[:, None, leading], 0.0))
    return Z[:, 1:] - Z[:, :1]


def _to_one_side(around: np.ndarray) -> np.ndarray:
    """Whether those around a row leave a side of it empty; those in its own place do not count."""
    apart = np.abs(around).max(axis=2) > 1e-9
    some = apart.any(axis=1)
    d = around.shape[2]
    if d == 2:
        return some & (_largest_gap(around, apart) >= _EMPTY_ANGLE)
    directions = np.array([[1.0], [-1.0]])
    if d > 2:
        directions = np.random.default_rng(0).normal(size=(_DIRECTIONS, d))
    counts = ((around @ directions.T > 0) & apart[:, :, None]).sum(axis=1).min(axis=1)
    return some & (counts <= _LEAST_SHARE * apart.sum(axis=1) if d > 2 else counts == 0)


def _largest_gap(around: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """The largest angle between directions next to each other, of those that are some."""
    angles = np.arctan2(around[:, :, 1], around[:, :, 0])
    first = np.take_along_axis(angles, apart.argmax(axis=1)[:, None], axis=1)
    ordered = np.sort(np.where(apart, angles, first), axis=1)  # a direction twice leaves no gap
    gaps = np.diff(ordered, axis=1).max(axis=1, initial=0.0)
    return np.maximum(gaps, 2 * np.pi - (ordered[:, -1] - ordered[:, 0]))
