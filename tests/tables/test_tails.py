"""Columns with long tails: which are transformed, by what, how it is said and kept for new rows."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from isentropic import InvalidInputError, TableWarning
from isentropic.datasets import Preparation, load
from isentropic.tables.prepare.tails import TRANSFORMS, Transform, skewness_and_kurtosis, tail_transform

RNG = np.random.default_rng(11)
N = 200
TAIL = np.exp(RNG.normal(size=N) * 1.5 + 3.0)
MONEY = pd.DataFrame({"price": TAIL, "profit": TAIL - 10.0, "age": RNG.normal(50, 10, N)})


def test_moments_are_those_of_scipy():
    for values in (TAIL, -TAIL, RNG.normal(size=30), TAIL * 1e300, TAIL * 1e-300):
        unit = values / np.abs(values).max()
        assert skewness_and_kurtosis(values) == pytest.approx((stats.skew(unit), stats.kurtosis(unit)))
    assert skewness_and_kurtosis(np.full(9, 0.1)) == (0.0, 0.0)


def test_tails_on_both_sides_are_brought_in():
    values = np.sinh(3.0 * stats.norm.ppf(np.linspace(0.001, 0.999, N)))
    assert abs(stats.skew(values)) < 1e-9
    assert tail_transform(values).kind == "asinh"


def test_positive_tails_are_logarithms_others_asinh_and_the_rest_stays():
    assert tail_transform(TAIL) == Transform("log", low=TAIL.min())
    assert tail_transform(TAIL - 10.0).kind == "asinh"
    assert tail_transform(-TAIL).kind == "asinh"
    assert tail_transform(RNG.normal(size=N)) is None
    assert tail_transform(RNG.uniform(size=N)) is None


@pytest.mark.parametrize(
    "values",
    [TAIL[:19], np.where(RNG.random(N) < 0.02, 1.0, 0.0), np.minimum(RNG.geometric(0.5, N), 8)],
    ids=["few rows", "a flag", "few values"],
)
def test_few_rows_and_few_values_say_nothing(values):
    assert tail_transform(values.astype(float)) is None


def test_every_transform_has_words():
    texts = [Transform(kind, low=1.0).text for kind in TRANSFORMS]
    assert texts == ["logarithm", "log(1 + x)", "asinh around the median"]


def test_half_zeros_have_a_transform():
    values = np.where(RNG.random(N) < 0.7, 0.0, TAIL)
    transform = tail_transform(values)
    assert transform.kind == "asinh"
    assert stats.skew(transform.apply(values)) < stats.skew(values)


def test_it_is_said_in_one_line_and_undone():
    with pytest.warns(TableWarning) as caught:
        table = load(MONEY)
    said = [str(one.message) for one in caught]
    assert len(said) == 1
    assert (
        "2 columns with long tails (skewness or kurtosis): rows are compared by the logarithm of 'price' "
        in said[0]
    )
    assert said[0].endswith("of 'profit'. tails='keep' leaves them as they are.")
    logs = np.log(TAIL)
    assert_allclose(table.X[:, 0], (logs - logs.mean()) / logs.std(), atol=1e-12)
    assert_allclose(table.preparation.in_given_units(table.X), MONEY.to_numpy(), rtol=1e-9)
    assert_allclose(table.preparation.in_given_units(table.X[:, 1:2], 1), MONEY[["profit"]], rtol=1e-9)


@pytest.mark.parametrize("options", [{"tails": "keep"}, {"scaling": "standard"}])
def test_what_is_asked_for_is_done(options):
    assert_allclose(load(MONEY, **options).X, stats.zscore(MONEY.to_numpy()), atol=1e-12)


def test_tails_can_be_brought_in_before_any_scaling():
    with pytest.warns(TableWarning, match="long tails"):
        table = load(MONEY, scaling="none", tails="log")
    assert_allclose(table.X[:, 0], np.log(TAIL))


@pytest.mark.filterwarnings("ignore:2 columns with long tails")
def test_new_rows_go_the_same_way():
    for options in ({}, {"metric": "gower"}):
        table = load(MONEY, **options)
        prepared = Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))
        assert prepared.columns == table.preparation.columns
        assert_array_equal(load(MONEY[:5], preparation=prepared).X, table.X[:5])
        new = pd.DataFrame({"price": [-3.0, TAIL.min()], "profit": [0.0, np.inf], "age": [50.0, 50.0]})
        with pytest.warns(TableWarning, match="'price' has 1 value without a logarithm; the smallest number"):
            X = load(new[:1], preparation=prepared).X
        assert X[0, 0] == load(MONEY[np.argmin(TAIL) :][:1], preparation=prepared).X[0, 0]


def test_missing_values_stay_missing():
    frame = MONEY.copy()
    frame.loc[3, "price"] = np.nan
    with pytest.warns(TableWarning, match="long tails"):
        table = load(frame, missing="keep")
    assert_array_equal(np.isnan(table.X), frame.isna())


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"kind": "sqrt"}, "transform must be one of log, log1p, asinh"),
        ({"scale": 0.0}, "scale of a transform must be positive"),
        ({"centre": float("nan")}, "centre of a transform must be a finite number"),
        ({"low": 0.0}, "low of a transform must be at least"),
    ],
)
def test_damaged_transforms_are_refused(wrong, match):
    data = Transform("log", low=2.0).to_json() | wrong
    with pytest.raises(InvalidInputError, match=match):
        Transform.from_json(data)
