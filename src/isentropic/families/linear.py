"""Linear methods: directions in the space of the features. They differ in how they choose the directions.

A method of this family finds a mean and directions in ``fit``, most from :class:`CentredRows`, and hands them
to :meth:`LinearEmbedder._project`.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg import pinv, qr, svd
from sklearn.utils.validation import check_array, check_is_fitted

from .._errors import IsentropicWarning, require
from .._runtime import one_blas_thread
from .._state import Array, State
from ..kernels._jit import threads
from ..kernels.placement import project_centred
from ..linalg import fixed_signs
from .placement import Placer

RANK = 1e-10  # of the largest singular value: what is below is rounding
_WORTH_THREADS = 10**9  # products: a second of one core, or a few of them


class LinearEmbedder(Placer):
    """``z = C (x - mean)``: the same sums for a row in any batch, so that no row need be remembered."""

    _state = State(components_=Array("d", "m"), mean_=Array("m"), _projection=Array("m", "d"))

    def inverse_transform(self, Z) -> np.ndarray:
        """The row nearest to the mean that has the coordinates: ``mean + pinv(C) z`` (Moore and Penrose).

        It lies in the span of the directions; where they are orthonormal, the inverse is their transpose.
        """
        check_is_fitted(self)
        Z = check_array(Z, dtype=np.float64, order="C")
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


@dataclass(frozen=True, slots=True)
class CentredRows:
    """Rows around their mean, in a unit in which no product of a few numbers overflows or vanishes."""

    rows: np.ndarray  # (n, m): (x - mean) / unit, NaN where x is
    mean: np.ndarray  # (m,) of what is there
    unit: float  # a power of two, so that dividing rounds nothing

    @classmethod
    def of(cls, X: np.ndarray) -> CentredRows:
        there = ~np.isnan(X)
        # From a row first: an offset of the columns then costs no digits of what is left.
        origin = X[there.argmax(axis=0), np.arange(X.shape[1])]
        rows = X - origin
        middle = rows.sum(axis=0, where=there) / there.sum(axis=0)
        rows -= middle
        largest = np.abs(rows).max(initial=0.0, where=there)
        exponent = int(np.frexp(largest)[1])
        return cls(np.ldexp(rows, -exponent), origin + middle, float(np.ldexp(1.0, exponent)))

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Singular values of the rows, largest first, and the principal axes (r, m), r the rank."""
        rows = self.rows
        with short_products(rows.size * min(rows.shape)):
            if len(rows) > rows.shape[1]:
                rows = qr(rows, mode="r", check_finite=False)[0][: rows.shape[1]]
            _, values, axes = svd(rows, full_matrices=False, check_finite=False)
        rank = int(np.count_nonzero(values > RANK * values[0]))
        return values[:rank], axes[:rank]

    def explained(self, components: np.ndarray) -> np.ndarray:
        """The share of the variance along each direction, what earlier ones explain left out."""
        basis, triangle = qr(components.T, mode="economic")
        sizes = np.abs(np.diag(triangle))
        squares = ((self.rows @ basis) ** 2).sum(axis=0) * (sizes > RANK * sizes.max(initial=0.0))
        total = (self.rows**2).sum()
        return squares / total if total > 0 else np.zeros(len(components))


def short_products(n_products: int) -> AbstractContextManager[None]:
    """Keep BLAS on one thread where it has less to do than it takes to wake another."""
    return one_blas_thread() if n_products < _WORTH_THREADS else nullcontext()


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
