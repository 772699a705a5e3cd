"""Rows around their mean, and their principal axes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, svd

from .._core.runtime import one_blas_thread

RANK = 1e-10  # of the largest singular value: what is below is rounding
_WORTH_THREADS = 10**9  # products: a second of one core, or a few of them


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
