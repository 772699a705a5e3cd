"""Leading eigenpairs of a diffusion over a graph: Chebyshev filter, or shift and invert by sparse factors.

To full precision, or as exactly as an initialization needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, eigsh

from .._core.errors import InvalidInputError, message
from .._core.runtime import one_blas_thread, row_blocks
from ..kernels.boxes import split_rows
from .chebyshev import DEGREE, FIRST_BORDER, orthogonal, polynomial, ritz_pairs
from .eigen import (
    EIGENVALUES_DISTINCT,
    eigenpairs_by_rank,
    fixed_signs,
    inverse_lanczos,
    start_vector,
    top_eigenpairs,
)
from .factors import Profile, factored

_WHOLE = 200  # rows whose eigenvectors are solved whole
_FIRST_DEGREE, _MOST_DEGREE = 20, 400  # products with the matrix before vectors are made orthogonal again
_WORTH = 100  # products: a factorisation that costs no more is made at once
_TRIAL, MOST_PRODUCTS = 250, 40_000  # products until another way is looked at, and altogether
_RESIDUAL, _ROUNDING = 1e-9, 4e-15  # of the gap between an eigenvalue and 1; of 1
_SHIFT = 1e-6


def leading_eigenpairs(A: csr_array, count: int, *, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` largest eigenpairs after the known one, of a symmetric A with a spectrum in [-1, 1].

    ``known`` is an eigenvector of eigenvalue 1. There is one value more than vectors, where A has one: it
    shows the gap behind the last. Where a graph is like a surface, ``I - A`` is factored (shift and invert);
    else, or where the factors would not fit, a Chebyshev polynomial of A filters a few vectors until their
    residuals are 1e-9 of the gap to 1: ``O(nnz)`` a product and vector, and no memory beside them.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.diag([0.5, 0.5], 1) + np.diag([0.5, 0.5], -1) + np.diag([0.5, 0.0, 0.5]))
    >>> values, vectors = leading_eigenpairs(path, 1, known=np.ones(3))
    >>> values.round(3).tolist(), vectors.round(3).ravel().tolist()
    ([0.5, -0.5], [0.707, 0.0, -0.707])
    """
    n = A.shape[0]
    known = known / np.linalg.norm(known)
    with one_blas_thread():
        found = None
        if n <= _WHOLE or count + 1 + SPARE > n // 4:
            found = _whole(A, count, known)
        elif (cost := Profile.of(A)).flops <= _filter_flops(A, count, _WORTH):
            found = _inverted(A, count, known, cost)
        values, vectors = found or _filtered(A, count, known)
    return values, fixed_signs(np.ascontiguousarray(vectors[:, :count]))


def least_eigenvalue(A: csr_array) -> float:
    """The smallest eigenvalue of a symmetric A, to three digits (Lanczos)."""
    n = A.shape[0]
    if n <= _WHOLE:
        return float(eigenpairs_by_rank(A.toarray(), 0, 0)[0][0])
    with one_blas_thread():
        return float(eigsh(A, 1, which="SA", tol=1e-3, v0=start_vector(n), return_eigenvectors=False)[0])


