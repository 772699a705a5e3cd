"""Metrics by name, checks of tables and distance matrices, and distances between directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from .._core.errors import InvalidInputError, message, require, require_one_of
from .._core.sparse_rows import SPARSE_METRIC, SparseRows
from .._core.values import DistanceRows, Floats, Gower, Integers
from ..kernels._jit import threads
from ..kernels.distances.directions import (
    LANES,
    direction_pairs,
    direction_rows,
    direction_tiles,
    sparse_norms,
    sparse_pairs,
    sparse_rows,
    sparse_units,
)
from ..kernels.rows.projections import row_hashes
from ..linalg import unit_exponent

Metric = str | Callable[..., float] | Gower

EUCLIDEAN = ("euclidean", "l2")
LARGEST = 1e150  # number whose square, and sums of such, are finite
CITY_BLOCK = ("cityblock", "l1", "manhattan")
BY_DIFFERENCES = (*EUCLIDEAN, "sqeuclidean", *CITY_BLOCK, "chebyshev", "minkowski")  # of two rows

# Offered by the libraries, but no distances of rows as they are: these need parameters or coordinates of
# a certain kind, or put equal rows apart.
_NOT_OFFERED = ("haversine", "mahalanobis", "nan_euclidean", "pyfunc", "russellrao", "seuclidean")


def checked_magnitude(X: np.ndarray, *, metric: Metric = "euclidean", fitting: bool = True) -> np.ndarray:
    """Refuse numbers whose squares overflow or vanish: distances between them would be infinite or zero.

    Methods square a distance: one that is a square already leaves half of the range. A new row may be small:
    it is compared with rows that are not. Gower's distance has no unit, and takes NaN for a missing value.
    """
    if is_gower(metric):
        X, fitting = X[~np.isnan(X)], False
    largest = float(max(X.max(initial=0.0), -X.min(initial=0.0)))
    least, most = (1e-70, 1e75) if metric == "sqeuclidean" else (1e-140, LARGEST)
    hint = "Rescale the features, by scaling='standard' for example."
    require(largest < most, "X", f"of magnitude below {most:.0e}".replace("+", ""), largest, hint)
    vanishes = fitting and 0 < largest < least
    require(not vanishes, "X", f"of magnitude above {least:.3g}, or zero", largest, hint)
    return X


def is_gower(metric: Any) -> TypeGuard[str | Gower]:
    """Whether a metric is Gower's, by name or as a value."""
    return isinstance(metric, Gower) or (isinstance(metric, str) and metric == "gower")


def checked_metric(metric: Metric) -> Metric:
    """Refuse a name that is no metric; a function is taken as one."""
    if (
        not callable(metric)
        and not is_gower(metric)
        and not (isinstance(metric, str) and metric in EUCLIDEAN)
    ):
        require_one_of("metric", metric, metric_names(), hint="Or give a function of two rows.")
    return metric


def metric_names() -> list[str]:
    """Every metric that has a name."""
    from sklearn.metrics.pairwise import distance_metrics
    from sklearn.neighbors import VALID_METRICS

    known = {*distance_metrics(), *VALID_METRICS["brute"], "precomputed", "gower"}
    return sorted(known.difference(_NOT_OFFERED))


def checked_distance_matrix(D: np.ndarray) -> np.ndarray:
    """Refuse what is no square, symmetric matrix of distances with a zero diagonal."""
    n_rows, n_columns = D.shape
    name, hint = "A precomputed X", "Give the distances of every row to every row."
    require(n_rows == n_columns, name, "a square matrix of distances", D.shape, hint)
    checked_distance_rows(D)
    require(not D.diagonal().any(), name, "zero on its diagonal", float(np.abs(D.diagonal()).max()), hint)
    apart = asymmetry(D)
    require(apart <= 1e-8 * D.max(), name, "symmetric", f"differences up to {apart:.3g}",
            "Use (D + D.T) / 2 if they are rounding errors.")  # fmt: skip
    return D


def asymmetry(D: np.ndarray) -> float:
    """``max |D - D'|``, in parts, so that no second matrix is held."""
    parts = (slice(start, start + 256) for start in range(0, len(D), 256))
    return max((float(np.abs(D[part] - D[:, part].T).max()) for part in parts), default=0.0)


def checked_distance_rows(D: np.ndarray) -> np.ndarray:
    """Refuse negative precomputed distances."""
    if D.min(initial=0.0) < 0:
        raise InvalidInputError(
            f"Negative values in data: distances must be at least 0, got {D.min():.4g}. "
            "Give the distances to every fitted row."
        )
    return D


