"""The kernels of neighbour embeddings against plain sums, small enough to run without compiling."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline
from scipy.sparse import csr_array
from scipy.special import logsumexp

from isentropic.kernels.layouts.bandwidths import perplexity_affinities
from isentropic.kernels.layouts.neighbor_forces import (
    mixture_forces,
    momentum_step,
    packed_pulls,
    pull_logs,
    pulls,
    pulls_in_plane,
    pushes,
    read_field,
    sorted_by_line,
    spread_charges,
)
from isentropic.kernels.rows.row_descent import STUDENT_FIELD, evaluate
from isentropic.kernels.sorting import renumbered_edges
from naive_neighbours import naive_affinities, naive_gaussians, naive_pushes


@pytest.fixture
def P(rng):
    return csr_array(np.triu(rng.random((9, 9)), 1) + np.tril(rng.random((9, 9)), -1))


def test_affinities(rng):
    distances = np.sort(rng.random((4, 8)) + 0.1)
    distances[3] = 1.0
    out = np.empty((4, 8))
    widths = perplexity_affinities(distances, 3.0, out)
    assert_allclose(out[:3], [naive_affinities(row, 3.0) for row in distances[:3]], atol=1e-11)
    assert_allclose(out[3], 1 / 8)
    assert np.isneginf(widths[3])
    perplexity_affinities(distances, 8.0, out)
    assert_allclose(out, 1 / 8)


@pytest.mark.parametrize("d", [2, 3])
def test_pulls(rng, P, d):
    Z = rng.normal(size=(9, d))
    gaps = Z[:, None] - Z
    square = 1 + (gaps**2).sum(axis=2)
    expected = (P.toarray()[..., None] * gaps / square[..., None]).sum(axis=1)
    out = np.empty((9, d))
    (pulls_in_plane if d == 2 else pulls)(P.indptr, P.indices, P.data, Z, out)
    assert_allclose(out, expected, atol=1e-12)
    logs = pull_logs(P.indptr, P.indices, P.data, Z)
    assert_allclose(logs, (P.toarray() * np.log(square)).sum(axis=1))


def test_packed_pulls_of_renumbered_rows_are_those_of_the_rows(rng, P):
    Z, order = rng.normal(size=(9, 2)).astype(np.float32), rng.permutation(9)
    names = np.empty(9, np.uint32)
    names[order] = np.arange(9)
    starts = np.concatenate([[0], np.cumsum(np.diff(P.indptr)[order])])
    indices, weights = np.empty(P.nnz, np.uint32), np.empty(P.nnz, np.float32)
    renumbered_edges(
        P.indptr,
        P.indices.astype(np.uint32),
        P.data.astype(np.float32),
        order,
        names,
        starts,
        indices,
        weights,
    )
    moved = csr_array((weights, indices.astype(np.int32), starts), shape=(9, 9)).toarray()
    assert_allclose(moved, P.toarray()[order][:, order], rtol=1e-6)
    expected, out = np.empty((9, 2)), np.empty((9, 2), np.float32)
    pulls_in_plane(P.indptr, P.indices, P.data, Z.astype(float), expected)
    packed_pulls(starts, indices, weights, Z.view(np.uint64)[order, 0], order, out)
    assert_allclose(out, expected, rtol=1e-4, atol=1e-6)


def test_many_charges_are_those_of_splines_one_by_one(rng):
    Z = (rng.random((700, 2)) * [21, 9]).astype(np.float32)  # lines and rows of more than one block
    order, places, starts = sorted_by_line(Z, np.zeros(2, np.float32), np.float32(1), 21)
    grid, out = np.empty((24, 12), np.float32), np.empty((700, 2), np.float32)
    spread_charges(places, starts, grid)
    spline = BSpline.basis_element(np.arange(-2.0, 3.0), extrapolate=False)
    away = [np.arange(-1.0, size - 1.0) - Z[:, c : c + 1].astype(float) for c, size in enumerate(grid.shape)]
    first, second = (np.nan_to_num(spline(gaps)) for gaps in away)
    assert_allclose(grid, first.T @ second, atol=2e-5)
    field, near = rng.random(grid.shape).astype(np.float32), rng.random((4, 4)).astype(np.float32)
    sums = read_field(field, near, order, places, out)
    slopes = [-np.nan_to_num(spline.derivative()(gaps)) for gaps in away]
    expected = [
        np.einsum("ip,pe,ie->i", w, field, v)
        - np.einsum("ia,ab,ib->i", lags(w, first), near, lags(v, second))
        for w, v in ((first, second), (slopes[0], second), (first, slopes[1]))
    ]
    assert_allclose(sums, [expected[0][order[:512]].sum(), expected[0][order[512:]].sum()], rtol=1e-5)
    assert_allclose(out, np.column_stack(expected[1:]), atol=2e-6)


def lags(w, v):
    """``sum w_p v_q`` over nodes p and q that are 0 to 3 apart, per row."""
    apart = np.abs(np.subtract.outer(np.arange(w.shape[1]), np.arange(w.shape[1])))
    return np.stack([np.einsum("ip,pq,iq->i", w, apart == lag, v) for lag in range(4)], axis=1)


@pytest.mark.parametrize("power", [1.0, 0.7])
def test_pushes(rng, power):
    Z, out = rng.normal(size=(9, 2)), np.empty((9, 2))
    sums = pushes(np.ascontiguousarray(Z.T), power, out)
    expected, total = naive_pushes(Z, power)
    assert_allclose(out, expected, atol=1e-12)
    assert sums.sum() == pytest.approx(total)


def test_a_step_with_momentum_and_gains():
    gradient, point = np.array([[1.0, -1.0], [30.0, 40.0], [0.0, 0.0]]), np.zeros((3, 2))
    step, gains = np.array([[-1.0, -1.0], [0.0, 0.0], [0.0, 0.0]]), np.ones((3, 2))
    sums = momentum_step(gradient, 0.1, 0.5, 2.0, point, step, gains)
    assert_allclose(gains, [[1.2, 0.81], [1.2, 1.2], [0.81, 0.81]])
    assert_allclose(step, [[-0.62, -0.419], [-1.2, -1.6], [0, 0]])
    assert_allclose(point, step)
    assert_allclose(sums.sum(axis=0), point.sum(axis=0))


def test_charges_are_spread_and_read_by_the_same_splines(rng):
    Z = (rng.random((7, 2)) * [5, 3]).astype(np.float32)
    origin, spacing = np.zeros(2, np.float32), np.float32(1)
    order, places, starts = sorted_by_line(Z, origin, spacing, 5)
    assert sorted(order.tolist()) == list(range(7))
    assert (np.diff(places[:, 0].astype(int)) >= 0).all()
    grid = np.empty((8, 6), np.float32)
    spread_charges(places, starts, grid)
    assert grid.sum() == pytest.approx(7, rel=1e-6)
    nodes = np.arange(-1.0, 7.0)
    assert (grid.sum(axis=1) * nodes).sum() == pytest.approx(Z[:, 0].sum(), rel=1e-5)
    # a field that is linear is read as it is, and has its slopes
    field = (2 * nodes[:, None] + 3 * np.arange(-1.0, 5.0)).astype(np.float32)
    out = np.empty((7, 2), np.float32)
    sums = read_field(field, np.zeros((4, 4), np.float32), order, places, out)
    assert sums.sum() == pytest.approx((2 * Z[:, 0] + 3 * Z[:, 1]).sum(), rel=1e-5)
    assert_allclose(out, np.tile([2, 3], (7, 1)), rtol=1e-5)


@pytest.mark.parametrize("precisions", [[2.0], [9.0, 1.0, 0.1]])
def test_gaussians(rng, precisions):
    P, Z = rng.random((6, 6)), rng.normal(size=(6, 2))
    P[np.arange(6), np.arange(6)] = 0
    P /= P.sum(axis=1, keepdims=True)
    costs, moves = mixture_forces(P, np.ascontiguousarray(Z.T), np.array(precisions))
    entropy = (P[P > 0] * np.log(P[P > 0])).sum()
    assert costs.sum() + entropy == pytest.approx(naive_gaussians(P, Z, precisions))
    step = 1e-6 * rng.normal(size=Z.shape)
    up, down = (naive_gaussians(P, Z + sign * step, precisions) for sign in (1, -1))
    assert (moves.sum(axis=0).T * step).sum() == pytest.approx((up - down) / 2, rel=1e-4)


@pytest.mark.parametrize("precisions", [[2.0], [9.0, 1.0, 0.1]])
def test_gaussians_that_vanish_are_told_by_their_logarithms(rng, precisions):
    P, Z, a = rng.random((6, 6)), 1e3 * rng.normal(size=(6, 2)), np.array(precisions)
    P[np.arange(6), np.arange(6)] = P[0, 1] = 0
    squares = ((Z[:, None] - Z) ** 2).sum(axis=2)
    squares[np.arange(6), np.arange(6)] = np.inf
    logs = -a[:, None, None] * squares / 2
    logs -= logsumexp(logs, axis=2, keepdims=True)
    every = logsumexp(logs, axis=0)
    some = P > 0
    costs, moves = mixture_forces(P, np.ascontiguousarray(Z.T), a)
    plain = [-(P[i, some[i]] * (every[i, some[i]] - np.log(len(a)))).sum() for i in range(6)]
    assert max(plain) > 1e3
    assert_allclose(costs, plain, rtol=1e-12)
    weights = P * np.exp(logs - np.where(some, every, 0.0))  # p s_h
    forces = weights - np.exp(logs) * weights.sum(axis=2, keepdims=True)
    T = (a[:, None, None] * forces).sum(axis=0)
    gradient = ((T + T.T)[..., None] * (Z[:, None] - Z)).sum(axis=1)
    assert_allclose(moves.sum(axis=0).T, gradient, rtol=1e-11, atol=1e-10)


@pytest.mark.filterwarnings("ignore:invalid value")  # inf - inf, where numpy computes it
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_gaussians_of_what_is_no_place_are_no_numbers(rng, value):
    Z = rng.normal(size=(2, 5))
    Z[1, 2] = value
    costs, moves = mixture_forces(np.full((5, 5), 0.25), Z, np.array([2.0, 1.0]))
    assert not np.isfinite(costs).any()
    assert not np.isfinite(moves.sum(axis=0)).any()


def test_a_row_in_a_field(rng):
    nodes = 2.0 + rng.random((9, 8))
    shape = np.concatenate([[1.0, -3.0, -3.0, 0.8, 9, 8], nodes.ravel()])
    Z, near, weights, far = rng.normal(size=(5, 2)), np.arange(2), np.full(2, 0.5), np.empty(0, np.int64)

    def at(z):
        gradient, curvature = np.zeros(len(z)), np.zeros((len(z), len(z)))
        some = np.ascontiguousarray(Z[:, : len(z)])
        value = evaluate(STUDENT_FIELD, z, some, near, weights, far, shape, gradient, curvature)
        return value, gradient, curvature

    for z in (np.array([0.3, -0.2]), np.array([0.4])):
        _, gradient, curvature = at(z)
        for c in range(len(z)):
            up, down = (at(z + sign * 1e-5 * np.eye(len(z))[c]) for sign in (1, -1))
            assert gradient[c] == pytest.approx((up[0] - down[0]) / 2e-5, abs=1e-8)
            assert_allclose(curvature[c, : c + 1], ((up[1] - down[1]) / 2e-5)[: c + 1], atol=1e-6)
    assert at(np.array([50.0, 0.0]))[0] == np.inf
    shape[6:] = -1.0
    assert at(np.zeros(2))[0] == np.inf
