"""Linear methods: directions in the space of the features. They differ in how they choose the directions.

A method of this family finds a mean and directions in ``fit``, most from :class:`CentredRows` of linalg,
and hands them to :meth:`LinearEmbedder._project`.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import pinv
from sklearn.utils.validation import check_array, check_is_fitted

from ..._core.arguments import unmasked
from ..._core.errors import IsentropicWarning, require
from ..._core.state import Array, State
from ...kernels._jit import threads
from ...kernels.rows.placement import project_centred
from ...linalg import fixed_signs
from ..placement import Placer


class LinearEmbedder(Placer):
    """``z = C (x - mean)``: the same sums for a row in any batch, so that no row need be remembered."""

    _state = State(components_=Array("d", "m"), mean_=Array("m"), _projection=Array("m", "d"))

    def inverse_transform(self, Z) -> np.ndarray:
        """The row nearest to the mean that has the coordinates: ``mean + pinv(C) z`` (Moore and Penrose).

        It lies in the span of the directions; where they are orthonormal, the inverse is their transpose.
        """
        check_is_fitted(self)
        Z = check_array(unmasked("Z", Z), dtype=np.float64, order="C")
        d = self._n_features_out
        require(Z.shape[1] == d, "Z", f"rows of {d} coordinates", Z.shape)
        with threads(self.n_jobs):
            return project_centred(Z, np.zeros(d), np.ascontiguousarray(pinv(self._projection))) + self.mean_

    def _project(
        self, X: np.ndarray, mean: np.ndarray, components: np.ndarray, scales: np.ndarray | None = None
    ) -> None:
        """Fix the signs of the directions (d, m), scale the coordinates if asked to, place every row."""
        self.mean_ = mean
        self.components_ = fixed_signs(components.T).T
        self._projection = np.ascontiguousarray(self.components_.T)
        if scales is not None:
            self._projection *= scales
        self._n_features_out = len(components)
        self.embedding_ = self._place(X)

    def _place(self, X: np.ndarray) -> np.ndarray:
        with threads(self.n_jobs):
            return project_centred(X, self.mean_, self._projection)


def require_features(n_components: int, X: np.ndarray) -> None:
    most = X.shape[1]
    require(n_components <= most, "n_components", f"at most the number of features {most}", n_components)


def padded(components: np.ndarray, n_components: int, cause: str) -> np.ndarray:
    """As many directions as asked for, the last of them zero with a warning that begins with the cause."""
    found, m = components.shape
    if found < n_components:
        lost = f"the last {n_components - found} of {n_components} coordinates are zero"
        warnings.warn(f"{cause}: {lost}.", IsentropicWarning, stacklevel=3)
    return np.concatenate([components[:n_components], np.zeros((max(n_components - found, 0), m))])
