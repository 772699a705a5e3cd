"""Nearest neighbours: exact by tree or brute force, or approximate, always in the same order.

Neighbours come nearest first, equally far ones by index, whatever found them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._core.errors import LowRecallWarning, NeighborsClippedWarning, require, require_count
from .._core.runtime import generator, require_memory, row_blocks
from .._core.sparse_rows import SparseRows
from .._core.values import Knn, NeighborGraph, Neighbors
from ..distances import (
    BY_DIFFERENCES,
    CITY_BLOCK,
    EUCLIDEAN,
    Metric,
    as_doubles,
    distances_between,
    distinct_rows,
    is_gower,
    measurable_rows,
    metric_name,
    pair_distances,
    weights_of,
)
from ..kernels._jit import threads
from ..kernels.nearest import expanded_lists, measured_lists, searched_lists
from ..kernels.neighbor_descent import (
    BY_CAPPED,
    BY_CODES,
    BY_PRODUCTS,
    CAPPED_MEANS,
    CAPPED_SUMS,
    GROUP,
    LARGEST,
    NOTHING,
    SQUARES,
    STEP,
    SUMS,
    UNEQUAL,
    both_ways,
    listed_rows,
    offer_round,
    plant,
)
from .index import RowIndex, is_long, members_of, prefers_boxes

_EDGE_BYTES = 60  # of a directed edge, from the lists to the symmetric graph
_SPARSER = "Take a smaller radius or percentile, or a number of neighbours."


def nearest_neighbors(
    X: Any, rule: int | Knn, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """The ``rule.k`` nearest other rows of every row of ``X`` (a distance matrix when precomputed).

    ``X`` may be sparse for ``metric="cosine"``: exactly, by the products of entries that meet in a column, in
    blocks of rows; an empty row is at distance 1 from all but other empty ones.

    Tree: ``O(n log n)`` for few features or levels. Brute force: ``O(n^2 m)``. Approximate: about
    ``O(n^1.1 m)``.
    """
    if not isinstance(rule, Knn):
        rule = Knn(require_count("rule", rule, "Knn(k), or a number of neighbours"))
    X = measurable_rows(X, metric)
    require(len(X) >= 2, "X", "a table of at least 2 rows", len(X))
    return searched_neighbors(X, rule, metric=metric, random_state=random_state, n_jobs=n_jobs)


def searched_neighbors(
    X: Any, rule: Knn, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """:func:`nearest_neighbors` for checked rows in the units of the metric."""
    k = clipped_neighbors(rule.k, len(X) - 1)
    require_edge_memory(len(X) * k, "Take fewer neighbours.")
    if use_approximate(rule, X, metric):
        return approximate_neighbors(X, k, metric=metric, random_state=random_state, n_jobs=n_jobs)
    indices, distances = nearest_among(X, X, k, metric=metric, selves=np.arange(len(X)), n_jobs=n_jobs)
    return Neighbors(indices, distances, metric_name(metric), exact=True)


def require_edge_memory(n_edges: int, alternative: str = _SPARSER) -> None:
    """Refuse a graph of about so many directed edges that it does not fit the memory budget."""
    require_memory(_EDGE_BYTES * n_edges, f"A graph of about {n_edges:,} directed edges", alternative)


def clipped_neighbors(
    k: int, available: int, who: str = "the other rows", *, name: str = "n_neighbors"
) -> int:
    """``k``, or as many as there are, with a warning that calls it by the ``name`` the user knows."""
    k = require_count(name, k)
    if k <= available:
        return k
    warnings.warn(
        f"{name} must be at most {available} ({who}), got {k}: {available} are used.",
        NeighborsClippedWarning,
        stacklevel=2,
    )
    return available


def use_approximate(rule: Knn, X: np.ndarray, metric: Metric) -> bool:
    """Whether ``rule`` searches these rows approximately."""
    asked = rule.approximate
    is_choice = isinstance(asked, bool | np.bool_) or (isinstance(asked, str) and asked == "auto")
    require(is_choice, "approximate", "True, False or 'auto'", asked)
    require_count("exact_below", rule.exact_below, least=0)
    if asked == "auto" and isinstance(X, SparseRows):
        return False
    if asked == "auto":
        short = len(X) > rule.exact_below and not is_long(rule.k, len(X))
        return short and can_descend(metric) and not prefers_boxes(X, metric)
    known = can_descend(metric) and not isinstance(X, SparseRows)
    what = "sparse rows" if isinstance(X, SparseRows) else f"the metric {metric_name(metric)!r}"
    must_be = f"False for {what}, which the approximate search does not know"
    require(not asked or known, "approximate", must_be, asked)
    return bool(asked)


def nearest_among(
    queries: np.ndarray,
    data: np.ndarray,
    k: int,
    *,
    metric: Metric = "euclidean",
    selves: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` rows of ``data`` nearest to each query, exactly; ``selves[i]`` is no neighbour of query i."""
    return RowIndex(data, metric).nearest(queries, k, selves=selves, n_jobs=n_jobs)


