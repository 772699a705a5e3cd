"""Input rows: validated the same way by every method, and found again among the fitted ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import validate_data

from .._errors import InvalidInputError, require, require_one_of
from ..neighbors import EUCLIDEAN, Metric, checked_magnitude, hashes_of


def metric_names() -> list[str]:
    """Every metric that has a name."""
    from sklearn.metrics.pairwise import distance_metrics
    from sklearn.neighbors import VALID_METRICS

    known = {*distance_metrics(), *VALID_METRICS["brute"], "precomputed"}
    return sorted(known - {"nan_euclidean", "pyfunc"})


def checked_rows(estimator, X, *, metric: Metric = "euclidean", fitting: bool = True) -> np.ndarray:
    """``X`` as contiguous doubles: finite, dense, at least two rows to fit; square when precomputed."""
    if not callable(metric) and metric not in EUCLIDEAN:
        require_one_of("metric", metric, metric_names(), hint="Or give a function of two rows.")
    X = validate_data(
        estimator, X, dtype=np.float64, order="C", reset=fitting, ensure_min_samples=2 if fitting else 1
    )
    checked_magnitude(X)
    if fitting and metric == "precomputed":
        _check_distance_matrix(X)
    return X


def _check_distance_matrix(D: np.ndarray) -> None:
    n_rows, n_columns = D.shape
    name, hint = "A precomputed X", "Give the distances of every row to every row."
    require(n_rows == n_columns, name, "a square matrix of distances", D.shape, hint)
    if D.min() < 0:
        raise InvalidInputError(
            f"Negative values in data: distances are at least 0, got {D.min():.4g}. {hint}"
        )
    require(not D.diagonal().any(), name, "zero on its diagonal", float(np.abs(D.diagonal()).max()), hint)
    asymmetry = float(np.abs(D - D.T).max())
    require(asymmetry <= 1e-8 * D.max(), name, "symmetric", f"differences up to {asymmetry:.3g}",
            "Use (D + D.T) / 2 if they are rounding errors.")  # fmt: skip


def checked_components(n_components: int) -> int:
    is_count = isinstance(n_components, int | np.integer) and not isinstance(n_components, bool)
    require(is_count and n_components >= 1, "n_components", "a positive integer", n_components)
    return int(n_components)


@dataclass(frozen=True, slots=True)
class KnownRows:
    """The fitted rows, to be found again by their exact values. ``O(n)`` memory beyond the rows."""

    X: np.ndarray
    hashes: np.ndarray  # sorted
    order: np.ndarray  # row of each sorted hash, equal hashes in row order

    @classmethod
    def of(cls, X: np.ndarray) -> KnownRows:
        hashes = hashes_of(X)
        order = np.argsort(hashes, kind="stable")
        return cls(X, hashes[order], order)

    def find(self, X: np.ndarray) -> np.ndarray:
        """Number of the first fitted row with the same values as each row of ``X``, or -1."""
        hashes = hashes_of(X)
        first = np.searchsorted(self.hashes, hashes, side="left")
        last = np.searchsorted(self.hashes, hashes, side="right")
        found = np.full(len(X), -1)
        some = np.flatnonzero(last > first)
        rows = self.order[first[some]]
        same = (self.X[rows] == X[some]).all(axis=1)
        found[some[same]] = rows[same]
        for i in some[~same]:  # a collision of hashes: the row may be a later one of those
            others = self.order[first[i] + 1 : last[i]]
            equal = others[(self.X[others] == X[i]).all(axis=1)]
            found[i] = equal[0] if len(equal) else -1
        return found
