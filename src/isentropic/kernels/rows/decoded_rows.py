"""Damped Newton (Levenberg-Marquardt): rows placed where they are decoded best, each row by itself.

The decoder gives ``g(z) = b + V' a``, ``a = tanh(c + W' z)``, or ``a = c + W' z`` where it is not ``bent``.
A loop that adds up writes to no array: else the compiler keeps two versions of it, which add up in another
order.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..elementary import dot
from .row_descent import FIRST_DAMPING, MOST_STEPS, damped_step, is_hopeless, is_short, next_damping

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
def _linearise(x, z, decoder, bent, penalty, units, away, J, normal, slope):
    """Half the Hessian of the cost over what is known of x, and half its slope downhill, by J, that of g.

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
        slope[c] = dot(J[c], away, 0, len(x)) - penalty * z[c]
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
def _settle(x, z, decoder, bent, penalty):
    """Damped Newton steps from z, in place, until they no longer matter; returns the cost."""
    d, h, m = len(z), len(decoder[1]), len(x)
    units, away, J = np.empty(h), np.empty(m), np.empty((d, m))
    normal, factor = np.zeros((d, d)), np.zeros((d, d))
    slope, step, trial = np.empty(d), np.empty(d), np.empty(d)
    value = _decode(x, z, decoder, bent, penalty, units, away)
    damping, trace, fresh = -1.0, 0.0, True
    for _ in range(MOST_STEPS):
        if fresh:
            _linearise(x, z, decoder, bent, penalty, units, away, J, normal, slope)
            trace = 0.0
            for c in range(d):
                trace += abs(normal[c, c])
            damping = FIRST_DAMPING * trace if damping < 0.0 else damping
        if not trace > 0.0 or is_hopeless(damping, trace):
            break
        if not damped_step(normal, damping, slope, factor, step):
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
def settle_decoded(X, candidates, decoded, decoder, bent, penalty, out):
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
            value = _settle(X[i], z, decoder, bent, penalty)
            if value < lowest:
                lowest = value
                for c in range(d):
                    out[i, c] = z[c]
