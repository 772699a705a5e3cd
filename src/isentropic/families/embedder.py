"""What every estimator here has in common."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer whose ``fit`` leaves the coordinates of its rows in ``embedding_``."""

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
