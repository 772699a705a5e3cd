"""Exact neighbours by every route: tree, products, rows of any metric, precomputed."""

import subprocess
import sys
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

import naive
from assertions import assert_grammar, assert_same_bits, assert_same_lists, assert_valid_neighbors
from isentropic._core import runtime as _runtime
from isentropic._core.errors import InvalidInputError, NeighborsClippedWarning
from isentropic._core.values import Knn
from isentropic.affinities import neighbor_graph
from isentropic.neighbors import (
    clipped_neighbors,
    graphs,
    nearest_among,
    nearest_neighbors,
    use_approximate,
)
from isentropic.neighbors import index as boxes_module
from isentropic.neighbors import index as index_module

seeds = st.integers(0, 2**32 - 1)
TREE, PRODUCTS = 3, 20  # features: up to 15 a tree names the candidates, beyond that a matrix product
routes = pytest.mark.parametrize("m", [TREE, PRODUCTS], ids=["tree", "products"])


def lists_of(X, k, *, n_jobs=1, **options):
    found = nearest_neighbors(X, Knn(k), n_jobs=n_jobs, **options)
    assert found.exact
    assert found.recall == 1.0
    assert_valid_neighbors(found.indices, found.distances)
    return found.indices, found.distances


def lattice(seed, n, m):
    """Whole numbers: many ties and duplicates, and no distance is rounded before its root."""
    return np.random.default_rng(seed).integers(0, 3, size=(n, m)).astype(float)


# ---- oracle ------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 15, 16, 40])
@pytest.mark.parametrize("k", [1, 5, 38, 39])
def test_neighbors_match_the_plain_ones(rng, m, k):
    X = rng.normal(size=(40, m))
    assert_same_lists(lists_of(X, k), naive.naive_neighbors(naive.distances(X), k))


@settings(max_examples=30)
@given(seed=seeds, n=st.integers(2, 40), m=st.sampled_from([1, 2, 15, 16, 25]), data=st.data())
def test_ties_go_to_the_lower_index(seed, n, m, data):
    k = data.draw(st.integers(1, n - 1))
    X = lattice(seed, n, m)
    assert_same_lists(lists_of(X, k), naive.naive_neighbors(naive.distances(X), k))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
def test_other_metrics_match_the_plain_ones(rng, metric):
    X = rng.normal(size=(30, 4)) + 2
    found = lists_of(X, 6, metric=metric)
    expected = naive.naive_neighbors(naive.distances(X, metric=metric), 6)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_ties_of_other_metrics_go_to_the_lower_index(metric):
    X = lattice(3, 40, 3)
    assert_same_lists(
        lists_of(X, 7, metric=metric), naive.naive_neighbors(naive.distances(X, metric=metric), 7)
    )


def test_a_function_is_a_metric():
    def taxi(x, y):
        return float(np.abs(x - y).sum())

    X = lattice(1, 25, 3)
    found = nearest_neighbors(X, Knn(5), metric=taxi)
    assert found.metric == "taxi"
    expected = naive.naive_neighbors(naive.distances(X, metric="manhattan"), 5)
    assert_same_lists((found.indices, found.distances), expected)


@settings(max_examples=30)
@given(seed=seeds, n=st.integers(2, 30))
def test_precomputed_distances_are_taken_as_they_are(seed, n):
    upper = np.triu(np.random.default_rng(seed).integers(0, 5, size=(n, n)), 1).astype(float)
    D = upper + upper.T
    before = D.copy()
    assert_same_lists(lists_of(D, n - 1, metric="precomputed"), naive.naive_neighbors(D, n - 1), rtol=0)
    assert_same_bits(D, before)


@routes
def test_neighbors_of_new_rows_match_the_plain_ones(m):
    queries, data = lattice(5, 20, m), lattice(6, 50, m)
    for k in (1, 8, 50):
        expected = naive.naive_knn(naive.distances(queries, data), k)
        assert_same_lists(nearest_among(queries, data, k), expected)


@routes
def test_l2_is_euclidean(rng, m):
    X = rng.normal(size=(30, m))
    one, two = lists_of(X, 4), lists_of(X, 4, metric="l2")
    assert_same_bits(one[0], two[0])
    assert_same_bits(one[1], two[1])


