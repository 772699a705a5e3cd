"""Extreme eigenpairs of symmetric operators, largest or smallest, and the rule that fixes their signs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from inspect import signature

import numpy as np
from scipy.linalg import LinAlgError, eigh
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._core.arguments import as_numbers
from .._core.errors import DisconnectedGraphWarning, InvalidInputError, message, require, require_count, warn
from .._core.runtime import one_blas_thread, require_memory

# Where the iteration ends early it starts again from a random vector; older versions of scipy fix its seed.
SEED = {"rng": 0} if "rng" in signature(eigsh).parameters else {}
_RESTARTS = 100  # of the iteration; one that converges takes a tenth of them
AFFORDABLE = 4000  # rows whose whole matrix is solved in seconds
EIGENVALUES_DISTINCT = "so few that eigenvalues can be told apart"
DENSE = 200  # below this many rows the whole spectrum costs less than an iteration


def start_vector(n: int) -> np.ndarray:
    """A fixed start for ARPACK: the same input gives the same bits."""
    return np.random.default_rng(0).uniform(-1, 1, n)


def inverse_lanczos(
    times: Callable[[np.ndarray], np.ndarray], n: int, count: int, start: np.ndarray | None = None,
    *, room: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The ``count`` largest eigenpairs of an inverse, ``x -> times(x)``, in no order.

    Those are far apart, so that residuals of 1e-12 leave less in the vectors. ``room`` is the size of the
    basis: what suffices for the whole iteration saves the restarts. Raises ArpackError.
    """
    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    start = start_vector(n) if start is None else start
    room = 2 * count + 12 if room is None else room  # of a square of a Laplacian, most often enough
    basis = {"v0": start, "ncv": min(room, n)}
    return eigsh(operator, count, which="LA", tol=1e-12, maxiter=_RESTARTS, **basis, **SEED)


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
    raise InvalidInputError(message("n_components", EIGENVALUES_DISTINCT, count, "Take fewer components."))


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


# ---- Block Krylov iteration: leading eigenpairs of an operator that is read once for several vectors ----


_PASSES = 12  # blocks of a basis; then it starts again from its best vectors
_KRYLOV_RESTARTS = 8
_OF_LARGEST = 1e-8  # of the largest eigenvalue: a residual below it is an eigenpair
_FLOOR = 1e-13  # of the largest eigenvalue: no residual falls below rounding


class NotConverged(Exception):
    """The iteration ended before its residuals were small."""


def block_eigenpairs(
    times: Callable[[np.ndarray], np.ndarray], start: np.ndarray, count: int, *, error: float = 1e-9
) -> tuple[np.ndarray, np.ndarray]:
    """The algebraically largest eigenpairs of ``Q -> times(Q)``, as many as ``start`` (n, p) has columns.

    The first ``count`` of them have residuals below 1e-8 of the largest eigenvalue and, as that bounds the
    ``error`` of a vector, below that times the gap to the next value (or rounding, where the gap is as
    small); the others are Ritz pairs, a start for a matrix near
    this one. A pass is one call of ``times``: from near vectors 3 to 6, from random ones 6 to 10. Raises
    :class:`NotConverged` after 96 passes.

    >>> import numpy as np
    >>> A = np.diag(np.arange(100.0) ** 3)
    >>> start = np.random.default_rng(0).normal(size=(100, 8))
    >>> block_eigenpairs(lambda Q: A @ Q, start, 2)[0][:2].round(6).tolist()
    [970299.0, 941192.0]
    """
    width = start.shape[1]
    with one_blas_thread():
        for _ in range(_KRYLOV_RESTARTS):
            basis = np.linalg.qr(start)[0]
            products = times(basis)
            for _ in range(_PASSES):
                values, turn = _ritz(basis, products)
                vectors, images = basis @ turn[:, :width], products @ turn[:, :width]
                residuals = np.linalg.norm(images[:, :count] - vectors[:, :count] * values[:count], axis=0)
                if _converged(values, residuals, error):
                    return values[:width], vectors
                if basis.shape[1] + width > len(start):
                    break
                block = _orthogonal(products[:, -width:], basis)
                basis, products = np.hstack([basis, block]), np.hstack([products, times(block)])
            start = vectors
    raise NotConverged


