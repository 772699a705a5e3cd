"""Isotonic regression by pooling adjacent violators: the nearest numbers that keep a given order."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..sorting import sort_by

_PATIENCE = 16  # moves per entry after which insertion gives up


@kernel
def _load(top, stop, starts, loads):
    """The weight of a pool, which ends before ``stop``."""
    return loads[top] if len(loads) else float(stop - starts[top])


@kernel
def _pooled(top, stop, means, loads, starts):
    """Join the last pool with those before it that are no lower; the number of the last one then."""
    while top > 0 and means[top - 1] >= means[top]:
        before, last = _load(top - 1, starts[top], starts, loads), _load(top, stop, starts, loads)
        means[top - 1] += (means[top] - means[top - 1]) * (last / (before + last))
        if len(loads):
            loads[top - 1] = before + last
        top -= 1
    return top


@kernel
def pool_adjacent_violators(e, order, bounds, weights, means, loads, starts):
    """Pools of ``e``, taken in ``order``: their means increase. Returns how many pools there are.

    What lies between two of the ``bounds`` (places in the order) is pooled from the beginning; without any,
    each number is by itself. ``weights`` and ``loads`` are those of the numbers and of the pools, or empty
    for equal ones. Fills in the ``means`` of the pools and their ``starts``, places in the order.
    ``O(size)`` time.
    """
    top = -1
    n_items = len(bounds) - 1 if len(bounds) else len(order)
    for item in range(n_items):
        first = bounds[item] if len(bounds) else item
        stop = bounds[item + 1] if len(bounds) else item + 1
        total, load = 0.0, 0.0
        for k in range(first, stop):
            w = weights[order[k]] if len(weights) else 1.0
            total += w * e[order[k]]
            load += w
        top += 1
        means[top], starts[top] = np.divide(total, load), first
        if len(loads):
            loads[top] = load
        top = _pooled(top, stop, means, loads, starts)
    return top + 1


@kernel
def spread_pools(e, order, weights, means, starts, n_pools, out):
    """Give every number the mean of its pool: ``out``. Returns ``sum w (e - out)^2`` and ``sum w e^2``."""
    error, square = 0.0, 0.0
    for pool in range(n_pools):
        stop = starts[pool + 1] if pool + 1 < n_pools else len(order)
        for k in range(starts[pool], stop):
            j = order[k]
            w = weights[j] if len(weights) else 1.0
            out[j] = means[pool]
            error += w * (e[j] - means[pool]) ** 2
            square += w * e[j] * e[j]
    return error, square


@kernel
def _insertion_sorted(e, tied):
    """Sort by insertion, in place, unless that takes too many moves: False then."""
    patience = _PATIENCE * len(tied)
    for k in range(1, len(tied)):
        j = tied[k]
        place = k
        while place > 0 and e[tied[place - 1]] > e[j]:
            tied[place] = tied[place - 1]
            place -= 1
        tied[place] = j
        patience -= k - place
        if patience < 0:
            return False
    return True


@kernel
def sort_within(e, bounds, order):
    """Sort what lies between two ``bounds`` of an order by ``e``, in place.

    An order that was sorted by distances that have changed little since needs few moves.
    """
    for item in range(len(bounds) - 1):
        tied = order[bounds[item] : bounds[item + 1]]
        if len(tied) > 1 and not _insertion_sorted(e, tied):
            sort_by(e, tied)
