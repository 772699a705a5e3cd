"""Linear maps: directions in the space of the features. Methods differ in how they choose the directions.

A linear method finds a mean and directions in ``fit``, most from :class:`CentredRows` of linalg, and makes a
:class:`LinearMap` of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from scipy.linalg import pinv

from ..._core.errors import IsentropicWarning, require, warn
from ..._core.specs import Array, Maybe
from ..._core.state import Sub
from ...kernels._jit import threads
from ...kernels.rows.projections import project_centred
from ...linalg import fixed_signs
from ..training_data import Part, TrainingData


@dataclass(frozen=True, eq=False)
class LinearMap(Part):
    """``z = s C (x - mean)``: the same sums for a row in any batch, so that no row need be kept."""

    data: Annotated[TrainingData, Sub(TrainingData)]
    mean: Annotated[np.ndarray, Array("m")]
    components: Annotated[np.ndarray, Array("d", "m")]
    scales: Annotated[Any, Maybe(Array("d"))] = None  # s of each coordinate; None is 1

    @classmethod
    def along(
        cls, data: TrainingData, mean: np.ndarray, directions: np.ndarray, scales: np.ndarray | None = None
    ) -> LinearMap:
        """Along directions (d, m), each with the sign that makes its largest entry positive."""
        return cls(TrainingData(data.n, None, data.metric), mean, fixed_signs(directions.T).T, scales)

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of rows."""
        with threads(n_jobs):
            return project_centred(X, self.mean, self._projection)

    def inverse(self, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """The row nearest to the mean that has the coordinates: ``mean + pinv(s C) z`` (Moore, Penrose).

        It lies in the span of the directions; where they are orthonormal, the inverse is their transpose.
        """
        back = np.ascontiguousarray(pinv(self._projection))
        with threads(n_jobs):
            return project_centred(Z, np.zeros(Z.shape[1]), back) + self.mean

    @cached_property
    def _projection(self) -> np.ndarray:
        """(m, d), as the kernel reads it."""
        found = np.ascontiguousarray(self.components.T)
        return found if self.scales is None else found * self.scales


def require_features(n_components: int, X: np.ndarray) -> None:
    most = X.shape[1]
    require(n_components <= most, "n_components", f"at most the number of features {most}", n_components)


def padded_directions(components: np.ndarray, n_components: int, cause: str) -> np.ndarray:
    """Pad directions with zeros to as many as asked for, with a warning that begins with the cause."""
    found, m = components.shape
    if found < n_components:
        lost = f"the last {n_components - found} of {n_components} coordinates are zero"
        warn(f"{cause}: {lost}.", IsentropicWarning)
    return np.concatenate([components[:n_components], np.zeros((max(n_components - found, 0), m))])
