"""What every estimator here has in common."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer whose ``fit`` leaves the coordinates of its rows in ``embedding_``."""

    def fit_transform(self, X, y=None) -> np.ndarray:
        """Fit, and return the coordinates of the rows of ``X``."""
        return self.fit(X, y).embedding_.copy()  # what is done to the result must not move the fitted map

    def _require_sound(self) -> None:
        """Raise ValueError unless the fitted arrays fit each other: a model file may hold anything."""
        require_array("coordinates", self.embedding_, (None, self._n_features_out))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        precomputed = getattr(self, "metric", None) == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed  # distances are
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def require_array(
    name: str, value, shape: tuple[int | None, ...], dtype=np.float64, below: int | None = None
) -> None:
    """Raise ValueError unless an array has this type and shape, None standing for any length.

    Whole numbers, given ``below``, must be in ``0..below - 1``.
    """
    is_array = isinstance(value, np.ndarray) and value.dtype == dtype and value.flags.c_contiguous
    if not is_array or value.ndim != len(shape):
        raise ValueError(f"its {name} are no array of {len(shape)} dimensions of {np.dtype(dtype)}")
    if any(wanted not in (None, length) for wanted, length in zip(shape, value.shape, strict=True)):
        raise ValueError(f"its {name} have the shape {value.shape}")
    if below is not None and value.size and not (value.min() >= 0 and value.max() < below):
        raise ValueError(f"its {name} point outside the rows")
