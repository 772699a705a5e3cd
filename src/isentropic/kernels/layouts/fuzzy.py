"""Smooth nearest-neighbour distances, as UMAP has them: a width for every row, and the weights it gives."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows

_MOST_STEPS = 200
_LEAST_WIDTH = 1e-3  # of the mean distance of a row, itself counted: weights of more ties than the sum allows


@kernel
def _sharpness(beyond, target, most):
    """The u with ``sum_j exp(-u beyond_j) = target``, at most ``most``.

    The sum is convex and falls with u, so that Newton's steps from u = 0 never go too far.
    """
    u = 0.0
    for _ in range(_MOST_STEPS):
        total, slope = -target, 0.0
        for j in range(len(beyond)):
            weight = np.exp(-u * beyond[j])
            total += weight
            slope += beyond[j] * weight
        if slope <= 0.0:
            return most
        step = total / slope
        u += step
        if u >= most:
            return most
        if step <= 1e-14 * u:
            return u
    return u


@parallel_kernel
def smooth_memberships(distances, out):
    """``exp(-(d_j - rho)_+ / sigma)``, rho the least positive distance of a row, sigma such that they sum
    to ``log2 k``, but for rows with so many neighbours no farther than rho that none does."""
    n, k = distances.shape
    target = np.log2(k)
    for i in rows(n):
        near, mean = np.inf, 0.0
        for j in range(k):
            mean += distances[i, j] / (k + 1)
            if 0.0 < distances[i, j] < near:
                near = distances[i, j]
        beyond = np.zeros(k)  # in units of the mean, so that no scale of the data matters
        for j in range(k):
            if distances[i, j] > near:
                beyond[j] = (distances[i, j] - near) / mean
        u = _sharpness(beyond, target, 1.0 / _LEAST_WIDTH)
        for j in range(k):
            out[i, j] = np.exp(-u * beyond[j])