def class_votes(near: np.ndarray, n_classes: int) -> np.ndarray:
    """Number of neighbours of each class per row, (b, c); ``near`` (b, k) are their classes.

    ``argmax`` is the k-NN vote, with ties for the class that sorts first, as in scikit-learn.

    >>> class_votes(np.array([[0, 1, 1, 1]]), 3).tolist()
    [[1, 3, 0]]
    """
    votes = np.zeros((len(near), n_classes), np.int64)
    np.add.at(votes, (np.arange(len(near))[:, None], near), 1)
    return votes


# ---- Approximate search --------------------------------------------------------------------------


# --------------------------------------------------------------------------------------------------
# Nearest-neighbour descent from a forest of random trees: candidates for lists that are measured exactly.


_KINDS = {
    **dict.fromkeys((*EUCLIDEAN, "sqeuclidean", "minkowski", "cosine", "correlation"), SQUARES),
    **dict.fromkeys(CITY_BLOCK, SUMS),
    "chebyshev": LARGEST,
    "hamming": UNEQUAL,
}
_SIDES = {UNEQUAL: BY_CODES, CAPPED_SUMS: BY_CAPPED, CAPPED_MEANS: BY_CAPPED}
_LEAST = 15  # entries of a list, so that there are enough ways on
_LEAF = 4 * GROUP
_TREES = 5
_ROUNDS = 12
_PART = 4096  # rows, so that no second table of doubles is held
_MEASURED = 65_536  # likewise, where threads share them
_FEW_NEW = 0.001  # share of the entries that are new in the last round


def can_descend(metric: Metric) -> bool:
    """Whether the approximate search knows a metric."""
    return is_gower(metric) or (isinstance(metric, str) and metric in _KINDS)


def improve_by_descent(X: np.ndarray, k: int, metric: Metric, seed: int, n_jobs: int | None) -> np.ndarray:
    """``k`` or more rows that are probably nearest to each row of ``X``; -1 for none.

    Trees begin the lists, then rows are offered the neighbours of their neighbours, until few are new.
    Every draw is a hash of the seed, the tree and the node, and a thread owns the lists that it writes: they
    are the same for any number of threads. About ``O(n^1.1 m)`` time, ``O(n (m + k))`` memory.
    """
    n, kind = len(X), _kind_of(metric, X)
    length = min(max(k, _LEAST), n - 1)
    with threads(n_jobs) as workers:
        _require_memory(n, X.shape[1], length, workers)
        data, weights = single_precision(X, metric)
        names, data, orders = _forest(data, weights, _SIDES.get(kind, BY_PRODUCTS), seed)
        lists = np.full((n, length), NOTHING)
        near, starts = np.empty(n * sum(_ways(length)), np.int32), np.zeros((n, 3), np.int64)
        new = n * length
        for step in row_blocks(_TREES + _ROUNDS, "neighbours", size=1):
            turn = step.start - _TREES
            if turn < 0:
                offer_round(kind, data, weights, orders[turn], _LEAF, near, starts, workers, lists)
            elif new > _FEW_NEW * n * length:
                both_ways(lists, *_ways(length, early=turn == 0), near, starts)
                new = offer_round(kind, data, weights, orders[0], 0, near, starts, workers, lists)
        out = np.empty((n, length), np.int32)
        listed_rows(lists, names, out)
    return out


def _kind_of(metric: Metric, X: np.ndarray) -> int:
    if is_gower(metric):
        return CAPPED_MEANS if np.isnan(X).any() else CAPPED_SUMS
    return _KINDS[str(metric)]


def _forest(data, weights, by, seed):
    """The rows by the leaves of a tree, so that near ones are near in memory, and their order in others."""
    first, orders = np.empty((1, len(data)), np.int32), np.empty((_TREES, len(data)), np.int32)
    plant(by, data, weights, seed, 0, _LEAF, GROUP, first)
    data = data[first[0]]
    orders[0] = np.arange(len(data))
    plant(by, data, weights, seed, 1, _LEAF, _LEAF, orders[1:])
    return first[0], data, orders


