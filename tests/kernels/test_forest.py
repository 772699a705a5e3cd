"""Trees of random hyperplanes against a plain recursion. Small: this folder also runs without the JIT."""

import numpy as np
import pytest

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.neighbor_descent import BY_CAPPED, BY_CODES, BY_PRODUCTS, _draw, _part, plant

# With the JIT off, numpy tells that a product of counters leaves its 64 bits, as it should.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


WEIGHTS = np.array([2, 1, 0.5, 0, 1, 2], np.float32)


def sides(by, data, one, two):
    if by == BY_CODES:
        return (data == one).sum(axis=1) - (data == two).sum(axis=1)
    if by == BY_CAPPED:
        return capped(data, two).sum(axis=1) - capped(data, one).sum(axis=1)
    return data @ (one - two)


def capped(x, y):
    return np.where(np.isnan(x - y), WEIGHTS / 2, np.minimum(np.abs(x - y), WEIGHTS))


@pytest.mark.parametrize("by", [BY_PRODUCTS, BY_CODES, BY_CAPPED])
@pytest.mark.parametrize(("n", "span", "finest"), [(100, 16, 4), (64, 8, 8), (9, 4, 4), (5, 8, 8)])
def test_trees_part_rows_by_two_of_them(by, n, span, finest):
    data = np.random.default_rng(n).integers(0, 5, size=(n, 6)).astype(np.float32)
    if by == BY_CAPPED:
        data[data == 4] = np.nan
    orders = np.empty((3, n), np.int32)
    plant(by, data, WEIGHTS, 7, 2, span, finest, orders)
    for t, order in enumerate(orders):
        assert sorted(order.tolist()) == list(range(n))
        expected = naive_tree(by, data, 7, 2 + t, span, finest)
        for start in range(0, n, finest):
            assert set(order[start : start + finest].tolist()) == set(expected[start : start + finest])
    assert n <= span or not np.array_equal(orders[0], orders[1])


def naive_tree(by, data, seed, tree, span, finest):
    """The rows in the order of the leaves; which of a node's rows are drawn depends on their order in it."""
    order, open_nodes, node = np.arange(len(data)), [(0, len(data))], 0
    while open_nodes:
        low, high = open_nodes.pop()
        if high - low <= finest:
            continue
        unit = span if high - low > span else finest
        middle = low + -(-(high - low) // unit) // 2 * unit
        draw, size = int(_draw(seed, tree, node)), high - low
        one, two = (data[order[low + place % size]] for place in (draw >> 32, draw & 0xFFFFFFFF))
        keys = sides(by, data, one, two).astype(np.float32)[order]
        _part(keys, order, low, high, middle)
        inside = [(sides(by, data[[i]], one, two)[0], i) for i in order[low:high]]
        assert max(inside[: middle - low]) < min(inside[middle - low :])
        open_nodes += [(low, middle), (middle, high)]
        node += 1
    return order.tolist()


def test_draws_are_spread_and_differ_by_every_counter():
    draws = {int(_draw(s, t, v)) for s in range(5) for t in range(5) for v in range(5)}
    assert len(draws) == 125
    share = np.mean([draw >> 63 for draw in draws])
    assert 0.3 < share < 0.7


def test_threads_change_no_tree():
    data = np.random.default_rng(0).normal(size=(200, 5)).astype(np.float32)
    found = []
    for n_threads in (1, 2, 4):
        orders = np.empty((4, 200), np.int32)
        with threads(n_threads):
            plant(BY_PRODUCTS, data, WEIGHTS, 1, 0, 32, 16, orders)
        found.append(orders)
    for orders in found[1:]:
        assert_same_bits(orders, found[0])


def test_equal_rows_are_parted_too():
    orders = np.empty((2, 70), np.int32)
    plant(BY_PRODUCTS, np.ones((70, 4), np.float32), WEIGHTS, 0, 0, 16, 16, orders)
    assert (np.sort(orders, axis=1) == np.arange(70)).all()
