"""The assertions of the suite can fail, and the plain twins are right on cases worked out by hand."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import naive
from assertions import (
    assert_grammar,
    assert_same_bits,
    assert_same_edges,
    assert_same_lists,
    assert_same_up_to_sign,
    assert_valid_graph,
    assert_valid_neighbors,
)

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])


def fails(assertion, *args):
    with pytest.raises(AssertionError):
        assertion(*args)


# ---- assertions --------------------------------------------------------------------------------


def test_up_to_sign_accepts_flips_and_nothing_else(rng):
    V = rng.normal(size=(6, 2))
    assert_same_up_to_sign(V * [1, -1], V)
    fails(assert_same_up_to_sign, V[:, ::-1], V)
    fails(assert_same_up_to_sign, V[::-1], V)
    fails(assert_same_up_to_sign, V * 1.001, V)
    fails(assert_same_up_to_sign, V[:, :1], V)
    fails(assert_same_up_to_sign, np.where(np.arange(6)[:, None] == 2, -V, V), V)
    fails(assert_same_up_to_sign, np.full_like(V, np.nan), V)


def test_same_bits_notices_the_last_one():
    a = np.array([0.1, 0.2])
    assert_same_bits(a, a.copy())
    fails(assert_same_bits, a, np.nextafter(a, 1))
    fails(assert_same_bits, np.array([0.0]), np.array([-0.0]))
    fails(assert_same_bits, a, a.astype(np.float32))
    fails(assert_same_bits, a, a[:1])


def test_same_lists_notices_order_and_distance():
    indices, distances = np.array([[1, 2]]), np.array([[1.0, 1.0]])
    assert_same_lists((indices, distances), (indices, distances))
    fails(assert_same_lists, (indices[:, ::-1], distances), (indices, distances))
    fails(assert_same_lists, (indices, distances + 1e-9), (indices, distances))


def test_same_edges_notices_missing_extra_and_other_weights():
    edges = {(0, 1): 0.0, (1, 0): 0.0}
    assert_same_edges(edges, dict(edges))
    fails(assert_same_edges, {}, edges)
    fails(assert_same_edges, edges, {})
    fails(assert_same_edges, {(0, 1): 0.0, (1, 0): 1e-9}, edges)


@pytest.mark.parametrize(
    ("indices", "distances"),
    [
        ([[1, 2], [0, 2], [1, 0]], [[2.0, 1.0], [1, 1], [1, 2]]),  # farther first
        ([[2, 1], [0, 2], [1, 0]], [[1.0, 1.0], [1, 1], [1, 2]]),  # ties not by index
        ([[0, 1], [0, 2], [1, 0]], [[0.0, 1.0], [1, 1], [1, 2]]),  # self
        ([[1, 1], [0, 2], [1, 0]], [[1.0, 1.0], [1, 1], [1, 2]]),  # twice
        ([[1, 3], [0, 2], [1, 0]], [[1.0, 1.0], [1, 1], [1, 2]]),  # no such row
    ],
)
def test_valid_neighbors_notices(indices, distances):
    good = np.array([[1, 2], [0, 2], [1, 0]], np.int32), np.array([[1.0, 1], [1, 1], [1, 2]])
    assert_valid_neighbors(*good)
    fails(assert_valid_neighbors, np.array(indices, np.int32), np.array(distances))
    fails(assert_valid_neighbors, good[0].astype(np.int64), good[1])


@dataclass(frozen=True)
class _Graph:
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    components: np.ndarray


_PATH = _Graph(
    np.array([0, 1, 3, 4]),
    np.array([1, 0, 2, 1], np.int32),
    np.array([1.0, 1.0, 2.0, 2.0]),
    np.zeros(3, np.int32),
)


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([1, 2, 0, 1], np.int32)},  # not sorted
        {"indices": np.array([0, 0, 2, 1], np.int32)},  # a loop
        {"indices": np.array([1, 0, 2, 0], np.int32)},  # not symmetric
        {"weights": np.array([1.0, 1.5, 2.0, 2.0])},  # two weights for one edge
        {"weights": np.array([np.nan, np.nan, 2.0, 2.0])},
        {"weights": np.array([-1.0, -1.0, 2.0, 2.0])},
        {"weights": np.array([np.inf, np.inf, 2.0, 2.0])},
        {"weights": np.ones(3)},
        {"components": np.array([0, 1, 1], np.int32)},  # the smaller one first
        {"components": np.array([0, 0, 2], np.int32)},  # nobody in 1
        {"components": np.zeros(2, np.int32)},
        {"indices": np.array([1, 0, 2, 1], np.int64)},
    ],
)
def test_valid_graph_notices(change):
    assert_valid_graph(_PATH)
    fails(assert_valid_graph, replace(_PATH, **change))


def test_grammar_notices_every_part():
    assert_grammar("eps must be a positive radius, got -1.0.", "eps", -1.0)
    assert_grammar("eps must be a positive radius, got -1.0. Give a distance.", "eps", -1.0)
    fails(assert_grammar, "Invalid eps", "eps", -1.0)
    fails(assert_grammar, "eps must be a positive radius, got -1.0.", "p", -1.0)
    fails(assert_grammar, "eps must be a positive radius, got -1.0.", "eps", -2.0)
    fails(assert_grammar, "eps must be a positive radius, got -1.0", "eps", -1.0)
    fails(assert_grammar, "eps must be a positive radius, got -1.0. ", "eps", -1.0)
    fails(assert_grammar, "eps must be , got -1.0.", "eps", -1.0)


# ---- twins -------------------------------------------------------------------------------------


def test_naive_knn_by_hand():
    D = naive.distances(LINE)
    assert D[0].tolist() == [0, 1, 3, 7]
    indices, lengths = naive.naive_neighbors(D, 2)
    assert indices.tolist() == [[1, 2], [0, 2], [1, 0], [2, 1]]
    assert lengths.tolist() == [[1, 3], [1, 2], [2, 3], [4, 6]]
    tied, _ = naive.naive_neighbors(naive.distances(np.zeros((4, 1))), 2)
    assert tied.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert naive.naive_recall(D, np.array([[1, 3], [0, 2], [1, 0], [0, 1]])) == 6 / 8


def test_naive_distances_by_hand():
    x, y = np.array([[3.0, 4.0]]), np.array([[0.0, 8.0]])
    assert naive.distances(x, y) == 5
    assert naive.distances(x, y, "manhattan") == 7
    assert naive.distances(x, y, "chebyshev") == 4
    assert naive.distances(x, y, "cosine") == pytest.approx(0.2)


def test_naive_graphs_by_hand():
    D = naive.distances(LINE)
    assert naive.naive_radius_graph(D, 2.0) == {(0, 1): 1, (1, 0): 1}  # 2 is not below 2
    # The medians of the rows, their zeros included: 2, 1.5, 2.5, 5.
    near = {(0, 1): 1, (1, 2): 2, (2, 3): 4}
    assert naive.naive_percentile_graph(D, 50) == near | {(j, i): w for (i, j), w in near.items()}
    assert naive.naive_knn_graph(D, 1) == {(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2, (2, 3): 4, (3, 2): 4}


def test_naive_affinities_by_hand():
    D = naive.distances(LINE)
    can, pnn = naive.naive_can(D, 2), naive.naive_pnn(D, 2)
    # Row 0: squares 1, 9, then 49: 48 and 40 of 88; row 1: 1, 4, then 36: 35 and 32 of 67.
    assert can[0, 1] == pytest.approx((48 / 88 + 35 / 67) / 2)
    assert pnn[0, 1] == 1.0
    assert pnn[0, 2] == pytest.approx((40 / 48 + (16 - 9) / (16 - 4)) / 2)
    equal = naive.distances(np.eye(4))
    assert set(naive.naive_can(equal, 2).values()) == {0.5, 0.25}  # from both sides, from one
    assert set(naive.naive_pnn(equal, 2).values()) == {1.0, 0.5}


def test_naive_components_bridges_and_paths_by_hand():
    edges = {(2, 3): 4.0, (3, 2): 4.0}
    assert naive.naive_components(4, edges).tolist() == [1, 2, 0, 0]
    D = naive.distances(LINE)
    assert naive.naive_bridges(D, [1, 2, 0, 0]) == {(0, 1): 1.0, (1, 2): 2.0}
    assert naive.naive_shortest_paths(4, edges | {(0, 2): 9.0, (2, 0): 9.0})[0].tolist() == [0, np.inf, 9, 13]


def test_naive_scaling_by_hand():
    D = naive.distances(LINE)
    values, Z = naive.naive_classical_scaling(D, 2)
    centred = LINE[:, 0] - LINE.mean()
    assert values[0] == pytest.approx(centred @ centred)
    assert_same_up_to_sign(Z[:, :1], centred[:, None])
    assert naive.naive_residual_variance(D, LINE) == pytest.approx(0, abs=1e-12)
    assert naive.naive_euclidean_defect(D) == pytest.approx(0, abs=1e-12)
    # Three legs of length 1 from a centre, and 2 between their ends: eigenvalues 2, 2, -1/4 and 0.
    star = 2.0 - 2.0 * np.eye(4)
    star[0, 1:] = star[1:, 0] = 1.0
    assert naive.naive_euclidean_defect(star) == pytest.approx(0.25 / 4.25)
    assert naive.condensed(D).tolist() == [1, 3, 7, 2, 6, 4]
    assert naive.naive_fixed_signs(np.array([[0.6, -1.0], [-0.8, 1.0]])).tolist() == [
        [-0.6, 1.0],
        [0.8, -1.0],
    ]
    assert_same_up_to_sign(naive.naive_placement(D, D, 1), Z[:, :1])
