"""Optimize the coordinates of new rows among fixed ones, row by row (damped Newton, Levenberg-Marquardt)."""

from __future__ import annotations

import numpy as np

from .._jit import choice, kernel, parallel_kernel, rows
from ..elementary import cholesky, dot, solve_lower, solve_upper
from .row_costs import (
    add_gradient,
    gaussians_cost,
    near_gaps_cost,
    squared_gap,
    stress_cost,
    student_cost,
)
from .tiled_costs import degrees_cost, fuzzy_cost, student_field_cost

# --------------------------------------------------------------------------------------------------
# Costs of one row z among fixed rows Z, which :mod:`.row_descent` minimises, each with its derivatives.
#
# Kernels take no functions, so a cost has a number, and :func:`evaluate` a line for it; the number is a
# ``choice``, so that a method compiles its own cost and none of the others. A cost is a kernel
# ``(z, Z, near, weights, far, shape, gradient, curvature) -> value`` that fills in the gradient (d,) and the
# lower triangle of the second derivatives (d, d), in ``O(n d^2)``. All have arguments of the same types:
#
# - ``near``, the rows of Z that attract z (int64), and ``weights``, how much each of them does (float64);
# - ``far``, the rows of Z that repel z (int64);
# - ``shape``, the numbers of the cost itself (float64).
#
# Where ``near`` or ``far`` is empty, all rows of Z in their order are meant. Most costs are sums of
# functions f of the squared distance to a row: :mod:`.row_costs` has their terms, and :mod:`.tiled_costs`
# those of costs with many.
#
# A new cost needs its number, its kernel and its line in :func:`evaluate`, and a line in ``COSTS`` of its
# test, which holds derivatives against differences of values, and minima against scipy's.


_DEGREES, _STUDENT, _STUDENT_FIELD, _GAUSSIANS, _FUZZY, _PAIRS, _TRIPLETS, _STRESS, _NEAR_GAPS = range(1, 10)
DEGREES, STUDENT, STUDENT_FIELD, GAUSSIANS, FUZZY, PAIRS, TRIPLETS, STRESS, NEAR_GAPS = map(
    choice, range(1, 10)
)


@kernel
def evaluate(cost, z, Z, near, weights, far, shape, gradient, curvature):
    """The value of a cost at z, its gradient and the lower triangle of its second derivatives."""
    number = len(cost)
    if number == _DEGREES:
        return degrees_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _STUDENT:
        return student_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _STUDENT_FIELD:
        return student_field_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _GAUSSIANS:
        return gaussians_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _FUZZY:
        return fuzzy_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _PAIRS:
        return pairs_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _TRIPLETS:
        return triplets_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _STRESS:
        return stress_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _NEAR_GAPS:
        return near_gaps_cost(z, Z, near, weights, far, shape, gradient, curvature)
    return np.nan


# Rows are copied by loops: numba compiles ``a[:] = b`` together with the text of its error, for seconds.
MOST_STEPS = 100
FIRST_DAMPING = 1e-3  # of the trace of the second derivatives
_SHRINK = 0.25  # of the damping after a step that went down
_GROW = 8.0  # after one that did not
_ROUNDING = 1e-12  # of a cost, in a step too short to lower it


@kernel
def damped_step(curvature, damping, gradient, factor, step):
    """Solve ``(curvature + damping I) step = gradient``; False where the matrix is not positive definite."""
    if np.isnan(cholesky(curvature, damping, factor)):
        return False
    for c in range(len(gradient)):
        step[c] = gradient[c]
    solve_lower(factor, step)
    solve_upper(factor, step)
    return True


@kernel
def next_damping(damping, trace, lower):
    """The damping after a step: less of it where the cost is ``lower``, else more."""
    return max(_SHRINK * damping, 1e-12 * trace) if lower else damping * _GROW


@kernel
def is_hopeless(damping, trace):
    """Whether steps have become so short that no shorter one can help."""
    return damping > 1e6 * trace


@kernel
def is_short(length, size):
    """Whether a step no longer matters, by the squares of its length and of the size of the place."""
    return length <= 1e-22 * (1.0 + size)


@kernel
def _is_last(length, size, damping, factor):
    """Whether the step after this one no longer matters, by what Newton's method and damping leave of it.

    What is left of a step s is about s^2, and s times the damping over the least eigenvalue of the second
    derivatives. That is at least the determinant over powers of the trace, of ``H + damping I = L L'``.
    """
    trace, least = 0.0, 1.0
    for c in range(len(factor)):
        for e in range(c + 1):
            trace += factor[c, e] * factor[c, e]
    for c in range(len(factor)):
        least *= factor[c, c] * factor[c, c] / (trace if c > 0 else 1.0)
    if not (least > damping and length <= 1e-11 * np.sqrt(1.0 + size)):
        return False
    share = damping / (least - damping)
    return length * share * share <= 1e-22 * (1.0 + size)


