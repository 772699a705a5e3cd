"""A tree of boxes over rows.

Nodes are numbered in preorder: the left child of a node is the next one, the right child is ``rights[node]``,
0 for a leaf. A node holds the rows ``starts[node]`` to ``stops[node]`` in the order of the tree.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .distances.euclidean import squared_distance
from .nearest import _insert


@kernel
def _widest(X, members):
    """The column in which these rows spread most, and where its middle is; no middle where all are equal."""
    column, widest, middle = 0, 0.0, np.nan
    for f in range(X.shape[1]):
        low = high = X[members[0], f]
        for i in members:
            low = min(low, X[i, f])
            high = max(high, X[i, f])
        if high - low > widest:
            column, widest = f, high - low
            middle = low + 0.5 * widest
            if not middle < high:  # neighbours among the doubles
                middle = low
    return column, middle


@kernel
def _parted(values, members, middle):
    """Move the rows of values up to the middle to the front; returns how many they are."""
    front, back = 0, len(members) - 1
    while front <= back:
        if values[members[front]] <= middle:
            front += 1
        else:
            members[front], members[back] = members[back], members[front]
            back -= 1
    return front


@kernel
def split_rows(X, leaf):
    """Halve the widest side of every box until at most ``leaf`` rows, or equal ones, are left in it.

    Returns the order of the rows, the first, the end and the right child of every node, and the depth.
    """
    n = len(X)
    order = np.arange(n)
    starts, stops = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    rights = np.zeros(2 * n, np.int64)
    parents, levels = np.full(2 * n, -1), np.ones(2 * n, np.int64)  # of the boxes that wait, by place
    starts[-1], stops[-1] = 0, n
    # Those that wait stand at the end of the same arrays: all nodes together are fewer than 2 n.
    count, waiting, depth = 0, 2 * n - 1, 1
    while waiting < 2 * n:
        start, stop, parent, level = starts[waiting], stops[waiting], parents[waiting], levels[waiting]
        waiting += 1
        if parent >= 0:
            rights[parent] = count
        starts[count], stops[count] = start, stop
        depth = max(depth, level)
        column, middle = _widest(X, order[start:stop]) if stop - start > leaf else (0, np.nan)
        if not np.isnan(middle):
            cut = start + _parted(X[:, column], order[start:stop], middle)
            waiting -= 2
            starts[waiting], stops[waiting], parents[waiting] = start, cut, -1
            starts[waiting + 1], stops[waiting + 1], parents[waiting + 1] = cut, stop, count
            levels[waiting] = levels[waiting + 1] = level + 1
        count += 1
    return order, starts[:count].copy(), stops[:count].copy(), rights[:count].copy(), depth


@kernel
def boxes_of(points, starts, stops, rights):
    """Least and greatest coordinates of the rows of every node."""
    m = points.shape[1]
    lows, highs = np.full((len(starts), m), np.inf), np.full((len(starts), m), -np.inf)
    for node in range(len(starts) - 1, -1, -1):
        right = rights[node]
        for f in range(m):
            if right > 0:
                lows[node, f] = min(lows[node + 1, f], lows[right, f])
                highs[node, f] = max(highs[node + 1, f], highs[right, f])
                continue
            for i in range(starts[node], stops[node]):
                lows[node, f] = min(lows[node, f], points[i, f])
                highs[node, f] = max(highs[node, f], points[i, f])
    return lows, highs


@kernel
def box_gap(x, low, high):
    """Squared distance of a row to a box."""
    total = 0.0
    for f in range(len(x)):
        total += max(low[f] - x[f], x[f] - high[f], 0.0) ** 2
    return total


@parallel_kernel
def nearest_by_boxes(
    points, order, starts, stops, rights, lows, highs, depth, queries, selves, slack, indices, distances
):
    """Exact Euclidean neighbours by the tree; row ``selves[i]`` is no neighbour of query i (-1: all are).

    A box counts as nearer by the share ``slack``, what rounding may do to its distance. Returns how many
    rows each query was compared with.
    """
    k = indices.shape[1]
    measured = np.zeros(len(queries), np.int64)
    for q in rows(len(queries)):
        waiting, gaps = np.empty(depth + 1, np.int64), np.empty(depth + 1)
        waiting[0], gaps[0], size, found = 0, 0.0, 1, 0
        while size > 0:
            size -= 1
            node = waiting[size]
            if found == k and gaps[size] > distances[q, k - 1]:
                continue
            right = rights[node]
            if right == 0:
                measured[q] += stops[node] - starts[node]
                for j in range(starts[node], stops[node]):
                    distance = squared_distance(queries[q], points[j])
                    if order[j] != selves[q] and (found < k or distance <= distances[q, k - 1]):
                        found = _insert(distances[q], indices[q], found, distance, order[j])
                continue
            near, far = node + 1, right
            gap, other = (
                box_gap(queries[q], lows[near], highs[near]),
                box_gap(queries[q], lows[far], highs[far]),
            )
            if other < gap:
                near, far, gap, other = far, near, other, gap
            waiting[size], gaps[size] = far, other * (1.0 - slack)
            waiting[size + 1], gaps[size + 1] = near, gap * (1.0 - slack)
            size += 2
        for s in range(k):
            distances[q, s] = np.sqrt(distances[q, s])
    return measured


# ---- The nearest row of another part, for rows of a graph in parts -------------------------------


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


# ---- Sums over all pairs of a map: far boxes stand for their rows (Barnes and Hut) ----------------
#
# A box stands for its rows, all at their mean, where its longest side is at most
# ``_SIDE sqrt(_NEAR^2 + gap^2)`` for the gap between it and the leaf that looks: over that length the weights
# ``1 / (1 + d^2)`` hardly bend. The rows of a leaf look at the same boxes, so that many terms of one list are
# added up at once. A leaf has one owner, and its sums the order of the tree.


_SIDE, _NEAR = 0.4, 0.5
_LISTED = 512  # boxes and rows that a leaf meets at once
_ONE = np.float32(1)


@kernel
def means_of(points, starts, stops, rights):
    """Mean place of the rows of every node."""
    means = np.zeros((len(starts), points.shape[1]))
    for node in range(len(starts) - 1, -1, -1):
        right, n = rights[node], stops[node] - starts[node]
        for f in range(points.shape[1]):
            if right > 0:
                share = (stops[right] - starts[right]) / n
                means[node, f] = means[node + 1, f] + share * (means[right, f] - means[node + 1, f])
                continue
            total = 0.0
            for i in range(starts[node], stops[node]):
                total += points[i, f]
            means[node, f] = total / n
    return means


@kernel
def _stands_for_rows(low, high, own_low, own_high, is_own):
    """Whether a box may be taken for one place by a leaf; one that the leaf is part of if it is one place."""
    longest, gap = 0.0, 0.0
    for f in range(len(low)):
        longest = max(longest, high[f] - low[f])
        gap += max(low[f] - own_high[f], own_low[f] - high[f], 0.0) ** 2
    if is_own:
        return longest == 0.0
    return longest * longest <= _SIDE * _SIDE * (_NEAR * _NEAR + gap)


@kernel
def _add_listed(points, first, last, n, listed, counts, power, u, out, sums):
    """Add the pushes of the first ``n`` that are listed on the rows of a leaf."""
    for s in range(first, last):
        total = np.float32(0)
        for t in range(n):
            u[t] = _ONE
        for c in range(len(listed)):
            x, other = points[s, c], listed[c]
            for t in range(n):
                u[t] += (x - other[t]) * (x - other[t])
        for t in range(n):
            u[t] = _ONE / u[t]
        if power == 1.0:
            for t in range(n):
                weight = counts[t] * u[t]
                total += weight
                u[t] *= weight
        else:
            for t in range(n):
                weight = counts[t] * u[t] ** power
                total += weight
                u[t] *= weight
        sums[s] += total
        for c in range(len(listed)):
            x, other, shift = points[s, c], listed[c], np.float32(0)
            for t in range(n):
                shift += u[t] * (x - other[t])
            out[s, c] += shift


@kernel
def _listed_for(leaf, points, starts, stops, rights, lows, highs, means, waiting, size, listed, counts):
    """List boxes and rows that a leaf meets until the lists are full; how many, and what is still to open."""
    met, first, last = 0, starts[leaf], stops[leaf]
    while size > 0:
        node = waiting[size - 1]
        is_own = starts[node] <= first and last <= stops[node]
        stands = _stands_for_rows(lows[node], highs[node], lows[leaf], highs[leaf], is_own)
        n_new = 1 if stands else (0 if rights[node] > 0 else stops[node] - starts[node])
        if met + n_new > len(counts):
            return met, size
        size -= 1
        if stands:
            for c in range(len(listed)):
                listed[c, met] = means[node, c]
            counts[met] = stops[node] - starts[node]
        elif n_new == 0:
            waiting[size], waiting[size + 1] = rights[node], node + 1
            size += 2
        else:
            for s in range(n_new):
                for c in range(len(listed)):
                    listed[c, met + s] = points[starts[node] + s, c]
                counts[met + s] = _ONE
        met += n_new
    return met, 0


@parallel_kernel
def pushes_by_boxes(points, starts, stops, rights, lows, highs, means, depth, leaves, power, out):
    """The pushes ``sum_j u^(g + 1) (z_i - z_j)`` of all rows on each into ``out``; per row, ``sum_j u^g``.

    ``u = 1 / (1 + |z_i - z_j|^2)``. Rows, and both results, are in the order of the tree. ``O(n log n)``.
    """
    sums = np.empty(len(points))
    for g in rows(len(leaves)):
        leaf, d = leaves[g], points.shape[1]
        first, last = starts[leaf], stops[leaf]
        for s in range(first, last):
            sums[s] = -1.0  # what a row is to itself
            for c in range(d):
                out[s, c] = 0.0
        waiting, size = np.empty(depth + 1, np.int64), 1
        waiting[0] = 0
        listed, counts = np.empty((d, _LISTED), np.float32), np.empty(_LISTED, np.float32)
        u = np.empty(_LISTED, np.float32)
        while size > 0:
            met, size = _listed_for(
                leaf, points, starts, stops, rights, lows, highs, means, waiting, size, listed, counts
            )
            _add_listed(points, first, last, met, listed, counts, power, u, out, sums)
    return sums
