"""Rows drawn for each row, by counters: a draw depends on the seed, on what it is for, and on the row."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..draws import drawn_below, drawn_key, next_key


@parallel_kernel
def draw_others(seed, purpose, out):
    """Fill each row of ``out`` (n, c) with other rows, equally likely."""
    n, count = out.shape
    for i in rows(n):
        key = drawn_key(seed, purpose, i)
        for t in range(count):
            key = next_key(key)
            j = drawn_below(key, n - 1)
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
        at = t + drawn_below(key, len(left) - t)
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
            j = drawn_below(key, n)
        out[t] = j
    return key


@parallel_kernel
def draw_beyond(seed, purpose, near, lengths, count, out):
    """``count`` different rows of n for each row i and length k: neither i nor of ``near[i, :k]``.

    ``near`` is (n, most), ``out`` (n, lengths * count), which stays as it is where no rows are left.
    """
    n = len(near)
    for i in rows(n):
        key = drawn_key(seed, purpose, i)
        for h in range(len(lengths)):
            drawn, listed = out[i, h * count : (h + 1) * count], near[i, : lengths[h]]
            if 2 * (len(listed) + count) > n:
                key = _draw_free(key, i, n, listed, drawn)
            else:
                key = _draw_anew(key, i, n, listed, drawn)
