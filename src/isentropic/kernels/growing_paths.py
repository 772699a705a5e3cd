"""Shortest paths that follow a graph as it grows: halved again after new rows, repaired after lost edges."""

from __future__ import annotations

import numpy as np

from ._jit import kernel, parallel_kernel, rows
from .paths import LANES, _append_unreached, _renumber, _sweep, _wave_width, _waves

# --------------------------------------------------------------------------------------------------
# All shortest paths of a graph, each pair from one of its ends: what earlier sources found is known.
#
# Sources are the nodes in order, in blocks. For a source s of a block that starts at node a, its distances to
# the nodes before a are known, as theirs to s. So only nodes from a on are searched, and each starts with its
# best way through a neighbour that is known. Of the work from all sources, a third of the searching remains.


@parallel_kernel
def wave_orders(indptr, indices, weights, first_of, starts, n_workers, out):
    """For each group of sources: the nodes from ``first_of`` its block on, as a wave from its middle reaches
    them, at ``out[starts[group]]``. ``O(n k)`` time a group."""
    n = len(indptr) - 1
    width = _wave_width(weights)
    n_groups = len(first_of)
    for worker in rows(n_workers):
        distance = np.empty(n)
        state = np.empty(n, np.uint8)
        near = np.empty(n, np.int32)
        far = np.empty(n, np.int32)
        order = np.empty(n, np.int32)
        seed = np.empty(1, np.int32)
        start = np.zeros(1)
        for group in range(worker, n_groups, n_workers):
            seed[0] = (group * LANES + min(group * LANES + LANES, n)) // 2
            reached = _waves(indptr, indices, weights, seed, start, width, distance, state, near, far, order)
            _append_unreached(order, reached, distance)
            at = starts[group]
            for step in range(n):
                if order[step] >= first_of[group]:
                    out[at] = order[step] - first_of[group]
                    at += 1


@kernel
def _known_columns(distances, row_starts, n_known, first, last, known):
    """``known[t, lane]``: the distance between node ``t`` and source ``first + lane``."""
    for t in range(n_known):
        start = row_starts[t] + first
        for lane in range(last - first):
            known[t, lane] = distances[start + lane]


@kernel
def _enter(indptr, indices, weights, n_known, known, first, last, place, D):
    """Start every searched node with its best way through a neighbour that is known, sources with 0."""
    D[:, :] = np.inf
    for v in range(n_known, len(indptr) - 1):
        mine = D[place[v - n_known]]
        for e in range(indptr[v], indptr[v + 1]):
            t = indices[e]
            if t >= n_known:
                break  # neighbours are in order
            w = weights[e]
            through = known[t]
            for lane in range(LANES):
                mine[lane] = min(mine[lane], through[lane] + w)
    for lane in range(last - first):
        D[place[first + lane - n_known], lane] = 0.0


