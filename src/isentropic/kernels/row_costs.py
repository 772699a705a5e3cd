"""Costs of one row z among fixed rows Z, which :mod:`.row_descent` minimises, each with its derivatives.

Kernels take no functions, so a cost has a number, and :func:`evaluate` a line for it. A cost is a kernel
``(z, Z, near, weights, far, shape, gradient, curvature) -> value`` that fills in the gradient (d,) and the
lower triangle of the second derivatives (d, d), in ``O(n d^2)``. All have arguments of the same types:

- ``near``, the rows of Z that attract z (int64), and ``weights``, how much each of them does (float64);
- ``far``, the rows of Z that repel z (int64);
- ``shape``, the numbers of the cost itself (float64).

Where ``near`` or ``far`` is empty, all rows of Z in their order are meant. Most costs are sums of functions f
of the squared distance to a row: :func:`_squared_gap` and :func:`_add_slopes` serve them.

A new cost needs its number, its kernel and its line in :func:`evaluate`, and a line in ``COSTS`` of its test,
which holds derivatives against differences of values, and minima against scipy's.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel

DEGREES, STUDENT, FUZZY, PAIRS, TRIPLETS = range(5)


@kernel
def _squared_gap(z, Z, j, start, gap):
    """``start + |z - z_j|^2``, with ``gap = z - z_j``."""
    square = start
    for c in range(len(z)):
        gap[c] = z[c] - Z[j, c]
        square += gap[c] * gap[c]
    return square


@kernel
def _add_slopes(force, bend, gap, gradient, curvature):
    """Add the derivatives of ``f(|gap|^2)`` by z, with ``force = f'`` and ``bend = f''``."""
    for c in range(len(gap)):
        gradient[c] += 2.0 * force * gap[c]
        curvature[c, c] += 2.0 * force
        for e in range(c + 1):
            curvature[c, e] += 4.0 * bend * gap[c] * gap[e]


@kernel
def _degrees(z, Z, near, weights, far, shape, gradient, curvature):
    """Same-degree distributions: ``sum_j a_j log(1 + r_j^2) + sum_g b_g sum_j (1 + r_j^2)^-g``.

    All rows attract and repel; ``shape`` holds the degrees g, then their factors b.
    """
    n_degrees = len(shape) // 2
    gap, powers = np.empty(len(z)), np.empty((len(Z), n_degrees))
    gradient[:] = 0.0
    curvature[:] = 0.0
    value = 0.0
    for j in range(len(Z)):
        square = 1.0
        for c in range(len(z)):
            square += (z[c] - Z[j, c]) ** 2
        value += weights[j] * np.log(square)
        for g in range(n_degrees):
            powers[j, g] = square ** -shape[g]
            value += shape[n_degrees + g] * powers[j, g]
    for j in range(len(Z)):
        u = 1.0 / _squared_gap(z, Z, j, 1.0, gap)
        force = weights[j] * u
        bend = -weights[j] * u * u
        for g in range(n_degrees):
            push = shape[n_degrees + g] * shape[g] * powers[j, g] * u
            force -= push
            bend += push * (shape[g] + 1.0) * u
        _add_slopes(force, bend, gap, gradient, curvature)
    return value


