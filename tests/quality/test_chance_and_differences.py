"""Better than chance, and better than another map."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from scipy.stats import kendalltau, t

from isentropic._core.errors import InvalidInputError
from isentropic.distances import select_rows
from isentropic.quality import assess, baseline, compare_quality, distance_rows, map_comparisons
from isentropic.quality.map_comparisons import (
    _half_width,
    _parts,
    jackknife_half_width,
    jackknife_measures,
)
from naive import distances, naive_rank_matrix, naive_rank_measures


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(150, 5))
    return X, X[:, :2].copy()


# ---- chance ------------------------------------------------------------------------------------


def test_chance_is_what_shuffled_rows_give(pair):
    X, Z = pair[0][:12], pair[1][:12]
    found = baseline(X, Z, n_neighbors=3, n_permutations=2, random_state=5)
    random = np.random.RandomState(5)
    random.permutation(12)  # the rows to compare: all of them here
    R = naive_rank_matrix(distances(X))
    for trial in range(2):
        r = naive_rank_matrix(distances(Z[random.permutation(12)]))
        expected = [naive_rank_measures(R, r, k)["trustworthiness"] for k in range(1, 12)]
        assert_allclose(found.chance["trustworthiness"][trial], expected, atol=1e-13)
    assert_allclose(found.observed["continuity"], assess(X, Z, measures="ranks").curves.continuity, rtol=0)


def test_a_map_is_better_than_chance_and_noise_is_not(pair, rng):
    X, Z = pair
    found = baseline(X, Z, n_neighbors=10)
    assert found.better_than_chance
    assert found.p_values["rnx_auc"] == found.p_values["trustworthiness(10)"] == 0.05
    assert not baseline(X, rng.normal(size=(150, 2))).better_than_chance


def test_p_values_of_chance_are_spread_evenly(rng):
    # Two sides that have nothing to do with each other: each p-value is as likely as any other.
    found = []
    for seed in range(60):
        X, Z = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
        found.append(baseline(X, Z, n_permutations=9, random_state=seed, n_jobs=1).p_values["rnx_auc"])
    assert min(found) == 0.1
    assert max(found) >= 0.9
    assert 0.4 < np.mean(found) < 0.7  # 0.55 in the mean


def test_the_band_of_chance_holds_what_is_expected(pair):
    found = baseline(*pair, n_permutations=19)
    low, high = found.band("r_nx")
    assert_array_equal(low <= high, True)
    assert (low < 0).mean() > 0.9
    assert (high > 0).mean() > 0.9
    low, high = found.band("trustworthiness")
    assert low[9] < 0.5 + 0.06
    assert high[9] > 0.5 - 0.06


def test_rows_of_any_metric_are_shuffled_alike(pair):
    Z = pair[1][:9]
    order = np.random.default_rng(1).permutation(9)
    points = select_rows(distance_rows(Z), order).rows(np.arange(9))
    matrix = select_rows(distance_rows(distances(Z), "precomputed"), order).rows(np.arange(9))
    assert_allclose(points, distances(Z[order]), rtol=1e-14)
    assert_allclose(matrix, distances(Z[order]), rtol=1e-14)


def test_sampled_rows_and_bad_input(pair):
    assert baseline(*pair, sample=30).n_rows == 30
    assert baseline(*pair, sample=None).n_rows == 150
    with pytest.raises(InvalidInputError, match="n_permutations must be a positive integer, got 0"):
        baseline(*pair, n_permutations=0)


# ---- two maps ----------------------------------------------------------------------------------


def test_values_and_differences_are_those_of_each_map(pair):
    X, Z = pair
    other = X[:, 1:3]
    found = compare_quality(X, Z, other, n_neighbors=(5, 100))
    one, two = (assess(X, side, n_neighbors=(5, 100), measures="ranks").measures for side in (Z, other))
    for name, difference in found.differences.items():
        assert found.first[name] == pytest.approx(one[name].value, rel=1e-12)
        assert found.second[name] == pytest.approx(two[name].value, rel=1e-12)
        assert difference.value == pytest.approx(two[name].value - one[name].value, abs=1e-12)
        assert difference.low < difference.value < difference.high
    assert list(found.summary().index) == list(found.differences)


def test_the_better_map_is_named_whichever_comes_first(pair):
    X, Z = pair
    better = X[:, :4]
    assert compare_quality(X, Z, better, n_neighbors=10).better("trustworthiness(10)") == "second"
    assert compare_quality(X, better, Z, n_neighbors=10).better("trustworthiness(10)") == "first"
    assert set(compare_quality(X, Z, better, n_neighbors=10).summary()["better"]) == {"second"}


def test_the_jackknife_leaves_out_every_row_once(rng):
    order = rng.permutation(50)
    parts = list(_parts(order, 30))
    left_out = [np.setdiff1d(np.arange(50), kept) for kept, _ in parts]
    assert sorted(np.concatenate(left_out).tolist()) == list(range(50))
    for (kept, rows), missing in zip(parts, left_out, strict=True):
        assert sorted(kept[rows].tolist()) == sorted(set(order[:30].tolist()) - set(missing.tolist()))


def test_the_half_width_of_a_mean_is_that_of_students_t(rng):
    # Of a mean, leaving out groups of one must give the textbook interval.
    values = rng.normal(size=20)
    without = np.array([np.delete(values, i).mean() for i in range(20)])
    assert_allclose(_half_width(without), t.ppf(0.975, 19) * values.std(ddof=1) / np.sqrt(20), rtol=1e-12)


def decisions(rng, n_times):
    """How often two maps are told apart that are the truth and as much noise."""
    count = 0
    for _ in range(n_times):
        X = rng.normal(size=(80, 2))
        Z1, Z2 = (X + 0.3 * rng.normal(size=X.shape) for _ in range(2))
        count += (
            compare_quality(X, Z1, Z2, n_neighbors=8, n_jobs=1).better("trustworthiness(8)") != "undecided"
        )
    return count / n_times


def test_equally_good_maps_are_told_apart_one_time_in_twenty(rng):
    assert decisions(rng, 60) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_the_test_of_decisions_can_fail(rng, monkeypatch):
    monkeypatch.setattr(map_comparisons, "_half_width", lambda without: 0.3 * _half_width(without))
    assert decisions(rng, 20) > 0.3


def test_sampled_rows_and_bad_input_of_two_maps(pair):
    X, Z = pair
    assert compare_quality(X, Z, X[:, :3], sample=40).n_rows == 40
    with pytest.raises(InvalidInputError, match="Z2 must be a table with as many rows as X, 150, got 149"):
        compare_quality(X, Z, Z[1:])
    with pytest.raises(InvalidInputError, match="X must be a table of at least 10 rows, got 9"):
        compare_quality(X[:9], Z[:9], Z[:9])
    with pytest.raises(InvalidInputError, match="n_neighbors must be at most 140, to leave out"):
        compare_quality(X, Z, Z, n_neighbors=141)


# ---- one map, with rows left out ----------------------------------------------------------------


def test_values_without_a_group_are_those_of_the_other_rows(pair):
    X, Z = pair
    found = jackknife_measures(X, Z, n_neighbors=(5, 30), random_state=3)
    order = np.random.RandomState(3).permutation(len(X))
    for group in (0, 7, 19):
        kept = np.sort(order[np.arange(len(X)) % 20 != group])
        quality = assess(X[kept], Z[kept], n_neighbors=(5, 30))
        for name, values in found.items():
            expected = quality.curves.rnx_area(5) if name == "rnx_local" else quality.measures[name].value
            assert values[group] == pytest.approx(expected, rel=1e-9)


def test_tau_of_some_rows_varies_as_that_of_all_would(rng):
    X = rng.normal(size=(1600, 4))
    some = jackknife_half_width(jackknife_measures(X, X[:, :2], n_neighbors=10)["kendall_tau"])
    many = [kendalltau(pdist(part), pdist(part[:, :2])).statistic for part in rng.normal(size=(40, 400, 4))]
    assert 0.5 < some / (1.96 * np.std(many) / 2) < 2  # four times the rows, half of the deviation


def test_the_local_area_is_that_of_small_neighbourhoods(pair):
    curves = assess(*pair, measures="ranks").curves
    k = np.arange(1, 11)
    assert curves.rnx_area(10) == pytest.approx((curves.r_nx[:10] / k).sum() / (1 / k).sum())
    assert curves.rnx_area(len(curves.r_nx)) == curves.rnx_auc


def test_distances_that_are_held_change_nothing(rng, monkeypatch):
    X = rng.normal(size=(60, 120)).round(1)
    held = map_comparisons.baseline(X, X[:, :2], n_permutations=3)
    monkeypatch.setattr(map_comparisons, "_MOST_HELD", 0)
    again = map_comparisons.baseline(X, X[:, :2], n_permutations=3)
    assert held.p_values == again.p_values
    for name, curves in held.chance.items():
        np.testing.assert_array_equal(curves, again.chance[name])
