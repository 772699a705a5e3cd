"""The base class of estimators."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import wraps
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from .._core.arguments import unmasked
from .._core.errors import require
from .._core.sparse_rows import SPARSE_METRIC, SparseRows
from .._core.specs import Absent, Array, Dict, Names, Size, StateError, Text
from .._core.state import field_specs
from ..distances import EUCLIDEAN, is_gower
from .input_rows import checked_coordinates, checked_rows, metric_of_rows, takes_sparse
from .training_data import CLASSES

# what training_data() has set when a fit ends
_SET_BY_TRAINING_DATA = {"n_features_in_", "feature_names_in_", "classes_", "_sklearn_output_config"}


@contextmanager
def atomic_change(model):
    """Change a copy of the model, and put it in place of ``model`` in one step if the block succeeds.

    What fails in the block, or is ended there by Ctrl-C, changes nothing. Attributes of the copy are those of
    the model until they are set: values are replaced, never written into.
    """
    work = object.__new__(type(model))
    vars(work).update(vars(model))
    yield work
    model.__dict__ = vars(work)


def all_or_nothing(fit):
    """Make ``fit`` atomic: if it fails, or Ctrl-C ends it, the estimator stays as it was.

    A ``y`` of another length than ``X`` is refused, also where it is not used.
    """

    @wraps(fit)
    def whole(self, X, *args, **kwargs):
        if not self._learns_from_y:  # who does has a message of its own
            require_label_each(X, args[0] if args else kwargs.get("y"))
        with atomic_change(self) as work:
            found = fit(work, X, *args, **kwargs)
        return self if found is work else found

    return whole


def require_label_each(X, y) -> None:
    """Refuse a ``y`` that has not one entry for each row of ``X``."""
    if y is None:
        return
    n, count = _length(X), _length(y)
    if n is not None:  # what is no table is refused by the check of X
        must_be = f"one entry for each of the {n} rows of X"
        hint = "Give the labels of the same rows, or no y."
        require(count == n, "y", must_be, y if count is None else count, hint)


def _length(given) -> int | None:
    """Number of rows of a table, or of entries of a list; None for other values."""
    if not (hasattr(given, "shape") or hasattr(given, "__len__")):
        given = np.asarray(given)
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else None
    return len(given)


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer whose ``fit`` leaves the coordinates of its rows in ``embedding_``.

    A method declares in its annotations what ``fit`` sets: public results, and ``_map``, the out-of-sample
    map, with the parts that it may be. ``fit`` begins with ``training_data(self, X)``, calls the stages of
    the method by name, and ends with :meth:`_set_fit`. A fit that fails, or that Ctrl-C ends, leaves what an
    earlier one set. One that learns from classes sets ``_learns_from_y``.
    """

    _learns_from_y = False
    _keeps_single = False  # whether Euclidean rows of single precision are kept, and read in parts
    embedding_: Annotated[np.ndarray, Array("n", "d")]
    _n_features_out: Annotated[int, Size("d")]
    n_features_in_: Annotated[int, Size("m")]
    feature_names_in_: Annotated[np.ndarray, Absent(Names("m"))]
    classes_: Annotated[np.ndarray, Absent(CLASSES)]
    _sklearn_output_config: Annotated[
        dict[str, str], Absent(Dict(Text("transform"), Text("default", "pandas", "polars")))
    ]
    _map: Any  # the out-of-sample map

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            cls.fit = all_or_nothing(cls.fit)

    def fit_transform(self, X, y=None, **options) -> np.ndarray:
        """Fit, with what else ``fit`` takes, and return the coordinates of the rows of ``X``."""
        fitted = self.fit(X, y, **options)
        return fitted.embedding_.copy()  # what is done to the result must not move the fitted map

    def transform(self, X) -> np.ndarray:
        """Coordinates of rows, each placed by itself; a fitted row gets its own coordinates."""
        check_is_fitted(self)
        data, n_jobs = self._map.data, getattr(self, "n_jobs", None)
        X = checked_rows(self, X, metric=data.row_metric, fitting=False)
        row = data.find(X, n_jobs)
        Z, new = self.embedding_[row], np.flatnonzero(row < 0)
        if len(new):
            Z[new] = np.nan
            with suppress(np.linalg.LinAlgError):  # of numbers that overflowed: rows without a place are told
                Z[new] = self._map.transform(X if len(new) == len(X) else X[new], n_jobs)
        return checked_coordinates(Z)

    def _set_fit(self, Z: np.ndarray, out_of_sample: Any, **fitted: Any):
        """Set the embedding, the out-of-sample map and public results; drop those of an earlier fit."""
        for name in field_specs(type(self)).keys() - _SET_BY_TRAINING_DATA:
            self.__dict__.pop(name, None)
        out_of_sample.data.release()
        self.__dict__.update(embedding_=Z, _map=out_of_sample, _n_features_out=Z.shape[1], **fitted)
        return self

    @property
    def training_row_names(self) -> np.ndarray | None:
        """Names of the fitted rows, where the method keeps them."""
        return self._map.data.names

    def _require_sound(self) -> None:
        data = self._map.data
        if data.precomputed and self.n_features_in_ != data.n:
            raise StateError("n_features_in_", "must be the number of rows, for distances to them")
        if data.labels is not None and "classes_" not in vars(self):
            raise StateError("classes_", "must be there for a map that learnt from classes")
        if isinstance(data.X, SparseRows) and not takes_sparse(self):
            raise StateError("_map.data.X", "must be dense for this method")
        is_single = isinstance(data.X, np.ndarray) and data.X.dtype == np.float32
        if is_single and not (self._keeps_single and data.metric in EUCLIDEAN and data.labels is None):
            raise StateError("_map.data.X", "must be of double precision for this method")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._learns_from_y
        metric = getattr(self, "metric", None)
        precomputed = isinstance(metric, str) and metric == "precomputed"
        tags.input_tags.allow_nan = is_gower(metric_of_rows(metric))
        rows = metric_of_rows(metric)
        tags.input_tags.sparse = takes_sparse(self) and isinstance(rows, str) and rows == SPARSE_METRIC
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed  # distances are
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


# ---- The way back from coordinates to rows, for methods whose map has one ------------------------


class SupportsInverse:
    """A method whose map has an ``inverse(Z, n_jobs)``."""

    _map: Any
    _n_features_out: int
    n_jobs: Any

    def inverse_transform(self, Z) -> np.ndarray:
        """Reconstruct rows from coordinates: the nearest ones to the mean, or the decoded ones."""
        check_is_fitted(self)
        Z = check_array(unmasked("Z", Z), dtype=np.float64, order="C")
        d = self._n_features_out
        require(Z.shape[1] == d, "Z", f"rows of {d} coordinates", Z.shape)
        found: np.ndarray = self._map.inverse(Z, self.n_jobs)
        return found
