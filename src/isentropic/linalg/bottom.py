"""Smallest eigenpairs of positive semi-definite matrices: shift and invert, or a filter in less memory."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np
from scipy.linalg import eigh, lu_factor, lu_solve, qr
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._core.arguments import as_numbers
from .._core.errors import require, require_count
from .._core.runtime import one_blas_thread, require_memory
from .eigen import (
    AFFORDABLE,
    DENSE,
    SEED,
    TOLD_APART,
    eigenpairs_by_rank,
    inverse_lanczos,
    start_vector,
)
from .factors import Profile, factored
from .signs import fixed_signs
from .walks import MOST_PRODUCTS, filtered_eigenpairs

_BELOW = 1e-9  # of the size of a matrix: a shift so small tells the least eigenvalues of large tables apart
_MIXED = 1e-9  # what rounding leaves of a known eigenvector in the others
_ABOVE = 1.01  # of the largest eigenvalue as Lanczos finds it, to a thousandth


def bottom_eigenpairs(
    matrix, count: int, *, skip: int = 0, known: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` smallest eigenpairs after the first ``skip``, of a positive semi-definite matrix.

    Or those orthogonal to ``known``, a vector of the null space, whatever else that holds (Rayleigh-Ritz).
    Shift and invert just below zero, so that a singular matrix (a Laplacian) can be factored. Where many
    eigenvalues are equal, as with hundreds of equal rows, the iteration may not end: then the matrix is
    solved whole, if that is affordable. A sparse matrix whose factors are too large is not factored, but
    filtered (:func:`filtered_bottom_eigenpairs`).
    """
    matrix = matrix if issparse(matrix) else as_numbers("matrix", matrix)
    n, skip = matrix.shape[0], require_count("skip", skip, least=0) if known is None else 1
    require(matrix.shape == (n, n), "matrix", "square", matrix.shape)
    count = require_count("n_components", count, f"an integer between 1 and {n - skip}", most=n - skip)
    wanted = count + skip
    found, by_factors = None, n > DENSE and wanted <= n // 2
    if by_factors and issparse(matrix):
        pattern = Profile.of(csr_array(matrix))
        if known is not None and not pattern.fits:
            return filtered_bottom_eigenpairs(Mirrored(matrix), count, known, pattern)
        _require_factors(pattern, n)
    if by_factors:
        found = _inverted(matrix, wanted)
    if found is None:
        require(n <= AFFORDABLE, "n_components", TOLD_APART, count, "Take fewer components.")
        dense = matrix.toarray() if issparse(matrix) else np.asarray(matrix)
        with one_blas_thread():  # as in parallel workers: equal bits there
            found = eigenpairs_by_rank(dense, 0, wanted - 1)
    order = np.argsort(found[0], kind="stable")
    values, vectors = found[0][order], found[1][:, order]
    if known is not None and np.linalg.norm(vectors[:, 1:].T @ known) > _MIXED * np.linalg.norm(known):
        return _without(known, matrix, vectors)
    return values[skip:], fixed_signs(vectors[:, skip:])


def _inverted(matrix, wanted: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Lanczos with the inverse of the shifted matrix; None where it does not end."""
    n = matrix.shape[0]
    shift = _BELOW * (abs(matrix).sum(axis=1).max() or 1.0)
    if issparse(matrix):
        times = factored(matrix, shift).solve
    else:
        times = partial(lu_solve, lu_factor(np.asarray(matrix) + shift * np.eye(n)))
    with suppress(ArpackError), one_blas_thread():
        inverses, vectors = inverse_lanczos(times, n, wanted)
        return 1.0 / inverses - shift, vectors
    return None


def _without(known: np.ndarray, matrix, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs within the span of some vectors, the part of it along a known one left out."""
    along = vectors.T @ known
    turned = qr(along[:, None])[0]  # its first column is the known vector, in the basis of the others
    rest = vectors @ turned[:, 1:]
    values, mixed = eigh(rest.T @ (matrix @ rest))
    return values, fixed_signs(rest @ mixed)


class Mirrored:
    """``I - 2 M / size``, a spectrum in [-1, 1] whose largest eigenvalues are the smallest of M.

    M is ``A'A`` if ``squared``: two products with a sparse A are fewer than one with its square.
    """

    def __init__(self, matrix: csr_array, *, squared: bool = False):
        self.shape, self.nnz = matrix.shape, matrix.nnz * (2 if squared else 1)
        self.matrix, self.transposed = matrix, csr_array(matrix.T) if squared else None
        operator = LinearOperator(self.shape, matvec=self.times, dtype=np.float64)
        start = start_vector(self.shape[0])
        largest = eigsh(operator, 1, which="LA", tol=1e-3, v0=start, return_eigenvectors=False, **SEED)
        self.size = _ABOVE * float(largest[0]) or 1.0

    def times(self, V: np.ndarray) -> np.ndarray:
        """``M V``."""
        return self.matrix @ V if self.transposed is None else self.transposed @ (self.matrix @ V)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        return V - (2.0 / self.size) * self.times(V)


def filtered_bottom_eigenpairs(
    mirrored: Mirrored, count: int, known: np.ndarray, pattern: Profile
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` smallest eigenpairs orthogonal to ``known``, of a matrix whose factors do not fit.

    A Chebyshev filter, ``O(nnz)`` a product and vector; about as many products as the root of the size of the
    matrix over the gap behind the last eigenvalue, times twenty. Where these are too many, the refusal says
    what the factors would have needed.
    """
    n = mirrored.shape[0]

    def refused(products: float) -> None:
        if products >= MOST_PRODUCTS:
            _require_factors(pattern, n)

    with one_blas_thread():
        known = known / np.linalg.norm(known)
        vectors = filtered_eigenpairs(mirrored, count, known, otherwise=refused)[1][:, :count]
        values = np.einsum("ij,ij->j", vectors, mirrored.times(vectors))
    return values, fixed_signs(np.ascontiguousarray(vectors))


def _require_factors(pattern: Profile, n: int) -> None:
    hint = "Take fewer neighbours or fewer rows."
    require_memory(pattern.n_bytes, f"The factors of a matrix of {n:,} rows", hint)
