"""DD-HDS: errors of distances, weighed by how near a pair is in the data or in the map.

With the normal distribution function Phi, a pair costs ``|d - e| (1 - Phi((min(d, e) - mu) / sigma))``; the
absolute value is rounded off, ``sqrt((d - e)^2 + smooth^2)``, so that there is a slope everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from .row_slopes import add_slopes, squared_gap

_ROOT_HALF, _ROOT_TWO_PI = math.sqrt(0.5), math.sqrt(2.0 * math.pi)


@kernel
def near_gap(d, e, shape):
    """What a pair costs, and its first and second derivative by e; ``shape = [mu, sigma, smooth]``."""
    mu, sigma, smooth = shape[0], shape[1], shape[2]
    x = (min(d, e) - mu) / sigma
    share = 0.5 * math.erfc(_ROOT_HALF * x)
    gap = e - d
    size = np.sqrt(gap * gap + smooth * smooth)
    slope = gap / size * share
    bend = smooth * smooth / (size * size * size) * share
    if e < d:
        density = np.exp(-0.5 * x * x) / (_ROOT_TWO_PI * sigma)
        slope -= size * density
        bend += (size * x / sigma - 2.0 * gap / size) * density
    return size * share, slope, bend


@kernel
def near_gaps_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """A row's own part: the sum over ``near``; ``weights`` are the distances d that are wanted."""
    gap = np.empty(len(z))
    gradient[:] = 0.0
    curvature[:] = 0.0
    value = 0.0
    for t in range(len(weights)):
        square = squared_gap(z, Z, near[t] if len(near) else t, 0.0, gap)
        e = np.sqrt(square)
        cost, slope, bend = near_gap(weights[t], e, shape)
        value += cost
        if e > 0.0:
            force = 0.5 * slope / e
            add_slopes(force, 0.25 * bend / square - 0.5 * force / square, gap, gradient, curvature)
    return value
