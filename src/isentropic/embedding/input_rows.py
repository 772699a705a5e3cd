"""Input rows: validation, and search for rows among the training rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._core.arguments import unmasked
from .._core.errors import InvalidInputError, is_whole, require, require_count
from .._core.sparse_rows import SPARSE_METRIC, SparseRows, is_sparse
from .._core.state import Array, Maybe, OneOf, Value
from .._core.values import GraphMetric, Landmarks
from ..distances import (
    LARGEST,
    GowerUnits,
    Metric,
    checked_distance_matrix,
    checked_distance_rows,
    checked_magnitude,
    checked_metric,
    distinct_rows,
    hashes_of,
    is_gower,
    same_rows,
    warn_of_disjoint_rows,
)


def checked_rows(
    estimator, X, *, metric: Metric = "euclidean", fitting: bool = True, single: bool = False
) -> Any:
    """``X`` as contiguous doubles: finite, dense, at least two rows to fit; square when precomputed.

    An estimator that says so in its tags takes NaN for a value that is missing, and so does Gower's metric:
    the rows come in the units of the fitted ones then, which ``_units`` keeps. One that reads its table in
    batches (``_in_batches``) gets it as it is, in single precision too, on a disk if it lies there. With
    ``single`` a table of that precision keeps it. A sparse table, where the estimator takes one, comes as
    :class:`SparseRows`.
    """
    checked_metric(metric)
    if is_sparse(X):
        return _sparse_rows(estimator, X, metric, fitting)
    holes = estimator.__sklearn_tags__().input_tags.allow_nan or is_gower(metric)
    as_it_is = getattr(estimator, "_in_batches", False)
    kinds: Any = [np.float64, np.float32] if as_it_is or single else np.float64
    with _of_numbers(X):
        X = validate_data(
            estimator, unmasked("X", X, holes=holes),
            dtype=kinds, order=None if as_it_is else "C", reset=fitting,
            ensure_min_samples=2 if fitting else 1,
            ensure_all_finite="allow-nan" if holes else True,
        )  # fmt: skip
    alike = fitting or not holds_sparse(estimator)
    require(alike, "X", "sparse, as the fitted rows", "a dense array", "Give scipy.sparse.csr_array(X).")
    checked_magnitude(X[~np.isnan(X)] if holes else X, metric=metric, fitting=fitting)
    if metric == "precomputed":
        check = checked_distance_matrix if fitting else checked_distance_rows
        check(X)
    return _in_units(estimator, X, metric, fitting)


@contextmanager
def _of_numbers(X: Any) -> Iterator[None]:
    """Refuse dates, and say what to do about text; scikit-learn's checks say what else is wrong."""
    hint = "Use isentropic.datasets.load(X).X, which makes numbers of text, categories and dates."
    found = getattr(X, "dtypes", getattr(X, "dtype", None))  # of a frame, or an array
    kinds = {getattr(one, "kind", "") for one in (found if np.iterable(found) else [found])}
    require(not kinds & {"m", "M"}, "X", "a table of numbers", "dates or spans of time", hint)
    try:
        yield
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise InvalidInputError(f"X must be a table of numbers: {error}. {hint}") from error


def holds_sparse(model) -> bool:
    """Whether the rows that it was fitted to are sparse."""
    placing = getattr(model, "best_estimator_", model)  # of Selected, which keeps no rows itself
    data = getattr(getattr(placing, "_map", None), "data", None)
    return isinstance(getattr(data, "X", None), SparseRows)


def require_dense_rows(model) -> None:
    """Refuse to append rows to those of a sparse table."""
    hint = "Fit all rows together, or place the new ones by transform."
    require(
        not holds_sparse(model), "the fitted rows", "dense, for others to be appended", "sparse ones", hint
    )


def takes_sparse(estimator) -> bool:
    """Whether an estimator takes sparse rows: it needs only distances of them, by cosine."""
    return not estimator._learns_from_y and "metric" in estimator.get_params(deep=False)