def metric_name(metric: Metric) -> str:
    if is_gower(metric):
        return "gower"
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")


# ---- Distances that are given, all of them: a square matrix, or condensed as by ``scipy``'s ``pdist`` ----


_SLACK = 1e-9  # of the largest distance: what a matrix may deviate from symmetry


def rows_of(X: Floats, rows: Integers | slice, metric: Any) -> Floats:
    """Some rows of a table, or of precomputed distances those between these rows."""
    if isinstance(metric, str) and metric == "precomputed" and X.ndim == 2:
        return np.ascontiguousarray(X[rows][:, rows])
    return X[rows]


def precomputed_rows(D: Floats, name: str) -> DistanceRows:
    """Finite numbers as distances, in a unit in which their squares are numbers."""
    return _condensed(D, name) if D.ndim == 1 else _matrix(D, name)


def _in_unit(D: Floats) -> tuple[Floats, int]:
    exponent = unit_exponent(float(D.max(initial=0.0)))
    return (D, 0) if exponent == 0 else (np.ldexp(D, -exponent), exponent)


@dataclass(frozen=True, slots=True)
class DistanceMatrix:
    """Precomputed distances that were checked as a whole."""

    D: Floats  # (n, n)

    def __call__(self, rows: Integers) -> Floats:
        block = self.D[rows] + 0.0  # no -0.0
        block[np.arange(len(rows)), rows] = 0.0
        return block

    def pairs(self, first: Integers, second: Integers) -> Floats:
        return self.D[first, second] + 0.0


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

    D, exponent = _in_unit(D)
    matrix = DistanceMatrix(D)
    return DistanceRows(len(D), matrix, "precomputed", matrix.pairs, exponent)


def _condensed(triangle: Floats, name: str) -> DistanceRows:
    n = (1 + math.isqrt(1 + 8 * len(triangle))) // 2
    is_triangle = n * (n - 1) // 2 == len(triangle)
    require(is_triangle, name, "condensed distances, n (n - 1) / 2 of them", len(triangle))
    least = float(triangle.min(initial=0.0))
    require(least >= 0, name, "condensed distances, at least 0", least)
    triangle, exponent = _in_unit(triangle)

    def pairs(first: Integers, second: Integers) -> Floats:
        low, high = np.minimum(first, second), np.maximum(first, second)
        place = low * n - low * (low + 1) // 2 + high - low - 1
        # The pair of a row with itself has no place: any will do, since its distance is 0.
        return np.where(low == high, 0.0, triangle[np.where(low == high, 0, place)])

    def rows(numbers: Integers) -> Floats:
        return pairs(np.asarray(numbers, np.int64)[:, None], np.arange(n)[None, :])

    return DistanceRows(n, rows, "precomputed", pairs, exponent)


# ---- Rows with the same values -------------------------------------------------------------------


_PART = 4096  # rows of single precision that are held in double at a time


def hashes_of(X: np.ndarray | SparseRows) -> np.ndarray:
    """A 64-bit hash of every row; rows with equal values have equal ones."""
    if isinstance(X, SparseRows):
        return X.hashes()
    if X.dtype == np.float64:
        return row_hashes(X.view(np.uint64))
    parts = (X[start : start + _PART] for start in range(0, len(X), _PART))
    return np.concatenate([row_hashes(as_doubles(part).view(np.uint64)) for part in parts])


def as_doubles(X: np.ndarray) -> np.ndarray:
    """Rows in double precision, in which distances are computed; those of a table in single are copied."""
    return np.ascontiguousarray(X, np.float64)


def same_rows(one: Any, other: Any) -> np.ndarray:
    """Whether each row equals the row of the other table at the same position: (n,)."""
    if isinstance(one, SparseRows):
        return one.equals(other)
    alike = (one == other) | ((one != one) & (other != other))  # a missing value is the same as another
    return np.asarray(alike.all(axis=1))


def _comparable(X: np.ndarray) -> np.ndarray:
    """The table with a number in place of NaN that it has nowhere else."""
    holes = np.isnan(X)
    return np.where(holes, np.inf, X) if holes.any() else X


@dataclass(frozen=True, slots=True)
class Distinct:
    """The rows that differ from all before them, and which rows are like each: CSR, in row order."""

    rows: np.ndarray  # (u,) first row of each value, ascending
    indptr: np.ndarray  # (u + 1,)
    members: np.ndarray  # (n,)


