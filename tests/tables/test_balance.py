"""Weights that balance columns, shares of the distance, and a direction that all columns share."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic import Gower, InvalidInputError
from isentropic.datasets import Preparation, load
from isentropic.distances import distances_between, in_units
from isentropic.tables.prepare.column_scaling import (
    balancing_weights,
    common_factor,
    mean_differences,
    shares_by_column,
)
from naive_gower import naive_gower

RNG = np.random.default_rng(3)
N = 40
GRADES = pd.CategoricalDtype(["low", "middle", "high"], ordered=True)


def mixed() -> pd.DataFrame:
    """A number, rare and frequent levels, an order, a constant; holes in two columns."""
    frame = pd.DataFrame({
        "size": RNG.normal(size=N),
        "rare": np.where(np.arange(N) < 3, "yes", "no"),
        "place": RNG.choice(list("abcd"), N),
        "grade": pd.Series(RNG.choice(["low", "middle", "high"], N)).astype(GRADES),
        "same": 7.0,
    })  # fmt: skip
    frame.loc[[1, 5], "size"] = np.nan
    frame.loc[[2, 30], "place"] = None
    return frame


def naive_means(X, metric):
    """Of each column, the mean of Gower's distance of that column alone over pairs that both have it."""
    pairs = [(a, b) for a in range(len(X)) for b in range(a)]
    means = []
    for j in range(X.shape[1]):
        alone = [float(i == j) for i in range(X.shape[1])]
        D = naive_gower(X, levels=metric.levels, ordered=metric.ordered, weights=alone)
        means.append(np.mean([D[a, b] for a, b in pairs if not np.isnan(X[a, j] + X[b, j])]))
    return np.array(means)


def test_mean_differences_are_those_of_all_pairs():
    table = load(mixed(), metric="gower", keep="same")
    assert_allclose(mean_differences(table.X, table.metric), naive_means(table.X, table.metric), rtol=1e-12)


def test_mean_differences_of_huge_numbers_are_finite():
    X = np.array([[-1.7e308], [0.0], [1.7e308]])
    assert_allclose(mean_differences(X, Gower()), [2 / 3])


def test_mean_differences_of_the_least_numbers_are_those_of_two_values():
    least = np.nextafter(0.0, 1.0)
    assert_allclose(mean_differences(np.array([[least], [0.0], [0.0]]), Gower()), [2 / 3])


def test_every_column_has_the_same_mean_and_constants_have_none():
    table = load(mixed(), metric="gower", keep="same")
    weighted = np.array(table.metric.weights) * naive_means(table.X, table.metric)
    assert_allclose(weighted[:4], weighted[0])
    assert weighted[4] == 0
    assert np.mean(table.metric.weights) == pytest.approx(1.0)
    assert list(shares_by_column(table).values()) == pytest.approx([0.25] * 4 + [0.0])


def test_weights_multiply_a_columns_share():
    frame = mixed().drop(columns="same")
    for metric, options in (("gower", {}), ("euclidean", {"missing": "median"})):
        table = load(frame, metric=metric, weights={"rare": 2.0, "size": 0.5}, **options)
        shares = shares_by_column(table)
        assert shares == pytest.approx(
            {"size": 0.5 / 4.5, "rare": 2 / 4.5, "place": 1 / 4.5, "grade": 1 / 4.5}
        )


@pytest.mark.filterwarnings("ignore::isentropic.TableWarning")
def test_new_rows_are_weighed_as_the_fitted_ones():
    frame = mixed()
    for options in ({"metric": "gower"}, {"missing": "median"}):
        table = load(frame, weights={"size": 3.0}, **options)
        prepared = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
        new = load(frame[:7], preparation=prepared)
        assert new.metric == table.metric
        assert prepared.weights == table.preparation.weights
        assert_array_equal(new.X, table.X[:7])


def test_equal_columns_need_no_balance_and_all_constant_ones_have_no_weights():
    X = np.repeat(RNG.normal(size=(9, 1)), 3, axis=1)
    assert balancing_weights(X, Gower(), [1.0] * 3) == pytest.approx((1.0, 1.0, 1.0))
    assert balancing_weights(np.ones((5, 2)), Gower(), [1.0, 1.0]) is None


def test_a_balanced_distance_is_gowers_with_those_weights():
    table = load(mixed(), metric="gower", keep="same")
    rows = in_units(table.X, table.metric)
    given = {"levels": table.metric.levels, "ordered": table.metric.ordered, "weights": table.metric.weights}
    assert_allclose(
        distances_between(rows, rows, table.metric, None), naive_gower(table.X, **given), atol=1e-9
    )


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ({"sise": 1.0}, "weights must be a column of .*'size'"),
        ({"size": 0.0}, "weight of 'size' must be a positive number, got 0.0. Leave a column out with drop="),
        ({"size": "2"}, "weight of 'size' must be a positive number, got '2'"),
        ([1.0], "weights must be a mapping"),
    ],
)
def test_wrong_weights_are_refused(weights, match):
    with pytest.raises(InvalidInputError, match=match):
        load(mixed(), metric="gower", keep="same", weights=weights)


def test_damaged_weights_of_a_preparation_are_refused():
    data = load(mixed(), metric="gower", keep="same").preparation.to_json()
    for wrong in ([1.0], [-1.0, *data["weights"][1:]], [0.0] * 5, "many"):
        with pytest.raises(InvalidInputError, match="weights must be"):
            Preparation.from_json({**data, "weights": wrong})


def test_shares_are_those_of_the_variance():
    X = RNG.normal(size=(50, 3)) * [1.0, 2.0, 3.0]
    table = load(pd.DataFrame(X, columns=list("abc")), scaling="none")
    variances = X.var(axis=0)
    assert list(shares_by_column(table).values()) == pytest.approx(list(variances / variances.sum()))
    X[::5, 1] = np.nan
    table = load(pd.DataFrame(X, columns=list("abc")), scaling="none", missing="keep")
    variances = np.nanvar(X, axis=0)
    assert list(shares_by_column(table).values()) == pytest.approx(list(variances / variances.sum()))


def test_shares_beside_missing_values_and_the_largest_number_are_finite():
    frame = pd.DataFrame({"large": [0.3, 1.7e308, 0.1, 0.3], "holed": [1.0, 2.0, np.nan, 5.0]})
    shares = shares_by_column(load(frame, scaling="none", missing="keep"))
    assert shares == pytest.approx({"large": 1.0, "holed": 0.0})


def test_a_common_factor_is_the_first_principal_component():
    size = RNG.normal(size=(60, 1))
    X = size @ np.array([[3.0, 100.0, 0.2, 1.0]]) + RNG.normal(size=(60, 4)) * [0.3, 10.0, 0.02, 0.1]
    found = common_factor(X)
    values = np.linalg.eigvalsh(np.corrcoef(X.T))
    assert found.share == pytest.approx(values[-1] / 4)
    assert (found.same_sign, found.n_columns) == (True, 4)
    X[:, 2] *= -1
    assert common_factor(X).share == pytest.approx(found.share)
    assert not common_factor(X).same_sign
    wide = common_factor(X[:3])
    assert wide.share == pytest.approx(np.linalg.eigvalsh(np.corrcoef(X[:3].T))[-1] / 4)


def test_few_or_constant_columns_have_no_common_factor():
    X = RNG.normal(size=(20, 3))
    assert common_factor(X[:, :2]) is None
    assert common_factor(np.c_[X[:, :2], np.ones(20)]) is None
    assert common_factor(np.full((20, 4), 0.1)) is None
    assert common_factor(X)
