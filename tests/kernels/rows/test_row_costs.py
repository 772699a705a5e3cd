import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import norm

from assertions import assert_same_bits
from isentropic.kernels._jit import choice, threads
from isentropic.kernels.rows import row_descent
from isentropic.kernels.rows.row_descent import (
    DEGREES,
    FUZZY,
    GAUSSIANS,
    NEAR_GAPS,
    PAIRS,
    STRESS,
    STUDENT,
    TRIPLETS,
    evaluate,
    optimize_rows,
)

EVERY = np.empty(0, np.int64)


def naive_degrees_cost(z, Z, near, weights, far, shape):
    degrees, factors = np.split(shape, 2)
    square = 1 + ((z - Z) ** 2).sum(axis=1)
    return weights @ np.log(square) + sum(
        b * (square**-g).sum() for g, b in zip(degrees, factors, strict=True)
    )


def naive_student_cost(z, Z, near, weights, far, shape):
    (freedom,) = shape
    to_near = ((z - Z[near]) ** 2).sum(axis=1)
    to_far = ((z - Z[far]) ** 2).sum(axis=1)
    pull = weights @ np.log(1 + to_near / freedom) * (freedom + 1) / 2
    return pull + np.log(((1 + to_far / freedom) ** (-(freedom + 1) / 2)).sum())


def naive_gaussians_cost(z, Z, near, weights, far, shape):
    to_near, to_far = (((z - Z[rows]) ** 2).sum(axis=1) for rows in (near, far))
    q = np.mean([np.exp(-a * to_near / 2) / np.exp(-a * to_far / 2).sum() for a in shape], axis=0)
    return -weights @ np.log(q)


def naive_fuzzy_cost(z, Z, near, weights, far, shape):
    a, b, push, softening = shape
    to_near = a * (((z - Z[near]) ** 2).sum(axis=1) + softening) ** b
    to_far = a * (((z - Z[far]) ** 2).sum(axis=1) + softening) ** b
    return weights @ np.log(1 + to_near) - push * weights.sum() * np.log(to_far / (1 + to_far)).mean()


def naive_pairs_cost(z, Z, near, weights, far, shape):
    to_near = 1 + ((z - Z[near]) ** 2).sum(axis=1)
    to_far = 1 + ((z - Z[far]) ** 2).sum(axis=1)
    return weights @ (to_near / (10 + to_near)) + shape[0] * (1 / (1 + to_far)).mean()


def naive_triplets_cost(z, Z, near, weights, far, shape):
    a = 1 + ((z - Z[near]) ** 2).sum(axis=1)
    b = 1 + ((z - Z[far]) ** 2).sum(axis=1)
    return weights @ (a / (a + b))


def naive_stress_cost(z, Z, near, weights, far, shape):
    w, g = np.split(weights, 2)
    return w @ (np.sqrt(((z - Z[near]) ** 2).sum(axis=1)) - g) ** 2


def naive_near_gaps_cost(z, Z, near, weights, far, shape):
    mu, sigma, smooth = shape
    e = np.sqrt(((z - Z[near]) ** 2).sum(axis=1))
    return np.sqrt((weights - e) ** 2 + smooth**2) @ norm.sf((np.minimum(weights, e) - mu) / sigma)


def around(rng, n, k, m):
    """Some attracting and repelling rows out of n; all in their order where the number is None."""
    near = EVERY if k is None else rng.choice(n, k, replace=False)
    weights = rng.uniform(0.1, 1.0, size=n if k is None else k)
    return near, weights / weights.sum(), EVERY if m is None else rng.choice(n, m, replace=False)


# number, plain twin, attracting rows, repelling rows, shape
COSTS = {
    "degrees": (DEGREES, naive_degrees_cost, None, None, [2.5, 0.3]),
    "several degrees": (DEGREES, naive_degrees_cost, None, None, [1.0, 2.0, 4.0, 0.1, 0.2, 0.1]),
    "t": (STUDENT, naive_student_cost, 4, None, [1.0]),
    "heavy tails": (STUDENT, naive_student_cost, 4, 7, [0.5]),
    "fuzzy": (FUZZY, naive_fuzzy_cost, 4, 7, [1.6, 0.9, 5.0, 0.5]),
    "fuzzy, all": (FUZZY, naive_fuzzy_cost, None, None, [0.5, 1.3, 1.0, 0.3]),
    "pairs": (PAIRS, naive_pairs_cost, 4, 7, [0.3]),
    "triplets": (TRIPLETS, naive_triplets_cost, 6, 6, []),
    "light tails": (STUDENT, naive_student_cost, None, None, [20.0]),
    "gaussian": (GAUSSIANS, naive_gaussians_cost, 4, None, [2.0]),
    "stress": (STRESS, naive_stress_cost, None, None, []),
    "stress, some": (STRESS, naive_stress_cost, 5, None, []),
    "near gaps": (NEAR_GAPS, naive_near_gaps_cost, 5, None, [0.8, 0.6, 0.3]),
    "several gaussians": (GAUSSIANS, naive_gaussians_cost, 4, None, [2.0, 0.7, 0.1]),
}
every_cost = pytest.mark.parametrize("name", COSTS)


def case(rng, name, d=2, n=12):
    number, twin, k, m, shape = COSTS[name]
    near, weights, far = around(rng, n, k, m)
    if number is NEAR_GAPS:
        weights = rng.uniform(0.5, 2.0, size=len(weights))
    if number is STRESS:
        weights = np.concatenate([weights, rng.uniform(0.5, 2.0, size=len(weights))])
    Z = rng.normal(size=(n, d))
    shape = np.array(shape, float)

    def plain(z):
        all_rows = np.arange(n)
        return twin(z, Z, near if len(near) else all_rows, weights, far if len(far) else all_rows, shape)

    return number, Z, near, weights, far, shape, plain


