"""``ClusterTree``: the clusters of a map at all densities (HDBSCAN's condensed tree)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from ..._core.values import Floats, Integers
from ...linalg import rows_in_unit

Flags = npt.NDArray[np.bool_]
_SMALLEST = 0.03  # share of the rows that a cluster must have
_SMOOTH = 0.05  # share of the rows that the density at a row is taken from
_NEAREST = 1e-9  # of the largest distance: equal rows have a finite density


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTree:
    """Clusters of the rows, without the root: every other one splits off from a parent."""

    members: Flags  # (n, c) whether a row is in a cluster
    parents: Integers  # (c,) position of the parent, -1 for the root; parents come before children
    chosen: Flags  # (c,) the flat clustering of greatest stability (excess of mass)

    @property
    def clusters(self) -> Flags:
        """(n, c') members of the chosen clusters, which are disjoint."""
        return self.members[:, self.chosen]


def cluster_tree(Z: Floats, fewest: int) -> ClusterTree:
    """Clusters of at least 3% of the rows of a map and ``fewest``, single linkage by mutual reachability.

    The distance of two rows is at least the distance from either to its k-th nearest, with k 5% of the rows
    or the fewest of a cluster. A branch with fewer rows than a cluster falls off its cluster. ``O(n^2)`` time
    and memory.

    References
    ----------
    R. J. G. B. Campello, D. Moulavi, J. Sander, Density-based clustering based on hierarchical density
    estimates, PAKDD (2013).
    """
    n = len(Z)
    smallest = max(fewest, int(np.ceil(_SMALLEST * n)))
    merged = _single_linkage(Z, max(smallest, int(np.ceil(_SMOOTH * n))))
    order, first, size = _spans(merged, n)
    spans, parents, stability = _condensed(merged, n, first, size, smallest)
    members = np.zeros((n, len(spans) - 1), bool)
    for cluster, (start, stop) in enumerate(spans[1:]):
        members[order[start:stop], cluster] = True
    chosen = _most_stable(parents, stability)
    return ClusterTree(members, parents[1:] - 1, chosen[1:])


def _single_linkage(Z: Floats, k: int) -> Floats:
    """Merges of the rows, as scipy's linkage has them; distances in units of the largest."""
    near = squareform(pdist(rows_in_unit(Z)[0]))
    largest = float(near.max())
    near = np.maximum(near / largest, _NEAREST) if largest > 0 else np.full_like(near, _NEAREST)
    core = np.partition(near, min(k, len(Z)) - 1, axis=1)[:, min(k, len(Z)) - 1]
    reach = np.maximum(near, np.maximum(core[:, None], core))
    np.fill_diagonal(reach, 0.0)
    return np.asarray(linkage(squareform(reach, checks=False), "single"), float)


def _spans(merged: Floats, n: int) -> tuple[Integers, Integers, Integers]:
    """An order of the rows in which every branch is a span; first place and size of each branch."""
    size = np.ones(2 * n - 1, np.int64)
    size[n:] = merged[:, 3].astype(np.int64)
    first = np.zeros(2 * n - 1, np.int64)
    for branch in range(2 * n - 2, n - 1, -1):
        left, right = merged[branch - n, :2].astype(np.int64)
        first[left], first[right] = first[branch], first[branch] + size[left]
    return np.argsort(first[:n], kind="stable"), first, size


def _condensed(
    merged: Floats, n: int, first: Integers, size: Integers, smallest: int
) -> tuple[list[tuple[int, int]], Integers, Floats]:
    """Spans, parents and stabilities of all clusters, the root first.

    The stability is the sum over the rows of ``1 / d_out - 1 / d_born``: how long each stays in.
    """
    spans: list[tuple[int, int]] = []
    parents: list[int] = []
    stability: list[float] = []
    waiting = [(2 * n - 2, -1, np.inf)]
    while waiting:
        branch, parent, born = waiting.pop(0)
        here = len(spans)
        spans.append((int(first[branch]), int(first[branch] + size[branch])))
        parents.append(parent)
        stable = 0.0
        while branch >= n:
            left, right = (int(side) for side in merged[branch - n, :2])
            apart = float(merged[branch - n, 2])
            stays = [side for side in (left, right) if size[side] >= smallest]
            gone = size[branch] if len(stays) != 1 else size[branch] - size[stays[0]]
            stable += (1.0 / apart - 1.0 / born) * int(gone)
            if len(stays) != 1:
                waiting += [(side, here, apart) for side in stays]
                break
            branch = stays[0]
        stability.append(stable)
    return spans, np.array(parents, np.int64), np.array(stability)


def _most_stable(parents: Integers, stability: Floats) -> Flags:
    """The disjoint clusters of greatest total stability; never the root."""
    chosen, best = np.ones(len(parents), bool), stability.copy()
    below = np.zeros(len(parents))
    for cluster in range(len(parents) - 1, -1, -1):
        if below[cluster] > stability[cluster] or cluster == 0:
            chosen[cluster], best[cluster] = False, below[cluster]
        if cluster:
            below[parents[cluster]] += best[cluster]
    covered = np.zeros(len(parents), bool)
    for cluster in range(1, len(parents)):
        covered[cluster] = covered[parents[cluster]] or chosen[parents[cluster]]
    return chosen & ~covered
