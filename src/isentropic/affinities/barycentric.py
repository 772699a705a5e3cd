"""Barycentric weights: a row as a sum of its neighbours, as locally linear embedding has it."""

from __future__ import annotations

import numpy as np

from .._core.arguments import as_numbers, as_positions
from .._core.errors import InvalidInputError, message, require, require_number
from .._core.runtime import row_blocks

_NUMBERS_AT_ONCE = 2**22  # in the differences of a block of rows


def barycentric_weights(
    rows: np.ndarray, indices: np.ndarray, X: np.ndarray, regularization: float
) -> np.ndarray:
    """Weights w, of sum 1, that minimise ``|x - sum_j w_j x_j|^2`` over k rows of ``X`` for each row x.

    ``(C + r trace(C) I) w = 1``, C the products of the differences ``x - x_j``; rows that are all equal to x
    weigh alike. ``O(k^2 (k + m))`` time a row, each by itself.

    >>> import numpy as np
    >>> X = np.array([[0.0], [4.0]])
    >>> barycentric_weights(np.array([[1.0]]), np.array([[0, 1]]), X, 1e-9).round(3).tolist()
    [[0.75, 0.25]]
    """
    X, rows = as_numbers("X", X), as_numbers("rows", rows)
    require(rows.shape[1] == X.shape[1], "rows", f"of {X.shape[1]} columns, as X", rows.shape)
    indices = as_positions("indices", indices, len(X), ndim=2)
    fits = len(indices) == len(rows) and indices.shape[1] > 0
    require(fits, "indices", f"a list of rows of X for each of {len(rows)} rows", indices.shape)
    regularization = require_number("regularization", regularization, "a number of at least 0")
    n, k = indices.shape
    weights = np.empty((n, k))
    size = max(1, _NUMBERS_AT_ONCE // (k * max(X.shape[1], k)))
    for block in row_blocks(n, "barycentric weights", size=size):
        gaps = rows[block, None] - X[indices[block]]
        C = gaps @ gaps.transpose(0, 2, 1)
        trace = np.trace(C, axis1=1, axis2=2)
        C[:, np.arange(k), np.arange(k)] += np.where(trace > 0, regularization * trace, 1.0)[:, None]
        # in units of their own: the scale of a table is none of the weights
        C /= np.where(trace > 0, trace, 1.0)[:, None, None]
        try:
            found = np.linalg.solve(C, np.ones((len(C), k, 1)))[:, :, 0]
        except np.linalg.LinAlgError as error:
            must_be = "large enough that the weights are unique"
            hint = "Take 1e-3 where there are more neighbours than dimensions."
            text = message("regularization", must_be, regularization, hint)
            raise InvalidInputError(text) from error
        weights[block] = found / found.sum(axis=1, keepdims=True)
    return weights