def _ritz(basis: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rayleigh-Ritz: eigenpairs of the operator within the basis, largest first."""
    small = basis.T @ products
    values, turn = eigh((small + small.T) / 2)
    return values[::-1], turn[:, ::-1]


def _converged(values: np.ndarray, residuals: np.ndarray, error: float) -> bool:
    size = float(np.abs(values).max())
    if size == 0:
        return True
    gap = float((-np.diff(values[: len(residuals) + 1])).min())
    return bool((residuals <= max(min(_OF_LARGEST * size, error * gap), _FLOOR * size)).all())


def _orthogonal(block: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span what the block adds to the basis; twice is enough."""
    for _ in range(2):
        block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
    return block


# --------------------------------------------------------------------------------------------------
# What a spectrum says of coordinates: how far the next one is, and which only separate groups of rows.


_FAR_BELOW = 100  # times: an eigenvalue so far below the next one is that of parts that hardly hold together
_STILL = 0.5  # of the share of rows that are joined: a third of their gaps along an evenly filled coordinate
_MOST = 0.9  # of the neighbours
_ZERO = 1e-14  # of the size of the operator: what rounding leaves of an eigenvalue of 0


def padded(values: np.ndarray, count: int) -> np.ndarray:
    """Eigenvalues padded with 0, where there are fewer than coordinates."""
    return np.concatenate([values, np.zeros(count - len(values))])


def eigengap(values: np.ndarray, count: int) -> float:
    """How far the last of ``count`` eigenvalues is below the next one, as a share of that; 1 without a next.

    >>> eigengap(np.array([1.0, 3.0, 4.0]), 2)
    0.25
    """
    if len(values) == count:
        return 1.0
    last, following = np.maximum(values[count - 1 : count + 1], 0)
    return float(max(1 - last / following, 0.0)) if following > 0 else 0.0


def count_separating_coordinates(values: np.ndarray, n_components: int, *, size: float) -> int:
    """Count the coordinates that only separate groups of rows joined by few edges, and warn of them.

    Theirs are the eigenvalues, smallest first, before the last gap of more than a hundredfold (eigengap), and
    those that are 0 but for rounding. ``values`` has one more than there are coordinates, if there is one.

    Of a Laplacian: its eigenvalue is the mean squared gap of neighbours, by their weights, so that it says
    itself how still they stand; along a strip of any length the second is at most four times the first.

    >>> count_separating_coordinates(np.array([0.3, 0.5, 0.6]), 2, size=1.0)
    0
    """
    least = max(_ZERO * size, np.finfo(float).tiny)
    floored = np.maximum(values, least)
    gaps = np.flatnonzero(floored[1:] > _FAR_BELOW * floored[:-1])
    zeros = np.count_nonzero(values[:n_components] <= least)
    count = max(int(gaps[-1]) + 1 if len(gaps) else 0, int(zeros))
    return warn_of_separation(count, n_components)


def count_still_coordinates(Z: np.ndarray, pattern: csr_array) -> int:
    """Count the coordinates that only separate groups of rows joined by few edges, and warn of them.

    Those along which nearly all rows that an entry of the pattern joins are at one place, compared with rows
    that fill the coordinate evenly. Of local sums and tangents, whose eigenvalues do not say it
    (:func:`count_separating_coordinates`): they measure how a coordinate bends, and a sheet that is long, or
    flat, has small ones though its neighbours are apart.
    """
    pairs = coo_array(pattern)
    heads, tails = pairs.coords
    gaps = np.abs(Z[heads[heads != tails]] - Z[tails[heads != tails]])
    if not len(gaps):
        return 0
    share = pattern.nnz / len(Z) ** 2
    still = np.quantile(gaps, _MOST, axis=0) <= _STILL * share * np.sqrt((Z**2).mean(axis=0))
    return warn_of_separation(int(np.count_nonzero(still)), Z.shape[1])


def warn_of_separation(count: int, n_components: int) -> int:
    """Warn of coordinates that only separate groups of rows; returns their number."""
    if count:
        what = "coordinate only separates" if count == 1 else "coordinates only separate"
        warn(
            f"{count} of {n_components} {what} groups of rows that the neighbour graph hardly joins: rows of "
            "a group lie at nearly one place along it. Take more neighbours, or map each group by itself.",
            DisconnectedGraphWarning,
        )
    return count
