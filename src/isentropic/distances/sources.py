"""Sources of distance rows: a table and a metric, a matrix, condensed distances, or rows in another order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import FILL_OR_GOWER, as_numbers
from .._errors import InvalidInputError, message, require
from .._runtime import checked_jobs
from .._sparse_rows import SparseRows, is_sparse
from .._values import DistanceRows, Floats, Integers
from ..kernels._jit import threads
from ..kernels.euclidean import GROUP, TILE, tiled_distances
from .blocks import distances_between
from .gower import GowerRows, in_units, is_gower
from .metrics import (
    EUCLIDEAN,
    Metric,
    asymmetry,
    checked_distance_matrix,
    checked_magnitude,
    checked_metric,
    metric_name,
)
from .pairs import pair_distances
from .sparse import SparseDirections, checked_sparse

_LEAST_SPAN, _MOST_SPAN = 1e-152, 1e152  # of a table: squares of its differences are numbers too
_SLACK = 1e-9  # of the largest distance: what a matrix may deviate from symmetry


@dataclass(frozen=True, slots=True)
class Points:
    """Rows of a table, also laid out for :func:`~isentropic.kernels.euclidean.tiled_distances`.

    Called with row numbers, it gives their Euclidean distances to all rows.
    """

    data: Floats  # (n, m)
    tiles: Floats  # (n / TILE, m, TILE), filled up with zeros
    n_jobs: int | None

    @classmethod
    def of(cls, data: Floats, n_jobs: int | None) -> Points:
        n, m = data.shape
        if not data.flags.writeable:  # for kernels that would be another type, and another compilation
            data = data.copy()
        tiles = np.zeros((-(-n // TILE), m, TILE))
        for t in range(len(tiles)):
            rows = data[t * TILE : (t + 1) * TILE]
            tiles[t, :, : len(rows)] = rows.T
        return cls(data, tiles, n_jobs)

    def __call__(self, rows: Integers) -> Floats:
        out = np.empty((len(rows), len(self.data)))
        with threads(self.n_jobs) as n_workers:
            group = max(1, min(GROUP, -(-len(rows) // n_workers)))
            tiled_distances(self.data, np.asarray(rows, np.int64), self.tiles, group, out)
        return out


@dataclass(frozen=True, slots=True)
class _Checked:
    """Distances that a caller answers for, as the kernels need them: of the right shape, finite, no -0.0."""

    given: DistanceRows

    def __call__(self, rows: Integers) -> Floats:
        block = self._usable(self.given.rows(rows), (len(rows), self.given.n))
        block[np.arange(len(rows)), rows] = 0.0
        return block

    def pairs(self, first: Integers, second: Integers) -> Floats:
        assert self.given.pairs is not None
        return self._usable(self.given.pairs(first, second), first.shape)

    def _usable(self, found: Any, shape: tuple[int, ...]) -> Floats:
        what = f"distances by {self.given.name}"
        block = np.ascontiguousarray(found, np.float64) + 0.0
        require(block.shape == shape, what, f"an array of shape {shape}", block.shape)
        right = bool(((block >= 0) & (block < np.inf)).all())
        require(right, what, "finite and at least 0", "others", "Rows in separate parts have no distance.")
        return block


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Distances that were checked as a whole when they were given."""

    D: Floats  # (n, n)

    def __call__(self, rows: Integers) -> Floats:
        block = self.D[rows] + 0.0  # no -0.0
        block[np.arange(len(rows)), rows] = 0.0
        return block

    def pairs(self, first: Integers, second: Integers) -> Floats:
        return self.D[first, second] + 0.0


def _checked(side: DistanceRows) -> DistanceRows:
    if isinstance(side.rows, Points | GowerRows | SparseDirections | _Matrix | _Checked):
        return side
    checked = _Checked(side)
    return DistanceRows(side.n, checked, side.name, None if side.pairs is None else checked.pairs)


