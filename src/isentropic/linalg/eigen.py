"""Extreme eigenpairs of symmetric operators, largest or smallest, signs fixed."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import numpy as np
from scipy.linalg import LinAlgError, eigh
from scipy.sparse import csc_array, issparse
from scipy.sparse.linalg import LinearOperator, eigsh

from .._errors import InvalidInputError, require
from .signs import fixed_signs

# Where the iteration ends early it starts again from a random vector; older versions of scipy fix its seed.
_SEED = {"rng": 0} if "rng" in signature(eigsh).parameters else {}
_DENSE = 200  # below this many rows the whole spectrum costs less than an iteration


def start_vector(n: int) -> np.ndarray:
    """A fixed start for ARPACK: the same input gives the same bits."""
    return np.random.default_rng(0).uniform(-1, 1, n)


def top_eigenpairs(
    times: Callable[[np.ndarray], np.ndarray], n: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` algebraically largest eigenpairs, largest first, of ``x -> times(x)``.

    Lanczos; each iteration calls ``times`` once. Small operators are formed and solved whole.
    """
    require(1 <= count <= n, "n_components", f"between 1 and {n}", count)
    if n <= _DENSE or count > n // 2:
        matrix = np.column_stack([times(column) for column in np.eye(n)])
        values, vectors = eigh((matrix + matrix.T) / 2, subset_by_index=(n - count, n - 1))
    elif not times(start_vector(n)).any():  # the operator is zero, which Lanczos cannot start on
        values, vectors = np.zeros(count), np.eye(n, count)
    else:
        operator = LinearOperator((n, n), matvec=lambda x: times(x.ravel()), dtype=np.float64)
        values, vectors = eigsh(operator, count, which="LA", v0=start_vector(n), **_SEED)
    order = np.argsort(-values, kind="stable")
    return values[order], fixed_signs(vectors[:, order])


def bottom_eigenpairs(matrix, count: int, *, skip: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` smallest eigenpairs after the first ``skip``, of a positive semi-definite matrix.

    Shift and invert just below zero, so that a singular matrix (a Laplacian) can be factored.
    """
    n, wanted = matrix.shape[0], count + skip
    require(count >= 1 and wanted <= n, "n_components", f"between 1 and {n - skip}", count)
    if n <= _DENSE or wanted > n // 2:
        dense = matrix.toarray() if issparse(matrix) else np.asarray(matrix)
        values, vectors = eigh(dense, subset_by_index=(0, wanted - 1))
    else:
        scale = abs(matrix).sum(axis=1).max() or 1.0
        shift = -1e-6 * scale
        sparse = csc_array(matrix) if issparse(matrix) else np.asarray(matrix)
        values, vectors = eigsh(sparse, wanted, sigma=shift, which="LM", v0=start_vector(n), **_SEED)
    order = np.argsort(values, kind="stable")[skip:]
    return values[order], fixed_signs(vectors[:, order])


def generalized_eigenpairs(A, B, count: int, *, largest: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The smallest (or largest) ``count`` solutions of ``A z = lambda B z``, B positive definite.

    Dense, ``O(n^3)``; the vectors are B-orthonormal.
    """
    n = len(A)
    require(1 <= count <= n, "n_components", f"between 1 and {n}", count)
    chosen = (n - count, n - 1) if largest else (0, count - 1)
    try:
        values, vectors = eigh(A, B, subset_by_index=chosen)
    except LinAlgError as error:
        raise InvalidInputError(
            "B must be positive definite, got a singular or indefinite matrix. "
            "Project on the leading principal components first."
        ) from error
    order = np.argsort(-values if largest else values, kind="stable")
    return values[order], fixed_signs(vectors[:, order])