def differences(function, z, h):
    """Derivatives by central differences of fourth order."""
    out = []
    for c in range(len(z)):
        step = h * np.eye(len(z))[c]
        near = function(z + step) - function(z - step)
        out.append((8 * near - (function(z + 2 * step) - function(z - 2 * step))) / (12 * h))
    return np.array(out)


@every_cost
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_cost_and_its_derivatives_are_those_of_its_twin(rng, name, d):
    number, Z, *about, plain = case(rng, name, d)

    def slopes(z):
        gradient, curvature = np.empty(d), np.full((d, d), np.nan)
        value = evaluate(number, z, Z, *about, gradient, curvature)
        return value, gradient, curvature

    at_a_row = [] if number in (STRESS, NEAR_GAPS) else [Z[3]]  # where these have an edge
    for z in (rng.normal(size=d), 5 * rng.normal(size=d), *at_a_row):
        value, gradient, curvature = slopes(z)
        assert value == pytest.approx(plain(z), rel=1e-12)
        assert_allclose(gradient, differences(plain, z, 1e-3), atol=1e-8)
        second = differences(lambda at: slopes(at)[1], z, 1e-3)
        assert_allclose(np.tril(curvature), np.tril(second), atol=1e-8)


@pytest.mark.parametrize("name", ["degrees", "several degrees", "fuzzy", "fuzzy, all"])
def test_many_rows_are_taken_in_tiles(rng, name):
    number, _, k, *_ = COSTS[name]
    _, Z, near, weights, far, shape, plain = case(rng, name, n=600)
    if k is not None:  # more than a tile of each
        near, far = rng.permutation(600)[:300], rng.permutation(600)[:290]
        weights = rng.uniform(0.1, 1.0, size=300)
        plain = lambda z: naive_fuzzy_cost(z, Z, near, weights, far, shape)  # noqa: E731
    z, gradient, curvature = rng.normal(size=2), np.empty(2), np.empty((2, 2))
    for columns in (Z, np.asfortranarray(Z)):
        value = evaluate(number, z, columns, near, weights, far, shape, gradient, curvature)
        assert value == pytest.approx(plain(z), rel=1e-12)
        assert_allclose(gradient, differences(plain, z, 1e-3), rtol=1e-8)


@every_cost
def test_a_settled_row_is_no_higher_than_where_scipy_takes_it(rng, name):
    number, Z, near, weights, far, shape, plain = case(rng, name)
    starts = rng.normal(size=(6, 1, 2))
    around_each = [np.tile(part, (6, 1)) for part in (near, weights, far)]
    placed = optimize_rows(number, starts, Z, *around_each, shape)
    for start, z in zip(starts[:, 0], placed, strict=True):
        assert plain(z) <= plain(start)
        assert np.abs(differences(plain, z, 1e-4)).max() < 1e-6
    lowest = min(minimize(plain, start, tol=1e-12).fun for start in starts[:, 0])
    together = optimize_rows(number, starts.reshape(1, 6, 2), Z, *(part[:1] for part in around_each), shape)
    assert plain(together[0]) <= lowest + 1e-12


@every_cost
def test_the_lowest_end_counts_and_a_row_settles_by_itself(rng, name):
    number, Z, near, weights, far, shape, plain = case(rng, name)
    starts = 2 * rng.normal(size=(5, 3, 2))
    around_each = [np.tile(part, (5, 1)) for part in (near, weights, far)]
    placed = optimize_rows(number, starts, Z, *around_each, shape)
    for n_jobs in (1, 2):
        with threads(n_jobs):
            for i in range(5):
                one = [part[i : i + 1] for part in around_each]
                assert_same_bits(optimize_rows(number, starts[i : i + 1], Z, *one, shape)[0], placed[i])
    for i in range(5):
        one = [part[i : i + 1] for part in around_each]
        ends = [optimize_rows(number, starts[i : i + 1, s : s + 1], Z, *one, shape)[0] for s in range(3)]
        assert any(np.array_equal(placed[i], end) for end in ends)
        assert plain(placed[i]) <= min(map(plain, ends)) * (1 + 1e-14)  # costs are sums of many terms


def test_an_unknown_cost_has_no_value():
    z, Z, shape = np.zeros(1), np.ones((2, 1)), np.ones(2)
    value = evaluate(choice(20), z, Z, EVERY, np.ones(2), EVERY, shape, np.empty(1), np.empty((1, 1)))
    assert np.isnan(value)


@pytest.mark.skipif(not hasattr(evaluate, "signatures"), reason="nothing is compiled")
def test_what_is_compiled_for_one_cost_has_none_of_the_others(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))  # what is loaded compiles nothing
    single = np.ones((2, 1), np.float32)  # a type of which no other test compiles anything
    z, gradient, curvature = np.zeros(1), np.empty(1), np.empty((1, 1))
    evaluate(PAIRS, z, single, EVERY, np.ones(2), EVERY, np.ones(1), gradient, curvature)
    compiled = {
        name
        for name in dir(row_descent)
        if name.endswith("_cost")
        and any(str(signature[1].dtype) == "float32" for signature in getattr(row_descent, name).signatures)
    }
    assert compiled == {"pairs_cost"}
