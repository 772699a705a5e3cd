"""Centred rows: principal axes, units of length, and orthogonal Procrustes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr, svd

from .._core.arguments import as_numbers, as_positions
from .._core.errors import require
from .._core.runtime import one_blas_thread

RANK = 1e-10  # of the largest singular value: what is below is rounding
_WORTH_THREADS = 10**9  # products: a second of one core, or a few of them


@dataclass(frozen=True, slots=True)
class Moments:
    """Number, mean and covariance (divisor n - 1) of rows that are not there themselves."""

    n: int
    mean: np.ndarray  # (m,)
    covariance: np.ndarray  # (m, m)

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Variances along the principal axes, largest first, none below 0; and the axes (m, m)."""
        values, vectors = eigh(self.covariance)
        return np.maximum(values[::-1], 0.0), np.ascontiguousarray(vectors.T[::-1])


@dataclass(frozen=True, slots=True)
class CentredRows:
    """Rows around their mean, in a unit in which no product of a few numbers overflows or vanishes."""

    rows: np.ndarray  # (n, m): (x - mean) / unit, NaN where x is
    mean: np.ndarray  # (m,) of what is there
    unit: float  # a power of two, so that dividing rounds nothing

    @classmethod
    def of(cls, X: np.ndarray) -> CentredRows:
        there = ~np.isnan(X)
        # From a row first: an offset of the columns then costs no digits of what is left.
        origin = X[there.argmax(axis=0), np.arange(X.shape[1])]
        rows = X - origin
        middle = rows.sum(axis=0, where=there) / there.sum(axis=0)
        rows -= middle
        largest = np.abs(rows).max(initial=0.0, where=there)
        exponent = int(np.frexp(largest)[1])
        return cls(np.ldexp(rows, -exponent), origin + middle, float(np.ldexp(1.0, exponent)))

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Singular values of the rows, largest first, and the principal axes (r, m), r the rank."""
        rows = self.rows
        with short_products(rows.size * min(rows.shape)):
            if len(rows) > rows.shape[1]:
                rows = qr(rows, mode="r", check_finite=False)[0][: rows.shape[1]]
            _, values, axes = svd(rows, full_matrices=False, check_finite=False)
        rank = int(np.count_nonzero(values > RANK * values[0]))
        return values[:rank], axes[:rank]

    def explained(self, components: np.ndarray) -> np.ndarray:
        """The share of the variance along each direction, what earlier ones explain left out."""
        basis, triangle = qr(components.T, mode="economic")
        sizes = np.abs(np.diag(triangle))
        squares = ((self.rows @ basis) ** 2).sum(axis=0) * (sizes > RANK * sizes.max(initial=0.0))
        total = (self.rows**2).sum()
        return squares / total if total > 0 else np.zeros(len(components))


def short_products(n_products: int) -> AbstractContextManager[None]:
    """Keep BLAS on one thread where it has less to do than it takes to wake another."""
    return one_blas_thread() if n_products < _WORTH_THREADS else nullcontext()


# ---- Units and orthogonal Procrustes -------------------------------------------------------------


# ---- Units of length: powers of two by which rows and distances are scaled before they are squared ----
#
# A power of two rounds nothing. Data of an ordinary size stay as they are, in every bit.


_ORDINARY = 100  # sizes from 2^-100 to 2^100 stay as they are
ROOM = 400  # others come to 2^400: squares, summed over many pairs, are far from overflow, tiny ones from 0
_BEYOND = 1025  # exponent of a difference of two numbers that is itself none


def unit_exponent(size: float, degree: int = 1) -> int:
    """The exponent of the unit in which what is of this ``size`` can be squared ``degree`` times; 0 for most.

    >>> unit_exponent(7.0), unit_exponent(0.0), unit_exponent(2.0**600), unit_exponent(2.0**-600)
    (0, 0, 201, -999)
    """
    exponent = _BEYOND if np.isinf(size) else int(np.frexp(size)[1])
    return 0 if abs(exponent) <= _ORDINARY else exponent - ROOM // degree


def rows_in_unit(X: np.ndarray, degree: int = 1) -> tuple[np.ndarray, int]:
    """Finite rows in a unit in which their differences can be squared (``degree`` times), and its exponent.

    What is constant is 0 then, if the unit is not 1: no difference depends on it, and it may be too large.

    >>> import numpy as np
    >>> rows, exponent = rows_in_unit(np.array([[1e300, 7.0], [3e300, 7.0]]))
    >>> bool((np.ldexp(rows, exponent) == [[1e300, 0.0], [3e300, 0.0]]).all())
    True
    """
    if X.size == 0:
        return X, 0
    with np.errstate(over="ignore"):
        spans = X.max(axis=0) - X.min(axis=0)
    exponent = unit_exponent(float(spans.max()), degree)
    return (X, 0) if exponent == 0 else (np.ldexp(np.where(spans > 0, X, 0.0), -exponent), exponent)


def aligned(Z: np.ndarray, onto: np.ndarray, rows: np.ndarray | slice | None = None) -> np.ndarray:
    """``Z`` turned, mirrored and moved, at its own size, so that its ``rows`` lie nearest to ``onto``.

    The least sum of squared distances over all rigid motions (Schönemann). ``rows`` are all by default.

    >>> import numpy as np
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> bool(np.allclose(aligned(Z[:, ::-1] + 5.0, Z), Z))
    True
    """
    Z, onto = as_numbers("Z", Z), as_numbers("onto", onto)
    rows = rows if rows is None or isinstance(rows, slice) else as_positions("rows", rows, len(Z))
    chosen = Z if rows is None else Z[rows]
    require(chosen.shape == onto.shape, "onto", f"a map of shape {chosen.shape}", f"shape {onto.shape}")
    middle, there = _mean(chosen), _mean(onto)
    return (Z - middle) @ rotation(_in_unit(chosen - middle), _in_unit(onto - there)) + there


def rotation(Z: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """The rotation or mirroring R of the least ``|Z R - onto|``: ``U V'`` of ``Z' onto = U S V'``, centred.

    >>> import numpy as np
    >>> rotation(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [2.0, 0.0]])).round(9).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    left, _, right = np.linalg.svd(Z.T @ onto)
    return left @ right


