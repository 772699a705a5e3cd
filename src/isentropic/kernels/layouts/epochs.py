"""Epochs over the sampled edges of UMAP, pairs of PaCMAP and triplets of TriMap."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..elementary import high_single, low_single, next_key, random_below, random_key
from ..networks import MEAN, SQUARE

# --------------------------------------------------------------------------------------------------
# One epoch of a layout by negative sampling: every row moves by what it gathers from the last positions.
#
# Nothing is written but a row's own place and speed, so that an epoch is the same on any number of threads.


_ROWS = 64  # that a thread takes at a time
STEPS = 64  # entries of the table of forces for every doubling of a squared distance
FIRST, LAST = -24, 24  # the doublings that it spans
_BITS = 17  # of a float that lie between two entries
_OFFSET = (127 + FIRST) * STEPS
_PART = np.float32(1.0 / (1 << _BITS))
_MOST = np.float32(4.0)  # a push along a coordinate, as in the published program


@kernel
def _force(table, square):
    """A force at a squared distance, linear between two entries: what one has, and the next has more."""
    bits = np.float32(square).view(np.int32)
    entry = table[np.uint64(min(max((bits >> _BITS) - _OFFSET, 0), len(table) - 2))]
    return low_single(entry) + np.float32(bits & ((1 << _BITS) - 1)) * _PART * high_single(entry)


@kernel
def _gather(i, d, Z, listed, weights, forces, key, jumps, push, total):
    """Pulls of the edges of row i and pushes of drawn rows, added up in ``total``; how stiff the pulls are.

    ``push`` is what a drawn row weighs.
    """
    stiffness = np.float32(0.0)
    for c in range(d):
        total[c] = 0.0
    for e in range(len(listed)):
        j = listed[e]
        square = np.float32(0.0)
        for c in range(d):
            gap = Z[j, c] - Z[i, c]
            square += gap * gap
        pull = weights[e] * _force(forces[0], square)
        stiffness += pull
        for c in range(d):
            total[c] += pull * (Z[j, c] - Z[i, c])
    for t in range(jumps.shape[1]):
        j = random_below(key * jumps[0, t] + jumps[1, t], len(Z))
        square = np.float32(0.0)
        for c in range(d):
            gap = Z[i, c] - Z[j, c]
            square += gap * gap
        force = _force(forces[1], square)
        for c in range(d):
            total[c] += push * min(max(force * (Z[i, c] - Z[j, c]), -_MOST), _MOST)
    return stiffness


@kernel
def _pulls_in_plane(i, packed, listed, weights, table, total):
    """Pulls of the edges of row i in two dimensions, where places are pairs of bits; how stiff they are."""
    x, y = low_single(packed[i]), high_single(packed[i])
    stiffness, across, along = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for e in range(len(listed)):
        place = packed[listed[e]]
        dx, dy = low_single(place) - x, high_single(place) - y
        pull = weights[e] * _force(table, dx * dx + dy * dy)
        stiffness += pull
        across += pull * dx
        along += pull * dy
    total[0], total[1] = across, along
    return stiffness


@kernel
def _pushes_in_plane(own, packed, table, seed, epoch, first, jumps, keys, pushed):
    """Pushes of drawn rows on those from ``first`` on, whose places are ``own``, into ``pushed`` (2, n).

    One draw of many rows at once.
    """
    for r in range(len(own)):
        keys[r] = random_key(seed, epoch, first + r)
        pushed[0, r], pushed[1, r] = 0.0, 0.0
    for t in range(jumps.shape[1]):
        factor, summand = jumps[0, t], jumps[1, t]
        for r in range(len(own)):
            place = packed[np.uint64(random_below(keys[r] * factor + summand, len(packed)))]
            dx = low_single(own[r]) - low_single(place)
            dy = high_single(own[r]) - high_single(place)
            force = _force(table, dx * dx + dy * dy)
            pushed[0, r] += min(max(force * dx, -_MOST), _MOST)
            pushed[1, r] += min(max(force * dy, -_MOST), _MOST)


@kernel
def _move(i, d, Z, speeds, out, total, stiffness, rate, momentum, farthest):
    """The speed keeps its momentum and gains the force by the stiffness; no row goes too far at once."""
    length = np.float32(0.0)
    for c in range(d):
        speeds[i, c] = momentum * speeds[i, c] + rate * total[c] / stiffness
        length += speeds[i, c] * speeds[i, c]
    cut = min(np.float32(1.0), farthest / np.sqrt(max(length, np.float32(1e-30))))
    for c in range(d):
        speeds[i, c] *= cut
        out[i, c] = Z[i, c] + speeds[i, c]


@kernel
def _forces_on(
    first, Z, packed, indptr, indices, weights, degrees, forces, seed, epoch, jumps, push, scratch, out
):
    """What the rows from ``first`` on gather, a row of ``out`` each, the last number how stiff the pulls are.

    Drawn rows weigh ``push`` of the degree of a row together.
    """
    keys, pushed = scratch
    d, count = Z.shape[1], len(out)
    if d == 2:
        own = packed[first : first + count]
        _pushes_in_plane(own, packed, forces[1], seed, epoch, first, jumps, keys, pushed)
    for r in range(count):
        i = first + r
        listed, weight = indices[indptr[i] : indptr[i + 1]], weights[indptr[i] : indptr[i + 1]]
        each = push * degrees[i] / np.float32(jumps.shape[1])
        if d == 2:
            out[r, 2] = _pulls_in_plane(i, packed, listed, weight, forces[0], out[r])
            out[r, 0] += each * pushed[0, r]
            out[r, 1] += each * pushed[1, r]
        else:
            key = random_key(seed, epoch, i)
            out[r, d] = _gather(i, d, Z, listed, weight, forces, key, jumps, each, out[r])


@kernel
def _scratch():
    """The keys of a block of rows, and what they are pushed by."""
    return np.empty(_ROWS, np.uint64), np.empty((2, _ROWS), np.float32)


@parallel_kernel
def fuzzy_epoch(Z, speeds, out, indptr, indices, weights, degrees, forces, seed, epoch, jumps, push, rate,
                momentum, farthest):  # fmt: skip
    """Move every row by its edges and by drawn rows, as many as ``jumps`` has, which weigh ``push`` of its
    degree together.

    ``forces`` are packed tables of pull and push by squared distance. Positions are of single precision, and
    ``indices`` unsigned, which spares a look at their sign.
    """
    n, d = Z.shape
    packed = Z.view(np.uint64).ravel() if d == 2 else np.empty(0, np.uint64)
    for block in rows((n + _ROWS - 1) // _ROWS):
        start, count = block * _ROWS, min(_ROWS, n - block * _ROWS)
        total, scratch = np.empty((count, d + 1), np.float32), _scratch()
        _forces_on(start, Z, packed, indptr, indices, weights, degrees, forces, seed, epoch, jumps, push,
                   scratch, total)  # fmt: skip
        for r in range(count):
            if d == 2:  # as a constant, the dimension costs nothing
                _move(start + r, 2, Z, speeds, out, total[r], total[r, 2], rate, momentum, farthest)
            else:
                _move(start + r, d, Z, speeds, out, total[r], total[r, d], rate, momentum, farthest)


@parallel_kernel
def fuzzy_gradient(Z, indptr, indices, weights, degrees, forces, seed, epoch, jumps, push, out):
    """The gradient at every row of a map into ``out``: what :func:`fuzzy_epoch` gathers, the other way."""
    n, d = Z.shape
    packed = Z.view(np.uint64).ravel() if d == 2 else np.empty(0, np.uint64)
    for block in rows((n + _ROWS - 1) // _ROWS):
        start, count = block * _ROWS, min(_ROWS, n - block * _ROWS)
        total, scratch = np.empty((count, d + 1), np.float32), _scratch()
        _forces_on(start, Z, packed, indptr, indices, weights, degrees, forces, seed, epoch, jumps, push,
                   scratch, total)  # fmt: skip
        for r in range(count):
            for c in range(d):
                out[start + r, c] = -total[r, c]


# ---- One step of a layout over fixed pairs: every row gathers its forces and takes a step of Adam's ----
#
# A pair stands in the lists of both of its rows, so that a thread writes nothing but its own row.


_BETA1, _BETA2 = np.float32(MEAN), np.float32(SQUARE)
_ONE = np.float32(1.0)
_LEAST = np.float32(1e-7)


@kernel
def adam(i, d, Z, memory, out, gradient, rate):
    """Adam's step of row i; ``rate`` has the corrections of both means."""
    for c in range(d):
        memory[0, i, c] += (_ONE - _BETA1) * (gradient[c] - memory[0, i, c])
        memory[1, i, c] += (_ONE - _BETA2) * (gradient[c] * gradient[c] - memory[1, i, c])
        out[i, c] = Z[i, c] - rate * memory[0, i, c] / (np.sqrt(memory[1, i, c]) + _LEAST)


