"""Same-degree distributions: cost and gradient against the definition and against finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.pairs import degrees as kernels
from isentropic.kernels.pairs.degrees import paired_distances, row_attractions
from isentropic.kernels.rows.row_descent import DEGREES, optimize_rows
from isentropic.objectives import AllPairs, SameDegree, SampledPairs
from naive import condensed, distances
from naive_degrees import naive_cost, naive_energy, naive_gradient

CASES = [([1.0], 2, 7), ([3.0], 1, 5), ([2.5], 3, 6), ([1.0, 2.0, 4.0], 2, 6), ([40.0], 2, 5), ([1.0], 2, 2)]
every_case = pytest.mark.parametrize(("degrees", "d", "n"), CASES)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Without the JIT, so that tiles are crossed with few rows; compiled code keeps its own constant."""
    monkeypatch.setattr(kernels, "_TILE", 4)


def all_pairs(rng, n, d):
    X, Z = rng.normal(size=(n, 4)), rng.normal(size=(n, d))
    D = distances(X)
    return D, Z, AllPairs(n, condensed(D))


def placed_rows(D, unit, Z, degrees, given_means, mapped_means):
    weights, every = np.empty(D.shape), np.empty((len(D), 0), np.int64)
    starts = row_attractions(D, unit, Z, degrees, given_means, weights)
    return optimize_rows(
        DEGREES, starts, Z, every, weights, every, np.concatenate((degrees, 1 / mapped_means))
    )


def drawn_pairs(rng, n, shifts):
    """Drawn pairs of n rows, and the ordered pairs that they are."""
    X, order = rng.normal(size=(n, 4)), rng.permutation(n)
    shifts = np.array(shifts)
    out = np.empty((len(shifts), n))
    paired_distances(X, order, shifts, out)
    first = [(int(order[i]), int(order[(i + s) % n])) for s in shifts for i in range(n)]
    return distances(X), SampledPairs(order, shifts, out), first + [(j, i) for i, j in first]


