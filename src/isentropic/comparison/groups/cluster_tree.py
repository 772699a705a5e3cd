"""Hierarchical density clusters of a map, and how well disjoint halves of the rows reproduce them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from ..._core.arguments import as_numbers
from ..._core.runtime import one_blas_thread
from ..._core.values import Floats, Integers
from ..._core.workers import map_in_workers
from ...distances import Metric, euclidean_rows, in_units
from ...linalg import rows_in_unit
from ...neighbors import nearest_among

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
    spans, parents, stability = _condense(merged, n, first, size, smallest)
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


def _condense(
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


# ---- reproducibility in halves of the rows -------------------------------------------------------


Embed = Callable[[Any], Any]


@runtime_checkable
class HasThreads(Protocol):
    """An embedding that can be made on a number of threads."""

    def on_threads(self, n_jobs: int) -> Embed: ...


LEAST = 0.65  # reproducibility from which a cluster of the halves counts
LEAST_OF_BRANCHES = 0.8  # of any branch of their trees: there are many, so chance finds one more often
LEAST_ON_CURVES = 0.85  # of the clusters on a curve, where a gap that halves share needs few missing rows
FEWEST = 10  # rows of a group: fewer explain nothing
_VOTERS = 5


def reproducibilities(
    X: Floats,
    tree: ClusterTree,
    embed: Embed,
    metric: Metric,
    n_splits: int,
    seed: int,
    n_jobs: int | None,
) -> tuple[Floats, Floats]:
    """Reproducibility of each cluster of the tree in disjoint halves of the rows.

    Each split maps and clusters both halves and names the rows of the other half by the vote of five nearest
    rows in the data. A cluster G is found again as far as the clusters A and B of the two halves agree with
    it and with each other: the greatest ``min(J(G, A), J(G, B), J(A, B))``, with J the Jaccard index of the
    rows or of the rows outside, whichever is less. Returned are the means over the splits, with A and B among
    the chosen clusters of the halves, and among all branches of their trees.
    """
    rows = in_units(X, metric)
    scores = np.zeros((2, n_splits, tree.members.shape[1]))
    splits = list(_splits(len(X), n_splits, seed))
    trees = map_trees([X[half] for halves in splits for half in halves], embed)
    for split, halves in enumerate(splits):
        found = []
        for half, other in (halves, halves[::-1]):
            own = next(trees)
            near, _ = nearest_among(rows[other], rows[half], _VOTERS, metric=metric, n_jobs=n_jobs)
            named = np.empty((len(X), own.members.shape[1]), bool)
            named[half] = own.members
            named[other] = vote(own.members, near)
            found.append((named, own.chosen))
        (a, chosen_a), (b, chosen_b) = found
        scores[0, split] = _agreement(tree.members, a[:, chosen_a], b[:, chosen_b])
        scores[1, split] = _agreement(tree.members, a, b)
    return scores[0].mean(axis=0), scores[1].mean(axis=0)


def map_trees(tables: Sequence[Floats], embed: Embed) -> Iterator[ClusterTree]:
    """Cluster trees of new maps, in order."""
    with one_blas_thread():
        yield from map_in_workers(
            f"{__name__}:{map_tree.__name__}", lambda n: [(X, on_threads(embed, n)) for X in tables]
        )


def on_threads(embed: Embed, n_threads: int | None) -> Embed:
    """The embedding on so many threads, where it can be made so."""
    return embed if n_threads is None or not isinstance(embed, HasThreads) else embed.on_threads(n_threads)


def map_tree(X: Floats, embed: Embed) -> ClusterTree:
    """Cluster tree of a new map of these rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the map of all rows has warned already
        Z = euclidean_rows(as_numbers("The map", embed(X)), "The map")
    return cluster_tree(Z, FEWEST // 2)


def vote(members: Flags, near: Integers) -> Flags:
    """Clusters of each row by the vote of its nearest rows."""
    return np.asarray(members[near].sum(axis=1) * 2 > near.shape[1])


def jaccard(first: Flags, second: Flags) -> Floats:
    """(c, c') Jaccard index of each pair of clusters, or of the rows outside, whichever is less.

    The rows outside matter where a cluster has most of the rows: almost all rows are always found again.
    """
    n = len(first)
    both = first.T.astype(float) @ second
    sizes, others = first.sum(axis=0)[:, None], second.sum(axis=0)[None]
    either = sizes + others - both
    inside = both / np.maximum(either, 1)
    outside = (n - either) / np.maximum(n - both, 1)
    return np.asarray(np.minimum(inside, outside))


def _agreement(all_rows: Flags, a: Flags, b: Flags) -> Floats:
    """For each cluster of all rows the best pair of clusters of the halves, by its weakest agreement."""
    if 0 in (a.shape[1], b.shape[1]):
        return np.zeros(all_rows.shape[1])
    with_a, with_b, between = jaccard(all_rows, a), jaccard(all_rows, b), jaccard(a, b)
    pairs = np.minimum(np.minimum(with_a[:, :, None], with_b[:, None, :]), between)
    return np.asarray(pairs.max(axis=(1, 2)))


def _splits(n: int, n_splits: int, seed: int) -> Iterator[tuple[Integers, Integers]]:
    rng = np.random.default_rng(seed)
    for _ in range(n_splits):
        order = rng.permutation(n)
        yield np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def accept_clusters(
    tree: ClusterTree, of_chosen: Floats, of_branches: Floats, *, on_curve: bool = False
) -> dict[int, float]:
    """Disjoint clusters of a tree that count as groups, with their reproducibility.

    A cluster stands for itself unless at least two disjoint ones inside it are found again.
    """
    passes = of_chosen >= (LEAST_ON_CURVES if on_curve else LEAST)
    scores = np.where(passes, of_chosen, of_branches)
    passes |= (of_branches >= LEAST_OF_BRANCHES) & (not on_curve)
    inside: dict[int, list[int]] = {parent: [] for parent in range(-1, len(passes))}
    for cluster in range(len(passes) - 1, -1, -1):  # children first
        own = inside[cluster]
        retained = [cluster] if passes[cluster] and len(own) < 2 else own
        inside[int(tree.parents[cluster])] += retained
    return {cluster: float(scores[cluster]) for cluster in inside[-1]}
