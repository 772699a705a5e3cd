"""A row's own part of costs with Gaussian weights: SNE, of one scale or several."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..layouts.gaussian_mixtures import shares_of
from .row_slopes import squared_gap


@kernel
def _log_sums(z, Z, far, precisions, least, logs, slopes, bends):
    """``log sum_j exp(-a (r_j^2 - least) / 2)`` over ``far`` for each precision a, and its derivatives."""
    gap, d = np.empty(len(z)), len(z)
    logs[:], slopes[:], bends[:] = 0.0, 0.0, 0.0
    for t in range(len(far) if len(far) else len(Z)):
        square = squared_gap(z, Z, far[t] if len(far) else t, 0.0, gap)
        for h in range(len(precisions)):
            weight = np.exp(-0.5 * precisions[h] * (square - least))
            logs[h] += weight
            for c in range(d):
                slopes[h, c] -= precisions[h] * weight * gap[c]
                for e in range(c + 1):
                    bends[h, c, e] += precisions[h] * precisions[h] * weight * gap[c] * gap[e]
    for h in range(len(precisions)):
        for c in range(d):
            slopes[h, c] /= logs[h]
            for e in range(c + 1):
                bends[h, c, e] = bends[h, c, e] / logs[h] - slopes[h, c] * slopes[h, e]
            bends[h, c, c] -= precisions[h]
        logs[h] = np.log(logs[h])


@kernel
def gaussians_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """SNE: ``-sum_j p_j log mean_h q^h_j``, ``q^h_j = exp(-a_h r_j^2 / 2) / sum``, precisions in ``shape``.

    The first sum is over ``near``, that of a Gaussian over ``far``. With ``l_h = log q^h`` and ``s_h`` the
    share of a Gaussian in the mean, the slope of its logarithm is ``sum s_h l_h'``, the bend
    ``sum s_h (l_h'' + l_h' l_h'^T)`` less the product of the slope with itself.
    """
    n_scales, d = len(shape), len(z)
    gap, slope, one = np.empty(d), np.empty(d), np.empty((n_scales, d))
    logs, slopes, bends = np.empty(n_scales), np.empty((n_scales, d)), np.empty((n_scales, d, d))
    here, shares = np.empty(n_scales), np.empty(n_scales)
    least = np.inf  # of the squares, so that not all weights vanish
    for t in range(len(far) if len(far) else len(Z)):
        least = min(least, squared_gap(z, Z, far[t] if len(far) else t, 0.0, gap))
    _log_sums(z, Z, far, shape, least, logs, slopes, bends)
    gradient[:], curvature[:] = 0.0, 0.0
    value = 0.0
    for t in range(len(weights)):
        square = squared_gap(z, Z, near[t] if len(near) else t, 0.0, gap) - least
        slope[:] = 0.0
        for h in range(n_scales):
            here[h] = np.exp(-0.5 * shape[h] * square - logs[h])
        value -= weights[t] * (shares_of(square, here, shape, logs, shares) - np.log(n_scales))
        for h in range(n_scales):
            for c in range(d):
                one[h, c] = -shape[h] * gap[c] - slopes[h, c]
                slope[c] += shares[h] * one[h, c]
        for c in range(d):
            gradient[c] -= weights[t] * slope[c]
            for e in range(c + 1):
                bend = -slope[c] * slope[e]
                for h in range(n_scales):
                    bend += shares[h] * (one[h, c] * one[h, e] - bends[h, c, e])
                    if c == e:
                        bend -= shares[h] * shape[h]
                curvature[c, e] -= weights[t] * bend
    return value
