"""The k nearest of many candidates, against plain sorting. Small: this folder also runs without the JIT."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assertions import assert_same_bits, assert_same_lists
from isentropic.kernels._jit import threads
from isentropic.kernels.distances.euclidean import (
    TILE,
    euclidean_pairs,
    euclidean_rows,
    squared_distance,
    tiled_distances,
)
from isentropic.kernels.nearest import (
    _insert,
    first_limits,
    listed_members,
    measured_lists,
    nearest_candidates,
    nearest_in_rows,
    nearest_refined,
    offer_estimates,
    searched_lists,
    shrink_gaps,
)
from naive import distances, naive_knn, naive_neighbors

seeds = st.integers(0, 2**32 - 1)


def lists(n_rows, k):
    """Where a kernel writes; filled with what no neighbour list may contain."""
    return np.full((n_rows, k), -7, np.int32), np.full((n_rows, k), np.nan)


def csr(adjacency):
    """CSR of lists of numbers."""
    indptr = np.cumsum([0, *map(len, adjacency)])
    return indptr, np.array([j for row in adjacency for j in row], np.int32)


def lattice(seed, n, m):
    """Rows on a small grid: many ties, many duplicates, and every distance is exact."""
    return np.random.default_rng(seed).integers(0, 3, size=(n, m)).astype(float)


# ---- the list ----------------------------------------------------------------------------------


@given(
    k=st.integers(1, 6),
    candidates=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=14, unique=True),
)
def test_insert_keeps_the_least_by_distance_then_index(k, candidates):
    kept, ids, size = np.full(k, np.nan), np.full(k, -7, np.int32), 0
    for d, j in candidates:
        size = _insert(kept, ids, size, float(d), j)
    expected = sorted(candidates)[:k]
    assert size == len(expected)
    assert list(zip(kept[:size].tolist(), ids[:size].tolist(), strict=True)) == expected


def test_squared_distance_by_hand():
    assert squared_distance(np.array([1.0, 2.0, -2.0]), np.array([1.0, 5.0, 2.0])) == 25.0
    assert squared_distance(np.empty(0), np.empty(0)) == 0.0


# ---- rows of distances -------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(2, 25), m=st.integers(1, 3), data=st.data())
def test_nearest_in_rows_of_a_lattice(seed, n, m, data):
    k = data.draw(st.integers(1, n - 1))
    D = distances(lattice(seed, n, m))
    found = lists(n, k)
    nearest_in_rows(D, np.arange(n), *found)
    assert_same_lists(found, naive_neighbors(D, k), rtol=0)


@given(seed=seeds, n=st.integers(1, 20))
def test_nearest_in_rows_without_selves(seed, n):
    D = np.random.default_rng(seed).integers(0, 5, size=(4, n)).astype(float)
    found = lists(4, n)
    nearest_in_rows(D, np.full(4, -1), *found)
    assert_same_lists(found, naive_knn(D, n), rtol=0)


def test_nearest_in_rows_takes_infinite_distances_last():
    D = np.array([[np.inf, 2.0, np.inf, 1.0]])
    found = lists(1, 4)
    nearest_in_rows(D, np.array([-1]), *found)
    assert found[0].tolist() == [[3, 1, 0, 2]]
    assert found[1].tolist() == [[1.0, 2.0, np.inf, np.inf]]


# ---- products in single precision --------------------------------------------------------------


def refined(X, Y, k, *, error=0.0, selves=None, seed=0):
    """Neighbours from products that are wrong by up to ``error`` in the squared distance."""
    noise = np.random.default_rng(seed).uniform(-error / 2, error / 2, size=(len(X), len(Y)))
    products = X @ Y.T + noise
    norms = (X**2).sum(axis=1), (Y**2).sum(axis=1)
    found = lists(len(X), k)
    selves = np.full(len(X), -1) if selves is None else selves
    nearest_refined(products, np.ones(len(X)), X, Y, *norms, np.full(len(X), error + 1e-9), selves, *found)
    return found


@given(seed=seeds, n=st.integers(2, 20), error=st.sampled_from([0.0, 0.1, 2.0, 100.0]), data=st.data())
def test_refined_lists_are_exact_whatever_the_error_of_the_products(seed, n, error, data):
    k = data.draw(st.integers(1, n - 1))
    X = lattice(seed, n, 3)
    found = refined(X, X, k, error=error, selves=np.arange(n), seed=seed)
    assert_same_lists(found, naive_neighbors(distances(X), k), rtol=0)


@given(seed=seeds, error=st.sampled_from([0.0, 0.3]))
def test_refined_lists_of_new_rows(seed, error):
    X, Y = lattice(seed, 5, 4), lattice(seed + 1, 12, 4)
    assert_same_lists(refined(X, Y, 7, error=error), naive_knn(distances(X, Y), 7), rtol=0)


def test_refined_measures_only_what_the_slack_leaves_open():
    # The product puts the nearest row (0) far away, by more than the slack: it is not looked at again.
    X, Y = np.array([[0.0]]), np.array([[1.0], [2.0], [3.0]])
    products = np.array([[-50.0, 0.0, 0.0]])
    found = lists(1, 1)
    slack, selves = np.array([1.0]), np.array([-1])
    nearest_refined(products, np.ones(1), X, Y, np.zeros(1), Y[:, 0] ** 2, slack, selves, *found)
    assert found[0].tolist() == [[1]]


def test_refined_lists_from_products_in_single_precision(rng):
    X = rng.normal(size=(15, 6))
    reduced = X.astype(np.float32)
    norms = (reduced.astype(float) ** 2).sum(axis=1)
    found = lists(15, 4)
    slack, units = np.full(15, 1e-3), np.ones(15)
    nearest_refined(reduced @ reduced.T, units, X, X, norms, norms, slack, np.arange(15), *found)
    assert_same_lists(found, naive_neighbors(distances(X), 4))


# ---- estimates in tiles ------------------------------------------------------------------------


def candidates_of(X, Y, k, *, spare, tile, error=0.0, selves=None, first=False, seed=0):
    """Neighbours from estimates in tiles, wrong by up to ``error``; and how many candidates there were."""
    noise = np.random.default_rng(seed).uniform(-error / 4, error / 4, size=(len(X), len(Y)))
    products, norms = (X @ Y.T + noise).astype(np.float32), (Y**2).sum(axis=1).astype(np.float32)
    selves = np.full(len(X), -1) if selves is None else selves
    factors, doubled = np.full(len(X), 2, np.float32), np.full(len(X), 2 * error + 1e-3, np.float32)
    limits, sizes = np.full(len(X), np.inf, np.float32), np.zeros(len(X), np.int64)
    estimates, ids = np.empty((len(X), k + spare), np.float32), np.empty((len(X), k + spare), np.int64)
    for start in range(0, len(Y), tile):
        here, squares = np.ascontiguousarray(products[:, start : start + tile]), norms[start : start + tile]
        if first and start == 0:
            first_limits(here, factors, squares, doubled, k, limits)
        offer_estimates(here, factors, squares, doubled, start, selves, k, limits, estimates, ids, sizes)
    found = lists(len(X), k)
    nearest_candidates(X, Y, doubled, estimates, ids, sizes, *found)
    return found, sizes


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("tile", [7, 90, 200])
@pytest.mark.parametrize("error", [0.0, 0.5])
@pytest.mark.parametrize("k", [1, 4, 20])
def test_candidates_of_tiles_hold_the_nearest(rng, k, error, tile, first):
    X = rng.normal(size=(180, 5))
    found, sizes = candidates_of(
        X, X, k, spare=24, tile=tile, error=error, selves=np.arange(180), first=first
    )
    full = sizes >= 0
    assert full.sum() > 90 if error == 0 else True
    indices, distances_found = naive_neighbors(distances(X), k)
    assert_same_lists(tuple(part[full] for part in found), (indices[full], distances_found[full]))
    assert (found[0][~full] == -7).all()  # left to another search
    new, _ = candidates_of(X[:9] + 0.1, X, k, spare=200, tile=tile, error=error, first=first)
    assert_same_lists(new, naive_knn(distances(X[:9] + 0.1, X), k))


def test_first_limits_let_few_candidates_in(rng):
    X, Y = rng.normal(size=(5, 4)), rng.normal(size=(1000, 4))
    for first, few in ((True, 40), (False, 1000)):
        _, sizes = candidates_of(X, Y, 10, spare=1000, tile=1000, first=first)
        assert (sizes <= few).all()
        assert (sizes >= 10).all()
    assert (sizes == 1000).all()


def test_candidates_that_are_all_equally_far_away_are_too_many():
    X = np.zeros((2, 3))
    Y = np.vstack([np.ones((100, 3)), np.zeros((4, 3))])
    found, sizes = candidates_of(X, Y, 3, spare=10, tile=104)
    assert sizes.tolist() == [-1, -1]
    assert (found[0] == -7).all()


# ---- given candidates --------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(2, 15), width=st.integers(1, 10), k=st.integers(1, 6))
def test_measured_lists_skip_self_and_none(seed, n, width, k):
    rng = np.random.default_rng(seed)
    X = lattice(seed, n, 2)
    candidates = np.full((n, width), -1)
    for i in range(n):
        some = rng.permutation(n)[: rng.integers(0, width + 1)]
        candidates[i, rng.permutation(width)[: len(some)]] = some
    indices, lengths = lists(n, k)
    found = measured_lists(X, X, candidates, np.arange(n), indices, lengths)
    D = distances(X)
    for i in range(n):
        expected = sorted((D[i, j], j) for j in candidates[i].tolist() if j not in (-1, i))[:k]
        assert found[i] == len(expected)
        assert lengths[i, : found[i]].tolist() == [d for d, _ in expected]
        assert indices[i, : found[i]].tolist() == [j for _, j in expected]
        assert (indices[i, found[i] :] == -7).all()  # nothing is made up


@given(seed=seeds, n=st.integers(2, 20), m=st.integers(1, 2), data=st.data())
def test_members_of_distinct_rows_are_listed_again(seed, n, m, data):
    k = data.draw(st.integers(1, n - 1))
    X = lattice(seed, n, m)
    groups = {}
    for i, row in enumerate(X.tolist()):
        groups.setdefault(tuple(row), []).append(i)
    distinct = np.array(list(groups))
    indptr, members = csr(groups.values())
    nearest = naive_knn(distances(X, distinct), min(k + 1, len(distinct)))[0]
    found = lists(n, k)
    listed_members(X, distinct, nearest, indptr, members, np.arange(n), *found)
    assert_same_lists(found, naive_neighbors(distances(X), k), rtol=0)


# ---- all distances -----------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 7, 16, 33])
def test_euclidean_rows_match_the_plain_ones(rng, m):
    X, Y = rng.normal(size=(7, m)), rng.normal(size=(9, m))
    out = np.full((7, 9), np.nan)
    euclidean_rows(X, Y, out)
    np.testing.assert_allclose(out, distances(X, Y), rtol=1e-14)


@pytest.mark.parametrize("size", [2.0**-1060, 2.0**-700, 2.0**-451, 2.0**-449])
def test_distances_whose_squares_vanish_are_distances_all_the_same(size):
    """Rows that are equal but for a column that is tiny beside another one."""
    X = np.array([[0.0, 0.0, 1.0], [3.0, 4.0, 1.0], [3.0, 4.0, 1.0], [-5.0, 12.0, 1.0], [0.0, 0.0, 2.0]])
    X[:, :2] *= size
    expected = size * np.array([0.0, 5.0, 5.0, 13.0])
    rows, tiled = np.empty((5, 5)), np.empty((5, 5))
    euclidean_rows(X, X, rows)
    tiles = np.zeros((1, 3, TILE))
    tiles[0, :, :5] = X.T
    tiled_distances(X, np.arange(5), tiles, 2, tiled)
    pairs, first = np.empty(5), np.zeros(5, np.int64)
    euclidean_pairs(X, first, np.arange(5), pairs)
    for found in (rows[0], tiled[0], pairs):
        assert found.tolist() == [*expected, 1.0]
    assert (rows[1, 2], tiled[1, 2]) == (0.0, 0.0)


def test_euclidean_rows_are_symmetric_to_the_last_bit(rng):
    X = rng.normal(size=(12, 19))
    out = np.empty((12, 12))
    euclidean_rows(X, X, out)
    assert_same_bits(out, out.T.copy())
    assert not out.diagonal().any()


@pytest.mark.parametrize("n_workers", [1, 2, 7, 30])
def test_gaps_shrink_to_the_nearest_landmark(rng, n_workers):
    X = rng.integers(0, 9, size=(20, 3)).astype(float)
    gap = np.full(20, np.inf)
    for landmark in (4, 17, 4, 0):
        shrink_gaps(X, landmark, n_workers, gap)
    assert_same_bits(gap, (distances(X)[:, [4, 17, 0]].min(axis=1) ** 2).round())


# ---- search of a graph -------------------------------------------------------------------------


def complete(n):
    return csr([[j for j in range(n) if j != i] for i in range(n)])


def path(n):
    return csr([[j for j in (i - 1, i + 1) if 0 <= j < n] for i in range(n)])


def searched(queries, data, graph, k, *, entries, beam, n_workers=1):
    found = lists(len(queries), k)
    searched_lists(queries, data, *graph, np.asarray(entries), beam, n_workers, *found)
    return found


@settings(max_examples=30)
@given(seed=seeds, n=st.integers(1, 14), data=st.data())
def test_search_with_a_beam_of_everything_is_exact(seed, n, data):
    k = data.draw(st.integers(1, n))
    entries = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
    graph = data.draw(st.sampled_from([complete(n), path(n)]))
    X, queries = lattice(seed, n, 2), lattice(seed + 1, 3, 2)
    found = searched(queries, X, graph, k, entries=entries, beam=n)
    assert_same_lists(found, naive_knn(distances(queries, X), k), rtol=0)


@pytest.mark.parametrize("entries", [[0], [19], [0, 5, 10, 15], list(range(20))])
def test_search_walks_along_a_path(entries):
    data = np.arange(20.0)[:, None]
    queries = np.array([[13.2], [-4.0], [30.0], [7.5]])
    found = searched(queries, data, path(20), 2, entries=entries, beam=3)
    assert_same_lists(found, naive_knn(distances(queries, data), 2))


def test_search_stops_when_the_beam_is_expanded():
    # Downhill to row 2; the nearest row of all (5) lies behind a hill higher than a beam of 2 can see.
    data = np.array([[10.0], [5.0], [1.0], [20.0], [30.0], [0.5]])
    found = searched(np.zeros((1, 1)), data, path(6), 1, entries=[0], beam=2)
    assert found[0].tolist() == [[2]]
    wide = searched(np.zeros((1, 1)), data, path(6), 1, entries=[0], beam=6)
    assert wide[0].tolist() == [[5]]


@pytest.mark.parametrize("n_workers", [1, 2, 3, 8])
def test_a_query_sees_no_other_query(rng, n_workers):
    data, queries = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    near = naive_neighbors(distances(data), 3)[0].tolist()
    graph = csr(near)
    together = searched(queries, data, graph, 2, entries=[0, 9, 20], beam=6, n_workers=n_workers)
    for i in range(7):
        alone = searched(queries[i : i + 1], data, graph, 2, entries=[0, 9, 20], beam=6)
        assert_same_bits(alone[0][0], together[0][i])
        assert_same_bits(alone[1][0], together[1][i])


# ---- threads -----------------------------------------------------------------------------------


def test_the_number_of_threads_changes_no_bit(rng):
    X = rng.normal(size=(25, 5))
    results = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            D = np.empty((25, 25))
            euclidean_rows(X, X, D)
            rows_found, refined_found = lists(25, 4), refined(X, X, 4, selves=np.arange(25))
            nearest_in_rows(D, np.arange(25), *rows_found)
        results.append((D, *rows_found, *refined_found))
    for one, two in zip(*results, strict=True):
        assert_same_bits(one, two)