def _grouped(X: np.ndarray | SparseRows) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each value, and of each row which value it has."""
    if isinstance(X, SparseRows):
        keys: dict[bytes, int] = {}
        ends = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
        entries = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in ends)
        group = np.array([keys.setdefault(key, len(keys)) for key in entries])
        return np.unique(group, return_index=True)[1], group
    _, first, group = np.unique(_comparable(X), axis=0, return_index=True, return_inverse=True)
    return first, group.ravel()


def are_all_equal(X: np.ndarray | SparseRows) -> bool:
    """Whether a table repeats one row; its first and last row decide in most cases."""
    if not same_rows(X[:1], X[-1:]).all():
        return False
    distinct = distinct_rows(X)
    return distinct is not None and len(distinct.rows) == 1


def distinct_rows(X: np.ndarray | SparseRows) -> Distinct | None:
    """Group equal rows; None when no two are equal, which is found in ``O(n m + n log n)``."""
    hashes = np.sort(hashes_of(X))
    if (hashes[1:] != hashes[:-1]).all():
        return None
    first, group = _grouped(X)
    if len(first) == len(X):
        return None
    # Values in the order of their first rows, so that ties between them go by index too.
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = rank[group]
    members = np.argsort(group, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=len(first)))])
    return Distinct(np.sort(first), indptr, members)


# ---- Cosine distances ----------------------------------------------------------------------------
#
# Cosine and correlation, each pair by itself: the libraries multiply whole matrices, and round a row
# otherwise in another batch.


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


# --------------------------------------------------------------------------------------------------
# Sparse rows compared by cosine, in the bits of no batch: what measures them, and which are refused.


_NONE, _ONE = UNDIRECTED[SPARSE_METRIC]  # an empty row is at distance 1 from all but other empty ones


def checked_sparse(X: Any, metric: Metric, *, name: str = "X") -> SparseRows:
    """The rows of a sparse table, which are compared by cosine; raises for another metric."""
    if isinstance(metric, str) and metric == SPARSE_METRIC:
        return SparseRows.of(X, name=name)
    must_be = f"a dense array for the metric {metric_name(metric)!r}"
    hint = (
        "Sparse rows are compared by metric='cosine'. Reduce them: isentropic.datasets.load(X, rank=50).X; "
        "or call X.toarray() if that fits into memory."
    )
    raise InvalidInputError(message(name, must_be, f"a sparse one of shape {X.shape}", hint))


@dataclass(frozen=True, slots=True, eq=False)
class SparseDirections:
    """Sparse rows prepared to be measured, also by columns: ``24 nnz`` bytes beside the table."""

    table: SparseRows  # in units
    norms: Floats  # (n,) squared
    columns: SparseRows  # the same, transposed
    n_jobs: int | None

    @classmethod
    def of(cls, X: SparseRows, n_jobs: int | None) -> SparseDirections:
        table, norms = _directed(X, n_jobs)
        turned = table.tocsr().T.tocsr()  # rows ascending in each column
        indptr, indices = turned.indptr.astype(np.int64), turned.indices.astype(np.int32)
        return cls(table, norms, SparseRows(indptr, indices, turned.data, len(X)), n_jobs)

    def __call__(self, numbers: Integers) -> Floats:
        """Distances of rows of the table, by their numbers, to all rows: (b, n)."""
        return self._to_all(self.table[numbers], self.norms[numbers])

    def of_new(self, queries: SparseRows) -> Floats:
        """Distances of other rows to all rows: (b, n)."""
        return self._to_all(*_directed(queries, self.n_jobs))

    def _to_all(self, own: SparseRows, norms: Floats) -> Floats:
        """``O(b n)``, and a step for each two entries that meet in a column."""
        by_column = (self.columns.indptr, self.columns.indices, self.columns.data)
        out = np.empty((len(own), len(self.table)))
        with threads(self.n_jobs):
            sparse_rows(own.indptr, own.indices, own.data, norms, *by_column, self.norms, _NONE, _ONE, out)
        return out

    def pairs(self, first: Integers, second: Integers) -> Floats:
        """Distances of single pairs of rows of the table, with the bits of whole rows."""
        out, t = np.empty(len(first)), self.table
        with threads(self.n_jobs):
            sparse_pairs(t.indptr, t.indices, t.data, self.norms, first, second, _NONE, _ONE, out)
        return out


def _directed(X: SparseRows, n_jobs: int | None) -> tuple[SparseRows, Floats]:
    data, norms = np.empty_like(X.data), np.empty(len(X))
    with threads(n_jobs):
        sparse_units(X.indptr, X.data, data)
        sparse_norms(X.indptr, X.indices, data, norms)
    return SparseRows(X.indptr, X.indices, data, X.m), norms
