"""Approximate neighbours: what they promise is the recall that they state, and the same lists again."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import naive
from assertions import assert_same_bits, assert_same_lists, assert_valid_neighbors
from isentropic._core.errors import DisconnectedGraphWarning, MemoryBudgetError
from isentropic._core.runtime import config_context
from isentropic._core.values import Knn
from isentropic.affinities import neighbor_graph
from isentropic.neighbors import (
    approximate_neighbors,
    nearest_among,
    nearest_neighbors,
    search_graph,
)


def rows(seed, n, m=20):
    return np.random.default_rng(seed).normal(size=(n, m))


def quick_distances(X, Y=None):
    """As naive.distances, a row at a time: for larger tables."""
    Y = X if Y is None else Y
    return np.array([np.sqrt(((Y - x) ** 2).sum(axis=1)) for x in X])


def assert_measured(found, D):
    """Distances are exact for whatever rows were found."""
    np.testing.assert_allclose(
        found.distances, np.take_along_axis(D, found.indices.astype(int), axis=1), rtol=1e-12
    )


# The lists that a test makes up miss most neighbours.
pytestmark = pytest.mark.filterwarnings("ignore::isentropic._core.errors.LowRecallWarning")


@pytest.fixture
def finds(monkeypatch):
    """Let the descent find these lists, -1 for nothing."""

    def _finds(candidates):
        found = np.asarray(candidates, np.int32)
        monkeypatch.setattr("isentropic.neighbors.search.improve_by_descent", lambda *given: found)

    return _finds


# ---- the descent -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2000])
def test_most_neighbors_are_found_and_the_recall_is_right(n):
    X = rows(0, n)
    D = quick_distances(X)
    found = approximate_neighbors(X, 10)
    assert not found.exact
    assert found.metric == "euclidean"
    assert_valid_neighbors(found.indices, found.distances)
    assert_measured(found, D)
    true = naive.naive_recall(D, found.indices)
    assert true > 0.95
    assert found.recall == pytest.approx(true, abs=0.02)  # 200 rows of 10: a standard error below 0.005


@pytest.mark.parametrize("n", [20, 150, 200])
def test_the_recall_of_a_small_table_is_exact(n):
    X = rows(1, n)
    found = approximate_neighbors(X, 5)
    assert found.recall == naive.naive_recall(quick_distances(X), found.indices)


def test_threads_change_no_bit_and_a_seed_repeats():
    X = rows(2, 1500)
    first = approximate_neighbors(X, 8, random_state=3, n_jobs=1)
    for again in (
        approximate_neighbors(X, 8, random_state=3, n_jobs=1),
        approximate_neighbors(X, 8, random_state=3, n_jobs=2),
        approximate_neighbors(X, 8, random_state=3, n_jobs=4),
        approximate_neighbors(X, 8, random_state=np.random.RandomState(3), n_jobs=2),
    ):
        assert_same_bits(again.indices, first.indices)
        assert_same_bits(again.distances, first.distances)
        assert again.recall == first.recall


def test_no_seed_is_a_fixed_seed_and_another_seed_is_another_search():
    X = rows(3, 1500, m=40)
    one, two, seeded = (approximate_neighbors(X, 5, random_state=seed) for seed in (None, None, 7))
    assert_same_bits(one.indices, two.indices)
    assert one.recall == two.recall
    assert (one.indices != seeded.indices).any()


@pytest.mark.parametrize("made", ["all rows equal", "two rows, many times", "lattice"])
def test_duplicates_and_ties_give_valid_lists(made):
    X = {
        "all rows equal": np.ones((300, 20)),
        "two rows, many times": np.repeat([[0.0] * 20, [1.0] * 20], 150, axis=0),
        "lattice": np.random.default_rng(0).integers(0, 2, size=(300, 20)).astype(float),
    }[made]
    found = approximate_neighbors(X, 6)
    assert_valid_neighbors(found.indices, found.distances)
    assert_measured(found, quick_distances(X))
    assert 0 <= found.recall <= 1


TABLES = {
    "uniform, 2 features": lambda rng: rng.uniform(size=(1500, 2)),
    "uniform, 10 features": lambda rng: rng.uniform(size=(1500, 10)),
    "normal, 50 features": lambda rng: rng.normal(size=(1500, 50)),
    "groups far apart": lambda rng: rng.normal(size=(1500, 8)) + 1e4 * rng.integers(0, 40, size=(1500, 1)),
    "half of them twice": lambda rng: np.repeat(rng.normal(size=(1000, 12)), 2, axis=0)[:1500],
    "one far away": lambda rng: np.vstack([rng.normal(size=(1499, 12)), np.full((1, 12), 1e9)]),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("k", [4, 40])
def test_tables_of_many_kinds_are_searched_well(table, k):
    X = TABLES[table](np.random.default_rng(0))
    found = approximate_neighbors(X, k)
    assert_valid_neighbors(found.indices, found.distances)
    radius = np.sort(quick_distances(X), axis=1)[:, k] * (1 + 1e-12)  # rounded otherwise
    assert (found.distances <= radius[:, None]).mean() > 0.99


@pytest.mark.parametrize("k", [1, 14, 15, 16, 40])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_hardly_more_rows_than_neighbors(k, metric):
    for n in (k + 1, k + 2):
        X = rows(k, n, m=3)
        found = approximate_neighbors(X, k, metric=metric)
        expected = naive.naive_neighbors(naive.distances(X, metric=metric), k)
        assert_same_lists((found.indices, found.distances), expected)


METRICS = ["l2", "sqeuclidean", "minkowski", "cosine", "correlation", "manhattan", "chebyshev", "hamming"]


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_of_the_descent_finds_its_neighbors(metric):
    X = rows(6, 700, m=60 if metric == "cosine" else 10)  # so many that the nearest are almost perpendicular
    if metric == "hamming":
        X = np.round(X)
    if metric == "cosine":
        X[:100] = 0.0  # as far from all others as a perpendicular row
    found = approximate_neighbors(X, 10, metric=metric)
    assert_valid_neighbors(found.indices, found.distances)
    assert found.recall > 0.98
    exact = nearest_neighbors(X, Knn(10, approximate=False), metric=metric)
    assert (found.distances <= exact.distances[:, -1:]).mean() > 0.98


def test_too_little_memory_is_told_before(rng):
    with config_context(memory_limit=100_000), pytest.raises(MemoryBudgetError, match="approximate search"):
        approximate_neighbors(rng.normal(size=(2000, 20)), 10)


def test_progress_is_told_up_to_its_end(rng):
    told = []
    with config_context(progress=lambda what, done, total: told.append((done, total))):
        approximate_neighbors(rng.normal(size=(800, 20)), 10)
    assert (0, 17) in told
    assert (17, 17) in told


def test_nearest_neighbors_choose_it_above_a_size():
    X = rows(4, 300)
    found = nearest_neighbors(X, Knn(5, exact_below=299), random_state=1)
    assert_same_bits(found.indices, approximate_neighbors(X, 5, random_state=1).indices)
    assert not found.exact
    assert nearest_neighbors(X, Knn(5, exact_below=300)).exact


def test_the_graph_carries_the_recall():
    X = rows(5, 300)
    graph = neighbor_graph(X, Knn(5, approximate=True), random_state=1)
    assert not graph.exact
    assert graph.recall == approximate_neighbors(X, 5, random_state=1).recall


# ---- what it makes of the lists ----------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_candidates_come_out_in_exact_order(finds, metric):
    X = rows(0, 40, m=4) + 1
    rng = np.random.default_rng(1)
    candidates = np.array([np.append(rng.permutation(np.delete(np.arange(40), i))[:9], i) for i in range(40)])
    finds(candidates)
    found = approximate_neighbors(X, 4, metric=metric)
    D = naive.distances(X, metric=metric)
    among = np.full_like(D, np.inf)
    for i in range(40):
        among[i, candidates[i]] = D[i, candidates[i]]
    expected = naive.naive_neighbors(among, 4)
    np.testing.assert_array_equal(found.indices, expected[0])
    np.testing.assert_allclose(found.distances, expected[1], rtol=1e-12, atol=1e-15)
    assert found.recall == naive.naive_recall(D, found.indices)
    assert found.recall < 0.6
    assert found.metric == metric


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_rows_for_which_it_found_too_few_are_filled_in(finds, metric):
    X = np.random.default_rng(2).integers(0, 4, size=(30, 3)).astype(float)
    D = naive.distances(X, metric=metric)
    candidates = naive.naive_neighbors(D, 6)[0]
    candidates[3] = -1  # nothing
    candidates[11, 2:] = -1  # too few
    candidates[12] = [12, *candidates[12][:2], -1, -1, -1]  # itself, and too few others
    finds(candidates)
    found = approximate_neighbors(X, 3, metric=metric)
    assert_same_lists((found.indices, found.distances), naive.naive_neighbors(D, 3))
    assert found.recall == 1.0


def test_a_bad_descent_has_a_low_recall(finds):
    X = np.arange(50.0)[:, None]
    farthest = np.array([np.argsort(-np.abs(np.arange(50) - i), kind="stable")[:16] for i in range(50)])
    finds(farthest)
    assert approximate_neighbors(X, 5).recall == 0.0


# ---- new rows ----------------------------------------------------------------------------------


def recall_of(found, true):
    hits = [len(set(a) & set(b)) for a, b in zip(found[0].tolist(), true[0].tolist(), strict=True)]
    return sum(hits) / true[0].size


@pytest.fixture(params=["roll", "blobs"])
def searched(request, roll):
    """Fitted rows, their graph, and new rows."""
    if request.param == "roll":
        X = np.vstack([roll, roll[::-1] + 0.3])
    else:
        X, _ = make_blobs(1200, n_features=20, centers=8, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return X[200:], neighbor_graph(X[200:], 10), X[:200]


def test_search_finds_most_neighbors_of_new_rows(searched):
    X, graph, queries = searched
    true = naive.naive_knn(quick_distances(queries, X), 10)
    found = search_graph(queries, X, graph, 10)
    assert found[0].dtype == np.int32
    assert recall_of(found, true) > 0.95
    for (indices, distances), row in zip(zip(*found, strict=True), quick_distances(queries, X), strict=True):
        np.testing.assert_allclose(distances, row[indices], rtol=1e-12)
        listed = list(zip(distances.tolist(), indices.tolist(), strict=True))
        assert listed == sorted(listed)
        assert len(set(indices.tolist())) == 10


def test_a_row_is_searched_alike_in_any_batch(searched, rng):
    X, graph, queries = searched
    together = search_graph(queries, X, graph, 7, n_jobs=1)
    order = rng.permutation(len(queries))
    for other, back in (
        (search_graph(queries, X, graph, 7, n_jobs=2), slice(None)),
        (search_graph(queries[order], X, graph, 7), np.argsort(order)),
    ):
        assert_same_bits(other[0][back], together[0])
        assert_same_bits(other[1][back], together[1])
    for i in (0, 57, 199):
        alone = search_graph(queries[i : i + 1], X, graph, 7)
        assert_same_bits(alone[0][0], together[0][i])
        assert_same_bits(alone[1][0], together[1][i])


@pytest.mark.parametrize("k", [1, 20, 50])
def test_search_of_a_small_graph_is_exact(rng, k):
    X, queries = rng.normal(size=(50, 3)), rng.normal(size=(9, 3))
    found = search_graph(queries, X, neighbor_graph(X, 5), k)
    for one, two in zip(found, nearest_among(queries, X, k), strict=True):
        assert_same_bits(one, two)


def test_a_fitted_row_finds_itself(searched):
    X, graph, _ = searched
    indices, distances = search_graph(X[:100], X, graph, 3)
    assert (indices[:, 0] == np.arange(100)).mean() > 0.95
    assert (distances[:, 0] == 0).mean() > 0.95


@pytest.mark.parametrize("metric", ["euclidean", "correlation"])
def test_an_offset_or_another_unit_hides_no_neighbour(metric):
    """The descent holds numbers in single precision; nothing here is rounded but there."""
    X = np.round(rows(3, 600) * 2**20) / 2**20
    plain = approximate_neighbors(X, 10, metric=metric)
    offset = 1e7 if metric == "correlation" else np.append(1e7, np.full(19, -1e3))
    for table in (X + offset, np.ldexp(X, 260), np.ldexp(X, -260)):
        found = approximate_neighbors(table, 10, metric=metric)
        assert found.recall > plain.recall - 0.02
        assert (found.indices == plain.indices).mean() > 0.97