@kernel
def _add_pair_gradient(i, d, Z, start, stop, others, amount, half, gradient):
    """Add ``amount / (half + 1 + r^2)^2 (z_i - z_j)`` of the pairs in a range."""
    for e in range(start, stop):
        j = others[e]
        square = half + _ONE
        for c in range(d):
            gap = Z[i, c] - Z[j, c]
            square += gap * gap
        force = amount / (square * square)
        for c in range(d):
            gradient[c] += force * (Z[i, c] - Z[j, c])


@kernel
def _pair_row(i, d, Z, memory, out, starts, others, amounts, halves, gradient, rate):
    for c in range(d):
        gradient[c] = np.float32(0.0)
    for kind in range(len(amounts)):
        if amounts[kind] != 0.0:
            _add_pair_gradient(i, d, Z, starts[i, kind], starts[i, kind + 1], others, amounts[kind],
                               halves[kind], gradient)  # fmt: skip
    adam(i, d, Z, memory, out, gradient, rate)


@parallel_kernel
def pair_epoch(Z, memory, out, starts, others, amounts, halves, rate):
    """Move every row by its pairs: those of kind t are ``others[starts[i, t] : starts[i, t + 1]]``.

    The gradient of a pair is ``amounts[t] / (halves[t] + 1 + r^2)^2`` times the gap. Single precision.
    """
    n, d = Z.shape
    for block in rows((n + _ROWS - 1) // _ROWS):
        gradient = np.empty(d, np.float32)
        for i in range(block * _ROWS, min((block + 1) * _ROWS, n)):
            if d == 2:  # as a constant, the dimension costs nothing
                _pair_row(i, 2, Z, memory, out, starts, others, amounts, halves, gradient, rate)
            else:
                _pair_row(i, d, Z, memory, out, starts, others, amounts, halves, gradient, rate)


# --------------------------------------------------------------------------------------------------
# One step of a layout over fixed triplets: a row gathers the forces of all triplets that it takes part
# in.
#
# Those that it leads stand in its own list, those that it is the near or the far row of in a list by that
# row.


_NONE = np.float32(0.0)
_MORE, _LESS, _LEAST_GAIN = (
    np.float32(0.2),
    np.float32(0.8),
    np.float32(0.01),
)  # of gains (delta-bar-delta)


@kernel
def _square(d, Z, i, j):
    """``1 + |z_i - z_j|^2``."""
    square = _ONE
    for c in range(d):
        gap = Z[i, c] - Z[j, c]
        square += gap * gap
    return square


@kernel
def _led(i, d, Z, near, far, weights, gradient):
    """Add ``w (b (z_i - z_j) - a (z_i - z_k)) / (a + b)^2`` of the triplets that row i leads."""
    for t in range(near.shape[1]):
        weight = weights[i, t]
        if weight > _NONE:
            j, k = near[i, t], far[i, t]
            a, b = _square(d, Z, i, j), _square(d, Z, i, k)
            force = weight / ((a + b) * (a + b))
            for c in range(d):
                gradient[c] += force * (b * (Z[i, c] - Z[j, c]) - a * (Z[i, c] - Z[k, c]))


@kernel
def _taken(r, d, Z, starts, leaders, others, shares, gradient):
    """Add the forces of triplets that row r is the near or, where the weight is negative, the far row of.

    The factor is ``b / (a + b)^2`` or ``a / (a + b)^2``: of both the square of the other one.
    """
    for e in range(starts[r], starts[r + 1]):
        i = leaders[e]
        mine, other = _square(d, Z, i, r), _square(d, Z, i, others[e])
        force = shares[e] * other / ((mine + other) * (mine + other))
        for c in range(d):
            gradient[c] += force * (Z[r, c] - Z[i, c])


@kernel
def _step(i, d, Z, memory, out, gradient, rate, momentum, ahead):
    """Nesterov's step with gains: Z and ``out`` hold positions that look ahead by the momentum."""
    for c in range(d):
        speed, gain = (
            memory[0, i, c],
            _ONE + memory[1, i, c],
        )  # what is kept is a gain beyond 1
        same = (speed > _NONE and gradient[c] > _NONE) or (speed < _NONE and gradient[c] < _NONE)
        both = speed == _NONE and gradient[c] == _NONE
        gain = max(_LESS * gain, _LEAST_GAIN) if same or both else gain + _MORE
        place = Z[i, c] - momentum * speed
        speed = momentum * speed - rate * gain * gradient[c]
        memory[0, i, c], memory[1, i, c] = speed, gain - _ONE
        out[i, c] = place + speed + ahead * speed


@kernel
def _triplet_row(i, d, Z, memory, out, near, far, weights, starts, leaders, others, shares, gradient, rate,
                 momentum, ahead):  # fmt: skip
    for c in range(d):
        gradient[c] = _NONE
    _led(i, d, Z, near, far, weights, gradient)
    _taken(i, d, Z, starts, leaders, others, shares, gradient)
    _step(i, d, Z, memory, out, gradient, rate, momentum, ahead)


@parallel_kernel
def triplet_epoch(Z, memory, out, near, far, weights, starts, leaders, others, shares, rate, momentum, ahead):
    """Move every row by its triplets. Single precision.

    Row i leads the triplets (i, near[i, t], far[i, t]) of weight ``weights[i, t]``, none where it is 0, and
    takes part in those of ``leaders`` from ``starts[i]`` to ``starts[i + 1]``, with ``others`` as third rows.
    """
    n, d = Z.shape
    for block in rows((n + _ROWS - 1) // _ROWS):
        gradient = np.empty(d, np.float32)
        for i in range(block * _ROWS, min((block + 1) * _ROWS, n)):
            if d == 2:  # as a constant, the dimension costs nothing
                _triplet_row(i, 2, Z, memory, out, near, far, weights, starts, leaders, others, shares,
                             gradient, rate, momentum, ahead)  # fmt: skip
            else:
                _triplet_row(i, d, Z, memory, out, near, far, weights, starts, leaders, others, shares,
                             gradient, rate, momentum, ahead)  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Rows drawn for each row, by counters: a draw depends on the seed, on what it is for, and on the row.


@parallel_kernel
def draw_others(seed, purpose, out):
    """Fill each row of ``out`` (n, c) with other rows, equally likely."""
    n, count = out.shape
    for i in rows(n):
        key = random_key(seed, purpose, i)
        for t in range(count):
            key = next_key(key)
            j = random_below(key, n - 1)
            out[i, t] = j + 1 if j >= i else j


@kernel
def _has(values, count, wanted):
    found = False
    for t in range(count):
        found |= values[t] == wanted
    return found


@kernel
def _draw_free(key, i, n, near, out):
    """As :func:`_draw_anew`, from a list of all rows that are free."""
    free = np.ones(n, np.bool_)
    free[i] = False
    for j in near:
        free[j] = False
    left = np.flatnonzero(free)
    for t in range(min(len(out), len(left))):
        key = next_key(key)
        at = t + random_below(key, len(left) - t)
        out[t] = left[at]
        left[at] = left[t]
    return key


@kernel
def _draw_anew(key, i, n, near, out):
    """Fill ``out`` with different rows that are neither row i nor in ``near``: draw again until they are."""
    for t in range(len(out)):
        j = np.int64(i)
        while j == i or _has(near, len(near), j) or _has(out, t, j):
            key = next_key(key)
            j = random_below(key, n)
        out[t] = j
    return key


@parallel_kernel
def draw_beyond(seed, purpose, near, lengths, count, out):
    """``count`` different rows of n for each row i and length k: neither i nor of ``near[i, :k]``.

    ``near`` is (n, most), ``out`` (n, lengths * count), which stays as it is where no rows are left.
    """
    n = len(near)
    for i in rows(n):
        key = random_key(seed, purpose, i)
        for h in range(len(lengths)):
            drawn, listed = out[i, h * count : (h + 1) * count], near[i, : lengths[h]]
            if 2 * (len(listed) + count) > n:
                key = _draw_free(key, i, n, listed, drawn)
            else:
                key = _draw_anew(key, i, n, listed, drawn)