def levels_and_numbers(n):
    """Coded levels beside numbers along a line: 20 features, which a tree can part all the same."""
    rng = np.random.default_rng(0)
    line = rng.uniform(size=(n, 1)) * np.linspace(1, 2, 8)
    levels = [5.0 * (rng.integers(0, count, n)[:, None] == np.arange(count)) for count in (3, 4, 5)]
    return np.column_stack([line, *levels])


def test_tables_that_a_tree_can_part_are_told_from_those_it_cannot(rng):
    assert boxes_module.is_quick_by_boxes(levels_and_numbers(5000))
    assert not boxes_module.is_quick_by_boxes(rng.normal(size=(5000, 20)))
    assert not boxes_module.is_quick_by_boxes(levels_and_numbers(4000))  # few: products are soon done


@pytest.mark.parametrize("rounded", [False, True])
def test_many_features_by_a_tree_match_the_plain_ones(monkeypatch, rounded):
    monkeypatch.setattr(boxes_module, "_SAMPLE", 256)
    monkeypatch.setattr(boxes_module, "_worth_comparing", lambda n, m: n)  # in so small a table it is not
    X = levels_and_numbers(400)
    X = (10 * X).round() if rounded else X  # whole numbers: ties
    assert index_module.has_boxes(X, "euclidean")
    for k in (1, 9):
        assert_same_lists(lists_of(X, k), naive.naive_neighbors(_quick_distances(X), k))


# ---- duplicates and nasty numbers --------------------------------------------------------------


@routes
@pytest.mark.parametrize("copies", [300, 500])
def test_hundreds_of_duplicates(rng, m, copies):
    X = np.vstack(
        [rng.normal(size=(40, m)), np.tile(rng.normal(size=m), (copies, 1)), rng.normal(size=(20, m))]
    )
    found = lists_of(X, 12)
    assert_same_lists(found, naive.naive_neighbors(_quick_distances(X), 12))
    first = list(range(40, 52))
    assert found[0][60].tolist() == first
    assert not found[1][60].any()


@routes
@pytest.mark.parametrize("k", [1, 4, 9, 30])
def test_groups_of_duplicates_smaller_and_larger_than_k(rng, m, k):
    groups = np.repeat(rng.integers(0, 5, size=(12, m)), rng.integers(1, 25, size=12), axis=0).astype(float)
    X = groups[rng.permutation(len(groups))]
    assert_same_lists(lists_of(X, k), naive.naive_neighbors(_quick_distances(X), k))
    queries = np.vstack([X[:10], X[:10] + 0.5])
    D = np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in queries])
    assert_same_lists(nearest_among(queries, X, k), naive.naive_knn(D, k))


@pytest.mark.parametrize("m", [4, 16])
def test_hundreds_of_rows_equally_far(m):
    # 384 rows at distance sqrt(30) from the first, which is closer to none of them.
    signs = list(product([-1.0, 1.0], repeat=4))
    sphere = np.array([np.multiply(s, p) for s in signs for p in permutations([1.0, 2.0, 3.0, 4.0])])
    X = np.zeros((385, m))
    X[1:, :4] = sphere
    found = lists_of(X, 3)
    assert found[0][0].tolist() == [1, 2, 3]
    assert_same_lists(found, naive.naive_neighbors(_quick_distances(X), 3))


def _quick_distances(X):
    """As naive.distances, a row at a time: for the few larger tables."""
    return np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])


def _clusters_apart(rng, m):
    far = np.zeros((60, m))
    far[:30] += 1e6
    return far + 1e-3 * rng.normal(size=(60, m))


NASTY = {
    "huge offset": lambda rng, m: rng.normal(size=(60, m)) + 1e8,
    "huge offsets, each its own": lambda rng, m: rng.normal(size=(60, m)) + 1e8 * rng.normal(size=m),
    "tiny distances": lambda rng, m: 1 + 1e-9 * rng.normal(size=(60, m)),
    "tiny distances in far clusters": _clusters_apart,
    "one huge feature": lambda rng, m: rng.normal(size=(60, m)) * np.where(np.arange(m) == 1, 1e12, 1),
    "one huge row": lambda rng, m: rng.normal(size=(60, m)) * np.where(np.arange(60) == 7, 1e9, 1)[:, None],
    "constant columns": lambda rng, m: rng.normal(size=(60, m)) * (np.arange(m) < 2) + 0.1,
    "all rows equal": lambda rng, m: np.full((60, m), 0.1),
    "two values": lambda rng, m: np.where(np.arange(60)[:, None] % 3, 0.1, 0.3) * np.ones((60, m)),
    "near the smallest squares": lambda rng, m: 1e-138 * rng.normal(size=(60, m)),
    "near the largest squares": lambda rng, m: 1e149 * rng.normal(size=(60, m)),
    "zeros of both signs": lambda rng, m: rng.choice([0.0, -0.0, 1.0], size=(60, m), p=[0.45, 0.45, 0.1]),
    "bits": lambda rng, m: rng.integers(0, 2, size=(60, m)).astype(float),
}


