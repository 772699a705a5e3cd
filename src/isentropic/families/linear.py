"""Linear methods: directions in the space of the features. They differ in how they choose the directions.

A method of this family finds a mean and directions in ``fit``, and hands them to
:meth:`LinearEmbedder._project`.
"""

from __future__ import annotations

import numpy as np

from .._state import Array, State
from ..kernels._jit import threads
from ..kernels.placement import project_centred
from ..linalg import fixed_signs
from .placement import Placer


class LinearEmbedder(Placer):
    """``z = C (x - mean)``: the same sums for a row in any batch, so that no row need be remembered."""

    _state = State(components_=Array("d", "m"), mean_=Array("m"), _projection=Array("m", "d"))

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
