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
from .gaussian_mixtures import shares_of

DEGREES, STUDENT, STUDENT_FIELD, GAUSSIANS, FUZZY, PAIRS, TRIPLETS = range(7)


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
def _cubic_spline(t, out):
    """The cubic B-spline at the four nodes around a place, its first and its second derivatives: (3, 4)."""
    s = 1.0 - t
    out[0, 0], out[1, 0], out[2, 0] = s * s * s / 6.0, -0.5 * s * s, s
    out[0, 3], out[1, 3], out[2, 3] = t * t * t / 6.0, 0.5 * t * t, t
    out[0, 1], out[1, 1] = (4.0 - (6.0 - 3.0 * t) * t * t) / 6.0, (1.5 * t - 2.0) * t
    out[0, 2], out[1, 2] = (4.0 - (6.0 - 3.0 * s) * s * s) / 6.0, (2.0 - 1.5 * s) * s
    out[2, 1], out[2, 2] = 3.0 * t - 2.0, 3.0 * s - 2.0


@kernel
def _student_field(z, Z, near, weights, far, shape, gradient, curvature):
    """t-SNE in a plane: ``sum_j p_j g log(1 + r_j^2) + log f(z)``, f the sum over all rows as a field.

    ``shape = [g, origin, spacing, lines, columns, coefficients ...]`` of a cubic spline on a grid, whose
    second coordinate is 0 where z has one only. Infinite where the field is not known.
    """
    half, spacing, columns = shape[0], shape[3], np.int64(shape[5])
    first = (z[0] - shape[1]) / spacing
    second = ((z[1] if len(z) > 1 else 0.0) - shape[2]) / spacing
    gradient[:] = 0.0
    curvature[:] = 0.0
    if not (0.0 <= first < shape[4] - 3.0 and 0.0 <= second < shape[5] - 3.0):
        return np.inf
    splines, sums = np.empty((2, 3, 4)), np.zeros((3, 3))
    line, cell = np.int64(first), np.int64(second)
    _cubic_spline(first - line, splines[0])
    _cubic_spline(second - cell, splines[1])
    for a in range(3):
        for b in range(3 - a):
            for k in range(4):
                start = 6 + (line + k) * columns + cell
                for e in range(4):
                    sums[a, b] += splines[0, a, k] * splines[1, b, e] * shape[start + e]
    total = sums[0, 0]
    if not total > 0.0:
        return np.inf
    gradient[0] = sums[1, 0] / (total * spacing)
    curvature[0, 0] = sums[2, 0] / (total * spacing * spacing) - gradient[0] * gradient[0]
    if len(z) > 1:
        gradient[1] = sums[0, 1] / (total * spacing)
        curvature[1, 0] = sums[1, 1] / (total * spacing * spacing) - gradient[0] * gradient[1]
        curvature[1, 1] = sums[0, 2] / (total * spacing * spacing) - gradient[1] * gradient[1]
    value = np.log(total)
    gap = np.empty(len(z))
    for t in range(len(weights)):
        square = _squared_gap(z, Z, near[t] if len(near) else t, 1.0, gap)
        value += weights[t] * half * np.log(square)
        force = weights[t] * half / square
        _add_slopes(force, -force / square, gap, gradient, curvature)
    return value


@kernel
def _log_sums(z, Z, far, precisions, least, logs, slopes, bends):
    """``log sum_j exp(-a (r_j^2 - least) / 2)`` over ``far`` for each precision a, and its derivatives."""
    gap, d = np.empty(len(z)), len(z)
    logs[:], slopes[:], bends[:] = 0.0, 0.0, 0.0
    for t in range(len(far) if len(far) else len(Z)):
        square = _squared_gap(z, Z, far[t] if len(far) else t, 0.0, gap)
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
def _gaussians(z, Z, near, weights, far, shape, gradient, curvature):
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
        least = min(least, _squared_gap(z, Z, far[t] if len(far) else t, 0.0, gap))
    _log_sums(z, Z, far, shape, least, logs, slopes, bends)
    gradient[:], curvature[:] = 0.0, 0.0
    value = 0.0
    for t in range(len(weights)):
        square = _squared_gap(z, Z, near[t] if len(near) else t, 0.0, gap) - least
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
    if cost == STUDENT_FIELD:
        return _student_field(z, Z, near, weights, far, shape, gradient, curvature)
    if cost == GAUSSIANS:
        return _gaussians(z, Z, near, weights, far, shape, gradient, curvature)
    if cost == FUZZY:
        return _fuzzy(z, Z, near, weights, far, shape, gradient, curvature)
    if cost == PAIRS:
        return _pairs(z, Z, near, weights, far, shape, gradient, curvature)
    if cost == TRIPLETS:
        return _triplets(z, Z, near, weights, far, shape, gradient, curvature)
    return np.nan