@kernel
def _student(z, Z, near, weights, far, shape, gradient, curvature):
    """t-SNE: ``sum_j p_j (t+1)/2 log(1 + r_j^2/t) + log sum_j (1 + r_j^2/t)^(-(t+1)/2)``, ``shape = [t]``.

    The first sum is over ``near``, the second over ``far``.
    """
    freedom, half = shape[0], 0.5 * (shape[0] + 1.0)
    gap = np.empty(len(z))
    gradient[:] = 0.0
    curvature[:] = 0.0
    total = 0.0
    for t in range(len(far) if len(far) else len(Z)):
        j = far[t] if len(far) else t
        square = _squared_gap(z, Z, j, 0.0, gap)
        u = 1.0 / (freedom + square)
        weight = (freedom * u) ** half
        total += weight
        force = -half * u * weight
        _add_slopes(force, -(half + 1.0) * u * force, gap, gradient, curvature)
    for c in range(len(z)):  # from here on they are those of the logarithm
        gradient[c] /= total
        for e in range(c + 1):
            curvature[c, e] = curvature[c, e] / total - gradient[c] * gradient[e]
    value = np.log(total)
    for t in range(len(weights)):
        j = near[t] if len(near) else t
        square = _squared_gap(z, Z, j, 0.0, gap)
        u = 1.0 / (freedom + square)
        value += weights[t] * half * np.log1p(square / freedom)
        force = weights[t] * half * u
        _add_slopes(force, -force * u, gap, gradient, curvature)
    return value


@kernel
def _fuzzy(z, Z, near, weights, far, shape, gradient, curvature):
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
        u = _squared_gap(z, Z, near[t] if len(near) else t, shape[3], gap)
        p = a * u**b
        share = p / (1.0 + p)
        value += weights[t] * np.log1p(p)
        total += weights[t]
        force = weights[t] * b * share / u
        _add_slopes(force, force * (b * (1.0 - share) - 1.0) / u, gap, gradient, curvature)
    m = len(far) if len(far) else len(Z)
    push = shape[2] * total / m
    for t in range(m):
        u = _squared_gap(z, Z, far[t] if len(far) else t, shape[3], gap)
        p = a * u**b
        share = p / (1.0 + p)
        value += push * np.log1p(1.0 / p)
        force = push * b * (share - 1.0) / u
        bend = push * b * (1.0 + share * (b * (1.0 - share) - 1.0)) / (u * u)
        _add_slopes(force, bend, gap, gradient, curvature)
    return value


@kernel
def _pairs(z, Z, near, weights, far, shape, gradient, curvature):
    """PaCMAP: ``sum_j w_j u_j / (10 + u_j) + c sum_l 1 / (1 + u_l)``, ``u = 1 + r^2``.

    The first sum is over ``near``, the second over the m rows of ``far``; ``c = s / m``, ``shape = [s]``.
    """
    gap = np.empty(len(z))
    gradient[:] = 0.0
    curvature[:] = 0.0
    value = 0.0
    for t in range(len(weights)):
        whole = _squared_gap(z, Z, near[t] if len(near) else t, 11.0, gap)
        value += weights[t] * (1.0 - 10.0 / whole)
        force = weights[t] * 10.0 / (whole * whole)
        _add_slopes(force, -2.0 * force / whole, gap, gradient, curvature)
    m = len(far) if len(far) else len(Z)
    for t in range(m):
        whole = _squared_gap(z, Z, far[t] if len(far) else t, 2.0, gap)
        value += shape[0] / m / whole
        force = -shape[0] / m / (whole * whole)
        _add_slopes(force, -2.0 * force / whole, gap, gradient, curvature)
    return value


@kernel
def _triplets(z, Z, near, weights, far, shape, gradient, curvature):
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
            a = _squared_gap(z, Z, near[t] if len(near) else t, 1.0, to_near)
            b = _squared_gap(z, Z, far[t] if len(far) else t, 1.0, to_far)
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


@kernel
def evaluate(cost, z, Z, near, weights, far, shape, gradient, curvature):
    """The value of a cost at z, its gradient and the lower triangle of its second derivatives."""
    if cost == DEGREES:
        return _degrees(z, Z, near, weights, far, shape, gradient, curvature)
    if cost == STUDENT:
        return _student(z, Z, near, weights, far, shape, gradient, curvature)
    if cost == FUZZY:
        return _fuzzy(z, Z, near, weights, far, shape, gradient, curvature)
    if cost == PAIRS:
        return _pairs(z, Z, near, weights, far, shape, gradient, curvature)
    if cost == TRIPLETS:
        return _triplets(z, Z, near, weights, far, shape, gradient, curvature)
    return np.nan
