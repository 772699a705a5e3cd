"""What makes the covariance of a few rows invertible: ``scale S + noise I``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._core.errors import require_number

REGULARIZATIONS = ("oas", "ledoit-wolf", "reference")
REFERENCE_NOISE = 0.001  # added to the diagonal by the published programs
_REFERENCE_EPS = 2.2e-16  # where the reciprocal of the condition number is below it
_FLOOR = 1e-12  # of the mean variance of the data: keeps a patch of equal rows finite

Regularization = float | str


@dataclass(frozen=True, slots=True)
class Moments:
    """What the regularisations ask of covariances S of patches of ``sizes`` rows, divisor ``sizes - 1``."""

    traces: np.ndarray  # tr(S)
    # Of S and of the squared distances to the mean over tr(S), 1 where that is 0: fourth powers may overflow.
    squares: np.ndarray  # sum of the squared entries of S
    fourths: np.ndarray  # sum over the rows of the fourth power of the distance to the mean
    smallest: np.ndarray  # least and largest eigenvalue of S
    largest: np.ndarray
    sizes: np.ndarray
    n_features: int


def checked_regularization(regularization: Regularization) -> Regularization:
    """A share of the mean variance, or the name of a rule."""
    if isinstance(regularization, str) and regularization in REGULARIZATIONS:
        return regularization
    must_be = f"a number of at least 0, or one of {', '.join(REGULARIZATIONS)}"
    return require_number("regularization", regularization, must_be)


def noise_floor(X: np.ndarray) -> float:
    """The least noise: 1e-12 of the mean variance of the features; 1 where no feature varies."""
    variance = float(X.var(axis=0, ddof=1).mean())
    return _FLOOR * variance if variance > 0 else 1.0


def scale_and_noise(
    regularization: Regularization, S: Moments, floor: float
) -> tuple[np.ndarray, np.ndarray]:
    """``scale`` and ``noise`` of each patch: its covariance becomes ``scale S + noise I``.

    A number c: ``noise = c tr(S)/m``. ``"oas"``, ``"ledoit-wolf"``: shrinkage r towards a multiple of the
    identity by the formulas of those names, ``scale = 1 - r``, ``noise = r tr(S)/m``. ``"reference"``:
    0.001, only where S is singular as far as double precision can tell. Never less than ``floor``, nor than
    1e-12 of the mean variance of the patch, which a row far from all others makes large.
    """
    mean_variances = S.traces / S.n_features
    shrinkage = np.zeros(len(mean_variances))
    if regularization == "reference":
        # a singular matrix of m rows has eigenvalues of up to about m eps in place of zero
        singular = S.smallest <= S.n_features * _REFERENCE_EPS * S.largest
        noise = np.where(singular, REFERENCE_NOISE, 0.0)
    elif isinstance(regularization, str):
        shrinkage = _oas(S) if regularization == "oas" else _ledoit_wolf(S)
        noise = shrinkage * mean_variances
    else:
        noise = float(regularization) * mean_variances
    return 1.0 - shrinkage, np.maximum(noise, np.maximum(floor, _FLOOR * mean_variances))


def _oas(S: Moments) -> np.ndarray:
    """Oracle approximating shrinkage (Chen, Wiesel, Eldar and Hero 2010), as scikit-learn has it."""
    m = S.n_features
    if m == 1:
        return np.zeros(len(S.traces))
    mean_square, squared_mean = S.squares / m**2, (S.traces > 0) / m**2
    above = mean_square + squared_mean
    below = (S.sizes + 1) * (mean_square - squared_mean / m)
    return np.minimum(np.divide(above, below, out=np.ones_like(above), where=below > 0), 1.0)


def _ledoit_wolf(S: Moments) -> np.ndarray:
    """Ledoit and Wolf (2004): the variance of S over its distance to the target; divisor ``sizes``."""
    m, n = S.n_features, S.sizes
    unbiased = (n - 1) / n
    squares, traces = unbiased**2 * S.squares, unbiased * (S.traces > 0)
    distance = np.maximum(squares - traces**2 / m, 0.0) / m
    variance = np.minimum((S.fourths / n - squares) / (m * n), distance)
    return np.divide(np.maximum(variance, 0.0), distance, out=np.zeros_like(distance), where=distance > 0)