@parallel_kernel
def halved_paths(indptr, indices, weights, inner_indptr, inner_indices, inner_weights, n_known, stop,
                 orders, starts, n_workers, row_starts, out):  # fmt: skip
    """Rows ``n_known`` to ``stop`` right of the diagonal, column j of row i at ``row_starts[i] + j``.

    Rows before are there. ``inner`` is the graph of the nodes from ``n_known`` on, numbered from 0;
    ``orders`` are those of :func:`wave_orders`. Neighbours of a node are in order.
    """
    n = len(indptr) - 1
    n_inner = n - n_known
    n_groups = (stop - n_known + LANES - 1) // LANES
    for worker in rows(n_workers):
        known = np.zeros((n_known, LANES))
        D = np.empty((n_inner, LANES))
        dirty = np.empty(n_inner, np.bool_)
        source = np.empty(LANES)
        place = np.empty(n_inner, np.int32)
        local_indptr = np.empty_like(inner_indptr)
        local_indices = np.empty_like(inner_indices)
        local_weights = np.empty_like(inner_weights)
        for group in range(worker, n_groups, n_workers):
            first = n_known + group * LANES
            last = min(first + LANES, stop)
            at = starts[first // LANES]
            order = orders[at : at + n_inner]
            _renumber(inner_indptr, inner_indices, inner_weights, order, place, local_indptr, local_indices,
                      local_weights)  # fmt: skip
            _known_columns(out, row_starts, n_known, first, last, known)
            _enter(indptr, indices, weights, n_known, known, first, last, place, D)
            dirty[:] = True
            forward = True
            while _sweep(local_indptr, local_indices, local_weights, D, dirty, source, forward):
                forward = not forward
            for s in range(first, last):
                start = row_starts[s]
                for j in range(s + 1, n):
                    out[start + j] = D[place[j - n_known], s - first]


# --------------------------------------------------------------------------------------------------
# Shortest paths after edges left a graph and others came (dynamic shortest paths: Ramalingam and Reps).
#
# A source is a row of distances, repaired by itself. Nodes that lost every path as short as theirs are found
# by counting, for each, the neighbours that support it: through which it is as near as before, and which are
# nearer by more than rounding. Only these nodes are searched again; then every way through a hub is tried, a
# node at which edges were added.


EQUAL = 1e-12  # relative: lengths this near are equal up to rounding
# An edge this small against the distance carries no order: equal rows would hold each other up.
_NO_LENGTH = 4 * EQUAL
_UNSEEN, _SPREAD = -1, -2  # not counted yet; lost, and its neighbours know it
_TILE = 512  # columns at a time: those of all hubs stay in L2


@kernel
def _is_tight(g, x, w, v):
    """Whether the edge from x ends a path to v that is as short as its shortest."""
    return g[x] + w <= g[v] * (1.0 + EQUAL) and g[v] < np.inf


@kernel
def _supporters(indptr, indices, weights, g, support, v):
    """How many neighbours support v, of those that are not known to be lost."""
    count = 0
    limit, least = g[v] * (1.0 + EQUAL), _NO_LENGTH * g[v]
    for e in range(indptr[v], indptr[v + 1]):
        x = indices[e]
        if g[x] + weights[e] <= limit and weights[e] > least and support[x] != _SPREAD:
            count += 1
    return count


@kernel
def _judge(indptr, indices, weights, g, support, v, touched, sizes, lost):
    """Count what supports v, or one less than before; it is lost where nothing does."""
    if support[v] == _UNSEEN:
        support[v] = _supporters(indptr, indices, weights, g, support, v)
        touched[sizes[0]] = v
        sizes[0] += 1
    else:
        support[v] -= 1
    if support[v] == 0:
        lost[sizes[1]] = v
        sizes[1] += 1


@kernel
def _find_lost(indptr, indices, weights, ends, lengths, g, source, most, support, touched, sizes, lost):
    """List the nodes that lost their paths with the removed edges; more than ``most`` end the search."""
    sizes[0], sizes[1] = 0, 0
    for r in range(len(lengths)):
        for way in range(2):
            x, v = ends[r, way], ends[r, 1 - way]
            if support[v] == _UNSEEN and v != source and _is_tight(g, x, lengths[r], v):
                _judge(indptr, indices, weights, g, support, v, touched, sizes, lost)
    done = 0
    while done < sizes[1] and sizes[1] <= most:
        x = lost[done]
        done += 1
        support[x] = _SPREAD
        for e in range(indptr[x], indptr[x + 1]):
            v, w = indices[e], weights[e]
            if support[v] == 0 or support[v] == _SPREAD or v == source or not _is_tight(g, x, w, v):
                continue
            if support[v] == _UNSEEN or w > _NO_LENGTH * g[v]:
                _judge(indptr, indices, weights, g, support, v, touched, sizes, lost)
    for t in range(sizes[0]):
        support[touched[t]] = _UNSEEN


@kernel
def _search_again(indptr, indices, weights, lost, n_lost, g):
    """Distances of the lost nodes from those of their neighbours: label correction, there and back."""
    for t in range(n_lost):
        g[lost[t]] = np.inf
    shortened, forward = n_lost > 0, True
    while shortened:
        shortened = False
        for step in range(n_lost):
            v = lost[step if forward else n_lost - 1 - step]
            best = g[v]
            for e in range(indptr[v], indptr[v + 1]):
                best = min(best, g[indices[e]] + weights[e])
            if best < g[v]:
                g[v] = best
                shortened = True
        forward = not forward


@kernel
def _useful_hubs(exit_ptr, exits, exit_weights, hubs, source, g, useful):
    """The hubs through which a node is nearer, and how many: of each, a node that it leads to is."""
    count = 0
    for h in range(len(hubs)):
        for e in range(exit_ptr[h], exit_ptr[h + 1]):
            if hubs[h, source] + exit_weights[e] < g[exits[e]]:
                useful[count] = h
                count += 1
                break
    return count


@kernel
def _go_through(hubs, useful, count, source, start, stop, g):
    """Shorten the distances of columns ``start`` to ``stop`` by ways through the useful hubs."""
    mine = g[start:stop]
    for t in range(count):
        row = hubs[useful[t], start:stop]
        first = hubs[useful[t], source]
        for j in range(len(mine)):
            mine[j] = min(mine[j], first + row[j])


@parallel_kernel
def repaired_paths(indptr, indices, weights, ends, lengths, exit_ptr, exits, exit_weights, hubs, n_new,
                   sources, most, repair, n_workers, G, n_lost):  # fmt: skip
    """Repair the rows of ``G``, distances from the ``sources``; ``n_lost`` counts what was searched again.

    The CSR graph is what is left of the one before: ``ends`` and ``lengths`` are the edges removed from it.
    ``hubs`` (h, n + n_new) are distances in the graph to come, the first ``n_new`` from its new nodes; ways
    out of hub h are ``exits[exit_ptr[h]:exit_ptr[h + 1]]``. A row with more than ``most`` lost nodes is left
    as it was, and so are all where nothing but the counts is wanted (``repair`` is False).
    """
    n = len(indptr) - 1
    for worker in rows(n_workers):
        support = np.full(n, _UNSEEN, np.int32)
        touched = np.empty(n, np.int32)
        lost = np.empty(n, np.int32)
        sizes = np.zeros(2, np.int64)
        useful = np.empty(len(hubs), np.int64)
        for s in range(worker, len(sources), n_workers):
            g, source = G[s], sources[s]
            _find_lost(
                indptr, indices, weights, ends, lengths, g, source, most, support, touched, sizes, lost
            )
            n_lost[s] = sizes[1]
            if sizes[1] > most or not repair:
                continue
            _search_again(indptr, indices, weights, lost, sizes[1], g)
            count = _useful_hubs(exit_ptr, exits, exit_weights, hubs, source, g, useful)
            for start in range(0, n, _TILE):
                _go_through(hubs, useful, count, source, start, min(start + _TILE, n), g)
            for new in range(n_new):
                g[n + new] = hubs[new, source]
