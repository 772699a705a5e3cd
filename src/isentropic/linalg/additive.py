"""The additive constant problem (Cailliez): what makes distances Euclidean if added to all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import eigvals
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

from .._errors import InvalidInputError, IsentropicWarning, message, warn
from .._runtime import one_blas_thread
from ..kernels._jit import threads
from ..kernels.condensed import squared_times
from .eigen import SEED, start_vector
from .scaling import WORTH_THREADS, Scaling, classical_scaling, lifted

_DENSE = 200  # rows up to which the whole spectrum costs less than an iteration
_ROUNDING = 1e-9  # of the largest distance: a constant so small is none
_LARGE = 1.0  # of the mean distance: what is added then outweighs what was there


def additive_constant(distances: np.ndarray, n: int, *, n_jobs: int | None = None) -> float:
    """The least c of at least 0 for which ``d + c`` between different rows are Euclidean distances.

    The largest real eigenvalue of ``[[0, 2 K(D^2)], [-I, -4 K(D)]]``, ``K(A) = -1/2 H A H``, by Arnoldi:
    ``O(n^2)`` time an iteration, and a second triangle of distances.

    >>> import numpy as np
    >>> round(additive_constant(np.array([1.0, 3.0, 1.0]), 3), 6)  # 3 is further than 1 + 1
    1.0
    """
    largest = float(distances.max(initial=0.0))
    if n < 3 or largest == 0:
        return 0.0
    unit = float(np.ldexp(1.0, np.frexp(largest)[1]))  # a power of two
    scaled = distances / unit
    roots = np.sqrt(scaled)

    def gram(entries: np.ndarray, x: np.ndarray) -> np.ndarray:
        product = squared_times(entries, x - x.mean())
        return -0.5 * (product - product.mean())

    def times(x: np.ndarray) -> np.ndarray:
        upper, lower = np.split(x.ravel(), 2)
        return np.concatenate([2 * gram(scaled, lower), -upper - 4 * gram(roots, lower)])

    with threads(n_jobs if n > WORTH_THREADS else 1), one_blas_thread():
        found = _largest_real(times, 2 * n)
    return unit * found if found > _ROUNDING * largest / unit else 0.0


def _largest_real(times, size: int) -> float:
    if size <= 2 * _DENSE:
        values = eigvals(np.column_stack([times(column) for column in np.eye(size)]))
        return float(values.real[np.abs(values.imag) <= 1e-8 * np.abs(values).max()].max())
    operator = LinearOperator((size, size), matvec=times, dtype=np.float64)
    try:
        start = start_vector(size)
        values = eigs(operator, 1, which="LR", ncv=40, v0=start, return_eigenvectors=False, **SEED)
    except ArpackError as error:
        hint = "Take fewer rows, landmarks, or plain ISOMAP."
        raise InvalidInputError(message("The additive constant", "found", str(error), hint)) from None
    return float(values.real.max())


def positive_scaling(
    distances: np.ndarray, n: int, n_components: int, *, n_jobs: int | None = None
) -> Scaling:
    """Classical scaling of ``d + c`` with the least c that leaves no eigenvalue negative (kernel ISOMAP).

    Its matrix is ``K(D^2) + 2 c K(D) + c^2/2 H``. The last term only lifts all eigenvalues, so what is scaled
    are the roots of ``d (d + 2 c)``, with each axis stretched: a row near a fitted one then lies near it.
    """
    constant = additive_constant(distances, n, n_jobs=n_jobs)
    if constant == 0:
        return classical_scaling(distances, n, n_components, n_jobs=n_jobs)
    mean = float(distances.mean())
    if constant > _LARGE * mean:
        warn(
            f"{constant:.4g} is added to all distances, {constant / mean:.2g} times their mean, so that none "
            "of the eigenvalues is negative: the map shows the constant more than the distances.",
            IsentropicWarning,
        )
    found = classical_scaling(lifted(distances, constant), n, n_components, n_jobs=n_jobs)
    values, lift = found.eigenvalues, constant**2 / 2
    there = found.projection.any(axis=0)
    stretch = np.sqrt(np.divide(values + lift, values, out=np.zeros_like(values), where=there))
    return replace(
        found,
        eigenvalues=np.where(there, values + lift, 0.0),
        embedding=found.embedding * stretch,
        projection=found.projection * stretch,
        euclidean_defect=(0.0, 0.0),
        constant=constant,
    )
