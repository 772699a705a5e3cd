"""The nearest row of another part, against plain loops. Small: this folder also runs without the JIT."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.boxes import (
    boxes_of,
    closer_outside,
    nearest_outside,
    parts_of_nodes,
    split_rows,
)
from naive import naive_nearest_outside

seeds = st.integers(0, 2**32 - 1)


def lattice(seed, n, m):
    """Rows on a small grid: many ties, many duplicates, and every distance is exact."""
    return np.random.default_rng(seed).integers(0, 4, size=(n, m)).astype(float)


def squared(X):
    return ((X[:, None] - X) ** 2).sum(axis=2)


def tree_of(X, leaf=2):
    order, *nodes, depth = split_rows(X, leaf)
    return order, nodes, boxes_of(X[order], *nodes), depth


@given(seed=seeds, n=st.integers(1, 30), n_parts=st.integers(1, 4))
def test_a_node_has_the_part_of_all_its_rows(seed, n, n_parts):
    X = lattice(seed, n, 2)
    order, nodes, _, _ = tree_of(X)
    labels = (X[order, 0] % n_parts).astype(np.int64)
    parts = parts_of_nodes(labels, *nodes)
    for part, start, stop in zip(parts, nodes[0], nodes[1], strict=True):
        inside = set(labels[start:stop])
        assert part == (inside.pop() if len(inside) == 1 else -1)


# ---- by the tree -------------------------------------------------------------------------------


def outside_by_tree(X, labels, limits, *, leaf=2):
    """Near rows and lengths of every row, in the order of the rows, and how many were measured."""
    order, nodes, boxes, depth = tree_of(X, leaf)
    parts = parts_of_nodes(labels[order], *nodes)
    places = np.argsort(order)
    near, lengths = np.full(len(X), -7), np.full(len(X), np.nan)
    measured = nearest_outside(X[order], order, *nodes, *boxes, depth, labels[order], parts, places, limits,
                               1e-14, near, lengths)  # fmt: skip
    return np.where(near < 0, near, order[near]), lengths, measured


@given(
    seed=seeds, n=st.integers(1, 40), m=st.integers(1, 3), n_parts=st.integers(1, 6), leaf=st.integers(1, 9)
)
def test_the_nearest_outside_by_a_tree(seed, n, m, n_parts, leaf):
    X = lattice(seed, n, m)
    labels = np.random.default_rng(seed).integers(0, n_parts, n)
    near, lengths, _ = outside_by_tree(X, labels, np.full(n, np.inf), leaf=leaf)
    expected = naive_nearest_outside(squared(X), labels)
    assert near.tolist() == expected[0]
    assert lengths.tolist() == expected[1]


@given(seed=seeds, n=st.integers(2, 40), limit=st.integers(0, 12))
def test_an_edge_as_long_as_the_limit_counts_and_a_longer_one_does_not(seed, n, limit):
    X, labels = lattice(seed, n, 3), np.random.default_rng(seed).integers(0, 3, n)
    near, lengths, _ = outside_by_tree(X, labels, np.full(n, float(limit)))
    expected = [
        (j, d) if d <= limit else (-1, limit)
        for j, d in zip(*naive_nearest_outside(squared(X), labels), strict=True)
    ]
    assert list(zip(near.tolist(), lengths.tolist(), strict=True)) == expected


def test_own_part_and_far_boxes_are_not_measured():
    X = np.concatenate([np.arange(50.0), 1000 + np.arange(50.0)])[:, None]
    labels = np.repeat([0, 1], 50)
    _, _, measured = outside_by_tree(X, labels, np.full(100, np.inf))
    assert (measured <= 4).all()
    _, _, measured = outside_by_tree(X, labels, np.full(100, 900.0**2))
    assert (measured == 0).all()


# ---- by products -------------------------------------------------------------------------------


def outside_by_products(X, labels, error=0.0, seed=0, limits=np.inf, parts=1):
    """From products that are wrong by up to ``error`` in the squared distance, in so many parts."""
    noise = np.random.default_rng(seed).uniform(-error / 2, error / 2, size=(len(X), len(X)))
    norms = (X**2).sum(axis=1)
    near, lengths = np.full(len(X), -1), np.full(len(X), float(limits))
    everyone, slack = np.arange(len(X)), np.full(len(X), error + 1e-3)
    for others in np.array_split(everyone[::-1], parts):
        products = (X @ X[others].T - norms[others] / 2 + noise[:, others]) / 4.0  # in units of 2
        closer_outside(products.astype(np.float32), norms / 4, slack / 4, 2.0, X, everyone, others, labels,
                       near, lengths)  # fmt: skip
    return near, lengths


@given(
    seed=seeds,
    n=st.integers(1, 25),
    n_parts=st.integers(1, 5),
    error=st.sampled_from([0.0, 0.3, 5.0, 100.0]),
    parts=st.integers(1, 4),
)
def test_the_nearest_outside_whatever_the_error_of_the_products(seed, n, n_parts, error, parts):
    X, labels = lattice(seed, n, 3), np.random.default_rng(seed).integers(0, n_parts, n)
    near, lengths = outside_by_products(X, labels, error, seed, parts=parts)
    expected = naive_nearest_outside(squared(X), labels)
    assert near.tolist() == expected[0]
    assert lengths.tolist() == expected[1]


def test_many_products_are_looked_through():
    X, labels = lattice(3, 150, 5), np.arange(150) % 4
    near, lengths = outside_by_products(X, labels)
    expected = naive_nearest_outside(squared(X), labels)
    assert near.tolist() == expected[0]
    assert lengths.tolist() == expected[1]


@given(seed=seeds, n=st.integers(2, 30), limit=st.integers(0, 12))
def test_products_keep_to_the_limit(seed, n, limit):
    X, labels = lattice(seed, n, 3), np.random.default_rng(seed).integers(0, 3, n)
    near, lengths = outside_by_products(X, labels, limits=limit)
    expected = [
        (j, d) if d <= limit else (-1, limit)
        for j, d in zip(*naive_nearest_outside(squared(X), labels), strict=True)
    ]
    assert list(zip(near.tolist(), lengths.tolist(), strict=True)) == expected


# ---- determinism -------------------------------------------------------------------------------


@settings(max_examples=10)
@given(seed=seeds)
def test_threads_change_no_bit(seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(60, 5)), rng.integers(0, 4, 60)
    with threads(1):
        alone = outside_by_tree(X, labels, np.full(60, np.inf))[:2]
    with threads(2):
        together = outside_by_tree(X, labels, np.full(60, np.inf))[:2]
    for one, other in zip(alone, together, strict=True):
        assert_same_bits(one, other)
