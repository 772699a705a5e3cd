"""What became of a graph: edges that left it, and the nodes at which others came."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._core.values import NeighborGraph


@dataclass(frozen=True, slots=True)
class Changes:
    """From one graph to the next, whose first rows are those of the first.

    Every added edge is at a hub: at a new row, or at the lower end of an edge between old rows.
    """

    kept: NeighborGraph  # of the old rows: the edges that are in both graphs, equally long
    ends: np.ndarray  # (r, 2) int32: edges that are in the old graph only
    lengths: np.ndarray  # (r,)
    hubs: np.ndarray  # (h,) rows of the new graph, new ones first
    exit_ptr: np.ndarray  # (h + 1,): for each hub, by which old rows a path through it goes on,
    exits: np.ndarray  # int32
    exit_weights: np.ndarray  # and how far from the hub these are

    @classmethod
    def between(cls, old: NeighborGraph, new: NeighborGraph) -> Changes:
        """``O(n k log n)`` time."""
        n = old.n_rows
        row, new_row = _row_of_entries(old), _row_of_entries(new)
        key = row * new.n_rows + old.indices  # in order, as the entries of a graph are
        inside = np.flatnonzero(new.indices[: new.indptr[n]] < n)
        at = np.searchsorted(key, new_row[inside] * new.n_rows + new.indices[inside])
        at = np.minimum(at, len(key) - 1)
        same = old.indices[at] == new.indices[inside]
        same &= (row[at] == new_row[inside]) & (old.weights[at] == new.weights[inside])
        is_kept = np.zeros(len(key), bool)
        is_kept[at[same]] = True
        indptr = np.concatenate([[0], np.cumsum(is_kept)])[old.indptr]
        kept = replace(old, indptr=indptr, indices=old.indices[is_kept], weights=old.weights[is_kept])
        left = np.flatnonzero(~is_kept & (row < old.indices))
        ends = np.column_stack([row[left], old.indices[left]]).astype(np.int32)
        return cls(kept, ends, old.weights[left], *_hubs(new, n, new_row, inside[~same]))


def _row_of_entries(graph: NeighborGraph) -> np.ndarray:
    return np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))


def _hubs(new: NeighborGraph, n: int, row: np.ndarray, added: np.ndarray):
    """Hubs, and their exits in CSR form; ``added`` are the entries of new edges between old rows.

    A path enters an old hub by such an edge and leaves by an old one, or the other way round: the hub itself
    is one of its exits, at distance 0.
    """
    start = new.indptr[n]
    outward = start + np.flatnonzero(new.indices[start:] < n)
    added = added[row[added] < new.indices[added]]
    ends = np.unique(row[added])
    hub = np.concatenate([row[outward], ends, row[added]])
    exits = np.concatenate([new.indices[outward], ends, new.indices[added]]).astype(np.int32)
    weights = np.concatenate([new.weights[outward], np.zeros(len(ends)), new.weights[added]])
    hubs = np.concatenate([np.arange(n, new.n_rows), ends])
    number = np.empty(new.n_rows, np.int64)
    number[hubs] = np.arange(len(hubs))
    order = np.argsort(number[hub], kind="stable")
    exit_ptr = np.concatenate([[0], np.cumsum(np.bincount(number[hub], minlength=len(hubs)))])
    return hubs, exit_ptr, exits[order], weights[order]
