"""Divergences between patches by kernel density estimates, feature by feature, on one grid.

The weight of a pair is the squared norm of the m-vector of ``1/2L sum (p - q) log(p/q)`` over the L points
of the grid: the tails of the densities decide it, so they are followed down to 1e-300.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from .._core.errors import require_number
from .._core.runtime import require_memory, row_blocks
from ..kernels._jit import threads
from ..kernels.densities import (
    FIXED,
    SCOTT,
    SCOTT_HISTOGRAM,
    SILVERMAN,
    add_squared_divergences,
    patch_densities,
)

BANDWIDTHS = {"silverman": SILVERMAN, "scott": SCOTT, "scott-histogram": SCOTT_HISTOGRAM}
# What the published programs do: a bandwidth below the first number becomes the second.
REFERENCE_FLOORS = {"silverman": (0.05, 0.05), "scott": (0.05, 0.1)}
_NARROWEST = 0.01  # of the step of the grid: a narrower bump falls between its points
_EDGES_AT_ONCE = 4096
_WORTH_THREADS = 500_000  # numbers a feature: below that, waking threads costs more than the work


def checked_bandwidth(bandwidth: float | str) -> tuple[int, float]:
    """The code of a rule and, for a number, the bandwidth itself."""
    if isinstance(bandwidth, str) and bandwidth in BANDWIDTHS:
        return BANDWIDTHS[bandwidth], 0.0
    must_be = f"a positive number, or one of {', '.join(BANDWIDTHS)}"
    return FIXED, require_number("bandwidth", bandwidth, must_be, above=0)


def density_unit(X: np.ndarray) -> float:
    """The root mean variance of the features that vary; 1 where none does.

    In multiples of it, densities and what keeps them above 0 do not depend on the scale of a table.
    """
    variances = X.var(axis=0)
    varying = variances[variances > 0]
    return float(np.sqrt(varying.mean())) if len(varying) else 1.0


def bandwidth_floors(
    X: np.ndarray, bandwidth: float | str, floor: float | str, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """For every feature, ``below`` and ``least``: a bandwidth under ``below`` becomes ``least``.

    ``floor`` is a share of the standard deviation of each feature over all rows, or ``"reference"``.
    """
    if isinstance(floor, str) and floor == "reference":
        below, least = (np.full(X.shape[1], f) for f in REFERENCE_FLOORS.get(str(bandwidth), (0.0, 0.0)))
    else:
        share = require_number("bandwidth_floor", floor, "a number of at least 0 or 'reference'")
        below = least = share * X.std(axis=0) * (not isinstance(bandwidth, Real))
    narrowest = _NARROWEST * step if step > 0 else 1.0  # without a grid all densities are equal anyway
    return np.maximum(below, narrowest), np.maximum(least, narrowest)


def kde_divergences(
    X: np.ndarray,
    indptr: np.ndarray,
    members: np.ndarray,
    heads: np.ndarray,
    tails: np.ndarray,
    *,
    grid: tuple[float, float, int],
    bandwidth: float | str,
    floors: tuple[np.ndarray, np.ndarray],
    n_jobs: int | None = None,
) -> np.ndarray:
    """Squared norm of the symmetrised divergences of all features, for pairs of patches.

    Patch i has the rows ``members[indptr[i]:indptr[i + 1]]`` of X; ``grid`` is (first, last, L).
    ``O(m L (sum of patch sizes + pairs))`` time, ``16 L`` bytes a patch.
    """
    rule, fixed = checked_bandwidth(bandwidth)
    low, high, n_bins = grid
    step = (high - low) / (n_bins - 1)
    n_patches, weights = len(indptr) - 1, np.zeros(len(heads))
    what = f"Densities of {n_patches:,} patches on {n_bins:,} points"
    require_memory(16 * n_patches * n_bins, what, "Take a smaller n_bins.")
    densities, logs = np.empty((n_patches, n_bins)), np.empty((n_patches, n_bins))
    columns = np.ascontiguousarray(X.T)
    n_jobs = n_jobs if n_bins * (len(members) + len(heads)) > _WORTH_THREADS else 1
    for feature in row_blocks(len(columns), "densities", size=1):
        f = feature.start
        for block in row_blocks(n_patches, "patches", size=64, adapt=True):
            with threads(n_jobs):
                patch_densities(columns[f], indptr[block.start : block.stop + 1], members, rule, fixed,
                                floors[0][f], floors[1][f], low, step, densities[block],
                                logs[block])  # fmt: skip
        for block in row_blocks(len(heads), "divergences", size=_EDGES_AT_ONCE, adapt=True):
            with threads(n_jobs):
                add_squared_divergences(densities, logs, heads[block], tails[block], weights[block])
    return weights
