"""The costs of t-SNE, SNE and their relatives: plain twins, differences, fields against exact sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.rows.row_descent import STUDENT, STUDENT_FIELD, evaluate
from isentropic.objectives import (
    Field,
    GaussianNeighbors,
    GlobalNeighbors,
    SampledPairs,
    StudentNeighbors,
    StudentPairs,
    student_losses,
)
from isentropic.objectives.student_sums import Boxes
from naive_neighbours import naive_gaussians, naive_pushes, naive_student

RNG = np.random.default_rng(0)
N = 14


def joint(n=N, share=0.6):
    P = np.where(RNG.random((n, n)) < share, RNG.random((n, n)), 0)
    P = P + P.T
    np.fill_diagonal(P, 0)
    return P / P.sum()


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


# ---- t-SNE ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "dof"), [(1, 1.0), (2, 1.0), (2, 0.5), (2, 4.0), (3, 1.0)])
def test_the_cost_of_t_sne_is_that_of_its_twin(d, dof):
    P, Z = joint(), RNG.normal(size=(N, d)) * 2
    cost = StudentNeighbors(csr_array(P), n_components=d, dof=dof)
    assert cost.repulsion == "exact"
    value, gradient = naive_student(P, Z, dof)
    assert cost.divergence(Z) == pytest.approx(value, rel=1e-10)
    assert_allclose(4 * cost.gradient(Z), gradient, atol=1e-12)
    assert_allclose(gradient, difference(lambda z: naive_student(P, z, dof)[0], Z), atol=1e-6)
    _, more = naive_student(3 * P, Z, dof)
    assert_allclose(4 * cost.gradient(Z, 3.0), more, atol=1e-12)
    assert_allclose(4 * cost.gradient(Z, 3.0), difference(lambda z: cost.divergence(z, 3.0), Z), atol=1e-6)


def difference(function, Z):
    return approx_fprime(Z.ravel(), lambda z: function(z.reshape(Z.shape)), 1e-7).reshape(Z.shape)


def test_single_precision_is_within_a_millionth(monkeypatch):
    P, Z = joint(300, 0.05), RNG.normal(size=(300, 2)) * 20
    double = StudentNeighbors(csr_array(P), n_components=2)
    monkeypatch.setattr(student_losses, "_DOUBLE_UP_TO", 0)
    single = StudentNeighbors(csr_array(P), n_components=2)
    assert single.gradient(Z).dtype == np.float32
    assert 0 < relative(single.gradient(Z), double.gradient(Z)) < 2e-6
    assert single.divergence(Z) == pytest.approx(double.divergence(Z), abs=1e-5)


def test_no_bit_of_a_gradient_depends_on_how_rows_are_numbered():
    P, Z = joint(1200, 0.02), RNG.normal(size=(1200, 2)) * 20
    cost = StudentNeighbors(csr_array(P), n_components=2)
    expected, value, order = cost.gradient(Z), cost.divergence(Z), cost._pulls._order
    for _ in range(40):
        other = cost.gradient(RNG.normal(size=Z.shape))
    assert (cost._pulls._order != order).any()
    assert relative(other, expected) > 0.1
    assert_same_bits(cost.gradient(Z), expected)
    assert cost.divergence(Z) == value


def test_condensed_pairs_have_the_cost_of_t_sne():
    P, Z = joint(), RNG.normal(size=(N, 2)) * 2
    value, gradient = StudentPairs(2 * squareform(P), N)(Z)
    expected, slopes = naive_student(P, Z)
    assert value == pytest.approx(expected, rel=1e-12)
    assert_allclose(gradient, slopes, atol=1e-13)


def test_the_part_of_large_distances():
    P, Z, D = joint(), RNG.normal(size=(N, 2)) * 2, 3 * RNG.random(N * (N - 1) // 2)

    def plain(z):
        far, mapped = 1 + D**2, 1 + pdist(z) ** 2
        far, mapped = far / far.sum(), mapped / mapped.sum()
        return naive_student(P, z)[0] + 1.5 * (far * np.log(far / mapped)).sum()

    value, gradient = StudentPairs(2 * squareform(P), N, distances=D, weight=1.5)(Z)
    assert value == pytest.approx(plain(Z), rel=1e-12)
    assert_allclose(gradient, difference(plain, Z), atol=1e-6)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_sampled_pairs_that_are_all_pairs_have_the_cost_of_global_t_sne(d):
    n = 13  # odd: the shifts 1 to 6 have every pair once
    P, Z = joint(n), RNG.normal(size=(n, d)) * 2
    X, order, shifts = RNG.normal(size=(n, 3)) * 2, RNG.permutation(n), np.arange(1, 7)
    D = np.array([np.linalg.norm(X[order] - X[np.roll(order, -shift)], axis=1) for shift in shifts])
    near = StudentNeighbors(csr_array(P), n_components=d)
    cost = GlobalNeighbors(near, SampledPairs(order, shifts, D), weight=1.5)
    value, gradient = StudentPairs(2 * squareform(P), n, distances=pdist(X), weight=1.5)(Z)
    assert cost.divergence(Z) == pytest.approx(value, rel=1e-10)
    assert_allclose(4 * cost.gradient(Z), gradient, atol=1e-12)
    more = 3 * gradient - 8 * near.gradient(Z, 0.0)  # the push of the near part is not exaggerated
    assert_allclose(4 * cost.gradient(Z, 3.0), more, atol=1e-12)


# ---- SNE -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("precisions", [[2.0], [8.0, 1.0, 0.2]])
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_gaussians_have_the_cost_of_their_twin(precisions, spread):
    P = np.where(RNG.random((N, N)) < 0.6, RNG.random((N, N)), 0)
    np.fill_diagonal(P, 0)
    P[:, 0] += np.arange(N) > 0
    P[0, 1] += 1
    P /= P.sum(axis=1, keepdims=True)
    Z = RNG.normal(size=(N, 2)) * spread
    value, gradient = GaussianNeighbors(P, precisions)(Z)
    assert np.isfinite(gradient).all()
    if spread == 1.0:  # beyond, the twin's weights vanish
        assert value == pytest.approx(naive_gaussians(P, Z, precisions), rel=1e-12)
    numeric = difference(lambda z: GaussianNeighbors(P, precisions)(z)[0], Z)
    assert_allclose(gradient, numeric, atol=1e-5 * np.abs(numeric).max())


# ---- fields --------------------------------------------------------------------------------------

MAPS = {
    "wide": RNG.normal(size=(1500, 2)) * 10,
    "narrow": RNG.normal(size=(1500, 2)) * [3, 0.5],
    "groups": np.repeat(RNG.normal(size=(15, 2)) * 20, 100, axis=0) + RNG.normal(size=(1500, 2)) * 1.5,
    "scattered": RNG.random((1000, 2)) * 100,
    "a line": np.column_stack([RNG.normal(size=800) * 100, np.zeros(800)]),
    "a point": RNG.normal(size=(500, 2)) * 1e-4,
}


@pytest.mark.parametrize("power", [1.0, 0.75, 2.5])
@pytest.mark.parametrize("name", MAPS)
def test_a_field_is_near_the_exact_sums(name, power):
    Z = MAPS[name].astype(np.float32)
    pushes, total = Field(power)(Z)
    expected, sums = naive_pushes(Z.astype(float), power)
    assert total == pytest.approx(sums, rel=1e-3)
    if name == "a point":  # within a cell, the bend of the kernel is that of a spline; all drift alike
        assert relative(pushes - pushes.mean(axis=0), expected) < 0.15
    else:
        assert relative(pushes, expected) < 0.025
        assert np.abs(pushes - expected).max() < 0.05 * np.abs(expected).max()


def test_a_field_that_is_used_again_gives_the_same_bits():
    field = Field()
    for name in ("wide", "narrow", "groups", "wide"):
        pushes, total = field(MAPS[name].astype(np.float32))
    again, same = Field()(MAPS["wide"].astype(np.float32))
    assert relative(pushes, again) < 1e-3  # another size of grid rounds otherwise
    assert total == pytest.approx(same, rel=1e-6)


def test_threads_change_no_bit_of_a_field():
    found = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            found.append(Field()(MAPS["groups"].astype(np.float32)))
    assert_same_bits(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


IN_SPACE = {
    "wide": (RNG.normal(size=(1500, 3)) * 30, 2e-3),
    "narrow": (RNG.normal(size=(1500, 3)) * [3, 0.5, 2], 0.015),
    "groups": (
        np.repeat(RNG.normal(size=(15, 3)) * 20, 100, axis=0) + RNG.normal(size=(1500, 3)) * 1.5,
        2e-3,
    ),
    "a plane": (np.column_stack([RNG.normal(size=(1200, 2)) * 10, np.zeros(1200)]), 5e-3),
    "duplicates": (np.repeat(RNG.normal(size=(30, 3)) * 5, 40, axis=0), 0.015),
    "a point": (RNG.normal(size=(500, 3)) * 1e-3, 0.015),
}


@pytest.mark.parametrize("power", [1.0, 0.75, 2.5])
@pytest.mark.parametrize("name", IN_SPACE)
def test_boxes_are_near_the_exact_sums(name, power):
    Z, bound = IN_SPACE[name]
    found = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            found.append(Boxes(power)(Z.astype(np.float32)))
    (pushes, total), (again, same) = found
    assert_same_bits(pushes, again)
    assert total == same
    expected, sums = naive_pushes(Z.astype(np.float32).astype(float), power)
    assert total == pytest.approx(sums, rel=5e-3)
    assert relative(pushes, expected) < bound * max(power, 1.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_boxes_of_what_is_no_place_are_no_numbers(value):
    Z = RNG.normal(size=(100, 3))
    Z[3, 1] = value
    pushes, total = Boxes()(Z)
    assert np.isnan(pushes).all()
    assert np.isnan(total)


def test_a_map_wider_than_any_grid_is_seen_coarsely():
    Z = np.vstack([RNG.normal(size=(300, 2)), RNG.normal(size=(300, 2)) + 5000]).astype(np.float32)
    pushes, total = Field()(Z)
    assert np.isfinite(pushes).all()
    assert total == pytest.approx(naive_pushes(Z.astype(float), 1.0)[1], rel=0.2)


@pytest.mark.parametrize("d", [1, 2])
def test_a_row_in_a_field_has_the_cost_of_one_among_all_rows(d):
    Z = RNG.normal(size=(400, d)) * 5
    plane = np.zeros((400, 2), np.float32)
    plane[:, :d] = Z
    nodes, origin, spacing = Field().nodes(plane, 16)
    shape = np.concatenate([[1.0, *origin, spacing, *nodes.shape], nodes.ravel()])
    near, weights, far = np.arange(5), np.full(5, 0.2), np.empty(0, np.int64)

    def at(z, cost, numbers):
        gradient, curvature = np.zeros(d), np.zeros((d, d))
        value = evaluate(cost, z, Z, near, weights, far, numbers, gradient, curvature)
        return value, gradient, curvature

    for z in RNG.normal(size=(5, d)) * 4:
        value, gradient, curvature = at(z, STUDENT_FIELD, shape)
        exact, slopes, _ = at(z, STUDENT, np.array([1.0]))
        assert value == pytest.approx(exact, abs=1e-3)
        assert_allclose(gradient, slopes, atol=2e-2)
        step = 1e-5
        for c in range(d):
            up, down = (at(z + s * step * np.eye(d)[c], STUDENT_FIELD, shape) for s in (1, -1))
            assert gradient[c] == pytest.approx((up[0] - down[0]) / (2 * step), abs=1e-6)
            bends = (up[1] - down[1]) / (2 * step)
            assert_allclose(curvature[c, : c + 1], bends[: c + 1], atol=1e-5)
    assert at(np.full(d, 1e6), STUDENT_FIELD, shape)[0] == np.inf


def test_affinities_are_summed_without_boxing_each(monkeypatch):
    def refused(numbers):
        raise AssertionError(f"{len(numbers)} numbers, one by one")

    P, Z = joint(), RNG.normal(size=(N, 2))
    monkeypatch.setattr(student_losses.math, "fsum", refused)
    cost = StudentNeighbors(csr_array(P), n_components=2)
    monkeypatch.undo()
    assert cost.divergence(Z) == pytest.approx(naive_student(P, Z, 1.0)[0], rel=1e-12)