def _whole(A: csr_array, count: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    dense = A.toarray() - 3.0 * np.outer(known, known)  # the known one goes to -2, below all others
    n = len(dense)
    values, vectors = eigenpairs_by_rank((dense + dense.T) / 2, max(n - 1 - count, 1), n - 1)
    return values[::-1], vectors[:, ::-1]


# ---- shift and invert ----------------------------------------------------------------------------


def _inverted(
    A: csr_array, count: int, known: np.ndarray, cost: Profile
) -> tuple[np.ndarray, np.ndarray] | None:
    """Lanczos on the inverse of ``(1 + shift) I - A``, without the known vector; None where that fails."""
    if not cost.fits:
        return None
    n = A.shape[0]
    factors = factored(-A, 1.0 + _SHIFT, cost)

    def times(x: np.ndarray) -> np.ndarray:
        solved = factors.solve(x - known * (known @ x))
        return solved - known * (known @ solved)

    start = start_vector(n)
    start -= known * (known @ start)
    with suppress(ArpackError):
        vectors = inverse_lanczos(times, n, count + 1, start, room=4 * count + 14)[1]
        values, turned = eigh(vectors.T @ (A @ vectors))
        return values[::-1], vectors @ turned[:, ::-1]
    return None


# ---- Chebyshev filter ------------------------------------------------------------------------------


def _filter_flops(A: csr_array, count: int, products: float) -> float:
    return 2.0 * A.nnz * (count + 1 + SPARE) * products


def _filtered(A: csr_array, count: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The filter; after a trial it gives way to a factorisation that costs less."""

    def factors(products: float) -> tuple[np.ndarray, np.ndarray] | None:
        cost = Profile.of(A)
        cheaper = cost.flops <= _filter_flops(A, count, products)
        return _inverted(A, count, known, cost) if cheaper else None

    return filtered_eigenpairs(A, count, known, otherwise=factors)


def filtered_eigenpairs(
    A, count: int, known: np.ndarray, *, otherwise: Callable[[float], tuple[np.ndarray, np.ndarray] | None]
) -> tuple[np.ndarray, np.ndarray]:
    """Filtered subspace iteration with ``A @ V``; ``known`` of length 1. One pair more, and spare vectors.

    After a trial, ``otherwise`` is told how many products are left, and may give the pairs itself.
    """
    V = np.random.default_rng(0).standard_normal((A.shape[0], count + 1 + SPARE))
    border, degree, products, tried = FIRST_BORDER, _FIRST_DEGREE, 0, False
    for _ in row_blocks(MOST_PRODUCTS // _FIRST_DEGREE, "eigenvectors", size=1):
        V = orthogonal(polynomial(A, V, border, degree), known)
        products += degree
        values, V, residuals = ritz_pairs(A, V)
        if (residuals <= np.maximum(_RESIDUAL * (1.0 - values), _ROUNDING))[:count].all():
            return values[: count + 1], V
        border = min(max(float(values[-1]), -0.5), 1.0 - 1e-9)
        growth = np.arccosh(max((2.0 * values[count - 1] + 1.0 - border) / (1.0 + border), 1.0 + 1e-12))
        degree = int(np.clip(np.ceil(8.0 / growth), 10, _MOST_DEGREE))
        if products > _TRIAL and not tried:
            tried = True
            if (found := otherwise(min(-np.log(_RESIDUAL) / growth, MOST_PRODUCTS))) is not None:
                return found
        if products > MOST_PRODUCTS:
            break
    raise InvalidInputError(
        message("n_components", EIGENVALUES_DISTINCT, count, "Take fewer components, or more neighbours.")
    )


# ---- Chebyshev-filtered subspace iteration -------------------------------------------------------

_EXACT = 200  # rows whose eigenvectors are solved whole
SPARE = 4  # vectors beside the wanted ones: where the spectrum is dense they take the error
_ROUNDS = 12
_IN_CACHE, _LEAF = 50_000, 64  # rows whose vectors are at hand in any order; rows of a leaf of that tree


def leading_eigenvectors(
    A: csr_array, count: int, *, known: np.ndarray, tol: float = 0.02, n_jobs: int | None = None
) -> np.ndarray:
    """Eigenvectors of the ``count`` largest eigenvalues after the known one, of a spectrum in [-1, 1].

    ``known`` is the eigenvector of eigenvalue 1. A Chebyshev polynomial of A is large beyond a border and at
    most 1 below; the border rises to the last of the vectors that are kept. Ends when every wanted vector has
    a residual of at most ``tol`` of the gap between its eigenvalue and 1, or after 12 rounds of 32
    products each: ``O(nnz)`` a product and vector. Many rows are put in the order of a tree over the vectors
    of the first round, so that those that are multiplied together are near in memory.

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
    border, order = FIRST_BORDER, None
    with one_blas_thread():
        for turn in row_blocks(_ROUNDS, "spectral start", size=1):
            V = orthogonal(polynomial(A, V, border, DEGREE, n_jobs), known)
            values, turned = eigh(V.T @ (A @ V))
            V, values = V @ turned[:, ::-1], values[::-1]
            wanted = V[:, :count]
            residuals = np.linalg.norm(A @ wanted - wanted * values[:count], axis=0)
            if (residuals <= tol * (1.0 - values[:count])).all():
                break
            border = min(max(border, float(values[-1])), 1.0 - 1e-9)
            if turn.start == 0 and n > _IN_CACHE:
                order = split_rows(V, _LEAF)[0]
                A, V, known = _in_order(A, order), V[order], known[order]
    found = np.empty((n, count))
    found[slice(None) if order is None else order] = V[:, :count]
    return fixed_signs(found)


def _in_order(A: csr_array, order: np.ndarray) -> csr_array:
    """A with rows and columns in another order; the entries of a row keep theirs."""
    inverse = np.empty(len(order), A.indices.dtype)
    inverse[order] = np.arange(len(order), dtype=A.indices.dtype)
    moved = A[order]
    return csr_array((moved.data, inverse[moved.indices], moved.indptr), shape=A.shape)
