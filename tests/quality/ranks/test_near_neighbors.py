"""Near neighbors: neighbors on the map that are close in the data too, by plain loops and by laws."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import scale

from assertions import assert_same_bits
from isentropic._core.errors import InvalidInputError
from isentropic.quality import (
    Quality,
    assess,
    baseline,
    compare_quality,
    distance_rows,
    near_neighbor_share,
)
from isentropic.quality.inputs import both_sides
from isentropic.quality.map_comparisons import jackknife_measures
from isentropic.quality.ranks.rank_curves import Curves, row_values
from isentropic.quality.ranks.rank_sums import rank_sums
from isentropic.quality.sampling import half_width
from naive import distances
from naive_near import naive_near_counts, naive_near_share

SETTINGS = settings(max_examples=15)


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(40, 4)) * [3, 2, 1, 0.5]
    return X, X[:, :2] + 0.3 * rng.normal(size=(40, 2))


def shares(found):
    return found.share, found.chance, found.corrected


def assert_matches_plain_loops(quality, D, E):
    curves, n = quality.curves, len(D)
    for k in range(1, n):
        share, chance, corrected = naive_near_share(D, E, k)
        found = curves.near_share[k - 1], curves.near_chance[k - 1]
        assert_allclose(found, (share, chance), rtol=1e-12, err_msg=f"k = {k}")
        if k < n - 1:
            assert_allclose(curves.near_neighbors[k - 1], corrected, atol=1e-11, err_msg=f"k = {k}")
    assert len(curves.near_neighbors) == n - 2


# ---- against plain loops -----------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 4, 7, 25])
@pytest.mark.parametrize("decimals", [0, 12])  # with many ties, and without
def test_every_k_matches_plain_loops(rng, n, decimals):
    X, Z = rng.normal(size=(n, 3)).round(decimals), rng.normal(size=(n, 2)).round(decimals)
    quality = assess(X, Z, measures="ranks")
    assert_matches_plain_loops(quality, distances(X), distances(Z))


def test_the_comparison_with_plain_loops_can_fail(pair):
    X, Z = pair
    with pytest.raises(AssertionError, match="k = 1"):
        assert_matches_plain_loops(assess(Z, X, measures="ranks"), distances(X), distances(Z))


@pytest.mark.parametrize("k", [1, 6, 39])
@pytest.mark.parametrize("radius", [0.5, 1.5, 3.0])
def test_the_function_matches_plain_loops_row_by_row(pair, k, radius):
    found = near_neighbor_share(*pair, n_neighbors=k, radius=radius)
    D, E = (distances(side) for side in pair)
    counts = naive_near_counts(D, E, k, radius)
    assert_array_equal(found.rows, counts[:, 0] / k)
    assert_array_equal(found.row_chance, counts[:, 1] / 39)
    assert_allclose(shares(found), naive_near_share(D, E, k, radius), rtol=1e-12)
    assert (found.n_neighbors, found.radius) == (k, radius)


def city_block(x, y):
    return np.abs(x - y).sum()


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "sparse cosine", "precomputed", city_block])
def test_every_metric_is_one_of_given_distances(pair, metric):
    X, Z = pair
    table, name = (csr_array(X), "cosine") if metric == "sparse cosine" else (X, metric)
    if metric == "precomputed":
        table = distances(X)
    D = distance_rows(table, name).rows(np.arange(len(X)))
    found = assess(table, Z, metric=name, measures="ranks", n_neighbors=(3, 7))
    assert_matches_plain_loops(found, D, distances(Z))
    alone = near_neighbor_share(table, Z, metric=name, n_neighbors=7)
    assert_array_equal(alone.rows, found.near_neighbors[:, 1])


def test_gower_distances_with_missing_values(rng):
    X, Z = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    D = distance_rows(X, "gower").rows(np.arange(30))
    assert_matches_plain_loops(assess(X, Z, metric="gower", measures="ranks"), D, distances(Z))


# ---- laws --------------------------------------------------------------------------------------


@given(st.integers(4, 40), st.integers(1, 3), st.integers(0, 2**32 - 1))
@SETTINGS
def test_a_perfect_map_has_near_neighbors_only_in_any_dimension(n, m, seed):
    # Without the k-th distance as a floor a perfect map of a line would have a share of 0.8.
    X = np.random.default_rng(seed).normal(size=(n, m))
    found = assess(X, -5.0 * X, measures="ranks")
    assert (found.curves.near_share == 1.0).all()
    assert (found.near_neighbors == 1.0).all()


def test_numbers_on_a_grid_do_not_depend_on_the_unit():
    X, Z = np.arange(30.0)[:, None], np.random.default_rng(0).permutation(30)[:, None]
    expected = assess(X, Z, measures="ranks").curves
    for unit in (0.1, 1 / 3, 1e-200, 7e150):  # equal distances then differ in their last bits
        found = assess(unit * X, Z, measures="ranks").curves
        assert_same_bits(found.near_share, expected.near_share)
        assert_same_bits(found.near_chance, expected.near_chance)


def test_more_rows_are_near_within_a_larger_radius(pair):
    radii = (0.01, 1.0, 1.5, 2.0, 100.0)
    found = [near_neighbor_share(*pair, n_neighbors=3, radius=radius) for radius in radii]
    assert (np.diff([one.rows for one in found], axis=0) >= 0).all()
    assert (np.diff([one.row_chance for one in found], axis=0) >= 0).all()
    assert found[0].row_chance.tolist() == [3 / 39] * 40  # the three nearest rows alone
    assert found[-1].row_chance.tolist() == [7 / 39] * 40  # the nearest fifth
    assert found[1].chance < found[3].chance


def test_random_neighbors_are_at_chance_level(rng):
    X, Z = rng.normal(size=(500, 3)), rng.normal(size=(500, 2))
    found = near_neighbor_share(X, Z)
    assert abs(found.corrected) < 0.02
    assert 0.01 < found.chance < 0.2


def test_neighbors_at_distance_0_leave_room_for_copies_only():
    X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    Z = np.random.default_rng(0).permutation(12)[:, None]
    found = near_neighbor_share(X, Z, n_neighbors=3)
    assert found.row_chance.tolist() == [3 / 11] * 12
    nearest = np.argsort(distances(Z) + 100.0 * np.eye(12), axis=1, kind="stable")[:, :3]
    assert_array_equal(found.rows, (X[nearest, 0] == X).mean(axis=1))


def test_all_rows_equal_are_all_near():
    Z = np.random.default_rng(0).normal(size=(8, 2))
    with pytest.warns(UserWarning, match="All rows of X are equal"):
        found = near_neighbor_share(np.ones((8, 3)), Z, n_neighbors=2)
    assert shares(found) == (1.0, 1.0, 0.0)


def test_the_worst_map_reaches_the_end_of_the_range():
    # Two groups far apart, each row among the other one: no neighbor is near.
    X = np.repeat([0.0, 100.0], 10)[:, None] + np.random.default_rng(0).normal(size=(20, 1))
    apart = np.abs(X - X.T)
    inside_out = np.where(np.eye(20) > 0, 0.0, apart.max() + 1.0 - apart)
    found = assess(X, distance_rows(inside_out, "precomputed"), n_neighbors=9, measures="ranks")
    assert (found.near_neighbors == 0).all()
    assert found.measures["near_neighbors(9)"].value == pytest.approx(-9 / 10)  # all of 10 far rows, less one
    assert found.measures["near_neighbors(9)"].range[0] == pytest.approx(-10 / 9)


# ---- samples, intervals, other maps ------------------------------------------------------------


def test_a_sample_has_an_interval_around_the_value_of_all_rows(rng):
    X = rng.normal(size=(1500, 5))
    whole, part = (
        assess(X, X[:, :2], sample=sample, n_neighbors=10, measures="ranks") for sample in (None, 300)
    )
    for name in ("near_neighbors", "near_share", "near_chance"):
        value, estimate = whole.at(10)[name], part.at(10)[name]
        assert value.exact
        assert estimate.low < value.value < estimate.high
        assert estimate.high - estimate.low < 0.1
    assert part.measures["near_neighbors(10)"] == part.at(10)["near_neighbors"]


def test_intervals_of_the_corrected_share_hold_the_truth_about_95_times_of_100(rng):
    X = rng.normal(size=(800, 4)) * [3, 1, 1, 1]
    whole = rank_sums(*both_sides(X, X[:, :2]), (10,))
    truth = Curves.of(whole).near_neighbors[9]
    hits = []
    for _ in range(300):
        drawn = rng.permutation(800)[:150]
        part = replace(whole, rows=drawn, terms=whole.terms[drawn], close=whole.close[drawn])
        column = row_values(part)["near_neighbors"][:, 0]
        hits.append(abs(column.mean() - truth) <= half_width(column, 800))
    assert 0.9 <= np.mean(hits) <= 0.99


def test_what_rows_contribute_adds_up_to_the_curve(pair):
    found = rank_sums(*both_sides(*pair), np.arange(1, 40))
    means = row_values(found)["near_neighbors"].mean(axis=0)
    assert_allclose(means, Curves.of(found).near_neighbors, atol=1e-12)


def test_maps_are_compared_by_it(rng):
    X = rng.normal(size=(200, 4)) * [3, 3, 1, 1]
    found = compare_quality(X, X[:, 2:], X[:, :2], n_neighbors=10)
    assert found.better("near_neighbors(10)") == "second"
    by_chance = baseline(X, X[:, :2], n_neighbors=10, n_permutations=19)
    assert by_chance.p_values["near_neighbors(10)"] == 0.05
    assert abs(by_chance.measures["near_neighbors(10)"].mean()) < 0.02
    assert by_chance.chance["near_neighbors"].shape == (19, 198)
    without = jackknife_measures(X, X[:, :2], n_neighbors=10)["near_neighbors(10)"]
    assert len(without) == 20
    assert abs(without.mean() - found.second["near_neighbors(10)"]) < 0.02


def test_threads_change_no_bit(rng):
    X, Z = rng.normal(size=(300, 6)), rng.normal(size=(300, 2)).round(1)
    one, two = (near_neighbor_share(X, Z, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_same_bits(one.rows, two.rows)
    assert_same_bits(one.row_chance, two.row_chance)
    assert shares(one) == shares(two)


# ---- files, errors -----------------------------------------------------------------------------


def test_json_written_before_this_measure_is_read(pair):
    data = json.loads(assess(*pair, n_neighbors=5).to_json())
    del data["near_neighbors"], data["measures"]["near_neighbors(5)"]
    for name in ("near_share", "near_chance"):
        del data["curves"][name]
    found = Quality.from_json(json.dumps(data))
    assert found.near_neighbors.shape == (0, 0)
    assert "near_neighbors" not in found.at(5)
    assert Quality.from_json(found.to_json()).to_json() == found.to_json()


@pytest.mark.parametrize("n_neighbors", [0, 40, 2.5, (3, 5)])
def test_what_is_no_k_is_refused(pair, n_neighbors):
    with pytest.raises(InvalidInputError, match="n_neighbors must be"):
        near_neighbor_share(*pair, n_neighbors=n_neighbors)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf, "wide"])
def test_what_is_no_radius_is_refused(pair, radius):
    with pytest.raises(InvalidInputError, match="radius must be a positive number"):
        near_neighbor_share(*pair, radius=radius)


# ---- known tables ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "corrected"),
    [
        (lambda: scale(load_wine().data), 0.69),
        (lambda: load_digits().data, 0.36),
        (lambda: scale(load_breast_cancer().data), 0.58),
    ],
)
def test_principal_components_of_known_tables(table, corrected):
    X = table()
    found = near_neighbor_share(X, PCA(2, svd_solver="full").fit_transform(X))
    assert found.corrected == pytest.approx(corrected, abs=0.006)


def test_where_distances_hardly_differ_the_nearest_fifth_is_near(rng):
    X = rng.normal(size=(1000, 50))  # 96% of the rows are at most 1.5 times as far as the nearest ones
    assert near_neighbor_share(X, X[:, :2]).chance == pytest.approx(0.2, abs=0.005)
