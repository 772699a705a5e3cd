"""Manifold sculpting: rows climb down, one by one, to where lengths and angles are those of the data.

Row p has k neighbours j, and for each the neighbour c of j that lies most nearly opposite. The error of p is
``sum_j w (((l - l0) / 2 m)^2 + ((a - a0) / pi)^2)``, l the length of (p, j) and a the angle (p, j, c) at j,
l0 and a0 those in the data, m the mean length: 1 here. Rows moved before in a pass weigh ten times.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..elementary import next_key, random_below, random_key

_MOVED = 10.0
_ROUNDS = 30  # of steps along each axis, for a row in a pass
_SLOWER, _FASTER = 0.87, 1.0 / 0.91  # rates after passes of fewer steps than rows, and of more
_FINEST = 1e-7  # step of a new row, of the first
_FAR = 16.0  # a new row this far from its neighbours begins with longer steps
_ROUNDS_OF_STEP = 1_000  # at most: around a bend far from all neighbours they would go on for ever


@kernel
def _length_and_angle(y, Y, j, c):
    """``|y - y_j|``, and the angle between y and ``y_c`` seen from ``y_j``; a right one for equal rows."""
    first = second = product = 0.0
    for a in range(len(y)):
        one, other = y[a] - Y[j, a], Y[c, a] - Y[j, a]
        first += one * one
        second += other * other
        product += one * other
    norms = np.sqrt(first) * np.sqrt(second)
    cosine = min(max(product / norms, -1.0), 1.0) if norms > 0.0 else 0.0
    return np.sqrt(first), np.arccos(cosine)


@kernel
def _row_error(y, Y, near, turns, lengths, angles, moved):
    total = 0.0
    for t in range(len(near)):
        length, angle = _length_and_angle(y, Y, near[t], turns[t])
        weight = _MOVED if moved[near[t]] else 1.0
        total += weight * (((length - lengths[t]) / 2.0) ** 2 + ((angle - angles[t]) / np.pi) ** 2)
    return total


@kernel
def _climb(y, Y, near, turns, lengths, angles, moved, d, step):
    """One round: a step along each of the first d axes, either way, if the error falls; how many."""
    made = 0
    error = _row_error(y, Y, near, turns, lengths, angles, moved)
    for trial in range(2 * d):  # one place in the code for the error
        axis, way = trial // 2, step if trial % 2 == 0 else -step
        if trial % 2 == 1 and made > 0 and moved[-1]:
            continue
        y[axis] += way
        lower = _row_error(y, Y, near, turns, lengths, angles, moved)
        moved[-1] = lower < error  # whether the step ahead was made: then none back is tried
        if lower < error:
            error = lower
            made += 1
        else:
            y[axis] -= way
    return made


@parallel_kernel
def opposite_neighbors(X, near, turns, lengths, angles, queries, near_of_queries):
    """For each query and each of its neighbours j: the neighbour of j most nearly opposite, length, angle."""
    k = near.shape[1]
    for i in rows(len(queries)):
        for t in range(near_of_queries.shape[1]):
            j = near_of_queries[i, t]
            widest = -1.0
            for s in range(k):
                c = near[j, s]
                gap = 0.0
                for a in range(X.shape[1]):
                    gap += abs(X[c, a] - queries[i, a])
                length, angle = _length_and_angle(queries[i], X, j, c)
                angle = -0.5 if gap == 0.0 else angle  # itself, or an equal row: if there is no other
                if angle > widest:
                    widest = angle
                    turns[i, t], lengths[i, t], angles[i, t] = c, length, max(angle, 0.0)


@kernel
def _breadth_first(near, start, order, seen):
    """Rows in the order in which neighbour lists reach them from ``start``; then from the next one left."""
    n = len(near)
    for i in range(n):
        seen[i] = False
    seen[start], order[0] = True, start
    filled, left = 1, 0
    for place in range(n):
        while place == filled:
            if not seen[left]:
                seen[left], order[filled] = True, left
                filled += 1
            left += 1
        for j in near[order[place]]:
            if not seen[j]:
                seen[j], order[filled] = True, j
                filled += 1


@parallel_kernel
def sculpt_pass(Y, d, near, turns, lengths, angles, seed, number, rates, errors):
    """One pass over all rows, for each of the tries ``Y`` (s, n, m), in place; sets their rates and errors.

    Errors are sums over rows, in the first d axes' map as it is, all rows weighing the same. ``O(n k m)`` a
    step.
    """
    n_tries, n, _ = Y.shape
    for s in rows(n_tries):
        mine, order = Y[s], np.empty(n, np.int64)
        moved = np.zeros(n + 1, np.bool_)
        key = random_key(seed, number, s)
        _breadth_first(near, random_below(key, n), order, moved)
        moved[:] = False
        moved[order[0]] = True
        made = 0
        for place in range(1, n):
            i = order[place]
            y = mine[i].copy()
            key = next_key(key)
            step = rates[s] * (0.6 + 0.4 * random_below(key, 1 << 20) / (1 << 20))
            for _ in range(_ROUNDS):
                steps = _climb(y, mine, near[i], turns[i], lengths[i], angles[i], moved, d, step)
                made += steps
                if steps == 0:
                    break
            for a in range(d):
                mine[i, a] = y[a]
            moved[i] = True
        rates[s] *= _SLOWER if made < n else _FASTER
        moved[:] = False
        errors[s] = 0.0
        for i in range(n):
            errors[s] += _row_error(mine[i], mine, near[i], turns[i], lengths[i], angles[i], moved)


@parallel_kernel
def optimize_sculpted(Z, near, turns, lengths, angles, out):
    """Places of new rows in a map that is held, from the means of their neighbours, by ever shorter steps."""
    k = near.shape[1]
    for i in rows(len(out)):
        y, moved = np.zeros(Z.shape[1]), np.zeros(len(Z) + 1, np.bool_)
        for t in range(k):
            for a in range(len(y)):
                y[a] += Z[near[i, t], a] / k
        longest = lengths[i].max()
        step = longest if longest > _FAR else 1.0
        finest, rounds = _FINEST * step, 0
        while step > finest:
            made = _climb(y, Z, near[i], turns[i], lengths[i], angles[i], moved, len(y), step)
            rounds += 1
            if made == 0 or rounds == _ROUNDS_OF_STEP:
                step, rounds = 0.5 * step, 0
        for a in range(len(y)):
            out[i, a] = y[a]
