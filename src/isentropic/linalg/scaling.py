"""Classical scaling: coordinates from distances, without forming the centred matrix.

With ``D`` the distances, ``B = -1/2 H (D ∘ D) H`` and ``H = I - 11'/n``. ``B`` is only ever applied to
a vector, through the upper triangle of ``D``. Distances are condensed, or a square array of which the lower
triangle is not read.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._core.arguments import as_numbers
from .._core.errors import (
    InvalidInputError,
    IsentropicWarning,
    NegativeEigenvalueWarning,
    message,
    require,
    require_count,
    warn,
)
from .._core.runtime import checked_jobs, one_blas_thread, require_memory
from .._core.state import Absent, Array, Double, Number, Tuple
from ..kernels._jit import threads
from ..kernels.distances.condensed import (
    COLUMNS,
    combined_comoments,
    comoments,
    condensed_starts,
    fourth_power_sums,
    square_starts,
    squared_times,
    squared_times_block,
)
from ..kernels.rows.projections import project_squared
from .eigen import (
    DENSE,
    SEED,
    NotConverged,
    block_eigenpairs,
    eigenpairs_by_rank,
    fixed_signs,
    start_vector,
    top_eigenpairs,
)

WORTH_THREADS = 1000  # rows: below that, waking threads costs more than a product
_GUARDS = 6  # vectors of a block beside the wanted ones: they take the error where values are close
_EXACT = 500  # up to this many rows the whole spectrum is found in a fiftieth of a second


@dataclass(frozen=True, slots=True)
class Scaling:
    """Coordinates of reference rows, and what places any other row among them."""

    eigenvalues: Annotated[np.ndarray, Array("d")]  # (d,) largest first
    # sqrt(eigenvalue) times eigenvector, zero where it is negative
    embedding: Annotated[np.ndarray, Array("n", "d")]
    # eigenvector over sqrt(eigenvalue), zero where it is not positive
    projection: Annotated[np.ndarray, Array("n", "d")]
    # mean squared distance of each reference row to all
    means: Annotated[np.ndarray, Array("n", least=0)]
    # bounds of the negative share of the spectrum
    euclidean_defect: Annotated[tuple[float, float], Tuple(Number(), Number())]
    # added to all distances, so that no share is negative
    constant: Annotated[float, Absent(Double(0))] = 0.0

    def place(self, distances: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """Gower's out-of-sample formula (Nyström's, for inner products) of distances to the references."""
        distances = add_constant(distances, getattr(self, "constant", None) or 0.0)  # older files have none
        with threads(n_jobs):
            return project_squared(np.ascontiguousarray(distances), self.means, self.projection)


def add_constant(distances: np.ndarray, constant: float) -> np.ndarray:
    """Distances with a constant added: ``sqrt(d (d + 2 c))``, whose squares are ``(d + c)^2 - c^2``."""
    return distances if constant == 0 else np.sqrt(distances * (distances + 2 * constant))


def classical_scaling(
    distances: np.ndarray, n: int, n_components: int, *, n_jobs: int | None = None
) -> Scaling:
    """Coordinates whose inner products are nearest to those of the condensed ``distances``.

    ``O(n^2)`` time an iteration, ``O(n)`` memory beyond the distances.

    >>> import numpy as np
    >>> scaling = classical_scaling(np.array([1.0, 3.0, 2.0]), 3, 1)
    >>> np.round(scaling.embedding[:, 0], 6).tolist()
    [-1.333333, -0.333333, 1.666667]
    """
    distances, n = checked_distances(distances), require_count("n", n)
    n_components = require_count("n_components", n_components)
    entries = flat_entries(distances, n)
    checked_jobs(n_jobs)
    with threads(n_jobs if n > WORTH_THREADS else 1):
        means = _mean_squares(entries, n)
        times = _centred(partial(squared_times, *entries))
        pairs = top_eigenpairs(times, n, min(n_components, n))
    return _scaled(distances, means, n_components, pairs, n_jobs)


def warm_scaling(
    distances: np.ndarray,
    n: int,
    n_components: int,
    start: np.ndarray | None = None,
    *,
    error: float = 1e-9,
    n_jobs: int | None = None,
) -> tuple[Scaling, np.ndarray]:
    """:func:`classical_scaling` up to the ``error``, by block Krylov iteration from nearby vectors.

    Beside the scaling, vectors (n, 8 or more) to start the next one with. From such a start it takes 4 to 6
    readings of the distances, where the iteration of a single vector takes 20.
    """
    entries = flat_entries(distances, n)
    width = COLUMNS * -(-(n_components + _GUARDS) // COLUMNS)
    if start is None:
        start = np.random.default_rng(0).uniform(-1, 1, (n, width))
    if n <= max(DENSE, 4 * width):
        return classical_scaling(distances, n, n_components, n_jobs=n_jobs), start

    def product(Q: np.ndarray) -> np.ndarray:
        blocks = (np.ascontiguousarray(Q[:, c : c + COLUMNS].T) for c in range(0, width, COLUMNS))
        return np.vstack([squared_times_block(*entries, block) for block in blocks]).T

    try:
        with threads(n_jobs if n > WORTH_THREADS else 1):
            values, vectors = block_eigenpairs(_centred(product), start, n_components, error=error)
    except NotConverged:
        return classical_scaling(distances, n, n_components, n_jobs=n_jobs), start
    pairs = values[:n_components], fixed_signs(vectors[:, :n_components])
    return _scaled(distances, _mean_squares(entries, n), n_components, pairs, n_jobs), vectors


def _centred(product: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """``x -> -1/2 H (D ∘ D) H x`` from ``x -> (D ∘ D) x``, for a vector or the columns of a block."""

    def times(x: np.ndarray) -> np.ndarray:
        found = product(x - x.mean(axis=0))
        return -0.5 * (found - found.mean(axis=0))

    return times


def _mean_squares(entries: tuple[np.ndarray, np.ndarray], n: int) -> np.ndarray:
    """Mean squared distance of each row to all: what tells at no cost whether all distances are finite."""
    means: np.ndarray = squared_times(*entries, np.ones(n)) / n
    amiss = int(np.count_nonzero(~np.isfinite(means)))
    hint = "Rows in separate components have no distance: join them, or map each component by itself."
    require(amiss == 0, "distances", "finite", f"{amiss} rows with others", hint)
    return means


def _scaled(
    distances: np.ndarray, means: np.ndarray, n_components: int, pairs, n_jobs: int | None
) -> Scaling:
    """Coordinates and bounds from the leading eigenpairs."""
    values, vectors = pairs
    n = len(means)
    with threads(n_jobs if n > WORTH_THREADS else 1):
        exact = (euclidean_defect(distances, n),) * 2 if n <= _EXACT else None
        defect = exact or _defect_bounds(distances, means, values)
    values, vectors = _padded(values, n_components), _padded(vectors.T, n_components).T
    positive, negative = values > _rounding(values), values[values < -_rounding(values)]
    if len(negative):
        listed = ", ".join(f"{value:.4g}" for value in negative)
        warn(
            f"Eigenvalues {listed} are negative: the distances are not Euclidean in {n_components} "
            "dimensions, and those coordinates are zero. Take fewer components.",
            NegativeEigenvalueWarning,
        )
    root = np.sqrt(np.where(positive, values, 0.0))
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=positive)
    embedding, projection = (np.ascontiguousarray(vectors * factor) for factor in (root, inverse))
    return Scaling(values, embedding, projection, means, defect)


def flat_entries(distances: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The entries as one flat array, and where each row starts: kernels never look at their length."""
    if distances.shape == (n, n) and n > 1 and distances.strides[1] == distances.itemsize:
        stride = distances.strides[0] // distances.itemsize  # rows may be parts of longer ones
        flat = as_strided(distances, ((n - 1) * stride + n,), (distances.itemsize,))
        return flat, square_starts(n, stride)
    n_pairs = n * (n - 1) // 2
    must_be = f"the {n_pairs:,} distances of {n:,} rows, in the order of scipy's pdist"
    require(distances.shape == (n_pairs,), "distances", must_be, f"shape {distances.shape}")
    return distances, condensed_starts(n)


