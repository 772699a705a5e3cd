"""The additive constant problem (Cailliez): what makes distances Euclidean if added to all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._core.errors import InvalidInputError, IsentropicWarning, message, require_count, warn
from .._core.runtime import checked_jobs, one_blas_thread
from ..kernels._jit import threads
from ..kernels.distances.condensed import squared_times
from .eigen import DENSE, SEED, eigenpairs_by_rank, start_vector
from .scaling import WORTH_THREADS, Scaling, checked_distances, classical_scaling, laid_out, lifted

_COARSE, _FINE = 1e-2, 1e-5  # of an eigenvalue: the error of a vector, whose root has twice the digits
_FAR = 1e-2  # relative growth of the constant above which a coarse vector will do
_NONE = 1e-7  # of the largest squared distance times n: eigenvalues are told from zero by that
_SETTLED = 1e-10  # relative growth of the constant at which it has its digits
_ROUNDING = 1e-9  # of the largest distance: a constant so small is none
_LARGE = 1.0  # of the mean distance: what is added then outweighs what was there


def additive_constant(distances: np.ndarray, n: int, *, n_jobs: int | None = None) -> float:
    """The least c of at least 0 for which ``d + c`` between different rows are Euclidean distances.

    The least c that leaves no eigenvalue of ``K(D^2) + 2 c K(D) + c^2/2 H`` negative, ``K(A) = -1/2 H A H``.
    From c = 0 on, c becomes the larger root of ``v'(...)v`` for the lowest eigenvector v, by Lanczos: it only
    grows, never beyond the least one, and its digits double. ``O(n^2)`` time a product, some hundred of them,
    and a second triangle of distances.

    >>> import numpy as np
    >>> round(additive_constant(np.array([1.0, 3.0, 1.0]), 3), 6)  # 3 is further than 1 + 1
    1.0
    """
    distances = checked_distances(distances)
    laid_out(distances, require_count("n", n))
    checked_jobs(n_jobs)
    largest = float(distances.max(initial=0.0))
    if n < 3 or largest == 0:
        return 0.0
    unit = float(np.ldexp(1.0, np.frexp(largest)[1]))  # a power of two
    with threads(n_jobs if n > WORTH_THREADS else 1), one_blas_thread():
        found = _least(distances / unit, n)
    return unit * found if found > _ROUNDING * largest / unit else 0.0


def _least(distances: np.ndarray, n: int) -> float:
    constant, last, far = 0.0, np.zeros(n), True
    while True:
        last = _lowest(lifted(distances, constant), n, last, _COARSE if far else _FINE)
        once, twice = (last @ _gram(entries, last) for entries in (np.sqrt(distances), distances))
        root = float(np.sqrt(max(4 * once**2 - 2 * twice, 0.0)) - 2 * once)
        if root <= constant * (1 + _SETTLED) and not far:
            return max(root, constant)
        constant, far = max(root, constant), root > constant * (1 + _FAR)


def _gram(entries: np.ndarray, x: np.ndarray) -> np.ndarray:
    """``-1/2 H (D ∘ D) H x`` for the triangle of D."""
    product = squared_times(*laid_out(entries, len(x)), x - x.mean())
    return -0.5 * (product - product.mean())


def _lowest(entries: np.ndarray, n: int, near: np.ndarray, error: float) -> np.ndarray:
    """The eigenvector of the lowest eigenvalue, up to an error relative to that."""
    if n <= DENSE:
        matrix = np.column_stack([_gram(entries, column) for column in np.eye(n)])
        return np.asarray(eigenpairs_by_rank(matrix, 0, 0)[1][:, 0])
    none = _NONE * n * float(entries.max()) ** 2  # where all are zero but a few, no iteration would end

    def times(x: np.ndarray) -> np.ndarray:
        return _gram(entries, x.ravel()) - none * x.ravel()

    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    start = start_vector(n)
    start += near * np.linalg.norm(start)  # near the one before, and yet with a part along every other
    try:
        return np.asarray(eigsh(operator, 1, which="SA", v0=start, ncv=20, tol=error, **SEED)[1][:, 0])
    except ArpackError as error:
        hint = "Take fewer rows, landmarks, or plain ISOMAP."
        raise InvalidInputError(message("The additive constant", "found", str(error), hint)) from None


def positive_scaling(
    distances: np.ndarray, n: int, n_components: int, *, n_jobs: int | None = None
) -> Scaling:
    """Classical scaling of ``d + c`` with the least c that leaves no eigenvalue negative (kernel ISOMAP).

    Its matrix is ``K(D^2) + 2 c K(D) + c^2/2 H``. The last term only lifts all eigenvalues, so what is scaled
    are the roots of ``d (d + 2 c)``, with each axis stretched: a row near a fitted one then lies near it.
    """
    distances = checked_distances(distances)
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
