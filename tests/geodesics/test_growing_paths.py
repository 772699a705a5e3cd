"""Geodesics of a graph that grows, against those of each graph by itself."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform
from sklearn.datasets import load_digits, make_swiss_roll

import isentropic
from isentropic.geodesics import GrowingPaths, all_pairs, from_rows, growing_graph, grown_rows
from isentropic.geodesics.growing_graph import Changes
from isentropic.neighbors import distance_graph
from naive import edges_of

pytestmark = pytest.mark.filterwarnings("ignore::isentropic.DisconnectedGraphWarning")


def repeated(X, seed=0):
    """A third of the rows are there again."""
    random = np.random.default_rng(seed)
    return np.concatenate([X, X[random.integers(0, len(X), len(X) // 3)]])[
        random.permutation(len(X) * 4 // 3)
    ]


TABLES = {
    "roll": make_swiss_roll(240, random_state=0)[0],
    "roll, rows repeated": repeated(make_swiss_roll(180, random_state=0)[0]),
    "digits, rows repeated": repeated(load_digits().data[:150]),
    "grid": np.random.default_rng(0).integers(0, 9, (200, 2)).astype(float),
}


def assert_same_paths(paths, graph):
    expected = squareform(all_pairs(graph))[np.ix_(paths.rows, paths.rows)]
    assert_array_equal(np.sort(paths.rows), np.arange(graph.n_rows))
    assert_allclose(paths.distances, expected, rtol=1e-13, atol=1e-13)


def grown(X, k, n, sizes, **options):
    """Distances grown from the first n rows by batches of so many, checked each time; shares repaired."""
    paths, shares = GrowingPaths(distance_graph(X[:n], k), **options), []
    assert_same_paths(paths, distance_graph(X[:n], k))
    for size in sizes:
        n += size
        graph = distance_graph(X[:n], k)
        shares.append(paths.grow(graph, **options))
        assert_same_paths(paths, graph)
    return paths, shares


@pytest.fixture
def repaired_always(monkeypatch):
    for name, value in (("_LOST", 0.0), ("_TRIED", 0.0), ("_HEAVY", 1.0)):
        monkeypatch.setattr(growing_graph, name, value)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("k", [3, 6, 12])
def test_rows_one_after_the_other_are_a_search_of_all(name, k):
    X = TABLES[name]
    _, shares = grown(X, k, len(X) - 24, [1] * 8 + [2, 5])
    repaired = [share for share in shares if share is not None]
    assert len(repaired) >= 5
    assert max(repaired) > 0


@pytest.mark.parametrize("name", TABLES)
def test_sources_that_lost_much_are_searched(name, monkeypatch):
    monkeypatch.setattr(growing_graph, "_HEAVY", 0.005)
    monkeypatch.setattr(growing_graph, "_LOST", 0.0)  # repair is worth it, whatever was lost
    monkeypatch.setattr(growing_graph, "_SEARCHED", 0.0)
    X = TABLES[name]
    _, shares = grown(X, 6, len(X) - 8, [1] * 8)
    assert None not in shares
    assert max(shares) > 0.02


def test_all_are_searched_where_repair_is_not_worth_it(monkeypatch):
    monkeypatch.setattr(growing_graph, "_LOST", 1e9)
    monkeypatch.setattr(growing_graph, "_TRIED", 1.0)
    assert grown(TABLES["roll"], 6, 230, [1, 4])[1] == [None, None]


@pytest.mark.parametrize("k", [2, 4])
def test_parts_that_join_and_split_and_bridges_between_old_rows(k, repaired_always):
    random = np.random.default_rng(k)
    parts = [random.normal(size=(25, 2)) + shift for shift in ([0, 0], [30, 0], [0, 40])]
    joining = np.column_stack([np.linspace(2, 28, 12), np.zeros(12)])
    nearer = np.array([[30.0, 3.0], [0.0, 35.0], [14.0, 20.0], [-60.0, -60.0]])  # where bridges move to
    X = np.concatenate([*parts, nearer, joining])
    _, shares = grown(X, k, 75, [1] * 4 + [3] * 4)
    assert max(shares) > 0.3


@pytest.mark.parametrize("seed", range(4))
def test_random_rows_near_far_and_equal(seed, repaired_always):
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, 2)) * [6, 2]
    for _ in range(20):
        old = X[random.integers(0, len(X), 2)]
        more = (old, old + random.normal(size=old.shape), 40 * random.normal(size=(1, 2)))[random.integers(3)]
        X = np.concatenate([X, more])
    grown(X, 3, 40, [2] * ((len(X) - 40) // 2))


def test_a_row_that_splits_a_part_and_a_bridge_between_old_rows(repaired_always):
    # A row far above two groups holds them together, until another one comes between it and the second; then
    # the groups themselves are nearest to each other.
    groups = [[x, 0.0] for x in (0.0, 0.1, 0.2, 10.0, 10.1, 10.2)]
    X = np.array([*groups, [5.09, 10.0], [5.09, 10.5]])
    before, after = distance_graph(X[:7], 2), distance_graph(X, 2)
    changes = Changes.between(before, after)
    assert changes.ends.tolist() == [[3, 6]]
    assert changes.hubs.tolist() == [7, 2]
    paths = GrowingPaths(before)
    assert paths.grow(after) > 0
    assert_same_paths(paths, after)


def test_edges_that_become_longer_or_shorter(repaired_always):
    graph = distance_graph(TABLES["roll"], 4)
    row = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    other = replace(graph, weights=graph.weights * (1 + np.cos(row + graph.indices) / 2))
    paths = GrowingPaths(graph)
    assert paths.grow(other) > 0
    assert_same_paths(paths, other)


@pytest.mark.parametrize("name", TABLES)
def test_changes_are_those_of_sets_of_edges(name):
    X = TABLES[name]
    n = len(X) - 20
    old, new = distance_graph(X[:n], 4), distance_graph(X, 4)
    changes = Changes.between(old, new)
    before, after = edges_of(old), edges_of(new)
    kept = {edge: w for edge, w in before.items() if after.get(edge) == w}
    assert edges_of(changes.unchanged) == kept
    left = {edge: w for edge, w in before.items() if edge not in kept and edge[0] < edge[1]}
    assert dict(zip(map(tuple, changes.ends.tolist()), changes.lengths.tolist(), strict=True)) == left
    hubs = set(changes.hubs.tolist())
    assert hubs >= set(range(n, len(X)))
    assert all(i in hubs or j in hubs for i, j in after if (i, j) not in kept)
    for h, hub in enumerate(changes.hubs.tolist()):
        mine = slice(changes.exit_ptr[h], changes.exit_ptr[h + 1])
        exits = dict(zip(changes.exits[mine].tolist(), changes.exit_weights[mine].tolist(), strict=True))
        if hub >= n:
            assert exits == {j: w for (i, j), w in after.items() if i == hub and j < n}
        else:
            assert exits.pop(hub) == 0
            assert exits == {j: w for (i, j), w in after.items() if i == hub < j < n and (i, j) not in kept}


def test_room_is_found_again_and_again(monkeypatch):
    monkeypatch.setattr(growing_graph, "_room", lambda n: n + 1)
    grown(TABLES["roll"], 6, 230, [1] * 6)


def test_what_does_not_fit_the_memory_is_known_before():
    paths = GrowingPaths(distance_graph(TABLES["roll"][:100], 5))
    with isentropic.config_context(memory_limit=100_000):
        assert not GrowingPaths.fit_memory(200)
        assert GrowingPaths.fit_memory(30)
        assert paths.has_room(101)
        assert not paths.has_room(1000)


def test_threads_change_no_bit_of_repaired_paths():
    one, two = (grown(TABLES["roll"], 5, 220, [1, 2, 5], n_jobs=n_jobs)[0] for n_jobs in (1, 2))
    assert_array_equal(one.distances, two.distances)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("tried", [growing_graph._TRIED, 1e9])
def test_rows_of_some_sources_grow(name, tried, monkeypatch):
    monkeypatch.setattr(growing_graph, "_TRIED", tried)
    X = TABLES[name]
    n = len(X) - 3
    old, new = distance_graph(X[:n], 6), distance_graph(X, 6)
    before, after = np.array([5, 80, 40, 11]), np.array([40, n + 1, 7, 5, 100])
    G, share = grown_rows(from_rows(old, before), before, old, new, after)
    assert_allclose(G, from_rows(new, after), rtol=1e-13, atol=1e-13)
    assert (share is None) == (tried > 1e6)
    others = np.array([1, 2])
    assert grown_rows(from_rows(old, before), before, old, new, others)[1] is None
