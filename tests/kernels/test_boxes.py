"""Trees of boxes and what they find, against plain loops. Small: this folder also runs without the JIT."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions import assert_same_bits, assert_same_lists
from isentropic.kernels._jit import threads
from isentropic.kernels.boxes import (
    box_gap,
    boxes_of,
    means_of,
    nearest_by_boxes,
    pushes_by_boxes,
    split_rows,
)
from naive import distances, naive_knn, naive_neighbors
from naive_neighbours import naive_pushes

seeds = st.integers(0, 2**32 - 1)


def lattice(seed, n, m):
    """Rows on a small grid: many ties, many duplicates, and every distance is exact."""
    return np.random.default_rng(seed).integers(0, 4, size=(n, m)).astype(float)


def tree_of(X, leaf=2):
    order, *nodes, depth = split_rows(X, leaf)
    return order, nodes, boxes_of(X[order], *nodes), depth


# ---- the tree ----------------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(1, 40), m=st.integers(1, 4), leaf=st.integers(1, 5))
def test_a_tree_halves_its_rows_until_few_or_equal_ones_are_left(seed, n, m, leaf):
    X = lattice(seed, n, m)
    order, (starts, stops, rights), _, depth = tree_of(X, leaf)
    assert sorted(order) == list(range(n))
    levels = {0: (0, n, 1)}  # what each node should hold, from its parent
    for node in range(len(starts)):
        start, stop, level = levels[node]
        assert (starts[node], stops[node]) == (start, stop)
        assert 0 <= start < stop <= n
        assert level <= depth
        if rights[node] == 0:
            rows = X[order[start:stop]]
            assert len(rows) <= leaf or (rows == rows[0]).all()
        else:
            levels[node + 1] = start, starts[rights[node]], level + 1
            levels[rights[node]] = starts[rights[node]], stop, level + 1
    assert len(levels) == len(starts)
    assert max(level for _, _, level in levels.values()) == depth


@pytest.mark.parametrize("values", [[1.0, np.nextafter(1.0, 2.0)], [-1e149, 1e149], [0.0, 5e-324]], ids=str)
def test_values_next_to_each_other_are_parted(values):
    _, (starts, _, rights), _, _ = tree_of(np.array(values * 3)[:, None], 1)
    assert len(starts) == 3
    assert rights.tolist() == [2, 0, 0]


@given(seed=seeds, n=st.integers(1, 30), m=st.integers(1, 3))
def test_boxes_are_tight(seed, n, m):
    X = np.random.default_rng(seed).normal(size=(n, m))
    order, (starts, stops, _), (lows, highs), _ = tree_of(X)
    for node, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        assert_same_bits(lows[node], X[order[start:stop]].min(axis=0))
        assert_same_bits(highs[node], X[order[start:stop]].max(axis=0))


def test_the_distance_to_a_box_by_hand():
    low, high = np.array([0.0, 0.0, 0.0]), np.array([1.0, 2.0, 1.0])
    assert box_gap(np.array([-3.0, 6.0, 0.5]), low, high) == 25.0
    assert box_gap(np.array([1.0, 1.0, 0.0]), low, high) == 0.0


# ---- neighbours --------------------------------------------------------------------------------


def found_by_boxes(X, queries, k, selves, *, leaf=2):
    """Neighbour lists, and with how many rows each query was compared."""
    order, nodes, boxes, depth = tree_of(X, leaf)
    lists = np.full((len(queries), k), -7, np.int32), np.full((len(queries), k), np.nan)
    measured = nearest_by_boxes(X[order], order, *nodes, *boxes, depth, queries, selves, 1e-14, *lists)
    return lists, measured


@given(seed=seeds, n=st.integers(2, 30), m=st.integers(1, 3), leaf=st.integers(1, 9), data=st.data())
def test_neighbors_by_boxes_of_a_lattice(seed, n, m, leaf, data):
    k = data.draw(st.integers(1, n - 1))
    X = lattice(seed, n, m)
    found, measured = found_by_boxes(X, X, k, np.arange(n), leaf=leaf)
    assert_same_lists(found, naive_neighbors(distances(X), k), rtol=0)
    assert (measured <= n).all()


@given(seed=seeds, k=st.integers(1, 12))
def test_neighbors_by_boxes_of_new_rows(seed, k):
    queries, X = lattice(seed, 5, 3) + 0.5, lattice(seed + 1, 12, 3)
    found, _ = found_by_boxes(X, queries, k, np.full(5, -1))
    assert_same_lists(found, naive_knn(distances(queries, X), k), rtol=0)


def test_far_boxes_are_passed_by():
    X = np.arange(200.0)[:, None]
    _, measured = found_by_boxes(X, X, 2, np.arange(200))
    assert (measured <= 12).all()


def test_threads_change_no_neighbor(rng):
    X = rng.normal(size=(60, 5))
    with threads(1):
        alone, _ = found_by_boxes(X, X, 4, np.arange(60))
    with threads(2):
        together, _ = found_by_boxes(X, X, 4, np.arange(60))
    for one, other in zip(alone, together, strict=True):
        assert_same_bits(one, other)


# ---- sums over all pairs -------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(1, 30), m=st.integers(1, 3))
def test_means_are_those_of_the_rows(seed, n, m):
    X = np.random.default_rng(seed).normal(size=(n, m))
    order, (starts, stops, rights), _, _ = tree_of(X)
    expected = [X[order[start:stop]].mean(axis=0) for start, stop in zip(starts, stops, strict=True)]
    np.testing.assert_allclose(means_of(X[order], starts, stops, rights), expected, atol=1e-12)


def pushes_in_row_order(Z, leaf, power):
    Z = Z.astype(np.float32)
    order, nodes, boxes, depth = tree_of(Z, leaf)
    leaves, out, found = np.flatnonzero(nodes[2] == 0), np.empty(Z.shape), np.empty(Z.shape)
    means = means_of(Z[order], *nodes)
    sums = pushes_by_boxes(Z[order], *nodes, *boxes, means, depth, leaves, power, out)
    found[order] = out
    return found, sums.sum()


@pytest.mark.parametrize("power", [1.0, 0.7])
@pytest.mark.parametrize("d", [1, 3])
def test_pushes_by_boxes_are_near_those_of_all_rows(d, power):
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(8, d)) * 6, 5, axis=0) + 0.2 * rng.normal(size=(40, d))
    expected, total = naive_pushes(Z, power)
    found, sums = pushes_in_row_order(Z, 2, power)
    assert 1e-5 < np.linalg.norm(found - expected) / np.linalg.norm(expected) < 0.05  # boxes took part
    assert sums == pytest.approx(total, rel=1e-2)
    found, sums = pushes_in_row_order(Z, 40, power)  # one leaf, whose rows meet each other
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert sums == pytest.approx(total, rel=1e-5)


def test_rows_at_one_place_are_counted_without_a_look_at_each():
    Z = np.repeat([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]], [700, 3], axis=0)
    expected, total = naive_pushes(Z, 1.0)
    found, sums = pushes_in_row_order(Z, 4, 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert sums == pytest.approx(total, rel=1e-6)
