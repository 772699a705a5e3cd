"""Costs of one row among hundreds or thousands of fixed ones, a tile of them at a time.

The gaps to the rows of a tile, their powers and logarithms stand in short arrays, one after the other, so
that the compiler turns each loop over a tile into vectors. A loop that adds up writes to no array.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..elementary import exponentials, logarithms, weighted_logs
from ..pairs.degrees import _raise

_TILE = 256


@kernel
def _gaps(z, Z, chosen, start, softening, gap, square):
    """``gap[c, t] = z_c - Z_tc`` to rows from number ``start`` on, of all or the chosen; with squares."""
    n = len(square)
    for c in range(len(z)):
        if len(chosen):
            for t in range(n):
                gap[c, t] = z[c] - Z[chosen[start + t], c]
        else:
            for t in range(n):
                gap[c, t] = z[c] - Z[start + t, c]
    for t in range(n):
        square[t] = softening
    for c in range(len(z)):
        for t in range(n):
            square[t] += gap[c, t] * gap[c, t]


@kernel
def _weighted_products(weights, x, y):
    total = 0.0
    for t in range(len(weights)):
        total += weights[t] * x[t] * y[t]
    return total


@kernel
def _weighted_sum(weights, x):
    total = 0.0
    for t in range(len(weights)):
        total += weights[t] * x[t]
    return total


@kernel
def _sum(x):
    total = 0.0
    for t in range(len(x)):
        total += x[t]
    return total


@kernel
def _add_tile(force, bend, gaps, gradient, curvature):
    """Add the derivatives of ``sum_t f_t(|gap_t|^2)``, with ``force = f'`` and ``bend = f''``."""
    n, whole = len(force), _sum(force)
    for c in range(len(gradient)):
        gradient[c] += 2.0 * _weighted_sum(force, gaps[c, :n])
        curvature[c, c] += 2.0 * whole
        for e in range(c + 1):
            curvature[c, e] += 4.0 * _weighted_products(bend, gaps[c, :n], gaps[e, :n])


# ---- Same-degree distributions -------------------------------------------------------------------


@kernel
def degrees_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """Same-degree distributions: ``sum_j a_j log(1 + r_j^2) + sum_g b_g sum_j (1 + r_j^2)^-g``.

    All rows attract and repel; ``shape`` holds the degrees g, then their factors b.
    """
    n_degrees = len(shape) // 2
    gaps, arrays, everyone = np.empty((len(z), _TILE)), np.empty((5, _TILE)), np.empty(0, np.int64)
    gradient[:] = 0.0
    curvature[:] = 0.0
    value = 0.0
    for start in range(0, len(Z), _TILE):
        n = min(_TILE, len(Z) - start)
        square, u, power = arrays[0, :n], arrays[1, :n], arrays[2, :n]
        force, bend, attraction = arrays[3, :n], arrays[4, :n], weights[start : start + n]
        _gaps(z, Z, everyone, start, 1.0, gaps, square)
        value += weighted_logs(attraction, square, u)
        for t in range(n):
            u[t] = 1.0 / square[t]
            force[t] = attraction[t] * u[t]
            bend[t] = -force[t] * u[t]
        for g in range(n_degrees):
            degree, factor = shape[g], shape[n_degrees + g]
            _raise(u, degree, power)
            value += factor * _sum(power)
            for t in range(n):
                push = factor * degree * power[t] * u[t]
                force[t] -= push
                bend[t] += push * (degree + 1.0) * u[t]
        _add_tile(force, bend, gaps, gradient, curvature)
    return value


# ---- UMAP ----------------------------------------------------------------------------------------


@kernel
def _inverse_powers(square, a, b, logs, out, bits):
    """``out = 1 / p`` for ``p = a u^b``, by ``exp(-b log u) / a``."""
    logarithms(square, out, logs)
    exponentials(logs, -b, out, bits)
    for t in range(len(out)):
        out[t] /= a


@kernel
def fuzzy_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """UMAP: ``sum_j w_j log(1 + p_j) + c sum_l log(1 + 1 / p_l)``, ``p = a u^b`` with ``u = r^2 + e``.

    The first sum is over ``near``, the second over the m rows of ``far``; ``c = s sum_j w_j / m``, and
    ``shape = [a, b, s, e]``, with e so small that only rows at one place notice.
    """
    a, b, softening = shape[0], shape[1], shape[3]
    gaps, arrays, bit_array = np.empty((len(z), _TILE)), np.empty((5, _TILE)), np.empty(_TILE, np.int64)
    gradient[:] = 0.0
    curvature[:] = 0.0
    value, m = 0.0, len(far) if len(far) else len(Z)
    push = shape[2] * _sum(weights) / m
    for start in range(0, len(weights), _TILE):
        n = min(_TILE, len(weights) - start)
        square, q, x = arrays[0, :n], arrays[1, :n], arrays[2, :n]
        force, bend, pull = arrays[3, :n], arrays[4, :n], weights[start : start + n]
        _gaps(z, Z, near, start, softening, gaps, square)
        _inverse_powers(square, a, b, x, q, bit_array[:n])
        for t in range(n):
            share = 1.0 / (1.0 + q[t])
            x[t] = 1.0 + 1.0 / q[t]
            force[t] = pull[t] * b * share / square[t]
            bend[t] = force[t] * (b * (1.0 - share) - 1.0) / square[t]
        value += weighted_logs(pull, x, q)
        _add_tile(force, bend, gaps, gradient, curvature)
    for start in range(0, m, _TILE):
        n = min(_TILE, m - start)
        square, q, x = arrays[0, :n], arrays[1, :n], arrays[2, :n]
        force, bend = arrays[3, :n], arrays[4, :n]
        _gaps(z, Z, far, start, softening, gaps, square)
        _inverse_powers(square, a, b, x, q, bit_array[:n])
        for t in range(n):
            share = 1.0 / (1.0 + q[t])
            x[t] = 1.0 + q[t]
            force[t] = push * b * (share - 1.0) / square[t]
            bend[t] = push * b * (1.0 + share * (b * (1.0 - share) - 1.0)) / (square[t] * square[t])
            q[t] = push
        value += weighted_logs(q, x, square)
        _add_tile(force, bend, gaps, gradient, curvature)
    return value


# ---- t-SNE, with the repulsion as a field --------------------------------------------------------


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
def student_field_cost(z, Z, near, weights, far, shape, gradient, curvature):
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
    gaps, arrays = np.empty((len(z), _TILE)), np.empty((4, _TILE))
    for start in range(0, len(weights), _TILE):
        n = min(_TILE, len(weights) - start)
        square, x, force, bend = arrays[0, :n], arrays[1, :n], arrays[2, :n], arrays[3, :n]
        pull = weights[start : start + n]
        _gaps(z, Z, near, start, 1.0, gaps, square)
        for t in range(n):
            force[t] = pull[t] * half / square[t]
            bend[t] = -force[t] / square[t]
        value += half * weighted_logs(pull, square, x)
        _add_tile(force, bend, gaps, gradient, curvature)
    return value
