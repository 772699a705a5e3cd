"""Training data: the rows that a map was fitted to, as an out-of-sample map needs them.

:func:`training_data` is the first line of every ``fit``: it checks the parameters, validates the rows and
copies them. Methods that learn from classes call :func:`labelled_training_data`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from .._core.arguments import Choice, Count, Parameter, Real, checked_parameters
from .._core.errors import IsentropicWarning, require, warn
from .._core.sparse_rows import SPARSE_METRIC, SparseRows
from .._core.specs import Array, Checked, Maybe, Names, OneOf, Size, Sizes, StateError, Whole
from .._core.state import Value
from .._core.values import Diffusion, Geodesic, Gower, Neighbors
from ..distances import EUCLIDEAN, GowerUnits, checked_metric, gower_of, hashes_of, is_gower
from ..kernels._jit import threads
from ..neighbors import RowIndex
from ..tables.class_labels import (
    NO_CLASSES,
    as_labels,
    class_codes,
    half_labelled,
    has_default_index,
    row_names,
    warn_of_minus_one,
)
from .input_rows import (
    KnownRows,
    checked_components,
    checked_rows,
    merge_equal_rows,
    metric_of_rows,
    rows_at_zero,
    table_of,
)

# ---- Parts of fitted estimators: frozen dataclasses whose fields carry their spec in the annotation ----
#
# A part is declared as::
#
#     @dataclass(frozen=True, eq=False)
#     class StudentWeights(Part):
#         Z: Annotated[np.ndarray, Array("n", "d", within=LARGEST)]
#         dof: Annotated[float, Double(above=0)]
#
# Checks, saving and loading read the specs. A size of one name (n rows, m features, d coordinates) is one
# size through all parts of a model. What is derived from the fields (an index, hashes) is a
# ``cached_property``: it is never saved, pickled or copied. What a spec cannot say is checked by
# ``_require_sound``. A field that a later version adds needs a default, so that files of this one load.


class Part:
    """The base of parts."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


UNLABELLED = ("votes", "posterior", "neutral")  # what is guessed of rows without a class
METRIC = OneOf(Checked(checked_metric), Value(Geodesic), Value(Diffusion), Value(Gower))


