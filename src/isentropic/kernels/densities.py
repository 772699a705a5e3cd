"""Kernel density estimates of patches on a grid, one feature at a time, and divergences between them."""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .sorting import sort_by

FIXED, SILVERMAN, SCOTT, SCOTT_HISTOGRAM = 0, 1, 2, 3
SMALLEST_DENSITY = 1e-300
_GONE = 1e-306  # the tail of a bump below this adds nothing that the smallest density would not hide
_ROOT_TWO_PI = np.sqrt(2.0 * np.pi)


@kernel
def _quantile(x, order, share):
    """Linear between order statistics, as numpy's percentile."""
    at = share * (len(order) - 1)
    below = int(at)
    above = min(below + 1, len(order) - 1)
    return x[order[below]] + (at - below) * (x[order[above]] - x[order[below]])


@kernel
def _bandwidth(x, rule):
    """The rule's bandwidth for one feature of a patch, without any floor."""
    n = len(x)
    mean = x.sum() / n
    squares = 0.0
    for value in x:
        squares += (value - mean) ** 2
    deviation = np.sqrt(squares / n)
    if rule == SCOTT_HISTOGRAM:
        return 3.49 * deviation * n ** (-1.0 / 3.0)
    order = np.arange(n)
    sort_by(x, order)
    spread = _quantile(x, order, 0.75) - _quantile(x, order, 0.25)
    if rule == SILVERMAN:
        return 0.9 * min(deviation, spread / 1.34) * n ** (-0.2)
    unbiased = np.sqrt(squares / max(n - 1, 1))
    return 1.059 * (min(unbiased, spread / 1.349) if spread > 0.0 else unbiased) * n ** (-0.2)


@kernel
def _add_bump(x, h, low, step, density):
    """Add ``exp(-(g - x)^2 / 2 h^2)`` at every point of an even grid.

    From the nearest point outwards a value is the one before it times a ratio, and the ratios shrink by a
    constant factor: two products in place of an exponential, to a relative error of about 1e-12.
    """
    last = len(density) - 1
    nearest = min(max(int(np.rint((x - low) / step)), 0), last) if step > 0.0 else 0
    gap = (low + nearest * step - x) / h
    stride = step / h
    shrink = np.exp(-stride * stride)
    peak = np.exp(-0.5 * gap * gap)
    density[nearest] += peak
    value, ratio = peak, np.exp(-stride * (gap + 0.5 * stride))
    for t in range(nearest + 1, last + 1):
        value *= ratio
        if value < _GONE:
            break
        density[t] += value
        ratio *= shrink
    value, ratio = peak, np.exp(-stride * (0.5 * stride - gap))
    for t in range(nearest - 1, -1, -1):
        value *= ratio
        if value < _GONE:
            break
        density[t] += value
        ratio *= shrink


@kernel
def _density(values, members, rule, fixed, below, least, low, step, density, log_density):
    x = np.empty(len(members))
    for s in range(len(members)):
        x[s] = values[members[s]]
    h = fixed if rule == FIXED else _bandwidth(x, rule)
    h = least if h < below else h
    density[:] = 0.0
    for s in range(len(x)):
        _add_bump(x[s], h, low, step, density)
    total = len(x) * h * _ROOT_TWO_PI
    for t in range(len(density)):
        density[t] = max(density[t] / total, SMALLEST_DENSITY)
        log_density[t] = np.log(density[t])


@parallel_kernel
def patch_densities(values, indptr, members, rule, fixed, below, least, low, step, densities, logs):
    """Density and its logarithm of one feature in every patch; a bandwidth under ``below`` is ``least``."""
    for i in rows(len(indptr) - 1):
        _density(values, members[indptr[i] : indptr[i + 1]], rule, fixed, below, least, low, step,
                 densities[i], logs[i])  # fmt: skip


@kernel
def _symmetrised(p, q, log_p, log_q):
    total = 0.0
    for t in range(len(p)):
        total += (p[t] - q[t]) * (log_p[t] - log_q[t])
    return 0.5 * total / len(p)


@parallel_kernel
def add_squared_divergences(densities, logs, heads, tails, out):
    """Add the square of ``1/2L sum (p - q) log(p/q)`` of every edge."""
    for e in rows(len(heads)):
        i, j = heads[e], tails[e]
        out[e] += _symmetrised(densities[i], densities[j], logs[i], logs[j]) ** 2


# --------------------------------------------------------------------------------------------------
# Places of a map go uphill to the peak of their density; peaks that do not stand out join higher ones.


@kernel
def _root(parents, i):
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@kernel
def basins(order, density, neighbors, counts, rise, least, parents, sizes):
    """ToMATo: union-find over places from the densest down; ``parents`` ends with the peak of each place.

    A place joins the hill of its densest neighbour that came before. There it is also the saddle between
    hills: one whose log density rises less than ``rise`` above it, or that has fewer than ``least`` rows so
    far, joins the higher one. ``O(n k)`` time.
    """
    n, k = neighbors.shape
    place = np.empty(n, np.int64)
    for p in range(n):
        place[order[p]] = p
    for p in range(n):
        i = order[p]
        parents[i] = i
        sizes[i] = counts[i]
        first = p
        for j in range(k):
            first = min(first, place[neighbors[i, j]])
        if first == p:
            continue  # a peak
        high = _root(parents, order[first])
        parents[i] = high
        sizes[high] += counts[i]
        for j in range(k):
            if place[neighbors[i, j]] >= p:
                continue
            other = _root(parents, neighbors[i, j])
            high = _root(parents, i)
            if other == high:
                continue
            low = other if place[other] > place[high] else high
            if density[low] - density[i] < rise or sizes[low] < least:
                top = high if low == other else other
                parents[low] = top
                sizes[top] += sizes[low]
    for i in range(n):
        parents[i] = _root(parents, i)
