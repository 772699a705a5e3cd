"""Class-aware distances, a Gaussian for each class, and the classes that a new row may have.

Classes are numbers from 0, as ``quality.labels.class_codes`` gives them. A new row has none: a term that
needs its class becomes the expectation over ``p(c | x)``, found from the fitted rows alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import logsumexp

from .._core.errors import IsentropicWarning, require, require_number
from .._core.runtime import one_blas_thread, require_memory, row_blocks
from .._core.state import Array, Double, StateError, Value
from ..neighbors import class_votes

_LARGEST_EXPONENT = 300.0  # whose exponential, squared and summed over many, is still a number
_NUMBERS_AT_ONCE = 2**20  # in the differences of a block of rows and the class means
_NOISE = 1e-6  # of the mean variance within classes, on every diagonal
_SHRINKAGE = {"enough": 0.1, "few": 0.5, "one": 1.0}  # towards the pooled covariance, by rows of a class
_ROUNDING = 16 * float(np.finfo(float).eps)
_WIDE = 256  # columns: a table of no more is not worth another basis


def mean_square(distances: np.ndarray) -> float:
    """``mean d^2``, the width of :func:`class_aware_distances` where none is given; 1 where all are 0."""
    longest = float(np.max(distances, initial=0.0))
    if longest == 0:
        return 1.0
    return float(np.mean((distances / longest) ** 2)) * longest * longest


def class_aware_distances(
    distances: np.ndarray,
    share: np.ndarray | float,
    *,
    width: float,
    discount: float = 0.5,
    warns: bool = True,
) -> np.ndarray:
    """Supervised dissimilarities of ES-ISOMAP: below 1 within a class, growing without bound between classes.

    ``sqrt(1 - exp(-d^2 / width))`` within, ``exp(d^2 / 2 width) - discount`` between classes, and with
    ``share``, the probability that both rows are of one class (1 or 0 where both classes are known),
    the expectation of the two. Both grow with d. A discount of 0 keeps every row of the own class nearer than
    any other, so that a graph of nearest neighbours falls into classes. Exponents end at 300, with a warning,
    which ``warns=False`` leaves out.

    >>> import numpy as np
    >>> class_aware_distances(np.array([0.0, 1.0, 1.0]), np.array([1, 1, 0]), width=1.0).round(3).tolist()
    [0.0, 0.795, 1.149]
    """
    require_number("width", width, "a positive number in squared units of the distances", above=0)
    require_number("discount", discount, "a number in [0, 1]", most=1)
    share = np.broadcast_to(np.asarray(share, float), distances.shape)
    require(bool(((share >= 0) & (share <= 1)).all()), "share", "probabilities", share)
    ratio = (distances / np.sqrt(width)) ** 2
    exponent = np.minimum(ratio / 2, _LARGEST_EXPONENT)
    clipped = int(np.count_nonzero((ratio / 2 > _LARGEST_EXPONENT) & (share < 1)))
    if clipped and warns:
        what = f"{clipped} of {distances.size} distances are too long for their class-aware form"
        warnings.warn(f"{what}: exponents end at {_LARGEST_EXPONENT:g}. Take a larger width, or look for "
                      "outliers.", IsentropicWarning, stacklevel=2)  # fmt: skip
    return share * np.sqrt(-np.expm1(-ratio)) + (1 - share) * (np.exp(exponent) - discount)


# ---- a Gaussian for each class -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassGaussians:
    """Mean and shrunk covariance of every class: positive definite also for a class of one row."""

    means: Annotated[np.ndarray, Array("c", "m")]
    covariances: Annotated[np.ndarray, Array("c", "m", "m")]
    counts: Annotated[np.ndarray, Array("c", dtype=np.int64, above=0)]  # (c,) rows

    def _require_sound(self) -> None:
        try:
            for S in self.covariances:
                cholesky(S, lower=True)
        except LinAlgError:
            raise StateError("covariances", "must be positive definite") from None


@dataclass(frozen=True, slots=True)
class WideGaussians:
    """Gaussians of classes in coordinates of the span of all rows, for tables wider than long.

    Outside of the span all classes have the same small variance in every direction, which cancels in
    posteriors and in divergences: those of ``inside`` are those of the whole. Nothing of size m×m is held.
    """

    centre: Annotated[np.ndarray, Array("m")]
    basis: Annotated[np.ndarray, Array("r", "m")]  # (r, m) orthonormal rows
    noise: Annotated[float, Double(above=0)]  # variance in every direction outside of the span
    inside: Annotated[ClassGaussians, Value(ClassGaussians, c="c", m="r")]

    @property
    def means(self) -> np.ndarray:
        """(c, m)."""
        return self.centre + self.inside.means @ self.basis

    @property
    def variances(self) -> np.ndarray:
        """Diagonals of the covariances, (c, m). ``O(c m r^2)`` time."""
        outside = self.noise * (1.0 - (self.basis**2).sum(axis=0))
        return (
            np.stack([((S @ self.basis) * self.basis).sum(axis=0) for S in self.inside.covariances]) + outside
        )

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        """Rows in coordinates of the span; a product for each, so that no batch changes a bit."""
        Z = np.empty((len(X), len(self.basis)))
        for block in row_blocks(len(X), "classes of new rows", size=max(1, _NUMBERS_AT_ONCE // X.shape[1])):
            with one_blas_thread():
                Z[block] = (self.basis @ (X[block] - self.centre)[:, :, None])[:, :, 0]
        return Z


def class_gaussians(X: np.ndarray, classes: np.ndarray) -> ClassGaussians | WideGaussians:
    """``(1 - s) S_c + s S + e I``: covariances of the classes, shrunk towards that within classes, S.

    Divisors are ``n_c - 1`` and ``n - c``; s is 0.1 for classes of more than m + 1 rows, 0.5 for fewer and 1
    for one row; e is 1e-6 of the mean variance in S. Where no class varies, S is the covariance of all rows,
    and the identity where they are equal. ``O(n m^2)`` time, ``8 c m^2`` bytes; of tables with more columns
    than rows, and than 256, ``O(n^2 m)`` time and ``8 n (m + c n)`` bytes.
    """
    counts, (n, m) = np.bincount(classes), X.shape
    fits = len(classes) == n and bool(counts.all())
    require(fits, "classes", "numbers from 0, one a row, none left out", classes)
    rank = n if m > max(n, _WIDE) else m
    what = f"Gaussians of {len(counts)} classes of {m} features"
    require_memory(24 * len(counts) * rank * rank, what, "Take fewer features (PCA).")
    if rank == m:
        return _shrunk(X, classes, counts, m)[0]
    centre = X.mean(axis=0)
    with one_blas_thread():  # others would spend most of their time waiting
        basis = np.linalg.qr((X - centre).T)[0].T.copy()
    inside, noise = _shrunk((X - centre) @ basis.T, classes, counts, m)
    return WideGaussians(centre, basis, noise, inside)


def _shrunk(
    X: np.ndarray, classes: np.ndarray, counts: np.ndarray, n_features: int
) -> tuple[ClassGaussians, float]:
    """The Gaussians of rows that stand for those of a table of so many features, and e."""
    m = X.shape[1]
    means, scatters = np.empty((len(counts), m)), np.empty((len(counts), m, m))
    for block in row_blocks(len(counts), "covariances of classes", size=1):
        rows = X[classes == block.start]
        means[block.start] = rows.mean(axis=0)
        centred = rows - means[block.start]
        scatters[block.start] = centred.T @ centred
    pooled = _pooled(X, scatters.sum(axis=0) / max(len(X) - len(counts), 1))
    for c, count in enumerate(counts):
        s = _SHRINKAGE["one" if count == 1 else "enough" if count > n_features + 1 else "few"]
        scatters[c] = (1 - s) * scatters[c] / max(count - 1, 1) + s * pooled
    noise = float(_NOISE * np.trace(pooled) / n_features)
    scatters[:, np.arange(m), np.arange(m)] += noise
    return ClassGaussians(means, scatters, counts), noise


def _pooled(X: np.ndarray, within: np.ndarray) -> np.ndarray:
    if np.trace(within) > _ROUNDING**2 * (X**2).sum() / len(X):  # else it is rounding of the means
        return within
    centred = X - X.mean(axis=0)
    everywhere = centred.T @ centred / max(len(X) - 1, 1)
    return everywhere if np.trace(everywhere) > 0 else np.eye(X.shape[1])


# ---- the class of a new row --------------------------------------------------------------------------


def votes(near: np.ndarray, n_classes: int) -> np.ndarray:
    """``p(c | x)`` as the share of each class among neighbours of class ``near``, (b, k): k-NN votes.

    >>> import numpy as np
    >>> votes(np.array([[0, 1, 1, 1]]), 3).tolist()
    [[0.25, 0.75, 0.0]]
    """
    return class_votes(near, n_classes) / near.shape[1]


def posterior(X: np.ndarray, gaussians: ClassGaussians | WideGaussians) -> np.ndarray:
    """``p(c | x)`` proportional to ``n_c N(x; mu_c, S_c)``: quadratic discriminant analysis.

    ``O(c m^3 + b c m^2)`` time; by Gaussians in r coordinates ``O(c r^3 + b r (m + c r))``.
    """
    if isinstance(gaussians, WideGaussians):
        return posterior(gaussians.coordinates(X), gaussians.inside)
    (c, m), logs = gaussians.means.shape, np.empty((len(X), len(gaussians.counts)))
    roots = [cholesky(S, lower=True) for S in gaussians.covariances]
    inverses = np.stack([solve_triangular(root, np.eye(m), lower=True) for root in roots])
    heights = np.log(gaussians.counts) - [np.log(np.diag(root)).sum() for root in roots]
    for block in row_blocks(len(X), "classes of new rows", size=max(1, _NUMBERS_AT_ONCE // (c * m))):
        gaps = X[block, None] - gaussians.means
        with one_blas_thread():  # and a product for each row and class, so that no batch changes a bit
            apart = (inverses @ gaps[:, :, :, None])[:, :, :, 0]
        logs[block] = heights - (apart**2).sum(axis=2) / 2
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


# ---- terms that are constant on pairs of classes -----------------------------------------------------


def expected_between(shares: np.ndarray, between: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """``sum_c p(c | x) between[c, y_j]`` of new rows, (b, c), and fitted rows j."""
    return expected_shares(shares, between)[:, classes]


def expected_shares(shares: np.ndarray, between: np.ndarray) -> np.ndarray:
    """``shares @ between``, one sum after the other: no batch changes a bit."""
    total = np.zeros((len(shares), between.shape[1]))
    for c in range(len(between)):
        total += shares[:, c, None] * between[c]
    return total


def mean_between(between: np.ndarray, counts: np.ndarray, others: np.ndarray | None = None) -> float:
    """Mean of ``between[c, c']`` over the pairs of rows of two classes; 0 where there is one class.

    ``counts`` are the rows of each class, ``others`` those at the other end where these are not the same.

    What a divergence is divided by, to be in the units of distances: nats are several times longer.
    """
    pairs = np.outer(counts, counts if others is None else others).astype(float)
    np.fill_diagonal(pairs, 0.0)
    total = pairs.sum()
    return float((pairs * between).sum() / total) if total else 0.0
