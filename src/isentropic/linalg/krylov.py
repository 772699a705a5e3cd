"""Block Krylov iteration: leading eigenpairs of an operator that is read once for several vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from .._core.runtime import one_blas_thread

_PASSES = 12  # blocks of a basis; then it starts again from its best vectors
_RESTARTS = 8
_OF_LARGEST = 1e-8  # of the largest eigenvalue: a residual below it is an eigenpair
_FLOOR = 1e-13  # of the largest eigenvalue: no residual falls below rounding


class NotSettled(Exception):
    """The iteration ended before its residuals were small."""


def block_eigenpairs(
    times: Callable[[np.ndarray], np.ndarray], start: np.ndarray, count: int, *, error: float = 1e-9
) -> tuple[np.ndarray, np.ndarray]:
    """The algebraically largest eigenpairs of ``Q -> times(Q)``, as many as ``start`` (n, p) has columns.

    The first ``count`` of them have residuals below 1e-8 of the largest eigenvalue and, as that bounds the
    ``error`` of a vector, below that times the gap to the next value (or rounding, where the gap is as
    small); the others are Ritz pairs, a start for a matrix near
    this one. A pass is one call of ``times``: from near vectors 3 to 6, from random ones 6 to 10. Raises
    :class:`NotSettled` after 96 passes.

    >>> import numpy as np
    >>> A = np.diag(np.arange(100.0) ** 3)
    >>> start = np.random.default_rng(0).normal(size=(100, 8))
    >>> block_eigenpairs(lambda Q: A @ Q, start, 2)[0][:2].round(6).tolist()
    [970299.0, 941192.0]
    """
    width = start.shape[1]
    with one_blas_thread():
        for _ in range(_RESTARTS):
            basis = np.linalg.qr(start)[0]
            products = times(basis)
            for _ in range(_PASSES):
                values, turn = _ritz(basis, products)
                vectors, images = basis @ turn[:, :width], products @ turn[:, :width]
                residuals = np.linalg.norm(images[:, :count] - vectors[:, :count] * values[:count], axis=0)
                if _settled(values, residuals, error):
                    return values[:width], vectors
                if basis.shape[1] + width > len(start):
                    break
                block = _orthogonal(products[:, -width:], basis)
                basis, products = np.hstack([basis, block]), np.hstack([products, times(block)])
            start = vectors
    raise NotSettled


def _ritz(basis: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rayleigh-Ritz: eigenpairs of the operator within the basis, largest first."""
    small = basis.T @ products
    values, turn = eigh((small + small.T) / 2)
    return values[::-1], turn[:, ::-1]


def _settled(values: np.ndarray, residuals: np.ndarray, error: float) -> bool:
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
