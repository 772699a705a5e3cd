"""A row's own part of stress, and where the search for its place starts."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from .row_slopes import add_slopes, squared_gap


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
