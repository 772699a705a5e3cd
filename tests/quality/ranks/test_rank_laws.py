"""What must hold for every map and every k, whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from assertions import assert_same_bits
from isentropic.kernels.row_ranks import N_SUMS, N_TERMS, compare_points, compare_rows
from isentropic.quality import assess, distance_rows
from isentropic.quality.inputs import both_sides
from isentropic.quality.ranks.rank_sums import NEAR, rank_sums

SETTINGS = settings(max_examples=15)
sizes = st.integers(3, 40)
seeds = st.integers(0, 2**32 - 1)


def curves(X, Z):
    return assess(X, Z, measures="ranks").curves


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return rng, X, X[:, :2] + 0.5 * rng.normal(size=(n, 2))


def assert_same_curves(one, two):
    for name, curve in one.as_dict().items():
        assert_allclose(curve, two.as_dict()[name], rtol=1e-12, atol=1e-13, err_msg=name)


def rotation(rng, m):
    return np.linalg.qr(rng.normal(size=(m, m)))[0]


@given(sizes, seeds)
@SETTINGS
def test_an_isometry_is_perfect(n, seed):
    rng, X, _ = drawn(n, seed)
    found = curves(X, 3.0 * X @ rotation(rng, 3) + 7.0)
    for name in ("trustworthiness", "continuity", "q_nx", "r_nx", "mrre_false", "mrre_missing"):
        assert_array_equal(getattr(found, name), np.ones_like(getattr(found, name)), err_msg=name)
    assert not found.b_nx.any()
    assert_array_equal(found.near_share, np.ones(n - 1))
    assert_array_equal(found.near_neighbors, found.near_chance[:-1] < 1)
    assert found.rnx_auc == found.q_local == found.q_global == 1.0


@given(sizes, seeds)
@SETTINGS
def test_rotation_shift_and_scale_of_either_side_change_nothing(n, seed):
    rng, X, Z = drawn(n, seed)
    before = curves(X, Z)
    assert_same_curves(before, curves(0.01 * X @ rotation(rng, 3), Z))
    assert_same_curves(before, curves(X, 100.0 * (Z + 3.0) @ rotation(rng, 2)))


@given(sizes, seeds)
@SETTINGS
def test_row_order_is_only_row_order(n, seed):
    rng, X, Z = drawn(n, seed)
    order = rng.permutation(n)
    before, after = assess(X, Z, measures="ranks"), assess(X[order], Z[order], measures="ranks")
    assert_same_curves(before.curves, after.curves)
    assert_allclose(after.false_neighbors, before.false_neighbors[order], rtol=1e-12, atol=1e-14)
    assert_allclose(after.tears, before.tears[order], rtol=1e-12, atol=1e-14)
    assert_array_equal(after.near_neighbors, before.near_neighbors[order])


@given(sizes, seeds)
@SETTINGS
def test_exchanging_the_sides_exchanges_the_measures(n, seed):
    _, X, Z = drawn(n, seed)
    there, back = assess(X, Z, measures="ranks"), assess(Z, X, measures="ranks")
    assert_same_bits(there.curves.trustworthiness, back.curves.continuity)
    assert_same_bits(there.curves.mrre_false, back.curves.mrre_missing)
    assert_same_bits(there.curves.q_nx, back.curves.q_nx)
    assert_array_equal(there.curves.b_nx, -back.curves.b_nx)
    assert_same_bits(there.false_neighbors, back.tears)
    assert_array_equal(there.ties.trustworthiness, back.ties.continuity)


def turned_inside_out(X):
    """Distances that make the farthest row the nearest: the worst map there is."""
    D = distance_rows(X).rows(np.arange(len(X)))
    D = D.max() + 1.0 - D
    np.fill_diagonal(D, 0.0)
    return distance_rows(D, "precomputed")


MAPS = {
    "shuffled": lambda rng, X, Z: (X, rng.permutation(X)),
    "inside out": lambda rng, X, Z: (X, turned_inside_out(X)),
    "ties": lambda rng, X, Z: (X.round(), Z.round()),
    "duplicates": lambda rng, X, Z: (X[rng.integers(0, 2, len(X))] + 0.0, Z),
    "line": lambda rng, X, Z: (np.arange(len(X))[:, None], rng.permutation(len(X))[:, None]),
}


@pytest.mark.filterwarnings("ignore:All rows of X are equal")
@pytest.mark.parametrize("kind", MAPS)
@given(sizes, seeds)
@SETTINGS
def test_every_value_is_in_its_range_for_every_k(kind, n, seed):
    # MRRE has no least value here: it counts self among the ranks, and can fall slightly below 0.
    found = assess(*MAPS[kind](*drawn(n, seed)), measures="ranks")
    for k in range(1, n):
        for name, measure in found.at(k).items():
            least, greatest = measure.range
            assert least - 1e-12 <= measure.value <= greatest + 1e-12, f"{name}({k}) = {measure.value}"
            assert least <= measure.best <= greatest
    for scores in (found.false_neighbors, found.tears, found.near_neighbors):
        assert scores.min() >= 0
        assert scores.max() <= 1 + 1e-12


def test_a_map_inside_out_reaches_the_ends_of_the_ranges(rng):
    # So that the ranges are not merely wide enough.
    X = rng.normal(size=(31, 3))
    found = assess(X, turned_inside_out(X), measures="ranks")
    for k in (1, 5, 15, 16, 25):
        at_k = found.at(k)
        assert_allclose(at_k["trustworthiness"].value, 0.0, atol=1e-12)
        assert_allclose(at_k["continuity"].value, 0.0, atol=1e-12)
        for name in ("q_nx", "lcmc", "r_nx"):
            assert_allclose(at_k[name].value, at_k[name].range[0], atol=1e-12, err_msg=f"{name}({k})")


def test_small_sums_do_not_overflow():
    # Counts of 16 bits would, if they were not moved to larger ones in time: every row finds its nearest far.
    X, Z = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [3.0], [1.0]])
    times = 2**16 // 3 + 1
    own = np.tile(np.arange(3), times)
    given, mapped = (side.rows for side in both_sides(X, Z))
    D_X, D_Z = given(np.arange(3)), mapped(np.arange(3))
    sums = np.zeros((3, 1, 2, N_SUMS, 2), np.int64)
    nothing = (np.empty(0), 0, 0, 0, 1.0, 1.0, 1.0), np.empty((len(own), 0), int), np.empty((len(own), 0))
    rest = np.empty((len(own), 1, N_TERMS)), np.empty(len(own), np.int8), *nothing
    ks = np.array([1])
    compare_rows(D_X, D_Z, np.arange(3), ks, NEAR, 1, sums[0], *rest)
    compare_points(given.data, given.tiles, mapped.data, mapped.tiles, own, ks, NEAR, 16, 1, sums[1], *rest)
    compare_rows(np.tile(D_X, (times, 1)), np.tile(D_Z, (times, 1)), own, ks, NEAR, 1, sums[2], *rest)
    assert sums[0, 0, :, :2].max() == 3
    assert_array_equal(sums[1], times * sums[0])
    assert_array_equal(sums[2], times * sums[0])


# ---- determinism -------------------------------------------------------------------------------


def both_ways(X, Z, n_jobs, rows=None):
    """Measured from points, and from rows of distances."""
    points = both_sides(X, Z, n_jobs=n_jobs)
    D = [side.rows(np.arange(len(X))) for side in points]
    matrices = [distance_rows(D_side, "precomputed") for D_side in D]
    for sides in (points, matrices):
        yield rank_sums(*sides, (1, 7, 50), rows, n_jobs=n_jobs)


def test_neither_threads_nor_blocks_nor_the_way_change_a_bit(rng, monkeypatch):
    X, Z = rng.normal(size=(300, 6)), rng.normal(size=(300, 2)).round(1)
    found = [*both_ways(X, Z, 1), *both_ways(X, Z, 2)]
    monkeypatch.setattr("isentropic.quality.ranks.rank_sums._GROUP_ENTRIES", 600)
    monkeypatch.setattr("isentropic.quality.ranks.rank_sums.rows_per_block", lambda n: 12)
    found += [*both_ways(X, Z, 2)]
    for other in found[1:]:
        assert_same_bits(other.sums, found[0].sums)
        assert_same_bits(other.terms, found[0].terms)
        assert_same_bits(other.close, found[0].close)


def test_passes_over_parts_join_to_the_pass_over_all(rng):
    sides = both_sides(rng.normal(size=(50, 3)), rng.normal(size=(50, 2)))
    order = rng.permutation(50)
    parts = [rank_sums(*sides, (3, 9), rows) for rows in (order[:20], order[20:])]
    joined, whole = parts[0].joined(parts[1]), rank_sums(*sides, (3, 9))
    assert_same_bits(joined.rows, whole.rows)
    assert_same_bits(joined.sums, whole.sums)
    assert_same_bits(joined.terms, whole.terms)
    assert not parts[0].exact
    assert joined.exact


def test_assess_is_the_same_for_any_number_of_threads(rng):
    X = rng.normal(size=(400, 5))
    one, two = (assess(X, X[:, :2], measures="ranks", sample=100, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.to_json() == two.to_json()
