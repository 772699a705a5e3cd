"""Bottom eigenpairs of ``A'A`` by the factors of A, which fill up far less than those of the product."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.linalg import svd
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import ArpackError, splu

from .._core.runtime import one_blas_thread
from .bottom import Mirrored, bottom_eigenpairs, filtered_bottom_eigenpairs
from .eigen import DENSE, inverse_lanczos, start_vector
from .factors import Profile
from .signs import fixed_signs

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
            return _by_factors(A, count, known / np.linalg.norm(known))
    return bottom_eigenpairs(csr_array(A.T @ A), count, known=known)


class _Unfit(Exception):
    """The null space of A is not that of the known vector."""


def _by_factors(A: csr_array, count: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = A.shape[0]
    factors, left = _held(A)

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


def _held(A: csr_array):
    """Factors of A with 1 added to one entry of the diagonal, and p of length 1 with ``p'A = 0``.

    Where p and the known vector are not 0 in that row j, it is regular, and solves ``A x = y`` for any y
    orthogonal to p: the x with ``x_j = 0``. Likewise ``A'y = b``; and p itself is what ``A'p = e_j`` gives.
    """
    held = int(abs(A).sum(axis=0).argmax())  # a row that many lists lead to
    for _ in range(2):
        shifted = csc_array(A + csr_array(([1.0], ([held], [held])), shape=A.shape))
        try:
            factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=_PIVOT,
                           options={"SymmetricMode": True})  # fmt: skip
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
