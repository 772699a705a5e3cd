"""The cost of one row among fixed rows, with its gradient: stress, Student and Gaussian similarities."""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel, parallel_kernel, rows

# ---- What the costs of a row have in common: gaps to other rows, terms of gradient and curvature ----
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
def add_gradient(force, bend, gap, gradient, curvature):
    """Add the derivatives of ``f(|gap|^2)`` by z, with ``force = f'`` and ``bend = f''``."""
    for c in range(len(gap)):
        gradient[c] += 2.0 * force * gap[c]
        curvature[c, c] += 2.0 * force
        for e in range(c + 1):
            curvature[c, e] += 4.0 * bend * gap[c] * gap[e]


# ---- DD-HDS: errors of distances, weighed by how near a pair is in the data or in the map --------
#
# With the normal distribution function Phi, a pair costs ``|d - e| (1 - Phi((min(d, e) - mu) / sigma))``; the
# absolute value is rounded off, ``sqrt((d - e)^2 + smooth^2)``, so that it has a derivative everywhere.


_ROOT_HALF, _ROOT_TWO_PI = math.sqrt(0.5), math.sqrt(2.0 * math.pi)


@kernel
def near_gap(d, e, shape):
    """What a pair costs, and its first and second derivative by e; ``shape = [mu, sigma, smooth]``."""
    mu, sigma, smooth = shape[0], shape[1], shape[2]
    x = (min(d, e) - mu) / sigma
    share = 0.5 * math.erfc(_ROOT_HALF * x)
    gap = e - d
    size = np.sqrt(gap * gap + smooth * smooth)
    derivative = gap / size * share
    bend = smooth * smooth / (size * size * size) * share
    if e < d:
        density = np.exp(-0.5 * x * x) / (_ROOT_TWO_PI * sigma)
        derivative -= size * density
        bend += (size * x / sigma - 2.0 * gap / size) * density
    return size * share, derivative, bend


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
        cost, derivative, bend = near_gap(weights[t], e, shape)
        value += cost
        if e > 0.0:
            force = 0.5 * derivative / e
            add_gradient(force, 0.25 * bend / square - 0.5 * force / square, gap, gradient, curvature)
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
            add_gradient(w * (1.0 - g / r), 0.5 * w * g / (r * square), gap, gradient, curvature)
    return value


@parallel_kernel
def stress_initialization(distances, Z, inverse, out):
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


# ---- A row's own part of costs with Student weights: t-SNE ----------------------------------------


@kernel
def student_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """t-SNE: ``sum_j p_j (t+1)/2 log(1 + r_j^2/t) + log sum_j (1 + r_j^2/t)^(-(t+1)/2)``, ``shape = [t]``.

    The first sum is over ``near``, the second over ``far``. Infinite where all terms of the second vanish.
    """
    freedom, half = shape[0], 0.5 * (shape[0] + 1.0)
    gap = np.empty(len(z))
    gradient[:] = 0.0
    curvature[:] = 0.0
    total = 0.0
    for t in range(len(far) if len(far) else len(Z)):
        j = far[t] if len(far) else t
        square = squared_gap(z, Z, j, 0.0, gap)
        u = 1.0 / (freedom + square)
        weight = (freedom * u) ** half
        total += weight
        force = -half * u * weight
        add_gradient(force, -(half + 1.0) * u * force, gap, gradient, curvature)
    if not total > 0.0:
        return np.inf
    for c in range(len(z)):  # from here on they are those of the logarithm
        gradient[c] /= total
        for e in range(c + 1):
            curvature[c, e] = curvature[c, e] / total - gradient[c] * gradient[e]
    value = np.log(total)
    for t in range(len(weights)):
        j = near[t] if len(near) else t
        square = squared_gap(z, Z, j, 0.0, gap)
        u = 1.0 / (freedom + square)
        value += weights[t] * half * np.log1p(square / freedom)
        force = weights[t] * half * u
        add_gradient(force, -force * u, gap, gradient, curvature)
    return value


# ---- A row's own part of costs with Gaussian weights: SNE, of one scale or several ---------------


VANISHED = 1e-280  # weights below are told by their logarithms


