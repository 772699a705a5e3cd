"""Which metrics there are, and what is refused as a table or a matrix of distances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._core.errors import InvalidInputError, require, require_one_of
from .._core.gower import Gower
from .gower import is_gower

Metric = str | Callable[..., float] | Gower

EUCLIDEAN = ("euclidean", "l2")
LARGEST = 1e150  # number whose square, and sums of such, are finite
CITY_BLOCK = ("cityblock", "l1", "manhattan")
BY_DIFFERENCES = (*EUCLIDEAN, "sqeuclidean", *CITY_BLOCK, "chebyshev", "minkowski")  # of two rows

# Offered by the libraries, but no distances of rows as they are: these need parameters or coordinates of
# a certain kind, or put equal rows apart.
_NOT_OFFERED = ("haversine", "mahalanobis", "nan_euclidean", "pyfunc", "russellrao", "seuclidean")


def checked_magnitude(X: np.ndarray, *, metric: Metric = "euclidean", fitting: bool = True) -> np.ndarray:
    """Refuse numbers whose squares overflow or vanish: distances between them would be infinite or zero.

    Methods square a distance: one that is a square already leaves half of the range. A new row may be small:
    it is compared with rows that are not. Gower's distance has no unit, and takes NaN for a missing value.
    """
    if is_gower(metric):
        X, fitting = X[~np.isnan(X)], False
    largest = float(max(X.max(initial=0.0), -X.min(initial=0.0)))
    least, most = (1e-70, 1e75) if metric == "sqeuclidean" else (1e-140, LARGEST)
    hint = "Rescale the features, by scaling='standard' for example."
    require(largest < most, "X", f"of magnitude below {most:.0e}".replace("+", ""), largest, hint)
    vanishes = fitting and 0 < largest < least
    require(not vanishes, "X", f"of magnitude above {least:.3g}, or zero", largest, hint)
    return X


def checked_metric(metric: Metric) -> Metric:
    """Refuse a name that is no metric; a function is taken as one."""
    if (
        not callable(metric)
        and not is_gower(metric)
        and not (isinstance(metric, str) and metric in EUCLIDEAN)
    ):
        require_one_of("metric", metric, metric_names(), hint="Or give a function of two rows.")
    return metric


def metric_names() -> list[str]:
    """Every metric that has a name."""
    from sklearn.metrics.pairwise import distance_metrics
    from sklearn.neighbors import VALID_METRICS

    known = {*distance_metrics(), *VALID_METRICS["brute"], "precomputed", "gower"}
    return sorted(known.difference(_NOT_OFFERED))


def checked_distance_matrix(D: np.ndarray) -> np.ndarray:
    """Refuse what is no square, symmetric matrix of distances with a zero diagonal."""
    n_rows, n_columns = D.shape
    name, hint = "A precomputed X", "Give the distances of every row to every row."
    require(n_rows == n_columns, name, "a square matrix of distances", D.shape, hint)
    checked_distance_rows(D)
    require(not D.diagonal().any(), name, "zero on its diagonal", float(np.abs(D.diagonal()).max()), hint)
    apart = asymmetry(D)
    require(apart <= 1e-8 * D.max(), name, "symmetric", f"differences up to {apart:.3g}",
            "Use (D + D.T) / 2 if they are rounding errors.")  # fmt: skip
    return D


def asymmetry(D: np.ndarray) -> float:
    """``max |D - D'|``, in parts, so that no second matrix is held."""
    parts = (slice(start, start + 256) for start in range(0, len(D), 256))
    return max((float(np.abs(D[part] - D[:, part].T).max()) for part in parts), default=0.0)


def checked_distance_rows(D: np.ndarray) -> np.ndarray:
    """Refuse negative distances among given ones."""
    if D.min(initial=0.0) < 0:
        raise InvalidInputError(
            f"Negative values in data: distances must be at least 0, got {D.min():.4g}. "
            "Give the distances to every fitted row."
        )
    return D


def metric_name(metric: Metric) -> str:
    if is_gower(metric):
        return "gower"
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")