@routes
@pytest.mark.parametrize("name", NASTY)
def test_lists_are_exact_on_nasty_numbers(rng, name, m):
    X = NASTY[name](rng, m)
    for k in (1, 7, 40):
        assert_same_lists(lists_of(X, k), naive.naive_neighbors(naive.distances(X), k))


@settings(max_examples=30)
@given(seed=seeds, offset=st.integers(0, 12), spread=st.integers(-12, 6), m=st.sampled_from([2, 16, 30]))
def test_lists_are_exact_at_any_offset_and_spread(seed, offset, spread, m):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, m)) * 10.0**spread + 10.0**offset * rng.integers(0, 2, size=(25, 1))
    assert_same_lists(lists_of(X, 6), naive.naive_neighbors(naive.distances(X), 6))


@pytest.mark.parametrize(("size", "limit"), [(1e200, "below 1e150"), (1e-200, "above 1e-140")])
@pytest.mark.parametrize("find", [lambda X: nearest_neighbors(X, Knn(3)), lambda X: neighbor_graph(X, 3)])
@routes
def test_numbers_whose_squares_overflow_or_vanish_are_refused(m, find, size, limit):
    X = size * np.ones((10, m)) * np.arange(10.0)[:, None]
    with pytest.raises(InvalidInputError, match=limit) as caught:
        find(X)
    assert_grammar(caught.value, "X", float(X.max()))


