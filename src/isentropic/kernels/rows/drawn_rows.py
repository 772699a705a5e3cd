"""A row's own part of costs over drawn rows: UMAP, PaCMAP, TriMap."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .row_slopes import add_slopes, squared_gap


@kernel
def fuzzy_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """UMAP: ``sum_j w_j log(1 + p_j) + c sum_l log(1 + 1 / p_l)``, ``p = a u^b`` with ``u = r^2 + e``.

    The first sum is over ``near``, the second over the m rows of ``far``; ``c = s sum_j w_j / m``, and
    ``shape = [a, b, s, e]``, with e so small that only rows at one place notice.
    """
    a, b = shape[0], shape[1]
    gap = np.empty(len(z))
    gradient[:] = 0.0
    curvature[:] = 0.0
    value, total = 0.0, 0.0
    for t in range(len(weights)):
        u = squared_gap(z, Z, near[t] if len(near) else t, shape[3], gap)
        p = a * u**b
        share = p / (1.0 + p)
        value += weights[t] * np.log1p(p)
        total += weights[t]
        force = weights[t] * b * share / u
        add_slopes(force, force * (b * (1.0 - share) - 1.0) / u, gap, gradient, curvature)
    m = len(far) if len(far) else len(Z)
    push = shape[2] * total / m
    for t in range(m):
        u = squared_gap(z, Z, far[t] if len(far) else t, shape[3], gap)
        p = a * u**b
        share = p / (1.0 + p)
        value += push * np.log1p(1.0 / p)
        force = push * b * (share - 1.0) / u
        bend = push * b * (1.0 + share * (b * (1.0 - share) - 1.0)) / (u * u)
        add_slopes(force, bend, gap, gradient, curvature)
    return value


@kernel
def pairs_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """PaCMAP: ``sum_j w_j u_j / (10 + u_j) + c sum_l 1 / (1 + u_l)``, ``u = 1 + r^2``.

    The first sum is over ``near``, the second over the m rows of ``far``; ``c = s / m``, ``shape = [s]``.
    """
    gap = np.empty(len(z))
    gradient[:] = 0.0
    curvature[:] = 0.0
    value = 0.0
    for t in range(len(weights)):
        whole = squared_gap(z, Z, near[t] if len(near) else t, 11.0, gap)
        value += weights[t] * (1.0 - 10.0 / whole)
        force = weights[t] * 10.0 / (whole * whole)
        add_slopes(force, -2.0 * force / whole, gap, gradient, curvature)
    m = len(far) if len(far) else len(Z)
    for t in range(m):
        whole = squared_gap(z, Z, far[t] if len(far) else t, 2.0, gap)
        value += shape[0] / m / whole
        force = -shape[0] / m / (whole * whole)
        add_slopes(force, -2.0 * force / whole, gap, gradient, curvature)
    return value


@kernel
def triplets_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """TriMap: ``sum_t w_t a_t / (a_t + b_t)``, a and b being ``1 + r^2`` to the t-th near and far row.

    With N = b a' - a b' and S = a' + b' the second derivatives are
    ``2 (b - a) I / (a + b)^2 - (N S' + S N') / (a + b)^3``.
    """
    d = len(z)
    to_near, to_far = np.empty(d), np.empty(d)
    gradient[:] = 0.0
    curvature[:] = 0.0
    value = 0.0
    for t in range(len(weights)):
        if weights[t] > 0.0:
            a = squared_gap(z, Z, near[t] if len(near) else t, 1.0, to_near)
            b = squared_gap(z, Z, far[t] if len(far) else t, 1.0, to_far)
            whole = a + b
            value += weights[t] * a / whole
            scale = weights[t] / (whole * whole)
            for c in range(d):
                slope = 2.0 * (b * to_near[c] - a * to_far[c])
                both = 2.0 * (to_near[c] + to_far[c])
                gradient[c] += scale * slope
                curvature[c, c] += 2.0 * scale * (b - a)
                for e in range(c + 1):
                    other = 2.0 * (b * to_near[e] - a * to_far[e])
                    sum_of_other = 2.0 * (to_near[e] + to_far[e])
                    curvature[c, e] -= scale * (slope * sum_of_other + both * other) / whole
    return value
