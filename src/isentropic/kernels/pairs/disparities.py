"""Disparities of ordinal scaling: isotonic regression (Kruskal), and rank images (Guttman)."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.condensed import _row_start
from ..sorting import order_row, sort_by, sorting_space

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


# ---- Rank images ---------------------------------------------------------------------------------
#
# These are the distances that rows of a map would have, were they in the order of the data. ``R_ij`` is the
# rank of row j around row i in the data and ``r_ij`` that in the map, from 1, ties by row number. A pair
# weighs ``(k + 1 - min(R, r))_+``, and its target distance is the one that rank ``R_ij`` has in row i of the
# map. A share ``a`` of the cost is lenient: any rank between ``R_ij`` and ``R_ji`` is right.


_GUTTMAN_STEPS = 5  # of a new row, towards the distances wanted


@parallel_kernel
def condensed_ranks(distances, n_workers, ranks):
    """``ranks[i, j]``: that of j around i by condensed ``distances``, from 1; 0 for i. ``O(n^2 log n)``."""
    n = len(ranks)
    for worker in rows(n_workers):
        keys, spare, low, high = sorting_space(n)
        row = np.zeros(n)
        for i in range(worker, n, n_workers):
            for j in range(i):
                row[j] = distances[_row_start(j, n) + i]
            for j in range(i + 1, n):
                row[j] = distances[_row_start(i, n) + j]
            order_row(row, i, keys, spare, low, high)
            ranks[i, i] = 0
            for p in range(n - 1):
                ranks[i, keys[p]] = p + 1


@kernel
def _lenient(rank, back, mapped, k):
    """Weight, wanted rank (0: as it is) and cost of a pair, any rank between ``rank`` and ``back`` right."""
    low, high = min(rank, back), max(rank, back)
    if mapped < low:
        weight = max(k + 1 - mapped, 0)
        return weight, low, weight * (low - mapped)
    if mapped > high:
        weight = max(k + 1 - high, 0)
        return weight, high, weight * (mapped - high)
    return max(k + 1 - mapped, 0), 0, 0


@kernel
def _add_pair(place, j, rank, back, mapped, k, share, e, order, others, wanted, weights):
    """Write what is wanted of one pair at ``place``; returns its cost."""
    weight = max(k + 1 - min(rank, mapped), 0)
    cost = (1.0 - share) * weight * abs(rank - mapped)
    total = (1.0 - share) * weight
    distances = total * e[order[rank - 1]]
    if share > 0.0:
        weight, aim, gap = _lenient(rank, back, mapped, k)
        cost += share * gap
        total += share * weight
        distances += share * weight * (e[order[aim - 1]] if aim > 0 else e[j])
    others[place], weights[place] = j, total
    wanted[place] = distances / total if total > 0.0 else 0.0
    return cost


@kernel
def _measure(z, Z, e):
    for j in range(len(Z)):
        square = 0.0
        for c in range(len(z)):
            square += (z[c] - Z[j, c]) ** 2
        e[j] = np.sqrt(square)


@parallel_kernel
def rank_images(ranks, near, Z, share, n_workers, others, wanted, weights):
    """Per row, the cost of its ranks; and what is wanted of its at most 2 k pairs within rank k.

    ``near`` (n, k) are the rows of ranks 1 to k in the data. ``others``, ``wanted``, ``weights`` (n, 2 k)
    are filled in; what is left over weighs 0. ``O(n^2)``, but for ties.
    """
    n, k = near.shape
    costs = np.zeros(n)
    for worker in rows(n_workers):
        order, spare, low, high = sorting_space(n)
        e, mapped = np.empty(n), np.zeros(n, np.int64)
        for i in range(worker, n, n_workers):
            _measure(Z[i], Z, e)
            order_row(e, i, order, spare, low, high)
            for p in range(n - 1):
                mapped[order[p]] = p + 1
            total = 0.0
            for p in range(2 * k):  # those near in the data, then those near in the map alone
                j = near[i, p] if p < k else order[p - k]
                rank = np.int64(ranks[i, j])
                if p < k or rank > k:
                    total += _add_pair(p, j, rank, np.int64(ranks[j, i]), mapped[j], k, share, e, order,
                                       others[i], wanted[i], weights[i])  # fmt: skip
                else:
                    others[i, p], weights[i, p], wanted[i, p] = i, 0.0, 0.0
            costs[i] = total
    return costs


@kernel
def _towards(z, Z, others, wanted, weights):
    """A Guttman step: the mean of where each other row wants z."""
    total, moved = 0.0, np.zeros(len(z))
    for t in range(len(others)):
        if weights[t] == 0.0:
            continue
        other = Z[others[t]]
        square = 0.0
        for c in range(len(z)):
            square += (z[c] - other[c]) ** 2
        stretch = wanted[t] / np.sqrt(square) if square > 0.0 else 0.0
        total += weights[t]
        for c in range(len(z)):
            moved[c] += weights[t] * (other[c] + stretch * (z[c] - other[c]))
    for c in range(len(z)):
        z[c] = moved[c] / total


@kernel
def _optimize_row(d, Z, k, n_steps, work, out):
    """The place of a row at distances ``d`` (n + 1,), the last one of them its own."""
    n, order_X, order, spare, low, high, ranks, mapped, e, others, wanted, weights = work
    z, lowest = np.zeros(len(out)), np.inf
    for step in range(n_steps + 1):  # the first one is for the data: the code of ordering is there once
        side = 0 if step == 0 else 1
        if side == 1:
            _measure(z, Z, e[:n])
        order_row((d, e)[side], n, (order_X, order)[side], spare, low, high)
        for p in range(n):
            (ranks, mapped)[side][(order_X, order)[side][p]] = p + 1
        cost = 0.0
        for p in range(2 * k):
            j = order_X[p] if p < k else order[p - k]
            weights[p] = 0.0
            if side == 0 and p < k:
                for c in range(len(z)):
                    z[c] += Z[j, c] / k
            elif side == 1 and (p < k or ranks[j] > k):
                cost += _add_pair(p, j, ranks[j], 0, mapped[j], k, 0.0, e, order, others, wanted, weights)
        if side == 1 and cost < lowest:
            lowest = cost
            for c in range(len(z)):
                out[c] = z[c]
        for _ in range(side * _GUTTMAN_STEPS):
            _towards(z, Z, others, wanted, weights)


@parallel_kernel
def optimize_rank_images(distances, Z, k, n_steps, n_workers, out):
    """Places of new rows at ``distances`` (b, n) from the rows of ``Z``: of ``n_steps``, that of least cost.

    The search starts from the mean of the k nearest. ``O(n)`` a step, but for ties.
    """
    n = len(Z)
    for worker in rows(n_workers):
        order_X, spare, low, high = sorting_space(n + 1)
        d, e = np.zeros(n + 1), np.zeros(n + 1)
        ranks, mapped, others = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(2 * k, np.int64)
        work = (n, order_X, np.zeros_like(order_X), spare, low, high, ranks, mapped, e, others,
                np.zeros(2 * k), np.zeros(2 * k))  # fmt: skip
        for i in range(worker, len(distances), n_workers):
            for j in range(n):
                d[j] = distances[i, j]
            _optimize_row(d, Z, k, n_steps, work, out[i])
