"""What every estimator here has in common."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .._state import Absent, Array, Checked, Dict, Maybe, Names, OneOf, Size, State, Text, Value, Whole
from .._values import Geodesic
from ..distances import checked_metric


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer whose ``fit`` leaves the coordinates of its rows in ``embedding_``.

    ``_state`` declares what a fit sets, ``_parameters`` those of the constructor that more than ``fit``
    reads; those of a subclass add to them. Only what is declared is saved and loaded.
    """

    _state = State(
        embedding_=Array("n", "d"),
        _n_features_out=Size("d"),
        n_features_in_=Size("m"),
        feature_names_in_=Absent(Names("m")),
        _sklearn_output_config=Absent(Dict(Text("transform"), Text("default", "pandas", "polars"))),
    )
    _parameters = State(
        n_components=Whole(1),
        metric=OneOf(Checked(checked_metric), Value(Geodesic)),
        n_jobs=Maybe(Whole(zero=False)),
    )

    def fit_transform(self, X, y=None) -> np.ndarray:
        """Fit, and return the coordinates of the rows of ``X``."""
        return self.fit(X, y).embedding_.copy()  # what is done to the result must not move the fitted map

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        precomputed = getattr(self, "metric", None) == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed  # distances are
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