def distance_rows(
    X: Any, metric: Metric = "euclidean", *, name: str = "X", n_jobs: int | None = None
) -> DistanceRows:
    """``X`` as what answers "the distances of these rows to all".

    Parameters
    ----------
    X : array (n, m), sparse matrix, square array, condensed array or DistanceRows
        A table, for ``metric="cosine"`` also a sparse one; with ``metric="precomputed"`` all distances, as a
        matrix or condensed as by ``scipy.spatial.distance.pdist``, which is how
        ``isentropic.geodesics.all_pairs`` gives geodesics.
    metric : str, callable or Gower
        A name that :func:`isentropic.distances.metric_names` lists, a function of two rows, or
        ``Gower(...)``, which takes NaN for a value that is missing.
    name : str
        What to call ``X`` in an error.
    n_jobs : int or None
        Threads; the distances do not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> D = distance_rows(np.array([[0.0], [3.0], [4.0]]))
    >>> D.rows(np.array([1])).tolist()
    [[3.0, 0.0, 1.0]]
    >>> distance_rows(np.array([3.0, 4.0, 1.0]), "precomputed").rows(np.array([2])).tolist()
    [[4.0, 1.0, 0.0]]
    """
    checked_jobs(n_jobs)
    if isinstance(X, DistanceRows):
        return _checked(X)
    if is_sparse(X):
        return measured_rows(checked_sparse(X, metric, name=name), metric, n_jobs)
    X = as_numbers(name, X, None, holes=is_gower(metric), hint=FILL_OR_GOWER)
    if isinstance(metric, str) and metric == "precomputed":
        return _checked(_condensed(X, name) if X.ndim == 1 else _matrix(X, name))
    _require_table(X, name)
    if metric in EUCLIDEAN:
        _require_squares(X, name)
        points = Points.of(X, n_jobs)
        return DistanceRows(len(X), points, "euclidean", pair_distances(X, metric, n_jobs))
    if is_gower(metric):
        return measured_rows(in_units(X, metric), metric, n_jobs)
    return _checked(_by_metric(X, metric, name, n_jobs))


def taken(side: DistanceRows, order: Integers) -> DistanceRows:
    """The same distances with row ``order[i]`` in place i: rows in another order, or some of them."""
    if isinstance(side.rows, Points):
        return DistanceRows(len(order), Points.of(side.rows.data[order], side.rows.n_jobs), side.name)
    if isinstance(side.rows, GowerRows):
        rows = side.rows.taken(order)
        return DistanceRows(len(order), rows, side.name, rows.pairs)
    given = side.rows
    return DistanceRows(
        len(order), lambda rows: np.ascontiguousarray(given(order[rows])[:, order]), side.name
    )


def all_equal(side: DistanceRows) -> bool:
    """Whether all rows are equal: known at once for a table with Euclidean distances, else from one row."""
    if isinstance(side.rows, Points):
        return bool((side.rows.data == side.rows.data[0]).all())
    return not side.rows(np.zeros(1, np.int64)).any()


def _require_table(X: Floats, name: str) -> None:
    hint = "Use reshape(-1, 1) for a single column."
    require(X.ndim == 2, name, "a table with rows and columns", X.shape, hint)
    require(X.shape[1] > 0, name, "a table of at least one column", X.shape)


def measurable_rows(X: Any, metric: Metric) -> Any:
    """Rows of a table as searches and graphs need them, checked: of doubles in Gower's units, or sparse."""
    checked_metric(metric)
    if is_sparse(X):
        return checked_sparse(X, metric)
    X = as_numbers("X", X, holes=is_gower(metric), hint=FILL_OR_GOWER)
    require(X.size > 0, "X", "a table with at least one row and one column", X.shape)
    checked_magnitude(X, metric=metric)
    return checked_distance_matrix(X) if metric == "precomputed" else in_units(X, metric)


