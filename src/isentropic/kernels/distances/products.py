"""Inner products of rows, and Gaussian exponents by them: a pair has the same bits in any batch."""

from __future__ import annotations

import numpy as np

from .._jit import parallel_kernel, rows
from ..dense import dot


@parallel_kernel
def inner_products(X, Y, out):
    """``out[i, j]``: the inner product of row i of ``X`` and row j of ``Y``."""
    for i in rows(len(X)):
        for j in range(len(Y)):
            out[i, j] = dot(X[i], Y[j], 0, X.shape[1])


@parallel_kernel
def row_squares(X):
    """The squared length of every row."""
    out = np.empty(len(X))
    for i in rows(len(X)):
        out[i] = dot(X[i], X[i], 0, X.shape[1])
    return out


@parallel_kernel
def gaussian_exponents(X, Y, squares, gamma, out):
    """``out[i, j] = -gamma |x_i - y_j|^2`` by inner products, ``squares`` those of the rows of ``Y``."""
    for i in rows(len(X)):
        own = dot(X[i], X[i], 0, X.shape[1])
        for j in range(len(Y)):
            apart = own + squares[j] - 2.0 * dot(X[i], Y[j], 0, X.shape[1])
            out[i, j] = -gamma * max(apart, 0.0)
