"""The nearest row of another part, for rows of a graph in parts."""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from ..distances.euclidean import squared_distance
from .boxes import box_gap

_AT_ONCE = 64  # estimates that are looked through together: few are near enough


@kernel
def parts_of_nodes(labels, starts, stops, rights):
    """The part that all rows of a node belong to, -1 where they belong to several."""
    parts = np.empty(len(starts), np.int64)
    for node in range(len(starts) - 1, -1, -1):
        right = rights[node]
        if right > 0:
            parts[node] = parts[right] if parts[node + 1] == parts[right] else -1
            continue
        parts[node] = labels[starts[node]]
        for i in range(starts[node] + 1, stops[node]):
            if labels[i] != parts[node]:
                parts[node] = -1
    return parts


@parallel_kernel
def nearest_outside(
    points, order, starts, stops, rights, lows, highs, depth, labels, parts, queries, limits, slack,
    near, lengths
):  # fmt: skip
    """For rows of the tree, the nearest row of another part at a squared distance up to ``limits``.

    Equally far ones go by ``order``. ``near`` is -1 and ``lengths`` the limit where there is none. A box
    counts as nearer by the share ``slack``, what rounding may do to its distance. Returns how many rows
    each query was compared with.
    """
    measured = np.zeros(len(queries), np.int64)
    for q in rows(len(queries)):
        row = queries[q]
        x, mine = points[row], labels[row]
        best, least = -1, limits[q]
        waiting, gaps = np.empty(depth + 1, np.int64), np.empty(depth + 1)
        waiting[0], gaps[0], size = 0, 0.0, 1
        while size > 0:
            size -= 1
            node = waiting[size]
            if parts[node] == mine or gaps[size] > least:
                continue
            right = rights[node]
            if right == 0:
                for j in range(starts[node], stops[node]):
                    if labels[j] == mine:
                        continue
                    measured[q] += 1
                    length = squared_distance(x, points[j])
                    if length < least or (length == least and (best < 0 or order[j] < order[best])):
                        best, least = j, length
                continue
            first, second = node + 1, right
            gap, other = box_gap(x, lows[first], highs[first]), box_gap(x, lows[second], highs[second])
            if other < gap:
                first, second, gap, other = second, first, other, gap
            waiting[size], gaps[size] = second, other * (1.0 - slack)
            waiting[size + 1], gaps[size + 1] = first, gap * (1.0 - slack)
            size += 2
        near[q], lengths[q] = best, least
    return measured


@kernel
def closer_outside(products, norms, slack, unit, data, own, others, labels, near, lengths):
    """Bring the nearest row of another part, and its squared distance, up to date with the rows ``others``.

    ``near`` is -1 and ``lengths`` a limit where there is none yet. ``norms[i] - 2 products[i, j]`` is within
    ``slack[i]`` of the squared distance of rows ``own[i]`` and ``others[j]`` in units of ``unit``: only
    those that may be as near are measured. Equally far ones go by index.
    """
    n_rows, n = products.shape
    for i in range(n_rows):
        row, x, mine = products[i], data[own[i]], labels[own[i]]
        best, least = near[i], lengths[i]
        floor = np.float32(0.5 * (norms[i] - slack[i] - least / unit / unit))
        for start in range(0, n, _AT_ONCE):
            stop = min(start + _AT_ONCE, n)
            count = 0
            for j in range(start, stop):
                count += row[j] >= floor
            if count == 0:
                continue
            for j in range(start, stop):
                if row[j] >= floor and labels[others[j]] != mine:
                    length = squared_distance(x, data[others[j]])
                    if length < least or (length == least and (best < 0 or others[j] < best)):
                        best, least = others[j], length
                        floor = np.float32(0.5 * (norms[i] - slack[i] - least / unit / unit))
        near[i], lengths[i] = best, least
