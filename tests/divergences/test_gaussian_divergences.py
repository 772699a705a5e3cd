"""Divergences between Gaussians: against integrals, Monte Carlo, the printed formulas, and as laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import dblquad, quad
from scipy.stats import multivariate_normal

from isentropic._core.errors import InvalidInputError
from isentropic.divergences import (
    bhattacharyya_coefficient,
    bhattacharyya_distance,
    cauchy_schwarz_divergence,
    fisher_rao_distance,
    gaussian_entropy,
    grid_hellinger,
    grid_kl,
    grid_symmetrised_kl,
    hellinger_distance,
    jeffreys_matusita_distance,
    kl_divergence,
    renyi_divergence,
    symmetrised_kl_divergence,
    total_variation,
)
from naive_entropic import naive_divergences

ORDER = 0.3
FUNCTIONS = {
    "kl": kl_divergence,
    "symmetrised kl": symmetrised_kl_divergence,
    "bhattacharyya": bhattacharyya_distance,
    "hellinger": hellinger_distance,
    "jeffreys-matusita": jeffreys_matusita_distance,
    "cauchy-schwarz": cauchy_schwarz_divergence,
    "renyi": lambda *pair: renyi_divergence(*pair, order=ORDER),
}
SYMMETRIC = [name for name in FUNCTIONS if name not in ("kl", "renyi")]


def gaussian_pair(m, seed, apart=1.0):
    random = np.random.default_rng(seed)
    mean1, mean2 = apart * random.normal(size=(2, m))
    B1, B2 = random.normal(size=(2, m, m + 2))
    return mean1, B1 @ B1.T / m + 0.2 * np.eye(m), mean2, B2 @ B2.T / m + 0.2 * np.eye(m)


def from_integrals(kl_pq, kl_qp, root, product, p_squared, q_squared, power):
    """Every divergence by its definition, from integrals of the densities."""
    return {
        "kl": kl_pq,
        "symmetrised kl": (kl_pq + kl_qp) / 2,
        "bhattacharyya": -np.log(root),
        "hellinger": np.sqrt(1 - root),
        "jeffreys-matusita": np.sqrt(2 * (1 - root)),
        "cauchy-schwarz": -np.log(product / np.sqrt(p_squared * q_squared)),
        "renyi": np.log(power) / (ORDER - 1),
    }


def integrands(pair):
    """As functions of a point: p log(p/q), q log(q/p), sqrt(pq), pq, p^2, q^2, p^a q^(1-a)."""
    p, q = (multivariate_normal(mean, S).logpdf for mean, S in (pair[:2], pair[2:]))
    return [
        lambda x: np.exp(p(x)) * (p(x) - q(x)),
        lambda x: np.exp(q(x)) * (q(x) - p(x)),
        lambda x: np.exp(0.5 * (p(x) + q(x))),
        lambda x: np.exp(p(x) + q(x)),
        lambda x: np.exp(2 * p(x)),
        lambda x: np.exp(2 * q(x)),
        lambda x: np.exp(ORDER * p(x) + (1 - ORDER) * q(x)),
    ]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_dimension_against_quadrature(seed):
    pair = gaussian_pair(1, seed)
    found = [quad(f, -40, 40, points=[pair[0][0], pair[2][0]], limit=200)[0] for f in integrands(pair)]
    for name, expected in from_integrals(*found).items():
        assert_allclose(FUNCTIONS[name](*pair), expected, rtol=1e-7, atol=1e-10, err_msg=name)


def test_two_dimensions_against_quadrature():
    pair = gaussian_pair(2, 3, apart=0.5)
    # The trapezoid rule on a wide grid is exact to many digits for such smooth functions.
    axis = np.linspace(-25, 25, 801)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    cell = (axis[1] - axis[0]) ** 2
    found = [f(points).sum() * cell for f in integrands(pair)]
    for name, expected in from_integrals(*found).items():
        assert_allclose(FUNCTIONS[name](*pair), expected, rtol=1e-8, atol=1e-10, err_msg=name)
    # ... as one of them shows by adaptive quadrature.
    adaptive = dblquad(lambda y, x: integrands(pair)[2](np.array([x, y])), -8, 8, -8, 8, epsabs=1e-4)[0]
    assert_allclose(adaptive, found[2], atol=1e-3)


def test_five_dimensions_against_monte_carlo():
    pair = gaussian_pair(5, 4, apart=0.4)
    random = np.random.default_rng(0)
    p, q = multivariate_normal(*pair[:2]), multivariate_normal(*pair[2:])
    x, y = (g.rvs(400_000, random_state=random) for g in (p, q))
    log_ratio_x, log_ratio_y = p.logpdf(x) - q.logpdf(x), p.logpdf(y) - q.logpdf(y)

    def check(values, exact):
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - exact) < 5 * error
        assert error < 0.03 * abs(exact)

    check(log_ratio_x, FUNCTIONS["kl"](*pair))
    check(0.5 * (log_ratio_x - log_ratio_y), FUNCTIONS["symmetrised kl"](*pair))
    check(np.exp(-0.5 * log_ratio_x), bhattacharyya_coefficient(*pair))
    check(np.exp(-0.5 * log_ratio_x), 1 - FUNCTIONS["hellinger"](*pair) ** 2)
    check(np.exp(-0.5 * log_ratio_x), 1 - FUNCTIONS["jeffreys-matusita"](*pair) ** 2 / 2)
    check(np.exp((1 - ORDER) * -log_ratio_x), np.exp((ORDER - 1) * FUNCTIONS["renyi"](*pair)))
    norms = [g.pdf(s).mean() for g, s in ((p, x), (q, y))]  # ∫ p^2 and ∫ q^2
    assert_allclose(-np.log(q.pdf(x).mean() / np.sqrt(np.prod(norms))), FUNCTIONS["cauchy-schwarz"](*pair),
                    atol=0.02)  # fmt: skip
    check(-p.logpdf(x), gaussian_entropy(pair[1]))


@pytest.mark.parametrize("m", [1, 2, 5, 12])
def test_the_printed_formulas(m):
    pair = gaussian_pair(m, m)
    for name, expected in naive_divergences(*pair, ORDER).items():
        assert_allclose(FUNCTIONS[name](*pair), expected, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("order", [-0.2, 0.5, 0.999, 1.0, 1.00005, 1.3])
def test_renyi_of_any_order(order):
    pair = gaussian_pair(3, 0)
    found = renyi_divergence(*pair, order=order)
    if abs(order - 1) < 1e-4:
        assert found == kl_divergence(*pair)
    else:
        assert_allclose(found, naive_divergences(*pair, order)["renyi"], rtol=1e-9)


def test_renyi_refuses_what_is_not_positive_definite():
    with pytest.raises(InvalidInputError, match=r"1 of 1 pairs where it is not\. Take an order nearer to"):
        renyi_divergence(0.0, 4.0, 0.0, 1.0, order=5.0)


@given(st.integers(1, 6), st.integers(0, 10_000), st.floats(0.01, 5.0))
def test_inequalities_and_symmetry(m, seed, apart):
    pair = gaussian_pair(m, seed, apart)
    back = (*pair[2:], *pair[:2])
    values = {name: function(*pair) for name, function in FUNCTIONS.items()}
    tolerance = 1e-9 * (1 + values["kl"])
    assert values["kl"] >= 2 * values["bhattacharyya"] - tolerance
    assert values["bhattacharyya"] >= values["hellinger"] ** 2 - tolerance
    assert 0 <= values["hellinger"] <= 1
    assert all(value >= 0 for value in values.values())
    for name in SYMMETRIC:
        assert_allclose(FUNCTIONS[name](*back), values[name], rtol=1e-9)
    assert_allclose(
        values["symmetrised kl"], (values["kl"] + kl_divergence(*back)) / 2, rtol=1e-9, atol=1e-12
    )


@given(st.integers(1, 5), st.integers(0, 10_000))
def test_a_common_change_of_basis_changes_nothing(m, seed):
    pair = gaussian_pair(m, seed)
    random = np.random.default_rng(seed)
    A, b = random.normal(size=(m, m)) + 3 * np.eye(m), random.normal(size=m)
    moved = (A @ pair[0] + b, A @ pair[1] @ A.T, A @ pair[2] + b, A @ pair[3] @ A.T)
    for name, function in FUNCTIONS.items():
        assert_allclose(function(*moved), function(*pair), rtol=1e-5, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_zero_for_equal_ones_and_for_no_others(name):
    mean, S, *_ = gaussian_pair(4, 0)
    assert FUNCTIONS[name](mean, S, mean, S) == pytest.approx(0, abs=1e-7)
    assert FUNCTIONS[name](mean, S, mean + 0.01, S) > 1e-6
    assert FUNCTIONS[name](mean, S, mean, 1.05 * S) > 1e-6


def test_total_variation_lies_between_powers_of_hellinger():
    grid = np.linspace(-30, 30, 20_001)
    step = grid[1] - grid[0]
    for seed in range(20):
        pair = gaussian_pair(1, seed, apart=2.0)
        p, q = (multivariate_normal(mean, S).pdf(grid) for mean, S in (pair[:2], pair[2:]))
        distance, variation = hellinger_distance(*pair), total_variation(p, q, step=step)
        assert distance**2 <= variation <= np.sqrt(2) * distance
        assert_allclose(grid_kl(p, q, step=step), kl_divergence(*pair), rtol=1e-6)
        assert_allclose(grid_symmetrised_kl(p, q, step=step), symmetrised_kl_divergence(*pair), rtol=1e-6)
        assert_allclose(grid_hellinger(p, q, step=step), distance, rtol=1e-6)


def test_total_variation_of_shifted_gaussians_is_known():
    from scipy.stats import norm

    grid = np.linspace(-30, 30, 200_001)
    p, q = norm.pdf(grid), norm.pdf(grid, loc=1.4)
    assert_allclose(total_variation(p, q, step=grid[1] - grid[0]), 2 * norm.cdf(0.7) - 1, rtol=1e-6)


def test_grid_divergences_stay_finite_where_a_density_vanishes():
    assert np.isfinite(grid_kl([1.0, 0.0], [0.0, 1.0]))
    assert grid_kl([0.0, 1.0], [0.5, 0.5]) == pytest.approx(np.log(2))


def test_fisher_rao_is_the_geodesic_length_of_the_half_plane():
    # Along a change of deviation alone the length is ∫ sqrt(2) ds/s; features add their squares.
    assert_allclose(fisher_rao_distance(0.0, 1.0, 0.0, 3.0), np.sqrt(2) * np.log(3))
    assert_allclose(fisher_rao_distance([0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [3.0, 3.0]), 2 * np.log(3))
    # A small step has the length of the metric (d mu / s)^2 + 2 (d s / s)^2.
    length = fisher_rao_distance(0.0, 2.0, 1e-5, 2.0 + 1e-5)
    assert_allclose(length, np.sqrt((1e-5 / 2) ** 2 + 2 * (1e-5 / 2) ** 2), rtol=1e-4)
    a, b, c = (0.0, 1.0), (2.0, 0.5), (-1.0, 3.0)
    assert fisher_rao_distance(*a, *c) <= fisher_rao_distance(*a, *b) + fisher_rao_distance(*b, *c)
    assert fisher_rao_distance(*a, *b) == fisher_rao_distance(*b, *a)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_fisher_rao_is_the_length_of_its_geodesic_by_quadrature(seed):
    """In x = mu / sqrt(2) the metric is 2 (dx^2 + ds^2) / s^2, and geodesics are circles around (c, 0)."""
    mean1, s1, mean2, s2 = np.random.default_rng(seed).uniform(0.5, 3.0, size=4)
    x1, x2 = mean1 / np.sqrt(2), mean2 / np.sqrt(2)
    centre = (x2**2 + s2**2 - x1**2 - s1**2) / (2 * (x2 - x1))
    angles = np.arctan2(s1, x1 - centre), np.arctan2(s2, x2 - centre)
    length = abs(quad(lambda angle: np.sqrt(2) / np.sin(angle), *angles)[0])
    assert_allclose(fisher_rao_distance(mean1, s1, mean2, s2), length, rtol=1e-9)


def test_stacks_of_gaussians_are_compared_one_by_one():
    pairs = [gaussian_pair(3, seed) for seed in range(4)]
    stacked = [np.stack(part) for part in zip(*pairs, strict=True)]
    for function in FUNCTIONS.values():
        assert_allclose(function(*stacked), [function(*pair) for pair in pairs], rtol=1e-14)
    against_one = kl_divergence(stacked[0], stacked[1], *pairs[0][2:])
    assert against_one.shape == (4,)
    assert type(kl_divergence(*pairs[0])) is float


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 0.0], [[1.0, 0.0]], [0.0, 0.0], np.eye(2)), "of shape"),
        (
            ([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]], [0.0, 0.0], np.eye(2)),
            "symmetric, got 'differences up to 0.5",
        ),
        (([0.0, 0.0], np.eye(2), [0.0, 0.0, 0.0], np.eye(2)), "mean2 must be of dimension 2"),
        (([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0], np.eye(2)), "positive definite, got '1 of 2"),
        ((0.0, np.nan, 0.0, 1.0), "finite"),
        ((np.nan, 1.0, 0.0, 1.0), "mean1 must be finite"),
    ],
)
def test_bad_gaussians_are_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        kl_divergence(*arguments)


def test_bad_densities_and_deviations_are_refused():
    with pytest.raises(InvalidInputError, match="p must be densities of at least 0"):
        grid_kl([-0.1, 1.1], [0.5, 0.5])
    with pytest.raises(InvalidInputError, match="q must be on the grid of p, 2 points, got 3"):
        total_variation([0.5, 0.5], [0.2, 0.3, 0.5])
    with pytest.raises(InvalidInputError, match="deviation must be positive"):
        fisher_rao_distance(0.0, 0.0, 1.0, 1.0)
