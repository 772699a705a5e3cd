"""Extreme eigenpairs of symmetric operators, largest or smallest, signs fixed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from inspect import signature

import numpy as np
from scipy.linalg import LinAlgError, eigh, qr
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._errors import InvalidInputError, message, require
from .._runtime import one_blas_thread, require_memory
from .factors import Profile, factored
from .signs import fixed_signs

# Where the iteration ends early it starts again from a random vector; older versions of scipy fix its seed.
_SEED = {"rng": 0} if "rng" in signature(eigsh).parameters else {}
_RESTARTS = 100  # of the iteration; one that converges takes a tenth of them
_AFFORDABLE = 4000  # rows whose whole matrix is solved in seconds
_TOLD_APART = "so few that eigenvalues can be told apart"
_BELOW = 1e-9  # of the size of a matrix: a shift so small tells the least eigenvalues of large tables apart
_MIXED = 1e-9  # what rounding leaves of a known eigenvector in the others
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
        values, vectors = _whole(times, n, count)
    elif not times(start_vector(n)).any():  # the operator is zero, which Lanczos cannot start on
        values, vectors = np.zeros(count), np.eye(n, count)
    else:
        values, vectors = _by_lanczos(times, n, count)
    order = np.argsort(-values, kind="stable")
    return values[order], fixed_signs(vectors[:, order])


def _whole(times, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    matrix = np.column_stack([times(column) for column in np.eye(n)])
    return eigh((matrix + matrix.T) / 2, subset_by_index=(n - count, n - 1))


def _by_lanczos(times, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Lanczos measures its error by the eigenvalue, so those that crowd around zero may take forever.

    Then the matrix is formed, where that is affordable. Else the operator is shifted by its own size, by
    which the error is then measured: the vectors are the same, and what cannot be told from zero is zero.
    """
    operator = LinearOperator((n, n), matvec=lambda x: times(x.ravel()), dtype=np.float64)
    start = {"v0": start_vector(n), **_SEED}
    with suppress(ArpackError), one_blas_thread():  # it takes turns with the operator
        return eigsh(operator, count, which="LA", maxiter=_RESTARTS, **start)
    if n <= _AFFORDABLE:
        require_memory(40 * n * n, f"All eigenvalues of {n:,} rows", "Take fewer components, or landmarks.")
        return _whole(times, n, count)
    size = abs(eigsh(operator, 1, which="LM", tol=1e-3, return_eigenvectors=False, **start)[0])
    shifted = LinearOperator((n, n), matvec=lambda x: times(x.ravel()) / size + x.ravel(), dtype=np.float64)
    for tolerance in (1e-9, 1e-6):
        with suppress(ArpackError):
            values, vectors = eigsh(shifted, count, which="LA", tol=tolerance, ncv=10 * count + 40,
                                    maxiter=_RESTARTS, **start)  # fmt: skip
            values -= 1
            values[np.abs(values) < 10 * tolerance] = 0.0
            return values * size, vectors
    raise InvalidInputError(message("n_components", _TOLD_APART, count, "Take fewer components."))


def bottom_eigenpairs(
    matrix, count: int, *, skip: int = 0, known: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` smallest eigenpairs after the first ``skip``, of a positive semi-definite matrix.

    Or those orthogonal to ``known``, a vector of the null space, whatever else that holds (Rayleigh-Ritz).
    Shift and invert just below zero, so that a singular matrix (a Laplacian) can be factored. Where many
    eigenvalues are equal, as with hundreds of equal rows, the iteration may not end: then the matrix is
    solved whole, if that is affordable. A sparse matrix whose factors are too large is refused.
    """
    n, skip = matrix.shape[0], skip if known is None else 1
    wanted = count + skip
    require(count >= 1 and wanted <= n, "n_components", f"between 1 and {n - skip}", count)
    found = _inverted(matrix, wanted) if n > _DENSE and wanted <= n // 2 else None
    if found is None:
        require(n <= _AFFORDABLE, "n_components", _TOLD_APART, count, "Take fewer components.")
        dense = matrix.toarray() if issparse(matrix) else np.asarray(matrix)
        with one_blas_thread():  # as in parallel workers: equal bits there
            found = eigh(dense, subset_by_index=(0, wanted - 1))
    order = np.argsort(found[0], kind="stable")
    values, vectors = found[0][order], found[1][:, order]
    if known is not None and np.linalg.norm(vectors[:, 1:].T @ known) > _MIXED * np.linalg.norm(known):
        return _without(known, matrix, vectors)
    return values[skip:], fixed_signs(vectors[:, skip:])


def _inverted(matrix, wanted: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Lanczos with the inverse of the shifted matrix; None where it does not end."""
    n = matrix.shape[0]
    shift = -_BELOW * (abs(matrix).sum(axis=1).max() or 1.0)
    with suppress(ArpackError), one_blas_thread():
        inverse = None
        if issparse(matrix):
            matrix = csr_array(matrix)
            what = f"The factors of a matrix of {n:,} rows"
            require_memory(Profile.of(matrix).n_bytes, what, "Take fewer neighbours or fewer rows.")
            inverse = LinearOperator((n, n), matvec=factored(matrix, -shift).solve, dtype=np.float64)
        return eigsh(matrix, wanted, sigma=shift, OPinv=inverse, which="LM", v0=start_vector(n),
                     ncv=min(2 * wanted + 6, n), maxiter=_RESTARTS, **_SEED)  # fmt: skip
    return None


def _without(known: np.ndarray, matrix, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs within the span of some vectors, the part of it along a known one left out."""
    along = vectors.T @ known
    turned = qr(along[:, None])[0]  # its first column is the known vector, in the basis of the others
    rest = vectors @ turned[:, 1:]
    values, mixed = eigh(rest.T @ (matrix @ rest))
    return values, fixed_signs(rest @ mixed)


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
