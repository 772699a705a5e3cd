"""The cost of one row and its gradient: distances to fixed rows under the kinds of stress."""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel, parallel_kernel, rows

# ---- What the costs of a row have in common: gaps to other rows, terms of slope and curvature ----
#
# A loop that adds up writes to no array: else the compiler keeps two versions of it, which add up in another
# order, and takes one by where the arrays happen to lie in memory.


@kernel
def squared_gap(z, Z, j, start, gap):
    """``start + |z - z_j|^2``, with ``gap = z - z_j``."""
    for c in range(len(z)):
        gap[c] = z[c] - Z[j, c]
    square = start
    for c in range(len(z)):
        square += gap[c] * gap[c]
    return square


@kernel
def add_slopes(force, bend, gap, gradient, curvature):
    """Add the derivatives of ``f(|gap|^2)`` by z, with ``force = f'`` and ``bend = f''``."""
    for c in range(len(gap)):
        gradient[c] += 2.0 * force * gap[c]
        curvature[c, c] += 2.0 * force
        for e in range(c + 1):
            curvature[c, e] += 4.0 * bend * gap[c] * gap[e]


# ---- DD-HDS: errors of distances, weighed by how near a pair is in the data or in the map --------
#
# With the normal distribution function Phi, a pair costs ``|d - e| (1 - Phi((min(d, e) - mu) / sigma))``; the
# absolute value is rounded off, ``sqrt((d - e)^2 + smooth^2)``, so that there is a slope everywhere.


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


# ---- A row's own part of stress, and where the search for its place starts -----------------------


@kernel
def stress_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """Stress: ``sum_j w_j (r_j - g_j)^2``; ``weights`` holds the k weights w, then the k distances g.

    The sum is over ``near``. A row at the place of another is pushed nowhere by it.
    """
    k = len(weights) // 2
    gap = np.empty(len(z))
    gradient[:] = 0.0
    curvature[:] = 0.0
    value = 0.0
    for t in range(k):
        square = squared_gap(z, Z, near[t] if len(near) else t, 0.0, gap)
        r, w, g = np.sqrt(square), weights[t], weights[k + t]
        value += w * (r - g) * (r - g)
        if r > 0.0:
            add_slopes(w * (1.0 - g / r), 0.5 * w * g / (r * square), gap, gradient, curvature)
    return value


@parallel_kernel
def stress_starts(distances, Z, inverse, out):
    """Starts of new rows (b, 2, d): beside the nearest reference, and where lateration puts them.

    The first is the place of the nearest reference, moved by the distance to it along the first axis. The
    second solves ``|z - z_j|^2 = g_j^2``, less its mean over all references, by least squares: ``inverse``
    (d, r) is the pseudo-inverse of ``2 Z``, the references centred.
    """
    n_rows, n_references = distances.shape
    d = Z.shape[1]
    squares = np.zeros(n_references)
    for j in range(n_references):
        for c in range(d):
            squares[j] += Z[j, c] * Z[j, c]
    for i in rows(n_rows):
        nearest = 0
        for j in range(n_references):
            if distances[i, j] < distances[i, nearest]:
                nearest = j
        for c in range(d):
            out[i, 0, c] = Z[nearest, c]
            total = 0.0
            for j in range(n_references):
                total += inverse[c, j] * (squares[j] - distances[i, j] * distances[i, j])
            out[i, 1, c] = total
        out[i, 0, 0] += distances[i, nearest]
    return out
