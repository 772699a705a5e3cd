"""Smallest eigenpairs of positive semi-definite matrices: shift and invert, or a filter in less memory.

Of ``A'A`` by the factors of A, which fill up far less than those of the product.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np
from scipy.linalg import eigh, lu_factor, lu_solve, qr, svd
from scipy.sparse import csc_array, csr_array, issparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._core.arguments import as_numbers
from .._core.errors import require, require_count
from .._core.runtime import one_blas_thread, require_memory
from .diffusion import MOST_PRODUCTS, filtered_eigenpairs
from .eigen import (
    AFFORDABLE,
    DENSE,
    EIGENVALUES_DISTINCT,
    SEED,
    eigenpairs_by_rank,
    fixed_signs,
    inverse_lanczos,
    start_vector,
)
from .factors import Factors, Profile, factored, nested_dissection

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
    found, pattern, by_factors = None, None, n > DENSE and wanted <= n // 2
    if by_factors and issparse(matrix):
        pattern = Profile.of(csr_array(matrix))
        if known is not None and not pattern.fits:
            return filtered_bottom_eigenpairs(Mirrored(matrix), count, known, pattern)
        _require_factors(pattern, n)
    if by_factors:
        found = _inverted(matrix, wanted, pattern)
    if found is None:
        require(n <= AFFORDABLE, "n_components", EIGENVALUES_DISTINCT, count, "Take fewer components.")
        dense = matrix.toarray() if issparse(matrix) else np.asarray(matrix)
        with one_blas_thread():  # as in parallel workers: equal bits there
            found = eigenpairs_by_rank(dense, 0, wanted - 1)
    order = np.argsort(found[0], kind="stable")
    values, vectors = found[0][order], found[1][:, order]
    if known is not None and np.linalg.norm(vectors[:, 1:].T @ known) > _MIXED * np.linalg.norm(known):
        return _without(known, matrix, vectors)
    return values[skip:], fixed_signs(vectors[:, skip:])


def _inverted(matrix, wanted: int, pattern: Profile | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Lanczos with the inverse of the shifted matrix, sparse if it has a pattern; None: it does not end."""
    n = matrix.shape[0]
    shift = _BELOW * (abs(matrix).sum(axis=1).max() or 1.0)
    if pattern is not None:
        times = factored(matrix, shift, pattern).solve
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


# ---- of A'A by the factors of A ------------------------------------------------------------------

_PIVOT = 0.1  # of the largest entry of a column: a diagonal entry above it is taken
_LEADS = 1e-6  # of the largest entry of the left null vector: the row that is held has more
_ZERO = 1e-11  # of the size of A: a singular value below it is not that of a null space of one dimension


def bottom_squared_eigenpairs(
    A: csr_array, count: int, *, known: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` smallest eigenpairs of ``A'A`` orthogonal to ``known``, A square and ``A known = 0``.

    Lanczos with ``A^-1 A'^-1``: singular values of 1e-8 of the size of A are found to many digits, where
    those of the product are lost. Where ``known`` is not all of the null space, or A is small, the product is
    formed (:func:`bottom_eigenpairs`); where factors do not fit the memory, nothing but products with A and
    ``A'`` is made (:func:`filtered_bottom_eigenpairs`).

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> A = csr_array([[1.0, -1.0, 0.0], [-0.5, 1.0, -0.5], [0.0, -1.0, 1.0]])
    >>> bottom_squared_eigenpairs(A, 1, known=np.ones(3))[0].round(3).tolist()
    [1.0]
    """
    n = A.shape[0]
    if n > DENSE and count < n // 2:
        pattern = Profile.of(csr_array(abs(A) + abs(A).T))
        if not pattern.fits:
            return filtered_bottom_eigenpairs(Mirrored(A, squared=True), count, known, pattern)
        with one_blas_thread(), suppress(ArpackError, _Unfit):
            return _by_factors(A, count, known / np.linalg.norm(known), pattern)
    return bottom_eigenpairs(csr_array(A.T @ A), count, known=known)


class _Unfit(Exception):
    """The null space of A is not that of the known vector."""


def _by_factors(
    A: csr_array, count: int, known: np.ndarray, pattern: Profile
) -> tuple[np.ndarray, np.ndarray]:
    n = A.shape[0]
    factors, left = _held(A, nested_dissection(A) if pattern.fills_up else None)

    def times(x: np.ndarray) -> np.ndarray:
        y = factors.solve(x - known * (known @ x), trans="T")
        x = factors.solve(y - left * (left @ y))
        return x - known * (known @ x)

    start = start_vector(n)
    start -= known * (known @ start)
    vectors = inverse_lanczos(times, n, count, start)[1]
    lengths, turned = svd(A @ vectors, full_matrices=False)[1:]
    order = np.argsort(lengths, kind="stable")
    if not lengths[order[0]] > _ZERO * float(abs(A).sum(axis=1).max()):
        raise _Unfit
    return lengths[order] ** 2, fixed_signs(vectors @ turned[order].T)


def _held(A: csr_array, order: np.ndarray | None) -> tuple[Factors, np.ndarray]:
    """Factors of A with 1 added to one entry of the diagonal, and p of length 1 with ``p'A = 0``.

    Where p and the known vector are not 0 in that row j, it is regular, and solves ``A x = y`` for any y
    orthogonal to p: the x with ``x_j = 0``. Likewise ``A'y = b``; and p itself is what ``A'p = e_j`` gives.
    """
    held = int(abs(A).sum(axis=0).argmax())  # a row that many lists lead to
    for _ in range(2):
        shifted = csc_array(A + csr_array(([1.0], ([held], [held])), shape=A.shape))
        try:
            factors = Factors.of(shifted, order, pivot=_PIVOT)
        except RuntimeError as error:  # exactly singular
            raise _Unfit from error
        unit = np.zeros(A.shape[0])
        unit[held] = 1.0
        left = factors.solve(unit, trans="T")
        most = int(np.abs(left).argmax())
        if not np.isfinite(left).all():
            raise _Unfit
        if abs(left[held]) >= _LEADS * abs(left[most]):
            return factors, left / np.linalg.norm(left)
        held = most  # no list leads from there to the row that was held: this one is where they end
    raise _Unfit