def euclidean_rows(X: Any, name: str = "X", *, fewest: int = 1) -> Floats:
    """``X`` as rows between which there are Euclidean distances: numbers, finite, whose squares are such.

    >>> euclidean_rows([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    array = as_numbers(name, X, None)
    _require_table(array, name)
    require(len(array) >= fewest, name, f"a table of at least {fewest} rows", len(array))
    _require_squares(array, name)
    return array


def _require_squares(X: Floats, name: str) -> None:
    """Refuse numbers whose differences would overflow, or vanish, when squared."""
    with np.errstate(over="ignore"):
        apart = float((X.max(axis=0) - X.min(axis=0)).max()) if len(X) else 0.0
    must_be = f"a table whose columns span between {_LEAST_SPAN:g} and {_MOST_SPAN:g}"
    require(apart == 0 or _LEAST_SPAN <= apart <= _MOST_SPAN, name, must_be, apart, "Scale it.")


def _by_metric(X: Floats, metric: Metric, name: str, n_jobs: int | None) -> DistanceRows:
    checked_metric(metric)  # others take a scale from the batch that they are given
    try:
        distances_between(X[:1], X[:2], metric, n_jobs)
    except InvalidInputError:
        raise  # it says already which distances are amiss
    except (TypeError, ValueError) as error:
        must_be = "a metric of sklearn.metrics.pairwise_distances that takes these rows"
        raise InvalidInputError(
            message("metric", must_be, metric_name(metric), f"It said: {error}")
        ) from error
    return measured_rows(X, metric, n_jobs)


def measured_rows(X: Floats | SparseRows, metric: Metric, n_jobs: int | None) -> DistanceRows:
    """Of a table that was checked, in the bits of :func:`~isentropic.distances.distances_between`."""

    if isinstance(X, SparseRows):
        sparse = SparseDirections.of(X, n_jobs)
        return DistanceRows(len(X), sparse, metric_name(metric), sparse.pairs)
    if is_gower(metric):
        held = GowerRows.of(X, metric, n_jobs)
        return DistanceRows(len(X), held, metric_name(metric), held.pairs)

    def rows(numbers: Integers) -> Floats:
        return distances_between(X[numbers], X, metric, n_jobs)

    return DistanceRows(len(X), rows, metric_name(metric), pair_distances(X, metric, n_jobs))


# ---- all distances given -----------------------------------------------------------------------


def _matrix(D: Floats, name: str) -> DistanceRows:
    square = D.ndim == 2 and D.shape[0] == D.shape[1]
    require(square, name, 'a square matrix of distances for metric="precomputed"', D.shape)
    largest = float(D.max(initial=0.0))
    least = float(D.min(initial=0.0))
    require(least >= 0, name, "a matrix of distances, at least 0", least)
    apart = asymmetry(D)
    hint = "Take (D + D.T) / 2 if the difference is noise."
    require(apart <= _SLACK * largest, name, "symmetric", f"entries that differ by {apart:.3g}", hint)
    own = float(np.diagonal(D).max(initial=0.0))
    require(own <= _SLACK * largest, name, "a matrix of distances, 0 on the diagonal", own)

    matrix = _Matrix(D)
    return DistanceRows(len(D), matrix, "precomputed", matrix.pairs)


def _condensed(triangle: Floats, name: str) -> DistanceRows:
    n = (1 + math.isqrt(1 + 8 * len(triangle))) // 2
    is_triangle = n * (n - 1) // 2 == len(triangle)
    require(is_triangle, name, "condensed distances, n (n - 1) / 2 of them", len(triangle))
    least = float(triangle.min(initial=0.0))
    require(least >= 0, name, "condensed distances, at least 0", least)

    def pairs(first: Integers, second: Integers) -> Floats:
        low, high = np.minimum(first, second), np.maximum(first, second)
        place = low * n - low * (low + 1) // 2 + high - low - 1
        # The pair of a row with itself has no place: any will do, since its distance is 0.
        return np.where(low == high, 0.0, triangle[np.where(low == high, 0, place)])

    def rows(numbers: Integers) -> Floats:
        return pairs(np.asarray(numbers, np.int64)[:, None], np.arange(n)[None, :])

    return DistanceRows(n, rows, "precomputed", pairs)