def _ways(length: int, *, early: bool = False) -> tuple[int, int]:
    """Number of neighbours of a row to follow, and of rows that it is a neighbour of."""
    width = min(length, 8 + length // 2)
    if early:  # lists that the trees began are not worth more
        width = (2 * width + 2) // 3
    return width, width // 2


def _require_memory(n: int, m: int, length: int, workers: int) -> None:
    n_bytes = n * (8 * (m + STEP) + 12 * length + 4 * sum(_ways(length)) + 4 * _TREES + 50 + 16 * workers)
    require_memory(n_bytes, f"An approximate search of {n:,} rows", "Take fewer neighbours or features.")


def single_precision(X: np.ndarray, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
    """The rows as the descent holds them, without what would use up the 24 bits of its numbers; weights.

    Distances by differences do not change with an offset of a feature, correlations not with one of a row,
    and neither, nor any other distance of numbers, changes its order in another unit. Cosines are in the
    order of distances of rows of length 1, and a row of zeros is perpendicular to all others.
    """
    n, m = X.shape
    held = np.zeros((n, -(-(m + 1) // STEP) * STEP), np.float32)  # the last is for rows of zeros
    weights = np.zeros(held.shape[1], np.float32)
    if is_gower(metric):
        weights[:m] = weights_of(metric, m)
        for start, part in zip(range(0, n, _PART), _parts(X), strict=True):
            held[start : start + _PART, :m] = part * weights[:m]
        return held, weights
    if metric == "hamming":  # counts unequal entries: codes are as good as numbers
        for f in range(m):
            held[:, f] = np.unique(X[:, f], return_inverse=True)[1]
        return held, weights
    # A median, which no row far away moves: most numbers are small then, and held to their last bit.
    centre = np.median(as_doubles(X[:: n // 1000 + 1]), axis=0) if metric in BY_DIFFERENCES else 0.0
    _, exponent = np.frexp(max(np.abs(part - centre).max(initial=0.0) for part in _parts(X)))
    for start, part in zip(range(0, n, _PART), _parts(X), strict=True):
        part = np.ldexp(part - centre, -exponent)
        here = held[start : start + _PART]
        if metric == "correlation":
            part -= part.mean(axis=1, keepdims=True)
        if metric in ("cosine", "correlation"):
            part, lengths = _directions(part)
            here[:, m] = lengths == 0
        here[:, :m] = part
    return held, weights


def _parts(X: np.ndarray):
    return (as_doubles(X[start : start + _PART]) for start in range(0, len(X), _PART))


def _directions(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1, and the lengths they had; zeros stay zeros."""
    units = np.abs(X).max(axis=1, keepdims=True)
    units[units == 0] = 1.0
    X = X / units  # so that no square vanishes
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    return X / np.maximum(lengths, 1e-300)[:, None], lengths


_RECALL_ROWS = 200
_FEW = 500  # so many distinct rows are searched exactly
_ENTRY_POINTS = 256
_GOOD_RECALL = 0.9


def approximate_neighbors(
    X: np.ndarray, k: int, *, metric: Metric = "euclidean", random_state=None, n_jobs: int | None = None
) -> Neighbors:
    """Nearest neighbours by nearest-neighbour descent, with the recall found on sampled rows.

    The lists are the same for any ``n_jobs``. No ``random_state`` means a fixed seed.
    """
    random = generator(random_state)
    seed = random.randint(2**31 - 1)
    distinct = distinct_rows(X) if metric in EUCLIDEAN or is_gower(metric) else None
    if distinct is None:
        indices, distances = _descended(X, k, metric, seed, n_jobs)
    else:
        # Equal rows would fill each other's lists, and leave every group of them on its own.
        indices, distances = _among_distinct(X, distinct, k, metric, seed, n_jobs)
    sample = np.sort(random.permutation(len(X))[:_RECALL_ROWS])
    recall = _recall(X, distances, sample, metric, n_jobs)
    if recall < _GOOD_RECALL:
        warnings.warn(
            f"The approximate search found {recall:.0%} of the true neighbours of {len(sample)} rows: "
            "the map shows other neighbours than the data have. Take more neighbours, fewer features (PCA), "
            "or neighbors=Knn(k, approximate=False).",
            LowRecallWarning,
            stacklevel=3,
        )
    return Neighbors(indices, distances, metric_name(metric), exact=False, recall=recall)


def _descended(X, k, metric, seed, n_jobs):
    return _measured(X, improve_by_descent(X, k, metric, seed, n_jobs), k, metric, n_jobs)


def _among_distinct(X, distinct, k, metric, seed, n_jobs):
    different = X[distinct.rows]
    fewer = min(k, len(different) - 1)
    if len(different) <= _FEW:
        selves = np.arange(len(different))
        index = RowIndex(different, metric)
        nearest, lengths = index.nearest(as_doubles(different), fewer, selves=selves, n_jobs=n_jobs)
    else:
        nearest, lengths = _descended(different, fewer, metric, seed, n_jobs)
    group = np.empty(len(X), np.int64)
    group[distinct.members] = np.repeat(np.arange(len(different)), np.diff(distinct.indptr))
    nearest = np.column_stack([np.arange(len(different)), nearest])  # a row's own like come first
    selves = np.arange(len(X))
    if metric in EUCLIDEAN:
        return members_of(X, different, nearest[group], distinct, selves, k, n_jobs)
    lengths = np.column_stack([np.zeros(len(different)), lengths])
    indices, distances = np.empty((len(X), k), np.int32), np.empty((len(X), k))
    with threads(n_jobs):
        expanded_lists(nearest[group], lengths[group], distinct.indptr, distinct.members, selves,
                       indices, distances)  # fmt: skip
    return indices, distances


def _measured(X, candidates, k, metric, n_jobs):
    """Candidates in exact order; rows for which the descent found too few get theirs by brute force."""
    indices, distances = np.empty((len(X), k), np.int32), np.empty((len(X), k))
    selves = np.arange(len(X))
    if metric in EUCLIDEAN:
        found = np.empty(len(X), np.int64)
        for block in (slice(start, start + _MEASURED) for start in range(0, len(X), _MEASURED)):
            with threads(n_jobs):
                found[block] = measured_lists(as_doubles(X[block]), X, candidates[block], selves[block],
                                              indices[block], distances[block])  # fmt: skip
    elif is_gower(metric):
        found = _measured_by_pairs(X, candidates, k, metric, indices, distances, n_jobs)
    else:
        found = _measured_one_by_one(X, candidates, k, metric, indices, distances)
    short = np.flatnonzero(found < k)
    if len(short):
        found_exactly = RowIndex(X, metric).nearest(as_doubles(X[short]), k, selves=short, n_jobs=n_jobs)
        indices[short], distances[short] = found_exactly
    return indices, distances


def _measured_by_pairs(X, candidates, k, metric, indices, distances, n_jobs):
    """:func:`_measured_one_by_one` for a metric that measures single pairs at no loss."""
    measure = pair_distances(X, metric, n_jobs)
    for block in row_blocks(len(X), "neighbours", size=8192):
        others = np.sort(candidates[block], axis=1)  # of equally far ones, the first by index is the nearer
        owners = np.arange(block.start, block.stop)[:, None]
        there = (others >= 0) & (others != owners)
        d = np.full(others.shape, np.inf)
        d[there] = measure(np.broadcast_to(owners, others.shape)[there], others[there])
        order = np.argsort(d, axis=1, kind="stable")[:, :k]
        indices[block], distances[block] = (np.take_along_axis(part, order, axis=1) for part in (others, d))
    return np.isfinite(distances).sum(axis=1)


def _measured_one_by_one(X, candidates, k, metric, indices, distances):
    """The descent holds its distances in single precision; other metrics than ours go row by row."""
    found = np.zeros(len(X), np.int64)
    for block in row_blocks(len(X), "neighbours", size=1024):
        for i in range(block.start, block.stop):
            others = candidates[i][(candidates[i] >= 0) & (candidates[i] != i)]
            if len(others) == 0:
                continue
            d = distances_between(X[i : i + 1], X[others], metric, 1)
            order = np.lexsort((others, d[0]))[:k]
            indices[i, : len(order)], distances[i, : len(order)] = others[order], d[0][order]
            found[i] = len(order)
    return found


def _recall(X, found, sample, metric, n_jobs):
    """Share of the sampled rows' neighbours that are as near as the true ones."""
    _, true = RowIndex(X, metric).nearest(as_doubles(X[sample]), found.shape[1], selves=sample, n_jobs=n_jobs)
    return float((found[sample] <= true[:, -1:]).mean())


def search_graph(
    queries: np.ndarray, data: np.ndarray, graph: NeighborGraph, k: int, *, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate Euclidean neighbours of new rows among ``data``, by walking its neighbour graph."""
    indices, distances = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
    entries = np.unique(np.linspace(0, len(data) - 1, _ENTRY_POINTS).astype(np.int64))
    beam = min(max(4 * k, 64), len(data))
    for block in row_blocks(len(queries), "neighbours", size=1024, adapt=True):
        with threads(n_jobs) as workers:
            searched_lists(queries[block], data, graph.indptr, graph.indices, entries, beam, workers,
                           indices[block], distances[block])  # fmt: skip
    return indices, distances
