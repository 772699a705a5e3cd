"""Gower's distance: against plain Python, by hand, and as a city block of ranges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from assertions import assert_same_bits
from isentropic import Gower, InvalidInputError, TableWarning
from isentropic.distances import (
    GowerUnits,
    condensed_distances,
    distance_rows,
    distances_between,
    distinct_rows,
    in_units,
    pair_distances,
    select_rows,
)
from naive_gower import naive_gower

pytestmark = pytest.mark.filterwarnings("ignore:Some rows have no column in common")
MIXED = Gower(levels=(1, 4), ordered=(2,), weights=(1.0, 2.0, 0.5, 0.0, 3.0))


def mixed(seed, n, share=0.2):
    """Numbers, levels, ranks, a column of weight 0 and levels that are no whole numbers, with holes."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([
        rng.normal(size=n) * 1e5, rng.integers(0, 4, n), rng.choice([1.0, 10.0, 11.0, 400.0], n),
        rng.normal(size=n), rng.choice([0.1, 0.15, 0.7], n),
    ])  # fmt: skip
    X[rng.random(X.shape) < share] = np.nan
    X[:, 0] = np.where(np.isnan(X[:, [0, 1, 2, 4]]).all(axis=1), 3.0, X[:, 0])
    return X


def plain(X, new=None):
    return naive_gower(X, new, levels=MIXED.levels, ordered=MIXED.ordered, weights=MIXED.weights)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**20), st.integers(2, 30), st.sampled_from([0.0, 0.2, 0.6]))
def test_mixed_rows_are_those_of_plain_python(seed, n, share):
    X = mixed(seed, n, share)
    assert_allclose(distance_rows(X, MIXED).rows(np.arange(n)), plain(X), atol=1e-12)


def test_by_hand():
    """Gower's formula on paper: age 20 to 60, sex, and a hole."""
    X = np.array([[20.0, 0], [60.0, 1], [30.0, 0], [np.nan, 1]])
    D = distance_rows(X, Gower(levels=(1,))).rows(np.arange(4))
    expected = [[0, 1, 0.125, 1], [1, 0, 0.875, 0], [0.125, 0.875, 0, 1], [1, 0, 1, 0]]
    assert D.tolist() == expected


def test_weights_by_hand():
    X = np.array([[20.0, 0], [60.0, 1], [30.0, 0]])
    D = distance_rows(X, Gower(levels=(1,), weights=(3.0, 1.0))).rows(np.array([2]))
    assert_allclose(D, [[3 * 0.25 / 4, (3 * 0.75 + 1) / 4, 0]])


def test_complete_numbers_are_a_city_block_of_ranges(rng):
    X = rng.normal(size=(70, 6)) * 10.0 ** np.arange(6)
    expected = cdist(X / np.ptp(X, axis=0), X / np.ptp(X, axis=0), "cityblock") / 6
    assert_allclose(distance_rows(X, "gower").rows(np.arange(70)), expected, atol=1e-14)


def test_new_rows_are_measured_by_the_ranges_of_the_others():
    X, new = mixed(0, 40), mixed(1, 9) * [3, 2, 1.3, 1, 1]  # beyond ranges, unknown levels, between ranks
    units = GowerUnits.of(X, MIXED)
    D = distances_between(units.rows(new, MIXED), units.rows(X, MIXED), MIXED, 1)
    assert_allclose(D, plain(X, new), atol=1e-12)
    assert D.max() <= 1


def test_rows_in_units_stay_as_they_are():
    rows = in_units(mixed(0, 50), MIXED)
    assert_same_bits(in_units(rows, MIXED), rows)


def test_equal_bits_whatever_measures():
    rows = in_units(mixed(3, 150), MIXED)
    first, second = np.triu_indices(150, 1)
    condensed = condensed_distances(rows, MIXED, 1)
    assert_same_bits(condensed_distances(rows, MIXED, 2), condensed)
    assert_same_bits(pair_distances(rows, MIXED)(first, second), condensed)
    assert_same_bits(pair_distances(rows, MIXED)(second, first), condensed)
    alone = [distances_between(rows[i : i + 1], rows[i + 1 :], MIXED, 1)[0] for i in range(149)]
    assert_same_bits(np.concatenate(alone), condensed)
    some = np.array([7, 3, 120])
    side = select_rows(distance_rows(rows, MIXED), some)
    assert_same_bits(side.rows(np.arange(3)), distances_between(rows[some], rows[some], MIXED, 1))


def test_equal_rows_have_equal_holes():
    rows = in_units(np.array([[1, np.nan], [1, 2], [1, np.nan], [3, 2], [1, 2]]), "gower")
    assert distinct_rows(rows).rows.tolist() == [0, 1, 3]


def test_degenerate_columns():
    """A constant one tells no rows apart, one without values is not there."""
    X = np.array([[1.0, 7, np.nan], [2.0, 7, np.nan], [3.0, 7, np.nan]])
    assert distance_rows(X, "gower").rows(np.array([0])).tolist() == [[0.0, 0.25, 0.5]]
    assert GowerUnits.of(X, "gower").rows(np.array([[1.0, 9, 4]]), "gower")[0, 1] == 0


def test_a_row_without_values_is_refused():
    with pytest.raises(InvalidInputError, match=r"Row 1 of X must be a row with a value in some column"):
        distance_rows(np.array([[1.0, 2], [np.nan, np.nan]]), "gower")


def test_rows_without_a_common_column_are_told():
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]])
    with pytest.warns(TableWarning, match="no column in common"):
        side = distance_rows(X, "gower")
    assert side.rows(np.array([0])).tolist() == [[0.0, 1.0, 1.0]]


@pytest.mark.parametrize(
    ("metric", "match"),
    [
        (Gower(levels=(5,)), "levels of Gower must be a tuple of numbers of columns"),
        (Gower(levels=[0]), "levels of Gower must be a tuple"),
        (Gower(levels=(0,), ordered=(0,)), "ordered of Gower must be other columns than its levels"),
        (Gower(weights=(1.0,)), "weights of Gower must be 2 numbers of at least 0"),
        (Gower(weights=(0.0, 0.0)), "weights of Gower must be 2 numbers"),
        (Gower(weights=(1.0, -1.0)), "weights of Gower must be 2 numbers"),
    ],
)
def test_bad_columns(metric, match):
    with pytest.raises(InvalidInputError, match=match):
        distance_rows(np.ones((3, 2)), metric)


def test_infinite_numbers_are_no_holes():
    with pytest.raises(InvalidInputError, match="finite everywhere"):
        distance_rows(np.array([[1.0], [np.inf]]), "gower")