@pytest.mark.parametrize("m", [TREE, PRODUCTS])
def test_missing_values_are_refused(m):
    # In a process of its own: memory is at stake, not only a result.
    code = f"""
import numpy as np, isentropic
X = np.random.default_rng(0).normal(size=(30, {m}))
X[3, 1] = np.nan
try:
    isentropic.neighbor_graph(X, 3)
except ValueError:
    raise SystemExit(3)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 3


# ---- laws --------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(seed=seeds, m=st.sampled_from([2, 18]), shift=st.integers(-1000, 1000), power=st.integers(-20, 20))
def test_moving_and_scaling_a_lattice_changes_no_neighbor(seed, m, shift, power):
    X = lattice(seed, 30, m)
    indices, distances = lists_of(X, 5)
    moved = lists_of(2.0**power * (X + shift), 5)
    assert_same_bits(moved[0], indices)
    assert_same_bits(moved[1], 2.0**power * distances)


@settings(max_examples=25)
@given(seed=seeds, m=st.sampled_from([2, 18]))
def test_swapping_and_flipping_features_changes_no_neighbor(seed, m):
    rng = np.random.default_rng(seed)
    X = lattice(seed, 30, m)
    turned = X[:, rng.permutation(m)] * rng.choice([-1.0, 1.0], size=m)
    for one, two in zip(lists_of(X, 5), lists_of(turned, 5), strict=True):
        assert_same_bits(one, two)


@settings(max_examples=25)
@given(seed=seeds, m=st.sampled_from([3, 18]))
def test_rotation_keeps_the_neighbors(seed, m):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, m))
    rotation, _ = np.linalg.qr(rng.normal(size=(m, m)))
    assert_same_lists(lists_of(X @ rotation + 3.0, 5), lists_of(X, 5), rtol=1e-9)


@settings(max_examples=25)
@given(seed=seeds, m=st.sampled_from([3, 18]))
def test_row_order_is_only_row_order(seed, m):
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(30, m)), rng.permutation(30)
    indices, distances = lists_of(X, 5)
    shuffled_indices, shuffled_distances = lists_of(X[order], 5)
    np.testing.assert_array_equal(order[shuffled_indices], indices[order])
    assert_same_bits(shuffled_distances, distances[order])


# ---- agreement ---------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@routes
def test_scikit_learn_finds_the_same(rng, metric, m):
    X, queries = rng.normal(size=(300, m)), rng.normal(size=(50, m))
    theirs = NearestNeighbors(n_neighbors=8, algorithm="brute", metric=metric).fit(X)
    for ours, (distances, indices) in [
        (lists_of(X, 8, metric=metric), theirs.kneighbors()),
        (nearest_among(queries, X, 8, metric=metric), theirs.kneighbors(queries)),
    ]:
        np.testing.assert_array_equal(ours[0], indices)
        np.testing.assert_allclose(ours[1], distances, rtol=1e-6, atol=1e-9)


# ---- determinism -------------------------------------------------------------------------------


@routes
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_threads_change_no_bit(rng, m, metric):
    X = rng.normal(size=(500, m))
    for one, two in zip(
        lists_of(X, 9, metric=metric, n_jobs=1), lists_of(X, 9, metric=metric, n_jobs=2), strict=True
    ):
        assert_same_bits(one, two)


@routes
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("made", ["scattered", "lattice"])
def test_a_row_gets_the_same_list_in_any_batch(rng, m, metric, made):
    queries, data = rng.normal(size=(40, m)), rng.normal(size=(200, m))
    if made == "lattice":
        queries, data = queries.round(), data.round()
    together = nearest_among(queries, data, 6, metric=metric)
    order = rng.permutation(40)
    shuffled = nearest_among(queries[order], data, 6, metric=metric)
    for part, whole in zip(shuffled, together, strict=True):
        assert_same_bits(part, whole[order])
    for i in range(40):
        alone = nearest_among(queries[i : i + 1], data, 6, metric=metric)
        assert_same_bits(alone[0][0], together[0][i])
        assert_same_bits(alone[1][0], together[1][i])


@routes
@pytest.mark.parametrize("size", [1e3, 1e9, 1e15, 1e22])
def test_a_row_far_away_in_the_batch_changes_no_list(rng, m, size):
    queries, data = rng.normal(size=(30, m)), rng.normal(size=(300, m))
    batch = np.vstack([queries, np.full((1, m), size)])
    alone, together = nearest_among(queries, data, 5), nearest_among(batch, data, 5)
    assert_same_bits(together[0][:-1], alone[0])
    assert_same_bits(together[1][:-1], alone[1])


def test_rows_that_are_all_equally_far_away_are_compared_one_by_one():
    X = np.eye(600)[:400]
    for k in (1, 5, 40):
        assert_same_lists(lists_of(X, k), naive.naive_neighbors(_quick_distances(X), k))
        new = np.vstack([np.zeros(600), X[7] + X[9]])
        assert_same_lists(nearest_among(new, X, k), naive.naive_knn(naive.distances(new, X), k))


@routes
def test_the_size_of_the_blocks_changes_no_bit(rng, m, monkeypatch):
    X = np.vstack([rng.normal(size=(120, m)), lattice(0, 80, m)])
    expected = lists_of(X, 6)
    blocks = _runtime.row_blocks
    for module in (index_module, graphs):
        monkeypatch.setattr(module, "row_blocks", lambda n, what, size, **options: blocks(n, what, size=7))
    for one, two in zip(lists_of(X, 6), expected, strict=True):
        assert_same_bits(one, two)


# ---- limits and errors -------------------------------------------------------------------------


@routes
@pytest.mark.parametrize("k", [5, 6, 1000])
def test_more_neighbors_than_rows_are_clipped_with_a_warning(rng, m, k):
    X = rng.normal(size=(5, m))
    with pytest.warns(NeighborsClippedWarning, match=rf"at most 4 \(the other rows\), got {k}: 4 are used"):
        found = lists_of(X, k)
    assert_same_lists(found, naive.naive_neighbors(naive.distances(X), 4))


def test_as_many_neighbors_as_other_rows_are_not_clipped():
    assert clipped_neighbors(4, 4) == 4
    assert clipped_neighbors(np.int64(3), 4) == 3


@pytest.mark.parametrize("k", [0, -1, 2.0, "5", True, None])
def test_a_number_of_neighbors_is_a_positive_integer(rng, k):
    with pytest.raises(InvalidInputError) as caught:
        nearest_neighbors(rng.normal(size=(5, 2)), Knn(k))
    assert_grammar(caught.value, "n_neighbors", k)


def test_auto_is_exact_below_a_size_and_for_few_features(rng):
    small, wide, flat = np.empty((100, 20)), np.empty((101, 20)), np.empty((101, 15))
    rule = Knn(5, exact_below=100)
    assert not use_approximate(rule, small, "euclidean")
    assert use_approximate(rule, wide, "euclidean")
    assert not use_approximate(rule, flat, "euclidean")
    assert use_approximate(rule, flat, "manhattan")
    assert not use_approximate(rule, wide, "precomputed")
    assert use_approximate(Knn(5, approximate=True), flat, "euclidean")
    assert not use_approximate(Knn(5, approximate=False, exact_below=0), wide, "euclidean")


def test_auto_is_exact_where_a_tree_parts_the_table():
    assert not use_approximate(Knn(5, exact_below=4500), levels_and_numbers(5000), "euclidean")
    assert use_approximate(Knn(5, exact_below=4500), levels_and_numbers(5000), "manhattan")


def levels(n, m, count):
    return np.random.default_rng(0).integers(0, count, (n, m)).astype(float)


@pytest.mark.parametrize(
    ("table", "exact"),
    [
        (np.random.default_rng(0).normal(size=(5000, 3)), True),
        (np.random.default_rng(0).normal(size=(5000, 10)), False),  # 1,900 comparisons: a descent is quicker
        (levels(5000, 10, 4), True),  # though it takes more of them than a descent is worth
        (levels(5000, 20, 4), False),
        (levels(50_000, 3, 2), True),  # eight different rows
    ],
    ids=["few features", "ten features", "levels", "many levels", "equal rows"],
)
def test_auto_weighs_a_tree_against_a_descent(monkeypatch, table, exact):
    monkeypatch.setattr(boxes_module, "_AFFORDABLE", 500)
    monkeypatch.setattr(boxes_module, "_AFFORDABLE_OF_LEVELS", 2500)
    assert use_approximate(Knn(5, exact_below=4500), table, "euclidean") is not exact


@pytest.mark.parametrize("approximate", ["yes", None, 3])
def test_approximate_is_true_false_or_auto(approximate):
    with pytest.raises(InvalidInputError) as caught:
        use_approximate(Knn(5, approximate=approximate), np.empty((9, 2)), "euclidean")
    assert_grammar(caught.value, "approximate", approximate)


def test_precomputed_distances_are_never_approximate():
    with pytest.raises(InvalidInputError) as caught:
        nearest_neighbors(np.zeros((9, 9)), Knn(5, approximate=True), metric="precomputed")
    assert_grammar(caught.value, "approximate", True)


@pytest.mark.parametrize(
    ("m", "metric"), [(3, "euclidean"), (20, "euclidean"), (100, "euclidean"), (3, "manhattan")]
)
def test_long_lists_have_the_bits_of_short_ones(rng, m, metric, monkeypatch):
    X = np.round(rng.normal(size=(300, m)), 1)  # with ties
    X[:40] = X[40:80]
    new = rng.normal(size=(7, m))
    found = nearest_neighbors(X, Knn(299), metric=metric)
    placed = nearest_among(new, X, 300, metric=metric)
    monkeypatch.setattr(index_module, "_LONG", 300)
    expected = nearest_neighbors(X, Knn(299), metric=metric)
    assert_same_bits(found.indices, expected.indices)
    assert_same_bits(found.distances, expected.distances)
    for one, two in zip(placed, nearest_among(new, X, 300, metric=metric), strict=True):
        assert_same_bits(one, two)


def test_long_lists_are_sorted_on_any_number_of_threads(rng, monkeypatch):
    X = rng.normal(size=(200, 4))
    one = nearest_neighbors(X, Knn(150), n_jobs=1)
    for route in ("_search", "_by_boxes", "_by_products"):
        monkeypatch.delattr(index_module.RowIndex, route)
    two = nearest_neighbors(X, Knn(150), n_jobs=2)
    assert_same_bits(one.indices, two.indices)
    assert_same_bits(one.distances, two.distances)


def test_infinite_distances_come_last_in_long_lists_too(rng):
    D = rng.random((3, 200))
    D[1, 5:9], D[0, 3] = np.inf, -0.0
    indices, distances = np.empty((3, 200), np.int32), np.empty((3, 200))
    index_module.lists_in_rows(D, np.full(3, -1), indices, distances, 1)
    assert_same_bits(indices, np.argsort(D, axis=1, kind="stable").astype(np.int32))
    assert distances[1, -4:].tolist() == [np.inf] * 4


def test_lists_of_an_eighth_of_the_rows_are_not_approximate(rng):
    X = rng.normal(size=(1100, 20))
    assert use_approximate(Knn(137, exact_below=1000), X, "euclidean")
    assert not use_approximate(Knn(138, exact_below=1000), X, "euclidean")
