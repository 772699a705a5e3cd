"""Neighbour graphs of every rule, against plain twins and against scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

import naive
from assertions import assert_grammar, assert_same_bits, assert_same_edges, assert_valid_graph
from isentropic import config_context
from isentropic._core.errors import (
    DisconnectedGraphWarning,
    InvalidInputError,
    MemoryBudgetError,
    NeighborsClippedWarning,
)
from isentropic._core.values import Can, Knn, Neighbors, Percentile, Pnn, Radius
from isentropic.affinities import can_weights, neighbor_graph, pnn_weights
from isentropic.neighbors import as_rule
from isentropic.neighbors import graphs as graphs_module

seeds = st.integers(0, 2**32 - 1)

# A rule and its plain twin.
RULES = {
    "knn": (Knn(4), lambda D: naive.naive_knn_graph(D, 4)),
    "radius": (Radius(2.5), lambda D: naive.naive_radius_graph(D, 2.5)),
    "percentile": (Percentile(15.0), lambda D: naive.naive_percentile_graph(D, 15.0)),
    "can": (Can(4), lambda D: naive.naive_can(D, 4)),
    "pnn": (Pnn(4), lambda D: naive.naive_pnn(D, 4)),
    "pnn, heat": (Pnn(4, 3.0), lambda D: naive.naive_pnn(D, 4, 3.0)),
}
rules = pytest.mark.parametrize("kind", RULES)


def unrepaired(X, rule, *, n_jobs=1, **options):
    """The graph as its rule makes it, in however many parts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        graph = neighbor_graph(X, rule, on_disconnected="inflate", n_jobs=n_jobs, **options)
    assert_valid_graph(graph)
    return graph


def lattice(seed, n, m):
    return np.random.default_rng(seed).integers(0, 4, size=(n, m)).astype(float)


def assert_as_plain(graph, kind, D):
    edges = RULES[kind][1](D)
    assert_same_edges(naive.edges_of(graph), edges, rtol=1e-10, atol=1e-12)
    joining = {pair: w for pair, w in edges.items() if w > 0} if kind.startswith(("can", "pnn")) else edges
    assert_array_equal(graph.components, naive.naive_components(len(D), joining))
    assert graph.kind == RULES[kind][0].kind
    assert graph.is_distance == (kind in ("knn", "radius", "percentile"))
    assert graph.exact


# ---- oracle ------------------------------------------------------------------------------------


@rules
@pytest.mark.parametrize("m", [2, 20])
def test_graphs_of_scattered_rows_match_the_plain_ones(rng, kind, m):
    X = rng.normal(size=(40, m))
    assert_as_plain(unrepaired(X, RULES[kind][0]), kind, naive.distances(X))


@rules
@settings(max_examples=25)
@given(seed=seeds, n=st.integers(6, 30), m=st.sampled_from([1, 2, 17]))
def test_graphs_of_a_lattice_match_the_plain_ones(kind, seed, n, m):
    X = lattice(seed, n, m)
    assert_as_plain(unrepaired(X, RULES[kind][0]), kind, naive.distances(X))


@rules
@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_graphs_of_other_metrics_match_the_plain_ones(rng, kind, metric):
    X = rng.normal(size=(30, 3)) + 3.0 * np.eye(3)[0]
    graph = unrepaired(X, RULES[kind][0], metric=metric)
    assert_as_plain(graph, kind, naive.distances(X, metric=metric))


@rules
def test_graphs_of_precomputed_distances_match_the_plain_ones(kind):
    D = naive.distances(lattice(7, 30, 2))
    before = D.copy()
    assert_as_plain(unrepaired(D, RULES[kind][0], metric="precomputed"), kind, D)
    assert_same_bits(D, before)


@pytest.mark.parametrize("p", [1, 10, 20, 50, 100])
def test_percentile_takes_in_its_own_zero_and_its_border(p):
    # Of 21 distances 10 percent are two steps: the border is hit exactly.
    X = np.arange(21.0)[:, None] ** 2
    D = naive.distances(X)
    graph = unrepaired(X, Percentile(p))
    assert_same_edges(naive.edges_of(graph), naive.naive_percentile_graph(D, p))


