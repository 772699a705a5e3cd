"""What every estimator here has in common."""

from __future__ import annotations

from functools import wraps

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import column_or_1d

from .._arguments import unmasked
from .._errors import require
from .._gower import Gower
from .._sparse_rows import SPARSE_METRIC
from .._state import Absent, Array, Checked, Dict, Maybe, Names, OneOf, Size, State, Text, Value, Whole
from .._values import Diffusion, Geodesic
from ..distances import GowerUnits, checked_metric, is_gower
from ..quality.labels import class_codes, missing_classes
from .input_rows import checked_rows, metric_of_rows, takes_sparse

_KINDS = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}  # of classes; others are text


def _all_or_nothing(fit):
    """A ``fit`` that fails, or that Ctrl-C ends, leaves the estimator as it was: fitted before, or not."""

    @wraps(fit)
    def whole(self, *args, **kwargs):
        before = vars(self).copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before
            raise

    return whole


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
            cls.fit = _all_or_nothing(cls.fit)

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
        y = column_or_1d(unmasked("y", y, holes=True), warn=True)
        lost = 0 if y.dtype.kind == "f" else int(np.count_nonzero(missing_classes(y)))
        hint = f"Leave these rows out, or take a method that places them: {name} needs all classes."
        require(lost == 0, "y", "a class for every row", f"{lost} without one", hint)
        codes = class_codes(y, len(X))
        self.classes_ = class_names(y[np.unique(codes, return_index=True)[1]])
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
    return classes.astype(str).astype(object) if kind is None else classes.astype(kind)
