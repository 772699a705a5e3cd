"""Scaling: agreement with scikit-learn, laws, and no NaN from any finite table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._errors import InvalidInputError, TableWarning
from isentropic.datasets import load
from isentropic.datasets.scaling import column_means, fit_scale

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
        table = load(frame, scaling=scaling)
    assert_array_equal(table.X[:, 0], np.zeros(7))


def test_a_constant_column_is_as_it_was_without_scaling():
    table = load(pd.DataFrame({"a": [0.1] * 7, "b": range(7)}), scaling="none")
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
@pytest.mark.filterwarnings("ignore::isentropic._errors.TableWarning")
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
