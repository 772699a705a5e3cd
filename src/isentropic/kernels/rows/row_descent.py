"""Levenberg-Marquardt: new rows placed among fixed ones by damped Newton steps, each row by itself."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..dense import cholesky, solve_lower, solve_upper
from .row_costs import evaluate

# Rows are copied by loops: numba compiles ``a[:] = b`` together with the text of its error, for seconds.
_MOST_STEPS = 100
_SHRINK = 0.25  # of the damping after a step that went down
_GROW = 8.0  # after one that did not


@kernel
def _settle(cost, z, Z, near, weights, far, shape):
    """Damped Newton steps ``(H + damping I)^-1 g`` from z, in place, until they no longer matter.

    Returns the value at the end. The cost is evaluated at one place in the code, for it is inlined there.
    """
    d = len(z)
    slopes, bends = np.empty((2, d)), np.empty((2, d, d))  # at z, and at the place tried
    factor, step, trial = np.zeros((d, d)), np.zeros(d), z.copy()
    here, value, trace, damping = 0, np.inf, 0.0, 0.0
    for tried in range(_MOST_STEPS + 1):  # the first one is the start itself
        length, size = 0.0, 0.0
        solved = tried == 0
        if trace > 0.0 and not np.isnan(cholesky(bends[here], damping, factor)):
            solved = True
            for c in range(d):
                step[c] = slopes[here, c]
            solve_lower(factor, step)
            solve_upper(factor, step)
            for c in range(d):
                trial[c] = z[c] - step[c]
            for c in range(d):  # by itself: see row_slopes
                length += step[c] * step[c]
                size += z[c] * z[c]
        there = 1 - here
        lower = np.inf
        if solved:
            lower = evaluate(cost, trial, Z, near, weights, far, shape, slopes[there], bends[there])
        if tried == 0:
            here, value = there, lower
            for c in range(d):
                trace += abs(bends[here, c, c])
            damping = 1e-3 * trace
            continue
        if lower < value:
            for c in range(d):
                z[c] = trial[c]
            here, value = there, lower
            damping = max(_SHRINK * damping, 1e-12 * trace)
        else:
            damping *= _GROW
        if (np.isfinite(lower) and length <= 1e-22 * (1.0 + size)) or damping > 1e6 * trace:
            break
    return value


@parallel_kernel
def settle_rows(cost, starts, Z, near, weights, far, shape):
    """Coordinates of new rows (b, d), each at the lowest of the minima found from its ``starts`` (b, s, d).

    ``Z`` (n, d) are the fixed rows; ``near``, ``weights`` (b, k) and ``far`` (b, m) belong to each new row,
    for the ``cost`` of :mod:`.row_costs` with the numbers ``shape``. NaN for a row whose cost is no number
    wherever it was tried. ``O(s n d^2)`` a step.
    """
    n_rows, n_starts, d = starts.shape
    out = np.empty((n_rows, d))
    for i in rows(n_rows):
        lowest = np.inf
        for s in range(n_starts):
            z = starts[i, s].copy()
            value = _settle(cost, z, Z, near[i], weights[i], far[i], shape)
            if s == 0 or value < lowest:
                lowest = value
                for c in range(d):
                    out[i, c] = z[c]
        if not np.isfinite(lowest):
            for c in range(d):
                out[i, c] = np.nan
    return out
