"""Components, and the four policies for a graph in parts."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import naive
from assertions import assert_same_bits, assert_same_edges, assert_valid_graph
from isentropic._core.errors import DisconnectedGraphError, DisconnectedGraphWarning, InvalidInputError
from isentropic._core.values import Can, Inflate, Knn, Percentile, Pnn, Radius
from isentropic.affinities import neighbor_graph
from isentropic.neighbors import POLICIES, apply_disconnected_policy, component_labels
from isentropic.neighbors import connecting_edges as bridges_module
from isentropic.neighbors import connecting_edges as cells_module
from isentropic.neighbors.connecting_edges import shortest_bridges

seeds = st.integers(0, 2**32 - 1)


def csr(n, edges):
    """indptr and indices of ``{(i, j): weight}``, and the weights."""
    pairs = sorted(edges)
    indptr = np.searchsorted([i for i, _ in pairs], np.arange(n + 1))
    return indptr, np.array([j for _, j in pairs], np.int32), np.array([edges[p] for p in pairs], float)


@st.composite
def undirected_graphs(draw):
    n = draw(st.integers(1, 15))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    edges = draw(st.dictionaries(pair, st.sampled_from([0.0, 1.0]), max_size=18)) if n > 1 else {}
    return n, naive.naive_union(edges)


def blobs(rng, sizes=(12, 7, 5, 3), m=2, spread=20.0):
    """Groups of rows far from each other; a small k leaves each a part."""
    return np.vstack([rng.normal(size=(size, m)) + rng.uniform(-spread, spread, size=m) for size in sizes])


def graph_in_parts(X, rule=2, *, n_jobs=1, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return neighbor_graph(X, rule, on_disconnected="inflate", n_jobs=n_jobs, **options)


def quietly_bridged(X, rule, *, n_jobs=1, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return neighbor_graph(X, rule, on_disconnected="bridge", n_jobs=n_jobs, **options)


# ---- components --------------------------------------------------------------------------------


@given(undirected_graphs())
def test_labels_match_a_plain_search(graph):
    n, edges = graph
    indptr, indices, _ = csr(n, edges)
    assert_array_equal(component_labels(indptr, indices), naive.naive_components(n, edges))


@given(undirected_graphs())
def test_edges_that_join_nothing_do_not_count(graph):
    n, edges = graph
    indptr, indices, weights = csr(n, edges)
    joining = {pair: w for pair, w in edges.items() if w > 0}
    assert_array_equal(component_labels(indptr, indices, weights > 0), naive.naive_components(n, joining))


@given(undirected_graphs())
def test_labels_leave_the_graph_alone(graph):
    n, edges = graph
    indptr, indices, weights = csr(n, edges)
    before = indptr.copy(), indices.copy()
    component_labels(indptr, indices, weights > 0)
    assert_same_bits(indptr, before[0])
    assert_same_bits(indices, before[1])


def test_of_equal_parts_the_first_is_first():
    indptr, indices, _ = csr(6, naive.naive_union({(0, 5): 1.0, (1, 2): 1.0, (3, 4): 1.0}))
    assert component_labels(indptr, indices).tolist() == [0, 1, 1, 2, 2, 0]


# ---- bridges -----------------------------------------------------------------------------------


def assert_bridged(graph, before, D):
    """The old edges, and the minimum spanning edges between the parts."""
    expected = naive.naive_bridges(D, before.components)
    assert_same_edges({(int(i), int(j)): D[i, j] for i, j in graph.bridges}, expected)
    both = expected | {(j, i): d for (i, j), d in expected.items()}
    assert_same_edges(naive.edges_of(graph), naive.edges_of(before) | both)
    assert_valid_graph(graph)
    assert_array_equal(graph.components, before.components)  # as they were before the repair
    assert len(set(naive.naive_components(len(D), naive.edges_of(graph)))) == 1


@pytest.mark.parametrize("m", [2, 20])
@pytest.mark.parametrize("seed", range(4))
def test_bridges_are_minimum_spanning_edges(m, seed):
    X = blobs(np.random.default_rng(seed), m=m)
    before = graph_in_parts(X)
    assert before.n_components > 1
    with pytest.warns(DisconnectedGraphWarning):
        graph = neighbor_graph(X, 2)
    assert_bridged(graph, before, naive.distances(X))


@settings(max_examples=40)
@given(seed=seeds, n=st.integers(3, 30), rule=st.sampled_from([Knn(1), Radius(1.1), Percentile(4)]))
def test_bridges_of_a_lattice_with_ties(seed, n, rule):
    # Ties by index: the edges are those of Kruskal's order, whatever round of Boruvka finds them.
    X = np.random.default_rng(seed).integers(0, 12, size=(n, 2)).astype(float)
    before, graph = graph_in_parts(X, rule), quietly_bridged(X, rule)
    if before.n_components > 1:
        assert_bridged(graph, before, naive.distances(X))
    else:
        assert len(graph.bridges) == 0


@pytest.mark.parametrize("sizes", [(90, 70, 66), (90, 70, 6), (40, 70, 65, 64, 30), (66, 66, 66)], ids=str)
@pytest.mark.parametrize("m", [2, 20])
def test_bridges_of_large_and_small_parts(rng, sizes, m):
    # Whole numbers: edges of equal length between the parts, and rows that coincide.
    X = blobs(rng, sizes, m=m, spread=400.0).round()
    D = np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])
    before = graph_in_parts(X, 4)
    assert before.n_components >= len(sizes)
    assert_bridged(quietly_bridged(X, 4), before, D)


def levels_and_numbers(rng, n=240):
    """A table with coded levels: rows of other levels are far apart, and as far as those of many others."""
    levels = [rng.integers(0, count, n) for count in (2, 3, 4)]
    coded = [4.0 * (level[:, None] == np.arange(level.max() + 1)) for level in levels]
    return np.column_stack([rng.integers(0, 3, size=(n, 8)), *coded]).astype(float)


def search_by_cells(monkeypatch, size=20):
    """Let every search but the first go by cells of so many rows."""
    monkeypatch.setattr(bridges_module, "_ENOUGH", 1)
    monkeypatch.setattr(bridges_module, "worth_comparing", lambda n, m: -1)
    monkeypatch.setattr(cells_module, "_LEAST_CELL", size)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("by", ["tree", "cells"])
def test_bridges_of_a_table_with_levels(seed, by, monkeypatch):
    # Two dozen parts, whose shortest edges are of few lengths: ties within each round, and between rounds.
    X = levels_and_numbers(np.random.default_rng(seed))
    if by == "cells":
        search_by_cells(monkeypatch)
    before = graph_in_parts(X, 3)
    assert before.n_components > 10
    D = np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])
    assert_bridged(quietly_bridged(X, 3), before, D)


@pytest.mark.parametrize("m", [3, 30])
def test_bridges_of_parts_one_within_the_other(rng, m):
    # Shells: every row of one is near the next, so that rows are searched for again in every round.
    shells = rng.normal(size=(5, 40, m))
    shells *= (2.0 ** np.arange(5))[:, None, None] / np.linalg.norm(shells, axis=2, keepdims=True)
    X, labels = shells.reshape(200, m), np.repeat(np.arange(5), 40)
    D = np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])
    pairs, lengths = shortest_bridges(X, labels)
    found = {(int(i), int(j)): d for (i, j), d in zip(pairs, lengths, strict=True)}
    assert_same_edges(found, naive.naive_bridges(D, labels))


def labelled_tables():
    """Tables with components of many kinds: clusters, ties, pairs, single rows, an outlier, far from 0."""
    rng = np.random.default_rng(0)
    middles = rng.normal(size=(12, 30))
    clusters = np.repeat(middles, 25, axis=0) + rng.normal(size=(300, 30))
    by_cluster = np.repeat(np.arange(12), 25)
    with_outlier = clusters.copy()
    with_outlier[7] = 1e9
    return {
        "clusters": (clusters, by_cluster),
        "far from 0": (clusters + 1e7, by_cluster),
        "tiny": (clusters * 1e-130, by_cluster),
        "outlier": (with_outlier, by_cluster),
        "ties": (rng.integers(0, 3, size=(300, 12)).astype(float), rng.integers(0, 9, 300)),
        "pairs": (clusters, np.arange(300) // 2),
        "single rows": (clusters[::3], np.arange(100)),
        "two components": (clusters, np.arange(300) % 2),
        "large and small": (clusters, np.maximum(np.arange(300) - 260, 0)),
    }


@pytest.mark.parametrize("name", labelled_tables())
def test_cells_find_the_edges_of_a_plain_search(name, monkeypatch):
    X, labels = labelled_tables()[name]
    search_by_cells(monkeypatch)
    D = np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])
    pairs, lengths = shortest_bridges(X, labels)
    found = {(int(i), int(j)): d for (i, j), d in zip(pairs, lengths, strict=True)}
    assert_same_edges(found, naive.naive_bridges(D, labels))


def test_clusters_in_many_columns_are_joined_without_comparing_all_rows(monkeypatch):
    # Boxes around these clusters overlap: a tree compares every row with nearly all others.
    rng = np.random.default_rng(0)
    X = np.repeat(2 * rng.normal(size=(10, 50)), 400, axis=0) + rng.normal(size=(4000, 50))
    compared, closer = [], cells_module.closer_outside

    def counted(products, *others):
        compared.append(products.size)
        closer(products, *others)

    monkeypatch.setattr(cells_module, "closer_outside", counted)
    shortest_bridges(X, np.repeat(np.arange(10), 400))
    assert 0 < sum(compared) < 0.2 * len(X) ** 2


def test_equal_rows_in_different_parts_are_joined_by_edges_of_length_0():
    # An approximate graph may part them.
    X, labels = np.repeat([[0.0, 1.0], [2.0, 3.0]], 3, axis=0), np.array([0, 0, 1, 2, 1, 0])
    pairs, lengths = shortest_bridges(X, labels)
    assert pairs.tolist() == [[0, 2], [3, 4]]
    assert lengths.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("sizes", [(12, 7, 5, 3), (70, 66, 9)], ids=str)
@pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
def test_bridges_of_other_metrics(rng, metric, sizes):
    X = blobs(rng, sizes, spread=60.0)
    D = naive.distances(X, metric="manhattan")
    given_rows = D if metric == "precomputed" else X
    kept = given_rows.copy()
    before, graph = graph_in_parts(given_rows, metric=metric), quietly_bridged(given_rows, 2, metric=metric)
    assert_bridged(graph, before, D)
    assert_same_bits(given_rows, kept)


def test_bridges_between_hundreds_of_duplicates():
    X = np.repeat([[0.0, 0], [5, 0], [5, 7]], 150, axis=0)
    graph = quietly_bridged(X, 3)
    assert graph.n_components == 3
    assert graph.bridges.tolist() == [[0, 150], [150, 300]]


def test_many_single_rows_are_joined():
    X = np.array([[0.0], [1], [3], [7], [15], [31]])
    graph = quietly_bridged(X, Radius(0.5))
    assert graph.n_components == 6
    assert graph.bridges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_blocks_and_threads_change_no_bridge(rng, rows, monkeypatch):
    X = blobs(rng)
    expected = quietly_bridged(X, 2)
    monkeypatch.setattr(bridges_module, "rows_per_block", lambda n: rows)
    for n_jobs in (1, 2):
        graph = quietly_bridged(X, 2, n_jobs=n_jobs)
        for name in ("indptr", "indices", "weights", "bridges"):
            assert_same_bits(getattr(graph, name), getattr(expected, name))


# ---- policies ----------------------------------------------------------------------------------

PAIRS = np.array([[0.0], [1], [10], [11], [12], [23.5], [24.5]])  # three parts of 3, 2 and 2 rows


def test_bridge_says_what_it_did():
    with pytest.warns(DisconnectedGraphWarning) as caught:
        graph = neighbor_graph(PAIRS, 1)
    assert str(caught[0].message) == (
        "The neighbour graph is in 3 parts of 3, 2, 2 rows: 2 shortest edges join them (the longest: 11.5). "
        "More neighbours, or a larger radius, would join the parts by the data."
    )
    assert graph.bridges.tolist() == [[1, 2], [4, 5]]
    assert graph.components.tolist() == [1, 1, 0, 0, 0, 2, 2]
    assert caught[0].filename == __file__


def test_raise_refuses_with_the_sizes():
    with pytest.raises(DisconnectedGraphError) as caught:
        neighbor_graph(PAIRS, 1, on_disconnected="raise")
    assert str(caught.value) == (
        "The neighbour graph must be connected, got 3 parts of 3, 2, 2 rows. Take more neighbours, or "
        "on_disconnected='bridge', 'largest' or 'inflate'."
    )


def test_only_the_first_sizes_are_listed():
    with pytest.raises(DisconnectedGraphError, match=r"got 7 parts of 1, 1, 1, 1, 1, \.\.\. rows"):
        neighbor_graph(PAIRS, Radius(0.5), on_disconnected="raise")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("largest", "the largest is fitted, the other 4 rows are placed as new ones"),
        ("inflate", "distances between parts are inflated"),
        (Inflate(3.0), "distances between parts are inflated"),
    ],
    ids=["largest", "inflate", "Inflate"],
)
def test_largest_and_inflate_warn_and_leave_the_parts(policy, said):
    with pytest.warns(DisconnectedGraphWarning, match=f"3 parts of 3, 2, 2 rows: {said}") as caught:
        graph = neighbor_graph(PAIRS, 1, on_disconnected=policy)
    assert len(caught) == 1
    assert graph.n_components == 3
    assert len(graph.bridges) == 0
    assert_same_edges(naive.edges_of(graph), naive.naive_knn_graph(naive.distances(PAIRS), 1))


@pytest.mark.parametrize("rule", [Can(1), Pnn(1)], ids=["can", "pnn"])
def test_affinities_are_not_bridged(rule):
    X = np.array([[0.0], [1], [10], [11]])
    with pytest.warns(DisconnectedGraphWarning, match="affinities are not bridged: each part is on its own"):
        graph = neighbor_graph(X, rule)
    assert graph.n_components == 2
    assert len(graph.bridges) == 0


@pytest.mark.parametrize("policy", [*POLICIES, Inflate(2.0)], ids=str)
def test_a_connected_graph_comes_back_as_it_is(policy):
    line = np.arange(6.0)[:, None]
    graph = neighbor_graph(line, 2, on_disconnected=policy)  # a warning would be an error
    assert graph.n_components == 1
    assert apply_disconnected_policy(graph, line, policy) is graph


@pytest.mark.parametrize("policy", ["brigde", "", None, 3])
@pytest.mark.parametrize("X", [PAIRS, np.arange(6.0)[:, None]], ids=["in parts", "connected"])
def test_a_policy_is_one_of_four(policy, X):
    with pytest.raises(InvalidInputError) as caught:
        neighbor_graph(X, 2, on_disconnected=policy)
    said = str(caught.value)
    assert said.startswith(f"on_disconnected must be one of bridge, largest, raise, inflate, got {policy!r}.")
    if policy == "brigde":
        assert "Did you mean 'bridge'" in said