@every_case
def test_cost_and_gradient_are_the_definition(rng, degrees, d, n):
    D, Z, pairs = all_pairs(rng, n, d)
    cost, gradient = SameDegree(pairs, unit=2.0, degrees=degrees)(Z)
    assert_allclose(cost, naive_cost(D / 2.0, Z, degrees), rtol=1e-10, atol=1e-13)
    assert_allclose(gradient, naive_gradient(D / 2.0, Z, degrees), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("degrees", [[1.0], [2.5], [1.0, 3.0]])
def test_drawn_pairs_give_the_cost_and_gradient_of_those_pairs(rng, degrees):
    n = 9
    D, pairs, ordered = drawn_pairs(rng, n, [1, 4])
    Z = rng.normal(size=(n, 2))
    cost, gradient = SameDegree(pairs, unit=2.0, degrees=degrees)(pairs.in_order(Z))
    assert_allclose(cost, naive_cost(D / 2.0, Z, degrees, ordered), rtol=1e-10)
    assert_allclose(
        pairs.out_of_order(gradient), naive_gradient(D / 2.0, Z, degrees, ordered), rtol=1e-9, atol=1e-13
    )


def test_every_shift_together_draws_every_pair(rng):
    n = 7
    D, pairs, _ = drawn_pairs(rng, n, [1, 2, 3])
    Z = rng.normal(size=(n, 2))
    drawn = SameDegree(pairs, unit=1.0, degrees=[2.0])(pairs.in_order(Z))
    every = SameDegree(AllPairs(n, condensed(D)), unit=1.0, degrees=[2.0])(Z)
    assert_allclose(drawn[0], every[0], rtol=1e-12)
    assert_allclose(pairs.out_of_order(drawn[1]), every[1], rtol=1e-10, atol=1e-14)


@every_case
def test_the_gradient_is_the_slope_of_the_cost(rng, degrees, d, n):
    _, Z, pairs = all_pairs(rng, n, d)
    objective = SameDegree(pairs, unit=2.0, degrees=degrees)
    _, gradient = objective(Z)
    step = 1e-5
    for i in range(n):
        for c in range(d):
            ahead, behind = Z.copy(), Z.copy()
            ahead[i, c] += step
            behind[i, c] -= step
            slope = (objective(ahead)[0] - objective(behind)[0]) / (2 * step)
            assert_allclose(gradient[i, c], slope, rtol=1e-5, atol=1e-9)


def test_a_perfect_map_costs_nothing_and_pulls_nowhere(rng):
    Z = rng.normal(size=(8, 2))
    cost, gradient = SameDegree(AllPairs(8, condensed(distances(Z))), unit=1.0, degrees=[3.0])(Z)
    assert_allclose(cost, 0.0, atol=1e-14)
    assert_allclose(gradient, 0.0, atol=1e-14)


def test_the_mean_weights_are_means_over_pairs(rng):
    D, Z, pairs = all_pairs(rng, 6, 2)
    given, mapped = SameDegree(pairs, unit=1.0, degrees=[1.0, 2.0]).mean_weights(Z)
    for g, degree in enumerate([1.0, 2.0]):
        assert_allclose(given[g], ((1 + condensed(D) ** 2) ** -degree).mean())
        assert_allclose(mapped[g], ((1 + condensed(distances(Z)) ** 2) ** -degree).mean())


def test_threads_do_not_change_a_bit(rng):
    _, mapped, every = all_pairs(rng, 40, 2)
    _, drawn, _ = drawn_pairs(rng, 41, [1, 5, 20])
    for pairs, Z in ((every, mapped), (drawn, rng.normal(size=(41, 2)))):
        objective = SameDegree(pairs, unit=1.0, degrees=[1.0, 2.5])
        found = []
        for n_jobs in (1, 2):
            objective.n_jobs = n_jobs
            found.append(objective(Z))
        assert found[0][0] == found[1][0]
        assert_same_bits(found[0][1], found[1][1])


# ---- a new row ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("degrees", "d"), [([1.0], 2), ([3.0, 4.0], 1), ([2.5], 3)])
def test_a_settled_row_is_at_a_minimum_of_its_energy(rng, degrees, d):
    Z = rng.normal(size=(12, d))
    D = rng.uniform(0.3, 2.0, size=(3, 12))
    means = rng.uniform(0.2, 0.5, size=len(degrees)), rng.uniform(0.2, 0.5, size=len(degrees))
    placed = placed_rows(D, 1.0, Z, np.array(degrees), *means)
    for z, row in zip(placed, D, strict=True):
        energy = naive_energy(z, row, Z, degrees, *means)
        for _ in range(20):
            nearby = z + 1e-3 * rng.normal(size=d)
            assert naive_energy(nearby, row, Z, degrees, *means) >= energy - 1e-12


def test_a_row_settles_where_the_whole_map_has_it(rng):
    """At the minimum of the whole cost, the energy of each row alone has its minimum too."""
    from isentropic.optim import lbfgs

    D, Z, pairs = all_pairs(rng, 8, 2)
    objective = SameDegree(pairs, unit=D.max() / 2, degrees=[1.0])
    fitted = lbfgs(objective, Z / 4, max_iter=300, tol=1e-15).point
    means = objective.mean_weights(fitted)
    for i in range(8):
        others = np.arange(8) != i
        placed = placed_rows(D[i : i + 1, others], D.max() / 2, fitted[others], np.ones(1), *means)
        assert_allclose(placed[0], fitted[i], atol=1e-4)


def test_a_row_settles_by_itself(rng):
    Z, D = rng.normal(size=(9, 2)), rng.uniform(size=(5, 9))
    together = placed_rows(D, 1.0, Z, np.array([2.0]), np.array([0.4]), np.array([0.5]))
    for n_jobs in (1, 2):
        with threads(n_jobs):
            for i in range(5):
                alone = placed_rows(D[i : i + 1], 1.0, Z, np.array([2.0]), np.array([0.4]), np.array([0.5]))
                assert_same_bits(alone[0], together[i])


def test_equal_references_and_absurd_distances_stay_finite():
    Z = np.zeros((4, 2))
    for distance in (0.0, 1e-150, 1e150):
        placed = placed_rows(
            np.full((1, 4), distance), 1.0, Z, np.array([1.0]), np.array([1.0]), np.array([1.0])
        )
        assert np.isfinite(placed).all()
