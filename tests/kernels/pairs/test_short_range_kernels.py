"""Kernels of maps of short distances, and draws by counters: against sums as they are written, small."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform

from isentropic.kernels.layouts.epochs import draw_beyond, draw_others
from isentropic.kernels.pairs.curvilinear import curvilinear_epoch, optimize_within_radius
from isentropic.kernels.pairs.sculpting import opposite_neighbors, optimize_sculpted, sculpt_pass
from isentropic.kernels.rows.row_costs import stress_initialization
from naive_curvilinear import naive_curvilinear_epochs

RNG = np.random.default_rng(0)


def test_the_published_rule_of_curvilinear_components():
    D, Z = pdist(RNG.normal(size=(9, 4))), RNG.normal(size=(9, 2))
    order = RNG.permutation(9)
    expected = naive_curvilinear_epochs(squareform(D), Z, [order], [0.4], [1.5])
    found = Z.copy()
    curvilinear_epoch(D, order, 0.4, 1.5, found)
    assert_allclose(found, expected, atol=1e-12)
    assert np.abs(found - Z).max() > 0.01


def test_a_row_within_a_flat_map_finds_its_place():
    """Rows of a plane: distances are exact, so every radius ends where the row is."""
    Z, true = RNG.uniform(size=(40, 2)), RNG.uniform(0.2, 0.8, size=(3, 2))
    distances = np.sqrt(((true[:, None] - Z[None]) ** 2).sum(axis=2))
    out = np.empty((3, 2))
    optimize_within_radius(distances, Z, 1.0, 0.4, 8, out)
    assert_allclose(out, true, atol=1e-3)


def test_lateration_starts_at_the_row_itself():
    Z, true = RNG.normal(size=(12, 2)), RNG.normal(size=(4, 2))
    Z -= Z.mean(axis=0)
    distances = np.sqrt(((true[:, None] - Z[None]) ** 2).sum(axis=2))
    starts = stress_initialization(distances, Z, np.linalg.pinv(2.0 * Z), np.empty((4, 2, 2)))
    assert_allclose(starts[:, 1], true, atol=1e-10)
    nearest = distances.argmin(axis=1)
    beside = Z[nearest] + distances[np.arange(4), nearest][:, None] * [1.0, 0.0]
    assert_allclose(starts[:, 0], beside, atol=1e-12)


@pytest.mark.filterwarnings("ignore:overflow encountered")  # of hashes, which count on it
class TestDrawsByCounters:
    def test_others_are_others(self):
        out = np.empty((6, 200), np.int64)
        draw_others(3, 1, out)
        counts = np.array([np.bincount(row, minlength=6) for row in out])
        assert_array_equal(np.diag(counts), 0)
        assert counts[~np.eye(6, dtype=bool)].min() > 20  # 40 on the mean
        again = np.empty((6, 50), np.int64)
        draw_others(3, 1, again)
        assert_array_equal(again, out[:, :50])  # the draws of a row go on where they ended
        draw_others(4, 1, again)
        assert (again != out[:, :50]).any()

    @pytest.mark.parametrize("n", [8, 60])  # most rows listed, and few
    def test_rows_beyond_the_listed(self, n):
        near = np.array([RNG.permutation(np.delete(np.arange(n), i))[:4] for i in range(n)])
        out = np.full((n, 6), -1, np.int64)
        draw_beyond(5, 2, near, np.array([2, 4]), 3, out)
        for i in range(n):
            for listed, drawn in ((near[i, :2], out[i, :3]), (near[i], out[i, 3:])):
                assert len(set(drawn)) == 3
                assert i not in drawn
                assert not set(drawn) & set(listed)
                assert drawn.min() >= 0

    def test_where_no_rows_are_left_nothing_is_drawn(self):
        near = np.array([[1, 2], [0, 2], [0, 1]])
        out = np.full((3, 2), -1, np.int64)
        draw_beyond(5, 2, near, np.array([1]), 2, out)
        assert_array_equal(out, [[2, -1], [2, -1], [1, -1]])

    def test_a_pass_of_sculpting_lowers_the_error_and_moves_the_map_alone(self):
        line = np.linspace(0, 7, 8)
        X = np.stack([line, 0.1 * np.sin(line), np.zeros(8)], axis=1)
        near = np.array([[1, 2], [0, 2], [1, 3], [2, 4], [3, 5], [4, 6], [5, 7], [6, 5]])
        turns, lengths, angles = np.empty((8, 2), np.int64), np.empty((8, 2)), np.empty((8, 2))
        opposite_neighbors(X, near, turns, lengths, angles, X, near)
        Y = X[None] + RNG.normal(scale=0.2, size=(2, 8, 3))
        kept = Y[:, :, 2].copy()
        first, rates, errors = np.empty(2), np.full(2, 0.1), np.empty(2)
        sculpt_pass(Y.copy(), 2, near, turns, lengths, angles, 1, 0, np.zeros(2), first)
        for number in range(5):
            sculpt_pass(Y, 2, near, turns, lengths, angles, 1, number, rates, errors)
        assert (errors < 0.8 * first).all()
        assert_array_equal(Y[:, :, 2], kept)


def test_opposite_neighbours_have_the_widest_angle():
    X = RNG.normal(size=(10, 3))
    D = squareform(pdist(X))
    near = D.argsort(axis=1)[:, 1:5]
    turns, lengths, angles = np.empty((10, 4), np.int64), np.empty((10, 4)), np.empty((10, 4))
    opposite_neighbors(X, near, turns, lengths, angles, X, near)
    for i in range(10):
        for t, j in enumerate(near[i]):
            seen = {}
            for c in set(near[j]) - {i}:
                one, other = X[i] - X[j], X[c] - X[j]
                seen[c] = np.arccos(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
            assert turns[i, t] == max(seen, key=seen.get)
            assert angles[i, t] == pytest.approx(max(seen.values()), abs=1e-12)
            assert lengths[i, t] == pytest.approx(D[i, j], abs=1e-12)


def test_a_sculpted_row_settles_where_lengths_and_angles_are_right():
    grid = np.array([(a, b) for a in range(4) for b in range(4)], float)
    true = np.array([[1.4, 1.7]])
    near = np.array([np.argsort(((grid - row) ** 2).sum(axis=1))[1:6] for row in grid])
    mine = np.argsort(((grid - true) ** 2).sum(axis=1))[None, :4]
    turns, lengths, angles = np.empty((1, 4), np.int64), np.empty((1, 4)), np.empty((1, 4))
    opposite_neighbors(grid, near, turns, lengths, angles, true, mine)
    out = np.empty((1, 2))
    optimize_sculpted(grid, mine, turns, lengths, angles, out)
    assert_allclose(out, true, atol=1e-3)