def test_a_radius_is_open():
    line = np.arange(4.0)[:, None]
    with pytest.warns(DisconnectedGraphWarning):
        assert neighbor_graph(line, Radius(1.0), on_disconnected="inflate").indices.size == 0
    assert neighbor_graph(line, Radius(np.nextafter(1.0, 2))).indices.tolist() == [1, 0, 2, 1, 3, 2]


@rules
def test_blocks_change_no_bit(kind, monkeypatch):
    X = lattice(3, 50, 3)
    whole = unrepaired(X, RULES[kind][0])
    monkeypatch.setattr(graphs_module, "rows_per_block", lambda n: 7)
    assert_same_graph(unrepaired(X, RULES[kind][0]), whole)


def assert_same_graph(one, two):
    for name in ("indptr", "indices", "weights", "components", "bridges"):
        assert_same_bits(getattr(one, name), getattr(two, name))


@rules
def test_l2_is_euclidean(rng, kind):
    X = rng.normal(size=(40, 7))
    assert_same_graph(unrepaired(X, RULES[kind][0], metric="l2"), unrepaired(X, RULES[kind][0]))


# ---- affinities --------------------------------------------------------------------------------


def found(distances):
    distances = np.array(distances, float)
    return Neighbors(np.zeros(distances.shape, np.int32), distances, "euclidean", exact=True)


def test_affinities_by_hand():
    lists = found([[1.0, 2.0, 3.0], [2.0, 3.0, 3.0]])
    assert_allclose(can_weights(lists), [[8 / 13, 5 / 13], [1.0, 0.0]])
    assert_allclose(pnn_weights(lists), [[1.0, 5 / 8], [1.0, 0.0]])


@settings(max_examples=50)
@given(st.lists(st.lists(st.floats(0, 1e3), min_size=4, max_size=4).map(sorted), min_size=1, max_size=5))
def test_affinities_are_finite_and_can_sums_to_one(lists):
    can, pnn = can_weights(found(lists)), pnn_weights(found(lists))
    for weights in (can, pnn):
        assert np.isfinite(weights).all()
        assert (weights >= 0).all()
        assert (np.diff(weights, axis=1) <= 0).all()  # the nearer, the more
    assert_allclose(can.sum(axis=1), 1)
    assert (pnn[:, 0] == 1).all()


def test_heat_of_probabilities():
    lists = found([[1.0, 2.0, 3.0], [2.0, 3.0, 3.0]])
    h = np.exp(-np.array([1.0, 4.0, 9.0]) / 2)
    assert_allclose(pnn_weights(lists, 2.0), [[1.0, (h[1] - h[2]) / (h[0] - h[2])], [1.0, 0.0]])
    assert_allclose(pnn_weights(lists, 1e7), pnn_weights(lists), atol=1e-6)
    assert_same_bits(pnn_weights(lists, np.inf), pnn_weights(lists))
    assert_same_bits(pnn_weights(lists, 1e-9), np.array([[1.0, 0.0], [1.0, 0.0]]))  # no heat vanishes
    assert_same_bits(pnn_weights(found(np.ones((2, 4))), 0.1), np.ones((2, 3)))
    with pytest.raises(InvalidInputError, match="t must be a positive number or None, got 0"):
        neighbor_graph(np.eye(5), Pnn(2, 0))


@pytest.mark.parametrize("size", [0.0, 1.0, 0.1])
def test_equally_far_neighbors_share_alike(size):
    lists = found(np.full((2, 4), size))
    assert_same_bits(can_weights(lists), np.full((2, 3), 1 / 3))
    assert_same_bits(pnn_weights(lists), np.ones((2, 3)))


@pytest.mark.parametrize("rule", [Can(3), Pnn(3)], ids=["can", "pnn"])
def test_affinities_of_hundreds_of_duplicates(rng, rule):
    X = np.vstack([np.zeros((300, 2)), rng.normal(size=(30, 2))])
    graph = unrepaired(X, rule)
    D = np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])
    assert_same_edges(naive.edges_of(graph), RULES_OF_3[rule.kind](D), rtol=1e-9, atol=1e-12)


RULES_OF_3 = {"can": lambda D: naive.naive_can(D, 3), "pnn": lambda D: naive.naive_pnn(D, 3)}