@kernel
def shares_of(square, weights, precisions, logs, out):
    """The share of each Gaussian in their sum at one place, into ``out``; the logarithm of the sum.

    ``weights`` are the values there, 0 where they are too small for numbers: then by their logarithms.
    """
    total = 0.0
    for h in range(len(precisions)):
        total += weights[h]
    if total > VANISHED:
        for h in range(len(precisions)):
            out[h] = weights[h] / total
        return np.log(total)
    largest = -np.inf
    for h in range(len(precisions)):
        out[h] = -0.5 * precisions[h] * square - logs[h]
        largest = max(largest, out[h])
    total = 0.0
    for h in range(len(precisions)):
        out[h] = np.exp(out[h] - largest)
        total += out[h]
    for h in range(len(precisions)):
        out[h] /= total
    return largest + np.log(total)


@kernel
def _log_sums(z, Z, far, precisions, least, logs, gradients, bends):
    """``log sum_j exp(-a (r_j^2 - least) / 2)`` over ``far`` for each precision a, and its derivatives."""
    gap, d = np.empty(len(z)), len(z)
    logs[:], gradients[:], bends[:] = 0.0, 0.0, 0.0
    for t in range(len(far) if len(far) else len(Z)):
        square = squared_gap(z, Z, far[t] if len(far) else t, 0.0, gap)
        for h in range(len(precisions)):
            weight = np.exp(-0.5 * precisions[h] * (square - least))
            logs[h] += weight
            for c in range(d):
                gradients[h, c] -= precisions[h] * weight * gap[c]
                for e in range(c + 1):
                    bends[h, c, e] += precisions[h] * precisions[h] * weight * gap[c] * gap[e]
    for h in range(len(precisions)):
        for c in range(d):
            gradients[h, c] /= logs[h]
            for e in range(c + 1):
                bends[h, c, e] = bends[h, c, e] / logs[h] - gradients[h, c] * gradients[h, e]
            bends[h, c, c] -= precisions[h]
        logs[h] = np.log(logs[h])


@kernel
def gaussians_cost(z, Z, near, weights, far, shape, gradient, curvature):
    """SNE: ``-sum_j p_j log mean_h q^h_j``, ``q^h_j = exp(-a_h r_j^2 / 2) / sum``, precisions in ``shape``.

    The first sum is over ``near``, that of a Gaussian over ``far``. With ``l_h = log q^h`` and ``s_h`` the
    share of a Gaussian in the mean, the gradient of its logarithm is ``sum s_h l_h'``, the bend
    ``sum s_h (l_h'' + l_h' l_h'^T)`` less the product of that gradient with itself.
    """
    n_scales, d = len(shape), len(z)
    gap, log_gradient, one = np.empty(d), np.empty(d), np.empty((n_scales, d))
    logs, gradients, bends = np.empty(n_scales), np.empty((n_scales, d)), np.empty((n_scales, d, d))
    here, shares = np.empty(n_scales), np.empty(n_scales)
    least = np.inf  # of the squares, so that not all weights vanish
    for t in range(len(far) if len(far) else len(Z)):
        least = min(least, squared_gap(z, Z, far[t] if len(far) else t, 0.0, gap))
    _log_sums(z, Z, far, shape, least, logs, gradients, bends)
    gradient[:], curvature[:] = 0.0, 0.0
    value = 0.0
    for t in range(len(weights)):
        square = squared_gap(z, Z, near[t] if len(near) else t, 0.0, gap) - least
        log_gradient[:] = 0.0
        for h in range(n_scales):
            here[h] = np.exp(-0.5 * shape[h] * square - logs[h])
        value -= weights[t] * (shares_of(square, here, shape, logs, shares) - np.log(n_scales))
        for h in range(n_scales):
            for c in range(d):
                one[h, c] = -shape[h] * gap[c] - gradients[h, c]
                log_gradient[c] += shares[h] * one[h, c]
        for c in range(d):
            gradient[c] -= weights[t] * log_gradient[c]
            for e in range(c + 1):
                bend = -log_gradient[c] * log_gradient[e]
                for h in range(n_scales):
                    bend += shares[h] * (one[h, c] * one[h, e] - bends[h, c, e])
                    if c == e:
                        bend -= shares[h] * shape[h]
                curvature[c, e] -= weights[t] * bend
    return value
