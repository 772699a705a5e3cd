"""What every estimator here has in common."""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .._core.errors import require
from .._core.gower import Gower
from .._core.sparse_rows import SPARSE_METRIC
from .._core.state import Absent, Array, Checked, Dict, Maybe, Names, OneOf, Size, State, Text, Value, Whole
from .._core.values import Diffusion, Geodesic
from ..distances import GowerUnits, checked_metric, is_gower
from ..tables.class_labels import as_labels, class_codes, warn_of_minus_one
from .input_rows import checked_rows, metric_of_rows, takes_sparse

_KINDS = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}  # of classes; others are text


@contextmanager
def whole_change(model):
    """A copy to change, all of which takes the place of ``model`` in one step when the block ends well.

    What fails in the block, or is ended there by Ctrl-C, changes nothing. Attributes of the copy are those of
    the model until they are set: values are replaced, never written into.
    """
    work = object.__new__(type(model))
    vars(work).update(vars(model))
    yield work
    model.__dict__ = vars(work)


def all_or_nothing(fit):
    """A ``fit`` that fails, or that Ctrl-C ends, leaves the estimator as it was: fitted before, or not.

    A ``y`` of another length than ``X`` is refused, also where it is not used.
    """

    @wraps(fit)
    def whole(self, X, *args, **kwargs):
        if not self._learns_from_y:  # who does has a message of its own
            require_label_each(X, args[0] if args else kwargs.get("y"))
        with whole_change(self) as work:
            found = fit(work, X, *args, **kwargs)
        return self if found is work else found

    return whole


def require_label_each(X, y) -> None:
    """Refuse a ``y`` that is given and has not one entry for each row of ``X``."""
    if y is None:
        return
    n, count = _length(X), _length(y)
    if n is not None:  # what is no table is refused by the check of X
        must_be = f"one entry for each of the {n} rows of X"
        hint = "Give the labels of the same rows, or no y."
        require(count == n, "y", must_be, y if count is None else count, hint)


def _length(given) -> int | None:
    """Rows of a table, a sparse one included, or entries of a list; None of what has none."""
    if not (hasattr(given, "shape") or hasattr(given, "__len__")):
        given = np.asarray(given)
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else None
    return len(given)


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer whose ``fit`` leaves the coordinates of its rows in ``embedding_``.

    One that learns from classes sets ``_learns_from_y``; its ``fit(X, y)`` begins with :meth:`_labelled`.
    ``_state`` declares what a fit sets, ``_parameters`` those of the constructor that more than ``fit``
    reads; those of a subclass add to them. Only what is declared is saved and loaded. A fit that fails leaves
    what an earlier one set.
    """

    _learns_from_y = False
    _state = State(
        embedding_=Array("n", "d"),
        _n_features_out=Size("d"),
        n_features_in_=Size("m"),
        feature_names_in_=Absent(Names("m")),
        _units=Absent(Value(GowerUnits, m="m")),
        classes_=Absent(OneOf(Names("c"), *(Array("c", dtype=kind) for kind in _KINDS.values()))),
        _sklearn_output_config=Absent(Dict(Text("transform"), Text("default", "pandas", "polars"))),
    )
    _parameters = State(
        n_components=Whole(1),
        metric=OneOf(Checked(checked_metric), Value(Geodesic), Value(Diffusion), Value(Gower)),
        n_jobs=Maybe(Whole(zero=False)),
    )

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            cls.fit = all_or_nothing(cls.fit)

    def fit_transform(self, X, y=None, **options) -> np.ndarray:
        """Fit, with what else ``fit`` takes, and return the coordinates of the rows of ``X``."""
        fitted = self.fit(X, y, **options)
        return fitted.embedding_.copy()  # what is done to the result must not move the fitted map

    def _labelled(self, X, y, *, metric="euclidean") -> tuple[np.ndarray, np.ndarray]:
        """Rows, and the class of each as a number from 0; ``classes_`` keeps what the classes are called."""
        name = type(self).__name__
        hint = f"{name} requires y to be passed, but the target y is None."  # as scikit-learn has it
        require(y is not None, "y", f"given, because {name} learns from it", y, hint)
        X = checked_rows(self, X, metric=metric)
        y = as_labels(y)
        hint = f"Leave these rows out, or take a method that places them: {name} needs all classes."
        codes = class_codes(y, len(X), hint_for_missing=hint)
        names = y[np.unique(codes, return_index=True)[1]]
        warn_of_minus_one(names, codes, name)
        self.classes_ = class_names(names)
        return X, codes

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


def class_names(classes: np.ndarray) -> np.ndarray:
    """Classes as an estimator keeps them: numbers, or text."""
    kind = _KINDS.get(classes.dtype.kind)
    if kind is None or (classes.dtype.kind == "u" and classes.max() > np.iinfo(np.int64).max):
        return classes.astype(str).astype(object)
    return classes.astype(kind)
