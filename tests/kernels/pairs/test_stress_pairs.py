"""Stress of pairs: cost and gradient against the definition and against finite differences."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assertions import assert_same_bits
from isentropic.kernels._jit import choice
from isentropic.kernels.pairs import pair_stress as kernels
from isentropic.kernels.pairs.pair_stress import pair_term
from isentropic.objectives import AllPairs, SampledPairs, Stress, weight_floor
from naive import condensed, distances
from naive_stress import naive_stress

POWERS = [0.0, 1.0, 2.0, 0.7]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Without the JIT, so that tiles are crossed with few rows; compiled code keeps its own constant."""
    monkeypatch.setattr(kernels, "TILE", 4)


def all_pairs(rng, n):
    X = rng.normal(size=(n, 4))
    return AllPairs(n, condensed(distances(X))), list(combinations(range(n), 2))


def sampled_pairs(rng, n, shifts=(1, 4, 5)):
    """Drawn pairs, and which rows of the table each of them is of."""
    D, order = distances(rng.normal(size=(n, 4))), rng.permutation(n)
    pairs = [(order[i], order[(i + s) % n]) for s in shifts for i in range(n)]
    given = np.array([D[pair] for pair in pairs]).reshape(len(shifts), n)
    return SampledPairs(order, np.array(shifts), given), pairs


KINDS = {"all": all_pairs, "drawn": sampled_pairs}
every_kind = pytest.mark.parametrize("kind", KINDS)


def at(stress, Z):
    """Cost and gradient of a table, in its own order."""
    cost, gradient = stress(stress.in_order(Z))
    return cost, stress.out_of_order(gradient)


@every_kind
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize(("n", "d"), [(11, 2), (12, 1), (13, 3)])
def test_cost_and_gradient_are_the_definition(rng, kind, power, n, d):
    pairs, listed = KINDS[kind](rng, n)
    flat, Z = pairs.distances.ravel(), rng.normal(size=(n, d))
    weights = np.maximum(flat, weight_floor(pairs)) ** -power
    cost, gradient = naive_stress(listed, flat, weights, Z)
    whole = (weights * flat**2).sum()
    found, slopes = at(Stress(pairs, power=power), Z)
    assert found == pytest.approx(cost / whole, rel=1e-12)
    assert_allclose(slopes, gradient / whole, atol=1e-13)


@every_kind
def test_given_weights_and_counts_multiply(rng, kind):
    n = 12
    pairs, listed = KINDS[kind](rng, n)
    Z, counts = rng.normal(size=(n, 2)), rng.integers(1, 5, size=n).astype(float)
    given = rng.uniform(size=pairs.distances.shape)
    weights = given.ravel() * [counts[i] * counts[j] for i, j in listed]
    cost, gradient = naive_stress(listed, pairs.distances.ravel(), weights, Z)
    found, slopes = at(Stress(pairs, weights=given, counts=counts, normaliser=2.0), Z)
    assert found == pytest.approx(cost / 2, rel=1e-12)
    assert_allclose(slopes, gradient / 2, atol=1e-12)


@every_kind
def test_the_gradient_is_that_of_differences(rng, kind):
    pairs, _ = KINDS[kind](rng, 11)
    Z, stress = rng.normal(size=(11, 2)), Stress(pairs, power=1.0)
    _, gradient = at(stress, Z)
    for place in ((0, 0), (5, 1), (10, 0)):
        step = np.zeros_like(Z)
        step[place] = 1e-5
        slope = (at(stress, Z + step)[0] - at(stress, Z - step)[0]) / 2e-5
        assert gradient[place] == pytest.approx(slope, abs=1e-9)


@every_kind
def test_rows_at_one_place_push_each_other_nowhere(rng, kind):
    pairs, listed = KINDS[kind](rng, 11)
    Z = rng.normal(size=(11, 2))
    Z[3] = Z[7]
    cost, gradient = naive_stress(listed, pairs.distances.ravel(), np.ones(len(listed)), Z)
    found, slopes = at(Stress(pairs, normaliser=1.0), Z)
    assert found == pytest.approx(cost)
    assert_allclose(slopes, gradient, atol=1e-12)


@every_kind
def test_threads_change_no_bit(rng, kind, monkeypatch):
    monkeypatch.setattr("isentropic.objectives.stress_losses._WORTH_THREADS", 0)
    pairs, _ = KINDS[kind](rng, 40)
    Z = rng.normal(size=(40, 2))
    (cost, gradient), (same, slopes) = (Stress(pairs, power=1.0, n_jobs=jobs)(Z) for jobs in (1, 2))
    assert cost == same
    assert_same_bits(gradient, slopes)


def test_pairs_among_some_rows_are_theirs(rng):
    pairs, _ = all_pairs(rng, 9)
    D, rows = np.zeros((9, 9)), np.array([0, 3, 4, 8])
    D[np.triu_indices(9, 1)] = pairs.distances
    assert_same_bits(pairs.among(rows).distances, D[np.ix_(rows, rows)][np.triu_indices(4, 1)])


def test_an_unknown_term_has_no_value():
    assert np.isnan(pair_term(choice(9), 1.0, 1.0, 1.0, np.empty(0))).all()