def _sparse_rows(estimator, X, metric: Metric, fitting: bool) -> SparseRows:
    """Check the rows of a sparse table, for a method that needs only their cosines."""
    by_cosine = ", or give metric='cosine'" if takes_sparse(estimator) else ""
    if not (by_cosine and metric == SPARSE_METRIC):
        raise InvalidInputError(
            f"X must be dense for {type(estimator).__name__}, got a sparse matrix of shape {X.shape}. Reduce "
            f"it first: isentropic.datasets.load(X, rank=50).X{by_cosine}, or X.toarray() if that fits into "
            "memory."
        )
    alike = fitting or holds_sparse(estimator)
    require(alike, "X", "dense, as the fitted rows", "a sparse matrix", "Give X.toarray().")
    X = X.tocsr() if isinstance(X, SparseRows) else X
    X = validate_data(
        estimator, X, accept_sparse="csr", dtype=np.float64, reset=fitting,
        ensure_min_samples=2 if fitting else 1,
    )  # fmt: skip
    return SparseRows.of(X)


def _in_units(estimator, X: np.ndarray, metric: Metric, fitting: bool) -> np.ndarray:
    """Rows in the units of Gower's metric; unchanged for other metrics."""
    if not is_gower(metric):
        vars(estimator).pop("_units", None)
        return X
    if fitting:
        estimator._units = GowerUnits.of(X, metric)
    units = estimator._units if fitting else estimator._map.data.units
    rows: np.ndarray = units.rows(X, metric)
    if fitting:
        warn_of_disjoint_rows(rows, metric)
    return rows


def checked_components(n_components: int) -> int:
    n_components = require_count("n_components", n_components)
    require(n_components <= 10**6, "n_components", "at most a million", n_components)
    return n_components


def checked_landmarks(given, n_components: int, n: int) -> Landmarks | None:
    """The number of landmarks; None if every row is one, which is the exact method."""
    if given is None:
        return None
    landmarks = given if isinstance(given, Landmarks) else Landmarks(given)
    smallest = n_components + 2
    must_be = f"an integer of at least n_components + 2 = {smallest}, Landmarks(...) or None"
    require(is_whole(landmarks.n) and landmarks.n >= smallest, "n_landmarks", must_be, given)
    return None if landmarks.n >= n else landmarks


def metric_of_rows(metric: Metric | GraphMetric) -> Metric:
    """The metric between rows of the table; of distances over a graph, that of the graph."""
    return metric.metric if isinstance(metric, GraphMetric) else metric


_TOO_FAR = "These rows are too far from the fitted ones, or the model is damaged."


def checked_coordinates(Z: np.ndarray, hint: str = _TOO_FAR) -> np.ndarray:
    """Require finite coordinates: an overflow is an error, never a map."""
    finite = np.isfinite(Z).all(axis=1)
    first = int(finite.argmin())
    require(bool(finite.all()), f"The coordinates of row {first}", "finite", Z[first].tolist(), hint)
    return Z