@pytest.mark.parametrize("rule", [Can(2), Pnn(2)], ids=["can", "pnn"])
def test_an_affinity_of_zero_is_kept_and_joins_nothing(rule):
    # To the row at 0, the one at -6 is as far as the next one, at 6; those at -6, -7, -8 look at each other.
    X = np.array([[0.0], [2], [-6], [-7], [-8], [6], [7], [8]])
    graph = unrepaired(X, rule)
    edges = naive.edges_of(graph)
    twin = naive.naive_can if rule.kind == "can" else naive.naive_pnn
    assert_same_edges(edges, twin(naive.distances(X), 2), atol=1e-12)
    assert [pair for pair, w in edges.items() if w == 0] == [(0, 2), (2, 0)]
    assert graph.components.tolist() == [0, 0, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("rule", [Can(8), Pnn(8)], ids=["can", "pnn"])
def test_affinities_need_one_more_neighbor(rng, rule):
    X = rng.normal(size=(8, 2))
    with pytest.warns(NeighborsClippedWarning, match=r"at most 6 .*, got 8: 6 are used"):
        graph = neighbor_graph(X, rule)
    twin = naive.naive_can if rule.kind == "can" else naive.naive_pnn
    assert_same_edges(naive.edges_of(graph), twin(naive.distances(X), 6), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "rule", [Knn(1), Can(1), Pnn(1), Radius(5.0), Percentile(100.0)], ids=lambda r: r.kind
)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
def test_one_or_two_rows_give_a_graph_or_say_why_not(rule, n):
    refusal, graph = None, None
    try:
        graph = neighbor_graph(np.arange(float(n))[:, None], rule)
    except InvalidInputError as error:
        refusal = str(error)
    if graph is None:
        assert "rows" in refusal
    else:
        assert_valid_graph(graph)


# ---- agreement ---------------------------------------------------------------------------------


def as_sparse(graph):
    return csr_array((graph.weights, graph.indices, graph.indptr), shape=(graph.n_rows, graph.n_rows))


@pytest.mark.parametrize("m", [3, 30])
def test_scikit_learn_builds_the_same_graphs(rng, m):
    X = rng.normal(size=(200, m))
    nearest = kneighbors_graph(X, 7, mode="distance").toarray()
    ours = as_sparse(unrepaired(X, 7)).toarray()
    assert_allclose(ours, np.maximum(nearest, nearest.T), rtol=1e-9)
    radius = float(np.median(nearest[nearest > 0]))
    within = radius_neighbors_graph(X, radius, mode="distance").toarray()
    assert_allclose(as_sparse(unrepaired(X, Radius(radius))).toarray(), within, rtol=1e-6)


# ---- laws --------------------------------------------------------------------------------------


@rules
@settings(max_examples=15)
@given(seed=seeds, shift=st.integers(-100, 100))
def test_moving_a_lattice_changes_no_bit(kind, seed, shift):
    X = lattice(seed, 25, 2)
    assert_same_graph(unrepaired(X + shift, RULES[kind][0]), unrepaired(X, RULES[kind][0]))


@pytest.mark.parametrize("kind", ["knn", "percentile", "can", "pnn"])
@settings(max_examples=15)
@given(seed=seeds, power=st.integers(-20, 20))
def test_distances_scale_and_affinities_do_not(kind, seed, power):
    X = lattice(seed, 25, 2)
    graph, scaled = unrepaired(X, RULES[kind][0]), unrepaired(2.0**power * X, RULES[kind][0])
    assert_same_bits(scaled.indices, graph.indices)
    assert_same_bits(scaled.weights, graph.weights * (2.0**power if graph.is_distance else 1.0))


@rules
@settings(max_examples=15)
@given(seed=seeds)
def test_rotation_keeps_the_graph(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    graph, turned = unrepaired(X, RULES[kind][0]), unrepaired(X @ rotation, RULES[kind][0])
    assert_same_edges(naive.edges_of(turned), naive.edges_of(graph), rtol=1e-8, atol=1e-12)


@rules
@settings(max_examples=15)
@given(seed=seeds)
def test_row_order_is_only_row_order(kind, seed):
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(25, 3)), rng.permutation(25)
    graph, shuffled = unrepaired(X, RULES[kind][0]), unrepaired(X[order], RULES[kind][0])
    renamed = {(int(order[i]), int(order[j])): w for (i, j), w in naive.edges_of(shuffled).items()}
    assert_same_edges(renamed, naive.edges_of(graph), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("rule", [Knn(5), Radius(0.3), Percentile(5)], ids=lambda rule: rule.kind)
@pytest.mark.parametrize("m", [2, 20])
def test_duplicates_are_joined_by_edges_of_length_zero(rng, rule, m):
    X = np.vstack([np.ones((200, m)), rng.normal(size=(30, m))])
    graph = unrepaired(X, rule)
    zeros = {pair for pair, w in naive.edges_of(graph).items() if w == 0}
    assert len(zeros) >= 2 * 199
    assert (graph.components[:200] == graph.components[0]).all()


# ---- determinism -------------------------------------------------------------------------------


@rules
@pytest.mark.parametrize("m", [3, 20])
def test_threads_change_no_bit(rng, kind, m):
    X = np.vstack([rng.normal(size=(150, m)), lattice(0, 100, m)])
    rule = RULES[kind][0]
    assert_same_graph(unrepaired(X, rule, n_jobs=1), unrepaired(X, rule, n_jobs=2))


# ---- errors ------------------------------------------------------------------------------------


def test_a_number_means_nearest_neighbors():
    assert as_rule(7) == Knn(7)
    assert as_rule(np.int64(7)) == Knn(7)
    assert as_rule(Radius(2.0)) == Radius(2.0)


@pytest.mark.parametrize("neighbors", ["ten", 2.5, None, True, [3]])
def test_neighbors_are_a_number_or_a_rule(rng, neighbors):
    with pytest.raises(InvalidInputError) as caught:
        neighbor_graph(rng.normal(size=(9, 2)), neighbors)
    assert_grammar(caught.value, "neighbors", neighbors)


@pytest.mark.parametrize(
    ("rule", "name", "got"),
    [
        (Knn(0), "n_neighbors", 0),
        (Can(-2), "n_neighbors", -2),
        (Pnn(1.5), "n_neighbors", 1.5),
        (Radius(0.0), "eps", 0.0),
        (Radius(-0.3), "eps", -0.3),
        (Radius(float("nan")), "eps", float("nan")),
        (Percentile(0.0), "p", 0.0),
        (Percentile(100.5), "p", 100.5),
        (Percentile(float("nan")), "p", float("nan")),
    ],
)
def test_a_rule_out_of_range_is_refused(rng, rule, name, got):
    with pytest.raises(InvalidInputError) as caught:
        neighbor_graph(rng.normal(size=(9, 2)), rule)
    assert_grammar(caught.value, name, got)


def test_a_radius_says_what_to_do_next(rng):
    with pytest.raises(InvalidInputError, match=r"Give a distance in the units of the data\.$"):
        neighbor_graph(rng.normal(size=(9, 2)), Radius(-1.0))


def test_more_neighbors_than_rows_are_clipped_with_a_warning(rng):
    X = rng.normal(size=(6, 2))
    with pytest.warns(NeighborsClippedWarning, match=r"at most 5 \(the other rows\), got 10: 5 are used"):
        graph = neighbor_graph(X)
    assert_same_edges(naive.edges_of(graph), naive.naive_knn_graph(naive.distances(X), 5))


@pytest.mark.parametrize("rule", [Radius(1e9), Percentile(100)], ids=lambda rule: rule.kind)
def test_a_graph_too_dense_for_the_memory_is_refused(rng, rule):
    X = rng.normal(size=(100, 2))
    assert neighbor_graph(X, rule).indices.size == 100 * 99
    with (
        config_context(memory_limit=10_000),
        pytest.raises(MemoryBudgetError, match=r"9,900 directed edges needs"),
    ):
        neighbor_graph(X, rule)


def test_a_list_of_whole_numbers_is_a_table():
    graph = neighbor_graph([[0], [1], [3]], 1)
    assert naive.edges_of(graph) == {(0, 1): 1.0, (1, 0): 1.0, (1, 2): 2.0, (2, 1): 2.0}
