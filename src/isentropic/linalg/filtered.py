"""Chebyshev-filtered subspace iteration: leading eigenvectors as exactly as a start needs them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from .._core.runtime import one_blas_thread, row_blocks
from .eigen import top_eigenpairs
from .signs import fixed_signs

_EXACT = 200  # rows whose eigenvectors are solved whole
SPARE = 4  # vectors beside the wanted ones: where the spectrum is dense they take the error
_DEGREE = 32  # products with the matrix before the vectors are made orthogonal again
_ROUNDS = 12
FIRST_BORDER = 0.9  # what the first filter lets through


def leading_eigenvectors(A: csr_array, count: int, *, known: np.ndarray, tol: float = 0.02) -> np.ndarray:
    """Eigenvectors of the ``count`` largest eigenvalues after the known one, of a spectrum in [-1, 1].

    ``known`` is the eigenvector of eigenvalue 1. A Chebyshev polynomial of A is large beyond a border and at
    most 1 below; the border rises to the last of the vectors that are kept. Ends when every wanted vector has
    a residual of at most ``tol`` of the gap between its eigenvalue and 1, or after 12 rounds of 32
    products each: ``O(nnz)`` a product and vector.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.diag([0.5, 0.5], 1) + np.diag([0.5, 0.5], -1) + np.diag([0.5, 0.0, 0.5]))
    >>> leading_eigenvectors(path, 1, known=np.ones(3))[[0, 2]].round(3).ravel().tolist()
    [0.707, -0.707]
    """
    n = A.shape[0]
    known = known / np.linalg.norm(known)
    if n <= _EXACT or count + SPARE + 1 > n // 2:
        rest = lambda v: A @ v - known * (2.0 * (known @ v))  # noqa: E731 (the known one goes to -1)
        return top_eigenpairs(rest, n, count)[1]
    V = np.random.default_rng(0).standard_normal((n, count + SPARE))
    border = FIRST_BORDER
    with one_blas_thread():
        for _ in row_blocks(_ROUNDS, "spectral start", size=1):
            V = orthogonal(polynomial(A, V, border, _DEGREE), known)
            values, turned = eigh(V.T @ (A @ V))
            V, values = V @ turned[:, ::-1], values[::-1]
            wanted = V[:, :count]
            residuals = np.linalg.norm(A @ wanted - wanted * values[:count], axis=0)
            if (residuals <= tol * (1.0 - values[:count])).all():
                break
            border = min(max(border, float(values[-1])), 1.0 - 1e-9)
    return fixed_signs(np.ascontiguousarray(V[:, :count]))


def polynomial(A: csr_array, V: np.ndarray, border: float, degree: int) -> np.ndarray:
    """``T_m((2 A + 1 - border) / (1 + border)) V``, T_m the Chebyshev polynomial, by its recurrence."""
    scale, shift = 2.0 / (1.0 + border), (1.0 - border) / (1.0 + border)
    before, now = V, scale * (A @ V) + shift * V
    for _ in range(degree - 1):
        before, now = now, 2.0 * (scale * (A @ now) + shift * now) - before
    return now


def orthogonal(V: np.ndarray, known: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what the columns span, without the known direction."""
    V = V / np.linalg.norm(V, axis=0)
    V = np.linalg.qr(V - np.outer(known, known @ V))[0]
    return np.linalg.qr(V - np.outer(known, known @ V))[0]  # again: the first leaves rounding of the known
