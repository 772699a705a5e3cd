"""Leading eigenpairs of a walk over a graph, to full precision: Chebyshev filter, or shift and invert."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from .._errors import InvalidInputError, message
from .._runtime import memory_budget, one_blas_thread, row_blocks
from .eigen import start_vector
from .signs import fixed_signs

_WHOLE = 200  # rows whose eigenvectors are solved whole
_SPARE = 4  # vectors beside the wanted ones: where the spectrum is dense they take the error
_FIRST_BORDER = 0.9  # what the first filter lets through
_FIRST_DEGREE, _MOST_DEGREE = 20, 400  # products with the matrix before vectors are made orthogonal again
_WORTH = 100  # products: a factorisation that costs no more is made at once
_TRIAL, _MOST = 250, 40_000  # products until another way is looked at, and altogether
_RESIDUAL, _ROUNDING = 1e-9, 4e-15  # of the gap between an eigenvalue and 1; of 1
_SHIFT = 1e-6
_FILLED = 20  # bytes of an entry of the factors, both of them
_SAVED = 10  # a factorisation takes at most this share of what the band of the matrix foretells


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
        if n <= _WHOLE or count + 1 + _SPARE > n // 4:
            found = _whole(A, count, known)
        elif (cost := _Factors.of(A)).flops <= _filter_flops(A, count, _WORTH):
            found = _inverted(A, count, known, cost)
        values, vectors = found or _filtered(A, count, known)
    return values, fixed_signs(np.ascontiguousarray(vectors[:, :count]))


def least_eigenvalue(A: csr_array) -> float:
    """The smallest eigenvalue of a symmetric A, to three digits (Lanczos)."""
    n = A.shape[0]
    if n <= _WHOLE:
        return float(eigh(A.toarray(), subset_by_index=(0, 0), eigvals_only=True)[0])
    with one_blas_thread():
        return float(eigsh(A, 1, which="SA", tol=1e-3, v0=start_vector(n), return_eigenvectors=False)[0])


def _whole(A: csr_array, count: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    dense = A.toarray() - 3.0 * np.outer(known, known)  # the known one goes to -2, below all others
    n = len(dense)
    values, vectors = eigh((dense + dense.T) / 2, subset_by_index=(max(n - 1 - count, 1), n - 1))
    return values[::-1], vectors[:, ::-1]


# ---- shift and invert ----------------------------------------------------------------------------


class _Factors:
    """What factoring ``I - A`` would take at most: by its profile, rows in reverse Cuthill-McKee order."""

    def __init__(self, flops: float, n_bytes: float):
        self.flops, self.n_bytes = flops, n_bytes

    @classmethod
    def of(cls, A: csr_array) -> _Factors:
        order = reverse_cuthill_mckee(A, symmetric_mode=True)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        first = place.copy()
        some = np.flatnonzero(np.diff(A.indptr))
        first[some] = np.minimum.reduceat(place[A.indices], A.indptr[some])
        widths = np.maximum(place - first, 0).astype(np.float64)
        return cls(float((widths**2).sum()) / _SAVED, _FILLED * float(widths.sum()))

    @property
    def fits(self) -> bool:
        budget = memory_budget()
        return budget is None or self.n_bytes <= budget


def _inverted(
    A: csr_array, count: int, known: np.ndarray, cost: _Factors
) -> tuple[np.ndarray, np.ndarray] | None:
    """Lanczos on the inverse of ``(1 + shift) I - A``, without the known vector; None where that fails."""
    if not cost.fits:
        return None
    n = A.shape[0]
    shifted = csc_array((1.0 + _SHIFT) * eye_array(n) - A)
    factors = splu(
        shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )

    def times(x: np.ndarray) -> np.ndarray:
        solved = factors.solve(x - known * (known @ x))
        return solved - known * (known @ solved)

    start = start_vector(n)
    start -= known * (known @ start)
    with suppress(ArpackError):
        _, vectors = eigsh(
            LinearOperator((n, n), matvec=times, dtype=np.float64), count + 1, which="LA", v0=start
        )
        values, turned = eigh(vectors.T @ (A @ vectors))
        return values[::-1], vectors @ turned[:, ::-1]
    return None


# ---- Chebyshev filter ------------------------------------------------------------------------------


def _filter_flops(A: csr_array, count: int, products: float) -> float:
    return 2.0 * A.nnz * (count + 1 + _SPARE) * products


def _filtered(A: csr_array, count: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Filtered subspace iteration; after a trial it gives way to a factorisation that costs less."""
    V = np.random.default_rng(0).standard_normal((A.shape[0], count + 1 + _SPARE))
    border, degree, products, tried = _FIRST_BORDER, _FIRST_DEGREE, 0, False
    for _ in row_blocks(_MOST // _FIRST_DEGREE, "eigenvectors", size=1):
        V = _orthogonal(_polynomial(A, V, border, degree), known)
        products += degree
        values, V, residuals = _turned(A, V)
        if (residuals <= np.maximum(_RESIDUAL * (1.0 - values), _ROUNDING))[:count].all():
            return values[: count + 1], V
        border = min(max(float(values[-1]), -0.5), 1.0 - 1e-9)
        growth = np.arccosh(max((2.0 * values[count - 1] + 1.0 - border) / (1.0 + border), 1.0 + 1e-12))
        degree = int(np.clip(np.ceil(8.0 / growth), 10, _MOST_DEGREE))
        if products > _TRIAL and not tried:
            tried, cost = True, _Factors.of(A)
            left = min(-np.log(_RESIDUAL) / growth, _MOST)
            cheaper = cost.flops <= _filter_flops(A, count, left)
            if cheaper and (found := _inverted(A, count, known, cost)) is not None:
                return found
        if products > _MOST:
            break
    must_be = "so few that eigenvalues can be told apart"
    raise InvalidInputError(
        message("n_components", must_be, count, "Take fewer components, or more neighbours.")
    )


def _turned(A: csr_array, V: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ritz values, largest first, their vectors, and the norms of the residuals (Rayleigh and Ritz)."""
    products = A @ V
    values, turned = eigh(V.T @ products)
    values, turned = values[::-1], turned[:, ::-1]
    V = V @ turned
    return values, V, np.linalg.norm(products @ turned - V * values, axis=0)


def _polynomial(A: csr_array, V: np.ndarray, border: float, degree: int) -> np.ndarray:
    """``T_m((2 A + 1 - border) / (1 + border)) V``, T_m the Chebyshev polynomial, by its recurrence."""
    scale, shift = 2.0 / (1.0 + border), (1.0 - border) / (1.0 + border)
    before, now = V, scale * (A @ V) + shift * V
    for _ in range(degree - 1):
        before, now = now, 2.0 * (scale * (A @ now) + shift * now) - before
    return now


def _orthogonal(V: np.ndarray, known: np.ndarray) -> np.ndarray:
    V = V / np.linalg.norm(V, axis=0)
    V = np.linalg.qr(V - np.outer(known, known @ V))[0]
    return np.linalg.qr(V - np.outer(known, known @ V))[0]  # again: the first leaves rounding of the known
