"""Sources of distance rows: a table and a metric, a matrix, condensed distances, or rows in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from .._core.arguments import FILL_OR_GOWER, as_numbers
from .._core.errors import InvalidInputError, message, require
from .._core.runtime import checked_jobs, row_blocks
from .._core.sparse_rows import SparseRows, is_sparse
from .._core.values import DistanceRows, Floats, Integers
from ..kernels._jit import threads
from ..kernels.distances.euclidean import GROUP, TILE, distances_by_products, store_upper, tiled_distances
from ..linalg import rows_in_unit, unit_exponent
from .gower import GowerRows, in_units
from .metrics import (
    BY_DIFFERENCES,
    DIRECTIONS,
    EUCLIDEAN,
    DistanceMatrix,
    Metric,
    SparseDirections,
    checked_distance_matrix,
    checked_magnitude,
    checked_metric,
    checked_sparse,
    is_gower,
    metric_name,
    precomputed_rows,
)
from .pairwise_blocks import distances_between, pair_distances, rows_per_block

_PROBED = 3  # rows whose distances tell the size of all, where a caller answers for them
_WITHOUT_UNIT = ("braycurtis", "canberra", *DIRECTIONS)  # metrics of proportions


@dataclass(frozen=True, slots=True)
class Points:
    """Rows of a table, also laid out for :func:`~isentropic.kernels.distances.euclidean.tiled_distances`.

    Called with row numbers, it gives their Euclidean distances to all rows.
    """

    data: Floats  # (n, m)
    tiles: Floats  # (n / TILE, m, TILE), filled up with zeros
    n_jobs: int | None

    @classmethod
    def of(cls, data: Floats, n_jobs: int | None) -> Points:
        if not data.flags.writeable:  # for kernels that would be another type, and another compilation
            data = data.copy()
        return cls(data, in_tiles(data), n_jobs)

    def __call__(self, rows: Integers) -> Floats:
        return self._measured(self.data, np.asarray(rows, np.int64))

    def of_new(self, queries: Floats) -> Floats:
        """Distances of other rows to all of these."""
        if not queries.flags.writeable:
            queries = queries.copy()
        return self._measured(np.ascontiguousarray(queries), np.arange(len(queries)))

    def _measured(self, rows: Floats, own: Integers) -> Floats:
        out = np.empty((len(own), len(self.data)))
        with threads(self.n_jobs) as n_workers:
            group = max(1, min(GROUP, -(-len(own) // n_workers)))
            tiled_distances(rows, own, self.tiles, group, out)
        return out


def in_tiles(data: Floats) -> Floats:
    """``tiles[t, f, c] = data[TILE t + c, f]``, filled up with zeros."""
    n, m = data.shape
    tiles = np.zeros((-(-n // TILE), m, TILE), data.dtype)
    for t in range(len(tiles)):
        rows = data[t * TILE : (t + 1) * TILE]
        tiles[t, :, : len(rows)] = rows.T
    return tiles


@dataclass(frozen=True, slots=True)
class References:
    """Rows that others have Euclidean distances to, by inner products: a third of the time of ``Points``.

    Their squares are right to rounding of ``unit^2``, where the rows are no farther apart than the unit; or
    of the square itself, where that is more. Equal pairs of rows have equal bits in any batch.

    >>> import numpy as np
    >>> References.of(np.array([[1e9, 0.0], [1e9, 3.0]]), 3.0).of_new(np.array([[1e9 + 4.0, 3.0]])).tolist()
    [[5.0, 4.0]]
    """

    origin: Floats  # (m,), one of the rows: what they have in common is lost without a trace
    unit: float
    n: int
    tiles: Floats  # as those of Points, of the rows less the origin, in units
    squares: Floats  # (n / TILE, TILE), of the lengths of these

    @classmethod
    def of(cls, data: Floats, unit: float) -> References:
        tiles = in_tiles((data - data[0]) / unit)
        return cls(data[0].copy(), unit, len(data), tiles, (tiles**2).sum(axis=1))

    def of_new(self, queries: Floats, n_jobs: int | None = None) -> Floats:
        """Distances of other rows to these."""
        out = np.empty((len(queries), self.n))
        with threads(n_jobs):
            distances_by_products((queries - self.origin) / self.unit, self.tiles, self.squares, out)
        return np.multiply(out, self.unit, out=out)


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
class _Rescaled:
    """Distances times a power of two: in a unit of their own, or from there back in that of the data."""

    source: DistanceRows
    exponent: int

    def __call__(self, rows: Integers) -> Floats:
        return self._times(self.source.rows(rows))

    def pairs(self, first: Integers, second: Integers) -> Floats:
        assert self.source.pairs is not None
        return self._times(self.source.pairs(first, second))

    def _times(self, distances: Floats) -> Floats:
        with np.errstate(over="ignore"):
            found = np.ldexp(distances, self.exponent)
        hint = "Scale the data."
        require(bool(np.isfinite(found).all()), f"distances by {self.source.name}", "numbers up to 1.8e308",
                "larger ones", hint)  # fmt: skip
        return found


def _rescaled(side: DistanceRows, exponent: int) -> DistanceRows:
    """The distances of ``side`` times ``2^exponent``, in the units of the data if they were in others."""
    rows = _Rescaled(side, exponent)
    pairs = None if side.pairs is None else rows.pairs
    return DistanceRows(side.n, rows, side.name, pairs, side.exponent - exponent)


def _checked(side: DistanceRows) -> DistanceRows:
    known = Points | GowerRows | SparseDirections | DistanceMatrix | _Checked | _Rescaled
    if isinstance(side.rows, known):
        return side
    checked = _Checked(side)
    return replace(side, rows=checked, pairs=None if side.pairs is None else checked.pairs)


def _of_caller(side: DistanceRows) -> DistanceRows:
    """Distances that a caller answers for, in a unit in which their squares are numbers."""
    if isinstance(side.rows, _Rescaled):
        return side if side.exponent else side.rows.source
    side = _checked(side)
    if side.exponent or side.n == 0 or not isinstance(side.rows, _Checked):
        return side
    probed = np.unique(np.linspace(0, side.n - 1, _PROBED).astype(np.int64))
    exponent = unit_exponent(float(side.rows(probed).max()))
    return side if exponent == 0 else _rescaled(side, -exponent)


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
    return in_data_units(scaled_distance_rows(X, metric, name=name, n_jobs=n_jobs))


def in_data_units(side: DistanceRows) -> DistanceRows:
    """The same distances in the unit of the data; an error once one is asked for that is no number there."""
    return side if side.exponent == 0 else _rescaled(side, side.exponent)


def scaled_distance_rows(
    X: Any, metric: Metric = "euclidean", *, name: str = "X", n_jobs: int | None = None
) -> DistanceRows:
    """:func:`distance_rows` for data of any size: distances are in multiples of ``2**exponent``."""
    if isinstance(X, DistanceRows):
        return _of_caller(X)
    if is_sparse(X):
        return measured_rows(checked_sparse(X, metric, name=name), metric, n_jobs)
    X = as_numbers(name, X, None, holes=is_gower(metric), hint=FILL_OR_GOWER)
    if isinstance(metric, str) and metric == "precomputed":
        return _checked(precomputed_rows(X, name))
    _require_table(X, name)
    if is_gower(metric):
        return measured_rows(in_units(X, metric), metric, n_jobs)
    X, exponent = _in_unit(X, metric)
    if isinstance(metric, str) and metric in EUCLIDEAN:
        points = Points.of(X, n_jobs)
        return DistanceRows(len(X), points, "euclidean", pair_distances(X, metric, n_jobs), exponent)
    side = _checked(_by_metric(X, metric, name, n_jobs))
    return _of_caller(side) if callable(metric) else replace(side, exponent=exponent)


def _in_unit(X: Floats, metric: Metric) -> tuple[Floats, int]:
    """A table in a unit in which ``metric`` overflows nowhere, and the exponent of its distances."""
    if isinstance(metric, str) and metric in _WITHOUT_UNIT:
        return (np.ldexp(X, -40) if np.abs(X).max(initial=0.0) > 1e300 else X), 0  # sums of rows are numbers
    if not isinstance(metric, str) or metric not in BY_DIFFERENCES:
        return X, 0
    degree = 2 if metric == "sqeuclidean" else 1
    X, exponent = rows_in_unit(X, degree)
    return X, degree * exponent


def select_rows(side: DistanceRows, order: Integers) -> DistanceRows:
    """The same distances with row ``order[i]`` in place i: rows in another order, or some of them."""
    if isinstance(side.rows, Points):
        points = Points.of(side.rows.data[order], side.rows.n_jobs)
        return DistanceRows(len(order), points, side.name, exponent=side.exponent)
    if isinstance(side.rows, GowerRows):
        rows = side.rows.select(order)
        return DistanceRows(len(order), rows, side.name, rows.pairs)
    given = side.rows

    def some(rows: Integers) -> Floats:
        return np.ascontiguousarray(given(order[rows])[:, order])

    return DistanceRows(len(order), some, side.name, exponent=side.exponent)


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


def finite_rows(X: Any, name: str = "X", *, fewest: int = 1) -> Floats:
    """``X`` as rows of finite numbers, of any size.

    >>> finite_rows([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    array = as_numbers(name, X, None)
    _require_table(array, name)
    require(len(array) >= fewest, name, f"a table of at least {fewest} rows", len(array))
    return array


def euclidean_rows(X: Any, name: str = "X", *, fewest: int = 1) -> Floats:
    """The same in a unit in which Euclidean distances can be computed, which is 1 for most tables."""
    return rows_in_unit(finite_rows(X, name, fewest=fewest))[0]


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
    """Distances of a checked table, with the bits of :func:`~isentropic.distances.distances_between`."""

    if isinstance(X, SparseRows):
        sparse = SparseDirections.of(X, n_jobs)
        return DistanceRows(len(X), sparse, metric_name(metric), sparse.pairs)
    if is_gower(metric):
        held = GowerRows.of(X, metric, n_jobs)
        return DistanceRows(len(X), held, metric_name(metric), held.pairs)

    def rows(numbers: Integers) -> Floats:
        return distances_between(X[numbers], X, metric, n_jobs)

    return DistanceRows(len(X), rows, metric_name(metric), pair_distances(X, metric, n_jobs))


# ---- All distances, condensed: those of rows i < j, as by ``scipy.spatial.distance.pdist`` -------
#
# Half the memory of a square array: ``4 n^2`` bytes.


def condensed_distances(X: Floats, metric: Metric, n_jobs: int | None) -> Floats:
    """Condensed distances of a checked table, or of a square precomputed matrix. ``O(n^2 m)`` time."""
    if metric == "precomputed":
        return squareform(X, checks=False)
    out = np.empty(len(X) * (len(X) - 1) // 2)
    return store_distances(measured_rows(X, metric, n_jobs), out, n_jobs=n_jobs)


def store_distances(source: DistanceRows, out: Floats, *, n_jobs: int | None = None) -> Floats:
    """Fill ``out`` with the distances of all pairs i < j, row after row."""
    for rows, first, (block,) in later_distances("distances", source):
        with threads(n_jobs):
            store_upper(np.ascontiguousarray(block), rows[0], first, source.n, out)
    return out


def later_distances(what: str, *sides: DistanceRows) -> Iterator[tuple[Integers, int, list[Floats]]]:
    """Rows one after the other, and on each side their distances to row ``first`` and those after it.

    Of what lies in tiles those before the rows are left out, which halves the work; columns after the last
    row mean nothing there.
    """
    n = sides[0].n
    in_tiles = all(isinstance(side.rows, Points | GowerRows) for side in sides)
    for block in row_blocks(n, what, size=rows_per_block(n)):
        rows = np.arange(block.start, block.stop)
        tile = block.start // TILE if in_tiles else 0
        yield rows, tile * TILE, [_from_tile(side.rows, tile)(rows) for side in sides]


def _from_tile(source: Any, tile: int) -> Callable[[Integers], Floats]:
    return source if tile == 0 else replace(source, tiles=source.tiles[tile:])