@kernel
def _leads_to(known, lowest, trial, value, gradient, step):
    """Whether a step leads to a known minimum.

    It is short beside the map, ends beside the minimum, and falls as far as the gradient foretells.
    """
    apart, length, size, fall = 0.0, 0.0, 0.0, 0.0
    for c in range(len(trial)):
        apart += (trial[c] - known[c]) ** 2
        length += step[c] * step[c]
        size += known[c] * known[c]
        fall += 0.5 * gradient[c] * step[c]
    ends_beside = apart <= length / 64.0 and length <= 0.01 * (1.0 + size)
    return ends_beside and abs(value - fall - lowest) <= 0.1 * fall + _ROUNDING * abs(lowest)


@kernel
def _optimize_row(cost, z, Z, near, weights, far, shape, known, lowest):
    """Damped Newton steps ``(H + damping I)^-1 g`` from z, in place, until they no longer matter.

    Returns the value at the end; infinity on the way to a minimum that is ``known``, of value ``lowest``
    (infinite where none is). The cost is evaluated at one place in the code, for it is inlined there.
    """
    d = len(z)
    gradients, bends = np.empty((2, d)), np.empty((2, d, d))  # at z, and at the place tried
    factor, step, trial = np.zeros((d, d)), np.zeros(d), z.copy()
    here, value, trace, damping = 0, np.inf, 0.0, 0.0
    for tried in range(MOST_STEPS + 1):  # the first one is the start itself
        length, size = 0.0, 0.0
        solved = tried == 0
        if trace > 0.0 and damped_step(bends[here], damping, gradients[here], factor, step):
            solved = True
            for c in range(d):
                trial[c] = z[c] - step[c]
            for c in range(d):  # by itself: see add_gradient
                length += step[c] * step[c]
                size += z[c] * z[c]
            if lowest < np.inf and _leads_to(known, lowest, trial, value, gradients[here], step):
                return np.inf
        there = 1 - here
        lower = np.inf
        if solved:
            lower = evaluate(cost, trial, Z, near, weights, far, shape, gradients[there], bends[there])
        if tried == 0:
            here, value = there, lower
            for c in range(d):
                trace += abs(bends[here, c, c])
            damping = FIRST_DAMPING * trace
            continue
        is_last = solved and _is_last(length, size, damping, factor)
        is_last = is_last and lower <= value + _ROUNDING * abs(value)
        damping = next_damping(damping, trace, lower < value)
        if lower < value or is_last:
            for c in range(d):
                z[c] = trial[c]
            here, value = there, lower
        if is_last or (np.isfinite(lower) and is_short(length, size)) or is_hopeless(damping, trace):
            break
    return value


@parallel_kernel
def optimize_rows(cost, starts, Z, near, weights, far, shape):
    """Coordinates of new rows (b, d), each at the lowest of the minima found from its ``starts`` (b, s, d).

    ``Z`` (n, d) are the fixed rows; ``near``, ``weights`` (b, k) and ``far`` (b, m) belong to each new row,
    for the ``cost`` of :func:`evaluate` with the numbers ``shape``. NaN for a row whose cost is no number
    wherever it was tried. ``O(s n d^2)`` a step.
    """
    n_rows, n_starts, d = starts.shape
    out = np.empty((n_rows, d))
    for i in rows(n_rows):
        lowest = np.inf
        for s in range(n_starts):
            z = starts[i, s].copy()
            value = _optimize_row(cost, z, Z, near[i], weights[i], far[i], shape, out[i], lowest)
            if s == 0 or value < lowest:
                lowest = value
                for c in range(d):
                    out[i, c] = z[c]
        if not np.isfinite(lowest):
            for c in range(d):
                out[i, c] = np.nan
    return out


# ---- A row's own part of costs over drawn rows: PaCMAP, TriMap -----------------------------------


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
        add_gradient(force, -2.0 * force / whole, gap, gradient, curvature)
    m = len(far) if len(far) else len(Z)
    for t in range(m):
        whole = squared_gap(z, Z, far[t] if len(far) else t, 2.0, gap)
        value += shape[0] / m / whole
        force = -shape[0] / m / (whole * whole)
        add_gradient(force, -2.0 * force / whole, gap, gradient, curvature)
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
                change = 2.0 * (b * to_near[c] - a * to_far[c])
                both = 2.0 * (to_near[c] + to_far[c])
                gradient[c] += scale * change
                curvature[c, c] += 2.0 * scale * (b - a)
                for e in range(c + 1):
                    other = 2.0 * (b * to_near[e] - a * to_far[e])
                    sum_of_other = 2.0 * (to_near[e] + to_far[e])
                    curvature[c, e] -= scale * (change * sum_of_other + both * other) / whole
    return value


# ---- Rows that a decoder gives -------------------------------------------------------------------
#
# The decoder gives ``g(z) = b + V' a``, ``a = tanh(c + W' z)``, or ``a = c + W' z`` where it is not ``bent``.
# A loop that adds up writes to no array: else the compiler keeps two versions of it, which add up in another
# order.


_STARTS = 3  # the candidates that decode to the nearest rows