def merge_equal_rows(X: np.ndarray, Z: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
    """Give equal rows (of one class) the mean of their coordinates.

    Drawn pairs, or rounding, may have led them apart.
    """
    distinct = distinct_rows(X)
    if distinct is None:
        return Z
    value = np.empty(len(X), int)
    value[distinct.members] = np.repeat(distinct.rows, np.diff(distinct.indptr))
    order, starts = _runs(value, np.zeros(len(X), int) if classes is None else classes)
    sizes = np.diff(starts, append=len(order))
    means = np.add.reduceat(Z[order], starts, axis=0) / sizes[:, None]
    out = np.empty_like(Z)
    out[order] = np.repeat(means, sizes, axis=0)
    return out


def _runs(value: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows by value, class and number, and where each run of one value and class starts."""
    order = np.lexsort((classes, value))
    return order, np.flatnonzero(np.diff(value[order], prepend=-1) | np.diff(classes[order], prepend=-2))


def rows_at_zero(D: np.ndarray, hashes: np.ndarray | None) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """The training row at distance 0 from each row of distances, or -1; and all of them if there are several.

    Of several, those with the same distances to all rows are the row, by the ``hashes`` of the fitted rows of
    distances; an older model file has none.
    """
    nearest = D.argmin(axis=1)
    found = np.where(D[np.arange(len(D)), nearest] == 0, nearest, -1)
    several = np.flatnonzero(np.count_nonzero(D == 0, axis=1) > 1)
    own = hashes_of(D[several]) if len(several) else np.empty(0, np.uint64)
    alike = {}
    for i, mine in zip(several.tolist(), own, strict=True):
        rows = np.flatnonzero(D[i] == 0)
        same = rows if hashes is None else rows[hashes[rows] == mine]
        alike[i] = same if len(same) else rows
        found[i] = alike[i][0]
    return found, alike


def table_of(rows: str, columns: str, **options) -> OneOf:
    """The state of a table: finite or with holes, in double or single precision, or sparse."""
    dense = Array(rows, columns, within=LARGEST, holes=True, **options)
    single = Array(rows, columns, dtype=np.float32, within=LARGEST, holes=True, **options)
    return OneOf(dense, single, Value(SparseRows, n=rows, m=columns))


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Index of the training rows by their exact values. ``O(n)`` memory beyond the rows.

    Where a method learns from classes, equal rows of different classes are different rows, each with a place
    of its own. Of new rows no class is known: one with the values of such rows is the first of the class that
    most of them have; of classes with as many, of the one that comes first.
    """

    X: Annotated[np.ndarray | SparseRows, table_of("n", "m")]
    hashes: Annotated[np.ndarray, Array("n", dtype=np.uint64)]  # sorted
    # row of each sorted hash; of equal ones first those that are found, then in row order
    order: Annotated[np.ndarray, Array("n", dtype=np.int64, below="n")]
    # whether all rows with the values of a row have its class
    one_class: Annotated[np.ndarray | None, Maybe(Array("n", dtype=np.bool_))] = None

    @classmethod
    def of(cls, X: np.ndarray, classes: np.ndarray | None = None) -> KnownRows:
        hashes = hashes_of(X)
        order = np.argsort(hashes, kind="stable")
        known = cls(X, hashes[order], order)
        if classes is None:
            return known
        first = known.find(X)
        one_class = ~np.isin(first, first[classes != classes[first]])
        if one_class.all():
            return replace(known, one_class=one_class)
        found = np.isin(np.arange(len(X)), _most_frequent(first, classes))
        return replace(known, order=np.lexsort((~found, hashes)), one_class=one_class)

    def find(self, X: np.ndarray) -> np.ndarray:
        """Number of the first fitted row with the same values as each row of ``X``, or -1."""
        hashes = hashes_of(X)
        first = np.searchsorted(self.hashes, hashes, side="left")
        last = np.searchsorted(self.hashes, hashes, side="right")
        found = np.full(len(X), -1)
        some = np.flatnonzero(last > first)
        rows = self.order[first[some]]
        same = same_rows(self.X[rows], X[some])
        found[some[same]] = rows[same]
        for i in some[~same]:  # a collision of hashes: the row may be a later one of those
            others = self.order[first[i] + 1 : last[i]]
            equal = others[same_rows(self.X[others], X[np.full(len(others), i)])]
            found[i] = equal[0] if len(equal) else -1
        return found


def _most_frequent(value: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Of the rows with each value the first of the class that most of them have; of several, the least."""
    order, starts = _runs(value, classes)
    firsts, sizes = order[starts], np.diff(starts, append=len(order))
    best = np.lexsort((-sizes, value[firsts]))
    return firsts[best[np.flatnonzero(np.diff(value[firsts][best], prepend=-1))]]
