"""A new row settles among fixed ones: its own part of the cost of same-degree distributions, minimised."""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows

_MOST_STEPS = 100
_SHRINK = 0.25  # of the damping after a step that went down
_GROW = 8.0  # after one that did not


@kernel
def _energy(z, Z, attraction, degrees, repulsion):
    """``sum_j a_j log(1 + r_j^2) + sum_g repulsion_g sum_j (1 + r_j^2)^-g`` with ``r_j = |z - z_j|``."""
    total = 0.0
    for j in range(len(Z)):
        square = 1.0
        for c in range(len(z)):
            square += (z[c] - Z[j, c]) ** 2
        total += attraction[j] * np.log(square)
        for g in range(len(degrees)):
            total += repulsion[g] * square ** -degrees[g]
    return total


@kernel
def _slopes(z, Z, attraction, degrees, repulsion, gradient, curvature):
    """Gradient of :func:`_energy`, and its second derivatives."""
    d = len(z)
    gradient[:] = 0.0
    curvature[:] = 0.0
    gap = np.empty(d)
    for j in range(len(Z)):
        square = 1.0
        for c in range(d):
            gap[c] = z[c] - Z[j, c]
            square += gap[c] * gap[c]
        u = 1.0 / square
        force = attraction[j] * u
        bend = -attraction[j] * u * u
        for g in range(len(degrees)):
            push = repulsion[g] * degrees[g] * square ** -degrees[g] * u
            force -= push
            bend += push * (degrees[g] + 1.0) * u
        for c in range(d):
            gradient[c] += 2.0 * force * gap[c]
            curvature[c, c] += 2.0 * force
            for e in range(c + 1):
                curvature[c, e] += 4.0 * bend * gap[c] * gap[e]


@kernel
def _solve_damped(curvature, damping, gradient, factor, step):
    """Solve ``(H + damping I) step = gradient`` by Cholesky; False where that is not positive definite."""
    d = len(gradient)
    for c in range(d):
        for e in range(c + 1):
            total = curvature[c, e]
            if c == e:
                total += damping
            for k in range(e):
                total -= factor[c, k] * factor[e, k]
            if c == e:
                if total <= 0.0:
                    return False
                factor[c, c] = np.sqrt(total)
            else:
                factor[c, e] = total / factor[e, e]
    for c in range(d):
        total = gradient[c]
        for k in range(c):
            total -= factor[c, k] * step[k]
        step[c] = total / factor[c, c]
    for c in range(d - 1, -1, -1):
        total = step[c]
        for k in range(c + 1, d):
            total -= factor[k, c] * step[k]
        step[c] = total / factor[c, c]
    return True


@kernel
def _settle(z, Z, attraction, degrees, repulsion):
    """Damped Newton steps from ``z``, in place, until they no longer matter; the energy at the end."""
    d = len(z)
    gradient, curvature, factor = np.empty(d), np.empty((d, d)), np.zeros((d, d))
    step, trial = np.empty(d), np.empty(d)
    energy = _energy(z, Z, attraction, degrees, repulsion)
    _slopes(z, Z, attraction, degrees, repulsion, gradient, curvature)
    trace = 0.0
    for c in range(d):
        trace += abs(curvature[c, c])
    least = 1e-12 * trace
    damping = 1e-3 * trace
    for _ in range(_MOST_STEPS):
        length, size = 0.0, 0.0
        lower = np.inf
        if trace > 0.0 and _solve_damped(curvature, damping, gradient, factor, step):
            for c in range(d):
                trial[c] = z[c] - step[c]
                length += step[c] * step[c]
                size += z[c] * z[c]
            lower = _energy(trial, Z, attraction, degrees, repulsion)
        if lower < energy:
            z[:] = trial
            energy = lower
            _slopes(z, Z, attraction, degrees, repulsion, gradient, curvature)
            damping = max(_SHRINK * damping, least)
        else:
            damping *= _GROW
        if (np.isfinite(lower) and length <= 1e-22 * (1.0 + size)) or damping > 1e6 * trace:
            break
    return energy


@parallel_kernel
def settle_rows(distances, unit, Z, degrees, given_means, mapped_means):
    """Coordinates of rows at ``distances`` (b, r) from the references ``Z`` (r, d), each row by itself.

    Row x minimises ``sum_g sum_j [g w_j log(1 + r_j^2) / m_g + (1 + r_j^2)^-g / m'_g]`` with ``w_j`` its
    weights in the data, m and m' the mean weights of the fitted pairs in the data and in the map. It starts
    from its nearest reference, and from the mean of all weighted by ``w``: the lower end counts.
    """
    n_rows, n_references = distances.shape
    d = Z.shape[1]
    out = np.empty((n_rows, d))
    repulsion = 1.0 / mapped_means
    for i in rows(n_rows):
        attraction = np.zeros(n_references)
        nearest = 0
        total = 0.0
        other = np.zeros(d)
        for j in range(n_references):
            square = 1.0 + (distances[i, j] / unit) ** 2
            for g in range(len(degrees)):
                attraction[j] += degrees[g] * square ** -degrees[g] / given_means[g]
            if distances[i, j] < distances[i, nearest]:
                nearest = j
            total += attraction[j]
            for c in range(d):
                other[c] += attraction[j] * Z[j, c]
        for c in range(d):
            out[i, c] = Z[nearest, c]
            other[c] /= max(total, 1e-300)
        energy = _settle(out[i], Z, attraction, degrees, repulsion)
        if _settle(other, Z, attraction, degrees, repulsion) < energy:
            out[i] = other
    return out
