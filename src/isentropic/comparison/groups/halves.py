"""Reproducibility of clusters in disjoint halves of the rows, each mapped and clustered by itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..._core.arguments import as_numbers
from ..._core.values import Floats, Integers
from ...distances import Metric, euclidean_rows, in_units
from ...neighbors import nearest_among
from .tree import ClusterTree, Flags, cluster_tree

Embed = Callable[[Any], Any]
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
    """For each cluster of the tree of all rows, how well disjoint halves show it again.

    Each split maps and clusters both halves and names the rows of the other half by the vote of five nearest
    rows in the data. A cluster G is found again as far as the clusters A and B of the two halves agree with
    it and with each other: the greatest ``min(J(G, A), J(G, B), J(A, B))``, with J the Jaccard index of the
    rows or of the rows outside, whichever is less. Returned are the means over the splits, with A and B among
    the chosen clusters of the halves, and among all branches of their trees.
    """
    rows = in_units(X, metric)
    scores = np.zeros((2, n_splits, tree.members.shape[1]))
    for split, halves in enumerate(_splits(len(X), n_splits, seed)):
        found = []
        for half, other in (halves, halves[::-1]):
            own = map_tree(X[half], embed)
            near, _ = nearest_among(rows[other], rows[half], _VOTERS, metric=metric, n_jobs=n_jobs)
            named = np.empty((len(X), own.members.shape[1]), bool)
            named[half] = own.members
            named[other] = vote(own.members, near)
            found.append((named, own.chosen))
        (a, chosen_a), (b, chosen_b) = found
        scores[0, split] = _agreement(tree.members, a[:, chosen_a], b[:, chosen_b])
        scores[1, split] = _agreement(tree.members, a, b)
    return scores[0].mean(axis=0), scores[1].mean(axis=0)


def map_tree(X: Floats, embed: Embed) -> ClusterTree:
    """The clusters of a fresh map of these rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the map of all rows has said already
        Z = euclidean_rows(as_numbers("The map", embed(X)), "The map")
    return cluster_tree(Z, FEWEST // 2)


def vote(members: Flags, near: Integers) -> Flags:
    """Of each row the clusters that most of its nearest rows are in."""
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


def accepted(
    tree: ClusterTree, of_chosen: Floats, of_branches: Floats, *, on_curve: bool = False
) -> dict[int, float]:
    """The groups among the clusters of a tree, disjoint, with their reproducibility.

    A cluster stands for itself unless at least two disjoint ones inside it are found again.
    """
    passes = of_chosen >= (LEAST_ON_CURVES if on_curve else LEAST)
    scores = np.where(passes, of_chosen, of_branches)
    passes |= (of_branches >= LEAST_OF_BRANCHES) & (not on_curve)
    inside: dict[int, list[int]] = {parent: [] for parent in range(-1, len(passes))}
    for cluster in range(len(passes) - 1, -1, -1):  # children first
        own = inside[cluster]
        kept = [cluster] if passes[cluster] and len(own) < 2 else own
        inside[int(tree.parents[cluster])] += kept
    return {cluster: float(scores[cluster]) for cluster in inside[-1]}
