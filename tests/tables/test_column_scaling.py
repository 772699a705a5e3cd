"""Scaling: agreement with scikit-learn, laws, and no NaN from any finite table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import load
from isentropic.tables.prepare.column_scaling import column_means, fit_scale

X = np.random.default_rng(0).normal(size=(50, 4)) * [1, 10, 1e-3, 1e6] + [0, 5, 1e3, -1e6]


@pytest.mark.parametrize(
    ("scaling", "scaler"),
    [("standard", "StandardScaler"), ("minmax", "MinMaxScaler"), ("robust", "RobustScaler")],
)
def test_agrees_with_sklearn(scaling, scaler):
    from sklearn import preprocessing

    expected = getattr(preprocessing, scaler)().fit_transform(X)
    assert_allclose(load(pd.DataFrame(X), scaling=scaling).X, expected, atol=1e-9)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "robust"])
def test_units_and_zero_points_do_not_matter(scaling):
    table = load(pd.DataFrame(X), scaling=scaling)
    other = load(pd.DataFrame(3.0 * X - 2.0), scaling=scaling)
    assert_allclose(other.X, table.X, atol=1e-6)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "robust", "none"])
def test_row_order_is_only_row_order(scaling):
    order = np.random.default_rng(1).permutation(len(X))
    table = load(pd.DataFrame(X), scaling=scaling)
    assert_allclose(load(pd.DataFrame(X[order]), scaling=scaling).X, table.X[order], atol=1e-9)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "robust"])
def test_a_constant_column_is_zero_and_named(scaling):
    frame = pd.DataFrame({"a": [0.1] * 7, "b": range(7)})
    with pytest.warns(TableWarning, match="constant columns.*'a'"):
        table = load(frame, scaling=scaling, keep="a")
    assert_array_equal(table.X[:, 0], np.zeros(7))


def test_a_constant_column_is_as_it_was_without_scaling():
    table = load(pd.DataFrame({"a": [0.1] * 7, "b": range(7)}), scaling="none", keep="a")
    assert_array_equal(table.X[:, 0], [0.1] * 7)


def test_robust_names_columns_without_a_quartile_range():
    frame = pd.DataFrame({"a": [0, 0, 0, 0, 0, 0, 8], "b": range(7)})
    with pytest.warns(TableWarning, match="'a' have an interquartile range of 0"):
        table = load(frame, scaling="robust")
    assert_array_equal(table.X[:, 0], frame["a"])


@given(
    values=arrays(np.float64, (6, 2), elements=st.floats(-1e300, 1e300)),
    scaling=st.sampled_from(["standard", "minmax", "robust"]),
)
@pytest.mark.filterwarnings("ignore::isentropic._core.errors.TableWarning")
def test_a_finite_table_stays_finite(values, scaling):
    scale = fit_scale(values, scaling, ["a", "b"])
    assert (scale.scale > 0).all()
    with np.errstate(over="ignore"):  # robust scaling of one outlier may honestly overflow
        scaled = scale.apply(values.copy())
    assert not np.isnan(scaled).any()


def test_a_range_beyond_floats_is_refused():
    frame = pd.DataFrame({"a": [-1.7e308, 1.7e308], "b": [1.0, 2.0]})
    with pytest.raises(InvalidInputError, match="features 'a' must span a finite range for scaling 'minmax'"):
        load(frame, scaling="minmax")


def test_means_do_not_overflow():
    assert_allclose(column_means(np.full((4, 1), 1.5e308)), [1.5e308])


def test_auto_leaves_sets_of_one_unit_as_they_are():
    assert load("builtin:swiss-roll").scaling == load("builtin:digits").scaling == "none"
    assert load("builtin:wine").scaling == "standard"
    assert load("builtin:swiss-roll", scaling="standard").scaling == "standard"


def _squared_gaps(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


@pytest.mark.parametrize("rule", ["standard", "robust"])
@pytest.mark.parametrize("shares", [(50, 50), (98, 2), (40, 30, 20, 9, 1)])
def test_levels_weigh_together_as_one_column(rule, shares):
    """Two rows drawn at random lie as far apart by a column of text as by a standardised number."""
    words = np.repeat([f"level {i}" for i in range(len(shares))], shares)
    table = load(pd.DataFrame({"kind": words}), scaling=rule)
    gaps = _squared_gaps(table.X)
    assert gaps.mean() == pytest.approx(2.0)
    different = words[:, None] != words
    np.testing.assert_allclose(gaps[different], gaps[different][0])  # a rare level is no farther than others


def test_two_even_levels_are_as_far_apart_as_zero_and_one():
    words, bits = np.repeat(["a", "b"], 25), np.repeat([0, 1], 25)
    apart = _squared_gaps(load(pd.DataFrame({"kind": words})).X)
    np.testing.assert_allclose(apart, _squared_gaps(load(pd.DataFrame({"bit": bits})).X), atol=1e-12)


def test_levels_lie_one_apart_between_0_and_1():
    table = load(pd.DataFrame({"kind": ["a", "b", "c", "a"]}), scaling="minmax")
    np.testing.assert_allclose(_squared_gaps(table.X)[0], [0, 1, 1, 0])


def test_levels_with_holes_are_scaled_by_those_that_are_there():
    whole = load(pd.DataFrame({"kind": ["a", "b", "b", "c"], "x": [1.0, 2.0, 3.0, 4.0]}))
    holes = pd.DataFrame({"kind": ["a", "b", None, "b", "c"], "x": [1.0, 2.0, 2.5, 3.0, 4.0]})
    kept = load(holes, missing="keep")
    np.testing.assert_allclose(kept.X[[0, 1, 3, 4], :3], whole.X[:, :3])
    assert np.isnan(kept.X[2, :3]).all()


def test_a_column_of_one_level_is_zero():
    with pytest.warns(TableWarning, match="constant"):
        table = load(pd.DataFrame({"kind": ["a"] * 4, "x": [1.0, 2.0, 3.0, 4.0]}), keep="kind")
    np.testing.assert_array_equal(table.X[:, 0], 0.0)