def checked_distances(distances: np.ndarray) -> np.ndarray:
    """Condensed distances as finite doubles of at least 0; a square array as it is: half may be unset."""
    is_plain = type(distances) is np.ndarray and distances.dtype == np.float64
    if is_plain and distances.ndim == 2:
        return distances
    return as_numbers("distances", distances, None, least=0)


def _padded(rows: np.ndarray, count: int) -> np.ndarray:
    """More components than rows: the rest is zero."""
    return np.concatenate([rows, np.zeros((count - len(rows), *rows.shape[1:]))])


def _rounding(values: np.ndarray) -> float:
    """Eigenvalues this small are zero as far as double precision can tell."""
    return 1e-12 * float(np.abs(values).max(initial=0.0))


def _defect_bounds(distances: np.ndarray, means: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Bounds of ``sum |negative eigenvalues| / sum |eigenvalues|`` from the trace, the norm and the top.

    Let N be the sum of the magnitudes of the negative eigenvalues; of those that are not known, s is
    the sum, q the sum of squares, and none exceeds the last known one, t. Then ``q <= t (s + N) + N^2``
    bounds N from below, and Cauchy-Schwarz, ``s + 2 N <= sqrt(r q)`` for r unknown ones, from above.
    """
    n = len(means)
    largest = float(means.max())
    if largest == 0:
        return 0.0, 0.0
    unit = np.sqrt(largest)  # of distance: fourth powers of others may overflow
    means, values = means / largest, values / largest
    trace = 0.5 * float(means.sum())
    fourth = 2.0 * float(fourth_power_sums(*flat_entries(distances, n), unit).sum())
    squares = 0.25 * (fourth - 2.0 * n * float(means @ means) + float(means.sum()) ** 2)
    known = float(np.abs(values[values < 0]).sum())
    s = trace - float(values.sum())
    q = max(squares - float(values @ values), 0.0)
    top, rest = max(float(values[-1]), 0.0), max(n - 1 - len(values), 0)
    low = max((np.sqrt(max(top * top - 4 * (top * s - q), 0.0)) - top) / 2, -s, 0.0)
    high = max((np.sqrt(rest * q) - s) / 2, low)
    return _share(known + low, trace), _share(known + high, trace)


def _share(negative: float, trace: float) -> float:
    total = trace + 2.0 * negative
    return float(min(negative / total, 1.0)) if total > 0 else 0.0


def euclidean_defect(distances: np.ndarray, n: int) -> float:
    """The exact negative share of the spectrum, ``sum |negative| / sum |all|``. ``O(n^3)`` time.

    0 for Euclidean distances.

    >>> import numpy as np
    >>> euclidean_defect(np.array([3.0, 4.0, 5.0]), 3)
    0.0
    """
    from scipy.linalg import eigvalsh
    from scipy.spatial.distance import squareform

    distances = checked_distances(distances)
    flat_entries(distances, require_count("n", n))
    require_memory(32 * n * n, f"The whole spectrum of {n:,} rows", "Take a sample of them.")
    squared = (squareform(distances, checks=False) if distances.ndim == 1 else distances) ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    # Short, and next to kernels: two threads of BLAS take the cores from each other for a second.
    with one_blas_thread() if n <= _EXACT else nullcontext():
        values = eigvalsh(-0.5 * centred)
    values = values[np.abs(values) > 1e-10 * np.abs(values).max(initial=0.0)]
    return _share(float(np.abs(values[values < 0]).sum()), float(values.sum()))


def residual_variance(distances: np.ndarray, Z: np.ndarray, *, n_jobs: int | None = None) -> float:
    """``1 - corr(d, d')^2`` over all pairs, d' the distances between the rows of ``Z``. ``O(n^2)`` time."""
    Z = as_numbers("Z", Z)
    entries = flat_entries(checked_distances(distances), len(Z))
    with threads(n_jobs):
        given, mapped, mixed = combined_comoments(comoments(*entries, np.ascontiguousarray(Z.T)))
    return unexplained(given, mapped, mixed)


def unexplained(given: float, mapped: float, mixed: float) -> float:
    """``1 - correlation^2`` from sums of squares and products; 1 where nothing varies."""
    if given <= 0 or mapped <= 0:
        return 1.0
    correlation = mixed / np.sqrt(given) / np.sqrt(mapped)  # one after the other: their product may overflow
    return float(max(1.0 - correlation**2, 0.0))


# ---- The additive constant problem (Cailliez): what makes distances Euclidean if added to all of them ----


_COARSE, _FINE = 1e-2, 1e-5  # of an eigenvalue: the error of a vector, whose root has twice the digits
_FAR = 1e-2  # relative growth of the constant above which a coarse vector will do
_NONE = 1e-7  # of the largest squared distance times n: eigenvalues are told from zero by that
_CONVERGED = 1e-10  # relative growth of the constant at which it has its digits
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
    flat_entries(distances, require_count("n", n))
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
        last = _lowest(add_constant(distances, constant), n, last, _COARSE if far else _FINE)
        once, twice = (last @ _gram(entries, last) for entries in (np.sqrt(distances), distances))
        root = float(np.sqrt(max(4 * once**2 - 2 * twice, 0.0)) - 2 * once)
        if root <= constant * (1 + _CONVERGED) and not far:
            return max(root, constant)
        constant, far = max(root, constant), root > constant * (1 + _FAR)


def _gram(entries: np.ndarray, x: np.ndarray) -> np.ndarray:
    """``-1/2 H (D ∘ D) H x`` for the triangle of D."""
    product = squared_times(*flat_entries(entries, len(x)), x - x.mean())
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
    found = classical_scaling(add_constant(distances, constant), n, n_components, n_jobs=n_jobs)
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
