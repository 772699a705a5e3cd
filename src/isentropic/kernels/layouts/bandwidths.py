"""The width of a row's affinities: found for a perplexity (SNE, t-SNE) and for a fuzzy set (UMAP)."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..elementary import exponentials

# --------------------------------------------------------------------------------------------------
# Gaussian affinities of given perplexity: the width of every row's own Gaussian, found by bisection.


_FARTHEST = 60.0  # logarithm of the largest and least precision tried, in units of a row's mean square
_MOST_STEPS = 100
_CLOSE = 1e-13  # of the logarithm of a precision


@kernel
def _reduced(distances, out):
    """``(d^2 - min d^2) / max d^2`` into ``out``; the mean, the largest distance, the ties at the least one.

    Reduced, so that the largest affinity is exp(0): nothing underflows, in any unit.
    """
    least, largest = np.inf, 0.0
    for j in range(len(distances)):
        least = min(least, distances[j])
        largest = max(largest, distances[j])
    mean, ties = 0.0, 0
    for j in range(len(distances)):
        out[j] = 0.0
        if distances[j] == least:
            ties += 1
        else:
            out[j] = ((distances[j] - least) / largest) * ((distances[j] + least) / largest)
        mean += out[j]
    return mean / len(distances), largest, ties


@kernel
def _moments(squares, precision, weights, bits):
    """Sum of the weights ``exp(-precision s)``, and the weighted mean and variance of s, none negative."""
    total, first, second = exponentials(squares, -precision, weights, bits), 0.0, 0.0
    for j in range(len(squares)):
        part = weights[j] * squares[j]
        first += part
        second += part * squares[j]
    mean = first / total
    return total, mean, max(second / total - mean * mean, 0.0)


@kernel
def _log_precision(squares, entropy, weights, bits):
    """Logarithm of the precision at which the weights have an entropy; Newton steps within a bisection."""
    low, high = -_FARTHEST, _FARTHEST
    place = 0.0
    weights, bits = np.empty(len(squares)), np.empty(len(squares), np.int64)
    for _ in range(_MOST_STEPS):
        precision = np.exp(place)
        total, mean, variance = _moments(squares, precision, weights, bits)
        excess = np.log(total) + precision * mean - entropy
        if excess > 0.0:
            low = place
        else:
            high = place
        slope = precision * precision * variance
        after = 0.5 * (low + high)
        if slope > 0.0 and low < place + excess / slope < high:
            after = place + excess / slope
        step = abs(after - place)
        place = after
        if step <= _CLOSE * (1.0 + abs(place)) or high - low <= _CLOSE:
            break
    return place


@kernel
def row_affinities(distances, entropy, out):
    """The affinities of one row, of sum 1, with this entropy; the logarithm of ``2 sigma^2``.

    Where more rows than the perplexity are the nearest ones, all alike, they share 1, and the width is 0.
    Where the perplexity is that of all rows, all share 1, and the width is infinite.
    """
    mean, largest, ties = _reduced(distances, out)
    if entropy >= np.log(len(distances)) or np.log(ties) >= entropy:
        shared = len(distances) if entropy >= np.log(len(distances)) else ties
        for j in range(len(distances)):
            out[j] = 1.0 / shared if shared > ties or out[j] == 0.0 else 0.0
        return np.inf if shared > ties else -np.inf
    for j in range(len(out)):
        out[j] /= mean
    weights, bits = np.empty(len(out)), np.empty(len(out), np.int64)
    place = _log_precision(out, entropy, weights, bits)
    total = exponentials(out, -np.exp(place), weights, bits)
    for j in range(len(out)):
        out[j] = weights[j] / total
    return np.log(mean) + 2.0 * np.log(largest) - place


@parallel_kernel
def perplexity_affinities(distances, perplexity, out):
    """Affinities ``exp(-d^2 / 2 sigma_i^2) / sum`` of lists (n, k) of distances; ``log 2 sigma_i^2``."""
    entropy = np.log(perplexity)
    widths = np.empty(len(distances))
    for i in rows(len(distances)):
        widths[i] = row_affinities(distances[i], entropy, out[i])
    return widths


# --------------------------------------------------------------------------------------------------
# Smooth nearest-neighbour distances, as UMAP has them: a width for every row, and the weights it gives.


_MOST_FUZZY_STEPS = 200
_LEAST_WIDTH = 1e-3  # of the mean distance of a row, itself counted: weights of more ties than the sum allows


@kernel
def _sharpness(beyond, target, most):
    """The u with ``sum_j exp(-u beyond_j) = target``, at most ``most``.

    The sum is convex and falls with u, so that Newton's steps from u = 0 never go too far.
    """
    u = 0.0
    for _ in range(_MOST_FUZZY_STEPS):
        total, slope = -target, 0.0
        for j in range(len(beyond)):
            weight = np.exp(-u * beyond[j])
            total += weight
            slope += beyond[j] * weight
        if slope <= 0.0:
            return most
        step = total / slope
        u += step
        if u >= most:
            return most
        if step <= 1e-14 * u:
            return u
    return u


@parallel_kernel
def smooth_memberships(distances, out):
    """``exp(-(d_j - rho)_+ / sigma)``, rho the least positive distance of a row, sigma such that they sum
    to ``log2 k``, but for rows with so many neighbours no farther than rho that none does."""
    n, k = distances.shape
    target = np.log2(k)
    for i in rows(n):
        near, mean = np.inf, 0.0
        for j in range(k):
            mean += distances[i, j] / (k + 1)
            if 0.0 < distances[i, j] < near:
                near = distances[i, j]
        beyond = np.zeros(k)  # in units of the mean, so that no scale of the data matters
        for j in range(k):
            if distances[i, j] > near:
                beyond[j] = (distances[i, j] - near) / mean
        u = _sharpness(beyond, target, 1.0 / _LEAST_WIDTH)
        for j in range(k):
            out[i, j] = np.exp(-u * beyond[j])
