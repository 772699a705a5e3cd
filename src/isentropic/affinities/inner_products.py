"""Kernels of kernel methods: what they take for the inner product of two rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from .._core.errors import is_real, require, require_count, require_number, require_one_of
from .._core.state import Array, Double, Text, Whole
from ..kernels._jit import threads
from ..kernels.distances.products import gaussian_exponents, inner_products, row_squares

KERNELS = ("linear", "poly", "rbf", "precomputed")


@dataclass(frozen=True, slots=True)
class InnerProduct:
    """``x'y``, ``(g x'y + c)^p`` or ``exp(-g |x - y|^2)``; or given, and then a row holds the products."""

    kind: Annotated[str, Text(*KERNELS)]
    gamma: Annotated[float, Double(above=0)]
    degree: Annotated[int, Whole(1)]
    coef0: Annotated[float, Double()]
    # taken off every row; empty where products are given
    origin: Annotated[np.ndarray, Array("columns", empty=True)]

    @classmethod
    def of(cls, X: np.ndarray, kind: Any, gamma: Any, degree: Any, coef0: Any) -> InnerProduct:
        """Checked; ``gamma="auto"`` is ``1 / (2 mean squared distance)`` of the rows for rbf, else 1."""
        require_one_of("kernel", kind, KERNELS)
        is_auto = isinstance(gamma, str) and gamma == "auto"
        must_be = "'auto' or a positive number"
        require(is_auto or (is_real(gamma) and 0 < gamma < np.inf), "gamma", must_be, gamma)
        degree = require_count("degree", degree)
        coef0 = require_number("coef0", coef0, "a finite number", above=-np.inf)
        m = 0 if kind == "precomputed" else X.shape[1]
        if is_auto:
            # the mean over pairs of rows is twice the variance
            spread = 2 * float((X - X[0]).var(axis=0, ddof=1).sum()) if kind == "rbf" else 0.0
            gamma = 1 / (2 * spread) if spread > 0 else 1.0
        # Neither the Gaussian nor the centred linear kernel depends on the origin, but their digits do.
        origin = X.mean(axis=0) if kind in ("linear", "rbf") else np.zeros(m)
        return cls(kind, float(gamma), degree, coef0, origin)

    def between(self, X: np.ndarray, Y: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Products of every row of ``X`` with every row of ``Y``; a pair has the same bits in any batch."""
        if self.kind == "precomputed":
            return X
        X, Y, K = X - self.origin, Y - self.origin, np.empty((len(X), len(Y)))
        with threads(n_jobs):
            if self.kind == "rbf":
                gaussian_exponents(X, Y, row_squares(Y), self.gamma, K)
                return np.exp(K, out=K)
            inner_products(X, Y, K)
        return K if self.kind == "linear" else self._powers(K)

    def _powers(self, K: np.ndarray) -> np.ndarray:
        K *= self.gamma
        K += self.coef0
        with np.errstate(over="ignore"):
            powers = K.copy()
            for _ in range(self.degree - 1):
                powers *= K
        hint = "Rescale the features, or take a smaller degree."
        require(bool(np.isfinite(powers).all()), "kernel 'poly'", "finite between all rows", np.inf, hint)
        return powers
