"""Extreme eigenpairs of symmetric operators, largest or smallest, and the rule that fixes their signs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from inspect import signature

import numpy as np
from scipy.linalg import LinAlgError, eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._core.arguments import as_numbers
from .._core.errors import InvalidInputError, message, require, require_count
from .._core.runtime import one_blas_thread, require_memory

# Where the iteration ends early it starts again from a random vector; older versions of scipy fix its seed.
SEED = {"rng": 0} if "rng" in signature(eigsh).parameters else {}
_RESTARTS = 100  # of the iteration; one that converges takes a tenth of them
AFFORDABLE = 4000  # rows whose whole matrix is solved in seconds
TOLD_APART = "so few that eigenvalues can be told apart"
DENSE = 200  # below this many rows the whole spectrum costs less than an iteration


def start_vector(n: int) -> np.ndarray:
    """A fixed start for ARPACK: the same input gives the same bits."""
    return np.random.default_rng(0).uniform(-1, 1, n)


def inverse_lanczos(
    times: Callable[[np.ndarray], np.ndarray], n: int, count: int, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` largest eigenpairs of an inverse, ``x -> times(x)``, in no order.

    Those are far apart, so that residuals of 1e-12 leave less in the vectors. Raises ArpackError.
    """
    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    start = start_vector(n) if start is None else start
    room = min(2 * count + 12, n)  # most often enough for the whole iteration
    return eigsh(operator, count, which="LA", v0=start, ncv=room, tol=1e-12, maxiter=_RESTARTS, **SEED)


def top_eigenpairs(
    times: Callable[[np.ndarray], np.ndarray], n: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` algebraically largest eigenpairs, largest first, of ``x -> times(x)``.

    Lanczos; each iteration calls ``times`` once. Small operators are formed and solved whole.
    """
    n = require_count("n", n)
    count = require_count("n_components", count, f"an integer between 1 and {n}", most=n)
    if n <= DENSE or count > n // 2:
        values, vectors = _whole(times, n, count)
    elif not times(start_vector(n)).any():  # the operator is zero, which Lanczos cannot start on
        values, vectors = np.zeros(count), np.eye(n, count)
    else:
        values, vectors = _by_lanczos(times, n, count)
    order = np.argsort(-values, kind="stable")
    return values[order], fixed_signs(vectors[:, order])


def eigenpairs_by_rank(
    A: np.ndarray, first: int, last: int, B: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs ``first`` to ``last``, smallest first, of a dense symmetric matrix (``A z = lambda B z``).

    Where many eigenvalues are equal (all distances of the rows are, say), LAPACK may find none of them by
    their rank, with or without an error: the whole spectrum is solved then.
    """
    with suppress(LinAlgError):
        values, vectors = eigh(A, B, subset_by_index=(first, last))
        if len(values) == last - first + 1:
            return values, vectors
    values, vectors = eigh(A, B)
    return values[first : last + 1], vectors[:, first : last + 1]


def _whole(times, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    matrix = np.column_stack([times(column) for column in np.eye(n)])
    return eigenpairs_by_rank((matrix + matrix.T) / 2, n - count, n - 1)


def _by_lanczos(times, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Lanczos measures its error by the eigenvalue, so those that crowd around zero may take forever.

    Then the matrix is formed, where that is affordable. Else the operator is shifted by its own size, by
    which the error is then measured: the vectors are the same, and what cannot be told from zero is zero.
    """
    operator = LinearOperator((n, n), matvec=lambda x: times(x.ravel()), dtype=np.float64)
    start = {"v0": start_vector(n), **SEED}
    with suppress(ArpackError), one_blas_thread():  # it takes turns with the operator
        return eigsh(operator, count, which="LA", maxiter=_RESTARTS, **start)
    if n <= AFFORDABLE:
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
    raise InvalidInputError(message("n_components", TOLD_APART, count, "Take fewer components."))


def generalized_eigenpairs(A, B, count: int, *, largest: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The smallest (or largest) ``count`` solutions of ``A z = lambda B z``, B positive definite.

    Dense, ``O(n^3)``; the vectors are B-orthonormal.
    """
    A, B = as_numbers("A", A), as_numbers("B", B)
    n = len(A)
    for name, matrix in (("A", A), ("B", B)):
        require(matrix.shape == (n, n), name, f"a square matrix of {n} rows", matrix.shape)
    count = require_count("n_components", count, f"an integer between 1 and {n}", most=n)
    chosen = (n - count, n - 1) if largest else (0, count - 1)
    try:
        values, vectors = eigenpairs_by_rank(A, *chosen, B)
    except LinAlgError as error:
        raise InvalidInputError(
            "B must be positive definite, got a singular or indefinite matrix. "
            "Project on the leading principal components first."
        ) from error
    order = np.argsort(-values if largest else values, kind="stable")
    return values[order], fixed_signs(vectors[:, order])


# ---- signs ---------------------------------------------------------------------------------------

_TIE = 1e-9  # entries this close to the largest count as equal, so that rounding does not choose the sign


def fixed_signs(vectors: np.ndarray) -> np.ndarray:
    """Flip columns so that the entry of largest magnitude (the first, if several) is positive.

    >>> import numpy as np
    >>> fixed_signs(np.array([[0.6, -0.1], [-0.8, 0.9]])).tolist()
    [[-0.6, -0.1], [0.8, 0.9]]
    """
    magnitude = np.abs(vectors)
    first = np.argmax(magnitude >= (1 - _TIE) * magnitude.max(axis=0), axis=0)
    leading = vectors[first, np.arange(vectors.shape[1])]
    return vectors * np.where(leading < 0, -1.0, 1.0)