@dataclass(frozen=True, eq=False)
class TrainingData(Part):
    """Rows, their metric, names and classes.

    Distances that are given instead of rows serve the fit alone: ``table`` has them until :meth:`release`.
    Where a method has classes, equal rows of different classes are different rows, each with a place of its
    own.
    """

    n: Annotated[int, Size("n")]
    X: Annotated[Any, Maybe(table_of("n", "m"))]  # None for precomputed distances, or where no row is needed
    metric: Annotated[Any, METRIC]
    units: Annotated[Any, Maybe(Value(GowerUnits, m="m"))] = None  # of the columns, for Gower's metric
    labels: Annotated[Any, Maybe(Array("n", dtype=np.int64, least=-1, below="c"))] = (
        None  # -1: no class given
    )
    names: Annotated[Any, Maybe(Names("n"))] = None  # of the rows
    hashes: Annotated[Any, Maybe(Array("n", dtype=np.uint64))] = None  # of the rows of precomputed distances

    @property
    def precomputed(self) -> bool:
        """Whether the distances are precomputed."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def row_metric(self) -> Any:
        """The metric between rows; of distances over a graph, that of the graph."""
        return metric_of_rows(self.metric)

    # ---- during the fit --------------------------------------------------------------------------

    @property
    def table(self) -> Any:
        """The rows or, during a fit, the precomputed distances; rows that are not kept are here as well."""
        return vars(self).get("_table", self.X)

    def release(self) -> None:
        """Release precomputed distances, or rows that the model does not need, after a fit."""
        vars(self).pop("_table", None)

    def merge_duplicates(self, Z: np.ndarray) -> np.ndarray:
        """Coordinates of the rows, the mean of their places for equal rows (of one class)."""
        if self.labels is None:
            return merge_equal_rows(self.table, Z)
        representative, labels = self._representatives
        return merge_equal_rows(self.table, Z[representative], labels)

    # ---- training rows among new ones --------------------------------------------------------------

    def find(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """The training row that each row of ``X`` is, or -1."""
        if self.precomputed:
            found, several = self._at_zero(X, n_jobs)
        elif self.X is None:
            return np.full(len(X), -1)
        else:
            with threads(n_jobs):
                found = self._known.find(X)
            several = None if self.labels is None else (found >= 0) & ~self._known.one_class[found]
        if several is not None and several.any():
            warn(
                f"{np.count_nonzero(several)} of {len(X)} rows have the values of fitted rows of several "
                "classes: each gets the place of the class that most of those have.",
                IsentropicWarning,
            )
        return found

    def _at_zero(self, D: np.ndarray, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray | None]:
        """The row at distance 0, of the most frequent class; and whether there are several classes."""
        with threads(n_jobs):
            found, alike = rows_at_zero(D, self.hashes)
        if self.labels is None:
            return found, None
        several = np.zeros(len(D), np.bool_)
        for i, rows in alike.items():
            labelled = rows[self.labels[rows] >= 0]
            sizes = np.bincount(self.labels[labelled])
            if np.count_nonzero(sizes) > 1:
                found[i], several[i] = labelled[self.labels[labelled] == sizes.argmax()][0], True
        return found, several

    @cached_property
    def _known(self) -> Any:
        return KnownRows.of(self.X, None if self.labels is None else self._representatives[1])

    @cached_property
    def _representatives(self) -> tuple[np.ndarray, np.ndarray]:
        """For each row the row whose coordinates it shares, and its class."""
        X, like, labels = self.table, np.arange(self.n), self.labels.copy()
        labelled, others = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
        if len(others):
            found = KnownRows.of(X[labelled], labels[labelled]).find(X[others])
            like[others[found >= 0]] = labelled[found[found >= 0]]
        return like, labels[like]

    @cached_property
    def index(self) -> RowIndex:
        """The rows, prepared for the search of nearest neighbors."""
        return RowIndex(self.X, self.row_metric)

    @cached_property
    def labelled(self) -> np.ndarray:
        """The rows that have a class."""
        return np.flatnonzero(self.labels >= 0)

    def _require_sound(self) -> None:
        if self.precomputed and self.X is not None:
            raise StateError("X", "must not be there for precomputed distances")
        if not isinstance(self.row_metric, Gower):
            Checked(checked_metric).check(self.row_metric, "metric.metric", Sizes())
        if (self.units is not None) != is_gower(self.row_metric):
            raise StateError("units", "must be there for Gower's metric, and for no other")
        if isinstance(self.X, SparseRows) and self.row_metric != SPARSE_METRIC:
            raise StateError("X", "must be dense for this metric")
        if self.units is not None:
            try:
                gower_of(self.row_metric, len(self.units.low))
            except ValueError as error:
                raise StateError("metric", str(error)) from None
        elif isinstance(self.X, np.ndarray) and np.isnan(self.X).any():
            raise StateError("X", "must be finite, but there are infinite or missing numbers")
        if self.labels is not None and not (self.labels >= 0).any():
            raise StateError("labels", "must have rows with a class")


def training_rows(model: Any) -> Any:
    """The training rows of an estimator; None if it keeps none, or the distances were precomputed."""
    return model._map.data.X


def training_metric(model: Any) -> Any:
    """The metric that an estimator was fitted with."""
    return model._map.data.metric


# ---- the first line of a fit -------------------------------------------------------------------


def training_data(
    estimator: Any, X: Any, *, metric: Any = None, names: bool = False, keep_rows: bool = True
) -> TrainingData:
    """Check parameters and rows; the rows are copied if the caller could write into them.

    ``metric`` is that of the parameter, or Euclidean where there is none. ``names`` of the rows are kept for
    a later fit that goes on from this map. A map that is a function of any row needs none of them: without
    ``keep_rows`` they are not copied, and ``table`` has them during the fit alone.
    """
    checked_parameters(estimator)
    vars(estimator).pop("classes_", None)  # of an earlier fit
    of_rows = getattr(estimator, "metric", "euclidean") if metric is None else metric
    single = estimator._keeps_single and isinstance(of_rows, str) and of_rows in EUCLIDEAN
    return _data_of(estimator, X, metric, names, keep_rows, single)


def labelled_training_data(
    estimator: Any, X: Any, y: Any, *, metric: Any = None, names: bool = False, hint: str = NO_CLASSES
) -> TrainingData:
    """As :func:`training_data` with the class of each row, -1 where ``y`` has none; sets ``classes_``.

    ``hint`` is what to do about a ``y`` of numbers, which has no classes.
    """
    _require_labels(estimator, y)
    checked_parameters(estimator)
    data = _data_of(estimator, X, metric, names)
    unlabelled = getattr(estimator, "unlabelled", "neutral")
    fits = unlabelled != "posterior" or not (data.row_metric == "precomputed" or is_gower(data.row_metric))
    must_be = "votes or neutral for distances that are given, or Gower's: these have no Gaussians"
    require(fits, "unlabelled", must_be, unlabelled)
    found, codes = half_labelled(y, data.n, hint)
    estimator.classes_ = class_names(found)
    if len(found) == 1:
        warn("y has a single class: the map is that of the method without classes.", IsentropicWarning)
    return _with_labels(data, codes)


def fully_labelled_training_data(
    estimator: Any, X: Any, y: Any, *, metric: Any = None, keep_rows: bool = True
) -> TrainingData:
    """As :func:`labelled_training_data` for a method that needs the class of every row."""
    _require_labels(estimator, y)
    checked_parameters(estimator)
    data, name = _data_of(estimator, X, metric, False, keep_rows), type(estimator).__name__
    y = as_labels(y)
    hint = f"Leave these rows out, or take a method that places them: {name} needs all classes."
    codes = class_codes(y, data.n, hint_for_missing=hint)
    found = y[np.unique(codes, return_index=True)[1]]
    warn_of_minus_one(found, codes, name)
    estimator.classes_ = class_names(found)
    return _with_labels(data, codes)


def _require_labels(estimator: Any, y: Any) -> None:
    name = type(estimator).__name__
    hint = f"{name} requires y to be passed, but the target y is None."  # as scikit-learn has it
    require(y is not None, "y", f"given, because {name} learns from it", y, hint)


def _data_of(
    estimator: Any, X: Any, metric: Any, keep_names: bool, keep_rows: bool = True, single: bool = False
) -> TrainingData:
    metric = getattr(estimator, "metric", "euclidean") if metric is None else metric
    rows = checked_rows(estimator, X, metric=metric_of_rows(metric), single=single)
    units = vars(estimator).pop("_units", None)
    named = keep_names and hasattr(X, "iloc") and hasattr(X, "index") and not has_default_index(X)
    names = row_names(X) if named else None
    if isinstance(metric, str) and metric == "precomputed":
        with threads(getattr(estimator, "n_jobs", None)):
            data = TrainingData(len(rows), None, metric, names=names, hashes=hashes_of(rows))
        vars(data)["_table"] = rows
        return data
    if not keep_rows:
        data = TrainingData(len(rows), None, metric, units, names=names)
        vars(data)["_table"] = rows
        return data
    return TrainingData(len(rows), rows.copy() if _is_shared(rows, X) else rows, metric, units, names=names)


def _with_labels(data: TrainingData, labels: np.ndarray) -> TrainingData:
    found = TrainingData(data.n, data.X, data.metric, data.units, labels, data.names, data.hashes)
    if data.X is None:
        vars(found)["_table"] = data.table
    return found


def _is_shared(rows: Any, X: Any) -> bool:
    """Whether the caller could write into the rows; a sparse table is copied on the way."""
    if isinstance(rows, SparseRows):
        return isinstance(X, SparseRows)
    return bool(np.may_share_memory(rows, X)) if isinstance(X, np.ndarray) else not rows.flags.owndata


_KINDS = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}  # of classes; others are text
CLASSES = OneOf(Names("c"), *(Array("c", dtype=kind) for kind in (np.int64, np.float64, np.bool_)))


def class_names(classes: np.ndarray) -> np.ndarray:
    """Classes as an estimator keeps them: numbers, or text."""
    kind = _KINDS.get(classes.dtype.kind)
    if kind is None or (classes.dtype.kind == "u" and classes.max() > np.iinfo(np.int64).max):
        return classes.astype(str).astype(object)
    return classes.astype(kind)


# ---- Constructor parameters that many methods share, with their specs ----------------------------


class _Components(Parameter):
    def _accepted(self, name: str, value: Any) -> int:
        return checked_components(value)


class _RowMetric(Parameter):
    """A metric between rows, not one over a neighbor graph."""

    def _accepted(self, name: str, value: Any) -> Any:
        checked_metric(value)
        return value

    def check(self, value: Any, part: str, sizes: Sizes) -> None:
        METRIC.check(value, part, sizes)


NComponents = Annotated[int, _Components()]
MaxIter = Annotated[int, Count("a number of steps", least=0)]
Tolerance = Annotated[float, Real("a number from 0 to below 1", below=1)]
NNeighbors = Annotated[int, Count()]
MetricParameter = Annotated[Any, METRIC]  # in a file; a fit takes callables as well
RowMetric = Annotated[Any, _RowMetric()]
NeighborLists = Annotated[Neighbors | None, Maybe(Value(Neighbors))]
Unlabelled = Annotated[str, Choice(*UNLABELLED)]
NJobs = Annotated[int | None, Maybe(Whole(zero=False))]
