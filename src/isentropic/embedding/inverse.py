"""The way back from coordinates to rows, for methods whose map has one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from .._core.arguments import unmasked
from .._core.errors import require


class SupportsInverse:
    """A method whose map has an ``inverse(Z, n_jobs)``."""

    _map: Any
    _n_features_out: int
    n_jobs: Any

    def inverse_transform(self, Z) -> np.ndarray:
        """Rows that have the coordinates: of all such the one nearest to the mean, or what is decoded."""
        check_is_fitted(self)
        Z = check_array(unmasked("Z", Z), dtype=np.float64, order="C")
        d = self._n_features_out
        require(Z.shape[1] == d, "Z", f"rows of {d} coordinates", Z.shape)
        found: np.ndarray = self._map.inverse(Z, self.n_jobs)
        return found
