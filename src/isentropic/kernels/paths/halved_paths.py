"""All shortest paths of a graph, each pair from one of its ends: what earlier sources found is known.

Sources are the nodes in order, in blocks. For a source s of a block that starts at node a, its distances to
the nodes before a are known, as theirs to s. So only nodes from a on are searched, and each starts with its
best way through a neighbour that is known. Of the work from all sources, a third of the searching remains.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel, parallel_kernel, rows
from .paths import LANES, _append_unreached, _renumber, _sweep, _wave_width, _waves


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