def procrustes_correlation(Z: np.ndarray, other: np.ndarray) -> float:
    """1 where two maps of the same rows are one up to motion, mirroring and size; 0 where nothing agrees.

    ``sum of the singular values of Z'W / (|Z| |W|)``, both centred; its square is 1 less the
    disparity of Procrustes. Maps of one point agree.

    >>> import numpy as np
    >>> Z = np.random.default_rng(0).normal(size=(20, 2))
    >>> round(procrustes_correlation(Z, 3 * Z[:, ::-1] + 1), 9)
    1.0
    """
    Z, other = as_numbers("Z", Z), as_numbers("other", other)
    require(len(Z) == len(other) > 0, "other", f"a map of the same {len(Z)} rows", other.shape)
    Z, other = _in_unit(around_mean(Z)), _in_unit(around_mean(other))
    sizes = float(np.linalg.norm(Z)), float(np.linalg.norm(other))
    if 0.0 in sizes:
        return float(sizes[0] == sizes[1])
    singular = np.linalg.svd((Z / sizes[0]).T @ (other / sizes[1]), compute_uv=False)
    return float(min(singular.sum(), 1.0))


def around_mean(Z: np.ndarray) -> np.ndarray:
    """Rows around their mean; exactly 0 where all are at one place."""
    return Z - _mean(Z)


def _mean(Z: np.ndarray) -> np.ndarray:
    """The mean of the rows, which is that of equal ones only up to rounding."""
    return Z[0] if (Z == Z[0]).all() else Z.mean(axis=0)


def _in_unit(rows: np.ndarray) -> np.ndarray:
    """Centred rows in a unit in which they can be squared; it matters to no angle."""
    return np.ldexp(rows, -unit_exponent(float(np.abs(rows).max(initial=0.0))))