@kernel
def _decode(x, z, decoder, bent, penalty, units, away):
    """Outputs of the hidden ``units`` at z, ``away = x - g(z)``, 0 where x is missing; returns the cost."""
    inner, inner_bias, outer, outer_bias = decoder
    for u in range(len(units)):
        total = inner_bias[u] + dot(inner[u], z, 0, len(z))
        units[u] = np.tanh(total) if bent else total
    for f in range(len(x)):
        away[f] = 0.0 if np.isnan(x[f]) else x[f] - outer_bias[f] - dot(outer[f], units, 0, len(units))
    return dot(away, away, 0, len(away)) + penalty * dot(z, z, 0, len(z))


@kernel
def _linearise(x, z, decoder, bent, penalty, units, away, J, normal, gradient):
    """Half the Hessian of the cost over what is known of x, and half its gradient, downhill; J is that of g.

    ``J' J + penalty I - sum_f away_f g_f''`` and ``J' away - penalty z``.
    """
    inner, outer = decoder[0], decoder[2]
    d, h = len(z), len(units)
    bends = np.empty((d, h))
    for c in range(d):
        for u in range(h):
            bends[c, u] = inner[u, c] * (1.0 - units[u] * units[u] if bent else 1.0)
    for c in range(d):
        for f in range(len(x)):
            J[c, f] = 0.0 if np.isnan(x[f]) else dot(outer[f], bends[c], 0, h)
    for c in range(d):
        gradient[c] = dot(J[c], away, 0, len(x)) - penalty * z[c]
        for e in range(c + 1):
            normal[c, e] = dot(J[c], J[e], 0, len(x)) + (penalty if c == e else 0.0)
    if bent:
        for u in range(h):
            pull = 0.0
            for f in range(len(x)):
                pull += outer[f, u] * away[f]
            pull *= 2.0 * units[u]
            for c in range(d):
                for e in range(c + 1):
                    normal[c, e] += pull * bends[c, u] * inner[u, e]


@kernel
def _optimize_decoded(x, z, decoder, bent, penalty):
    """Damped Newton steps from z, in place, until they no longer matter; returns the cost."""
    d, h, m = len(z), len(decoder[1]), len(x)
    units, away, J = np.empty(h), np.empty(m), np.empty((d, m))
    normal, factor = np.zeros((d, d)), np.zeros((d, d))
    gradient, step, trial = np.empty(d), np.empty(d), np.empty(d)
    value = _decode(x, z, decoder, bent, penalty, units, away)
    damping, trace, fresh = -1.0, 0.0, True
    for _ in range(MOST_STEPS):
        if fresh:
            _linearise(x, z, decoder, bent, penalty, units, away, J, normal, gradient)
            trace = 0.0
            for c in range(d):
                trace += abs(normal[c, c])
            damping = FIRST_DAMPING * trace if damping < 0.0 else damping
        if not trace > 0.0 or is_hopeless(damping, trace):
            break
        if not damped_step(normal, damping, gradient, factor, step):
            damping, fresh = next_damping(damping, trace, False), False
            continue
        for c in range(d):
            trial[c] = z[c] + step[c]
        lower = _decode(x, trial, decoder, bent, penalty, units, away)
        fresh = lower < value
        damping = next_damping(damping, trace, fresh)
        if fresh:
            value = lower
            for c in range(d):
                z[c] = trial[c]
        if is_short(dot(step, step, 0, d), dot(z, z, 0, d)):
            break
    return value


@kernel
def _away_from(x, row):
    """Squared distance over what is known of x."""
    total = 0.0
    for f in range(len(x)):
        gap = 0.0 if np.isnan(x[f]) else x[f] - row[f]
        total += gap * gap
    return total


@parallel_kernel
def optimize_decoded_rows(X, candidates, decoded, decoder, bent, penalty, out):
    """Places ``out`` (n, d) of rows, which least ``|x - g(z)|^2 + penalty |z|^2``, from the best candidates.

    ``decoder`` is W' (h, d), c (h,), V' (m, h) and b (m,); ``decoded`` what it gives for the candidates.
    ``O(s m + m h d)`` a step, for s candidates.
    """
    n, d = out.shape
    for i in rows(n):
        best, costs = np.zeros(_STARTS, np.int64), np.full(_STARTS, np.inf)
        for s in range(len(candidates)):
            cost = _away_from(X[i], decoded[s]) + penalty * dot(candidates[s], candidates[s], 0, d)
            for rank in range(_STARTS):
                if cost < costs[rank]:
                    for later in range(_STARTS - 1, rank, -1):
                        best[later], costs[later] = best[later - 1], costs[later - 1]
                    best[rank], costs[rank] = s, cost
                    break
        lowest = np.inf
        for rank in range(_STARTS):
            z = candidates[best[rank]].copy()
            value = _optimize_decoded(X[i], z, decoder, bent, penalty)
            if value < lowest:
                lowest = value
                for c in range(d):
                    out[i, c] = z[c]
