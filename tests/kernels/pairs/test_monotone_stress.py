"""Isotonic regression and stress-1, against scikit-learn's, the definition and finite differences."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.isotonic import isotonic_regression

from isentropic.kernels.pairs import pair_stress as kernels
from isentropic.kernels.pairs.disparities import pool_adjacent_violators, sort_within, spread_pools
from isentropic.objectives import AllPairs, MonotoneStress, SampledPairs
from naive import condensed, distances

NONE = np.empty(0)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Without the JIT, so that tiles are crossed with few rows; compiled code keeps its own constant."""
    monkeypatch.setattr(kernels, "TILE", 4)


def regressed(e, order, weights=NONE, bounds=None):
    """The nearest numbers to ``e`` that increase along ``order``, with error and sum of squares."""
    small = np.int32
    bounds = np.empty(0, small) if bounds is None else np.array(bounds, small)
    means, loads, starts = np.empty(len(e)), np.empty(len(weights)), np.empty(len(e), small)
    n_pools = pool_adjacent_violators(e, order.astype(small), bounds, weights, means, loads, starts)
    out = np.empty(len(e))
    sums = spread_pools(e, order.astype(small), weights, means, starts, n_pools, out)
    return out, sums


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_pools_are_isotonic_regression(rng, n, weighted):
    for _ in range(5):
        e, order = np.round(rng.uniform(size=n), 1), rng.permutation(n)
        w = rng.integers(1, 5, size=n).astype(float) if weighted else np.ones(n)
        found, (error, square) = regressed(e, order, w if weighted else NONE)
        expected = isotonic_regression(e[order], sample_weight=w[order])
        assert_allclose(found[order], expected, atol=1e-14)
        assert error == pytest.approx(w[order] @ (e[order] - expected) ** 2, abs=1e-14)
        assert square == pytest.approx(w @ e**2)


def test_what_lies_between_bounds_is_pooled_from_the_beginning(rng):
    e, order = rng.uniform(size=9), rng.permutation(9)
    found, _ = regressed(e, order, bounds=[0, 2, 3, 7, 9])
    groups = [order[:2], order[2:3], order[3:7], order[7:]]
    means, sizes = [e[group].mean() for group in groups], [len(group) for group in groups]
    expected = np.repeat(isotonic_regression(means, sample_weight=sizes), sizes)
    assert_allclose(found[order], expected, atol=1e-14)


def test_an_order_is_sorted_between_bounds(rng):
    e, order = rng.uniform(size=200), rng.permutation(200).astype(np.int32)
    bounds = np.array([0, 1, 4, 150, 200], np.int32)
    expected = [sorted(order[a:b], key=e.__getitem__) for a, b in pairwise(bounds)]
    sort_within(e, bounds, order)
    assert order.tolist() == np.concatenate(expected).tolist()


def pairs_of(rng, kind, n, steps):
    """Pairs with tied distances, and their numbers of rows."""
    D, order = np.round(distances(rng.normal(size=(n, 4))) * steps), rng.permutation(n)
    if kind == "all":
        return AllPairs(n, condensed(D)), [(i, j) for i in range(n) for j in range(i + 1, n)]
    shifts = np.array([1, 3, 4])
    listed = [(order[i], order[(i + s) % n]) for s in shifts for i in range(n)]
    return SampledPairs(order, shifts, np.array([D[pair] for pair in listed]).reshape(3, n)), listed


def naive_stress_1(listed, d, weights, Z, ties):
    e = np.array([np.sqrt(((Z[i] - Z[j]) ** 2).sum()) for i, j in listed])
    if ties == "primary":
        order = np.lexsort((e, d))
        f = isotonic_regression(e[order], sample_weight=weights[order])
        return weights[order] @ (e[order] - f) ** 2 / (weights @ e**2)
    group = np.unique(d, return_inverse=True)[1]
    load = np.bincount(group, weights)
    f = isotonic_regression(np.bincount(group, weights * e) / load, sample_weight=load)[group]
    return weights @ (e - f) ** 2 / (weights @ e**2)


@pytest.mark.parametrize("kind", ["all", "drawn"])
@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize(("steps", "counted"), [(2, False), (2, True), (1e6, False)])
def test_stress_1_and_its_gradient(rng, kind, ties, steps, counted):
    n = 12
    pairs, listed = pairs_of(rng, kind, n, steps)
    counts = rng.integers(1, 4, size=n).astype(float) if counted else None
    weights = np.array([counts[i] * counts[j] for i, j in listed]) if counted else np.ones(len(listed))
    cost, Z = MonotoneStress(pairs, ties=ties, counts=counts), rng.normal(size=(n, 2))
    value, gradient = cost(cost.in_order(Z))
    assert value == pytest.approx(
        naive_stress_1(listed, pairs.distances.ravel(), weights, Z, ties), rel=1e-10
    )
    slopes = np.empty_like(Z)
    for place in np.ndindex(*Z.shape):
        step = np.zeros_like(Z)
        step[place] = 1e-6
        ahead, behind = (cost(cost.in_order(Z + sign * step))[0] for sign in (1, -1))
        slopes[place] = (ahead - behind) / 2e-6
    assert_allclose(cost.out_of_order(gradient), slopes, atol=1e-8)


def test_knots_increase_and_have_one_f_for_tied_distances(rng):
    pairs, listed = pairs_of(rng, "all", 12, 2)
    Z = rng.normal(size=(12, 2))
    d, f = MonotoneStress(pairs).knots(Z, 1000)
    assert (np.diff(d) > 0).all()
    assert (np.diff(f) >= -1e-15).all()
    assert_allclose(d, np.unique(pairs.distances))
    e = np.array([np.sqrt(((Z[i] - Z[j]) ** 2).sum()) for i, j in listed])
    assert f.min() >= e.min() - 1e-15
    assert f.max() <= e.max() + 1e-15
    assert len(MonotoneStress(pairs).knots(Z, 3)[0]) == 3
