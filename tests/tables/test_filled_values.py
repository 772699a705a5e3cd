"""Missing values filled in: medians with a flag, and factors of the other columns."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import Preparation, load


@pytest.fixture
def gaps() -> pd.DataFrame:
    return pd.DataFrame(
        {"age": [1.0, np.nan, 3.0, 8.0], "town": ["x", "y", None, "y"], "full": [1.0, 2.0, 3.0, 5.0]}
    )


def through_json(preparation: Preparation) -> Preparation:
    return Preparation.from_json(json.loads(json.dumps(preparation.to_json())))


# ---- medians and flags -------------------------------------------------------------------------


def test_medians_and_flags_before_scaling(gaps):
    table = load(gaps, missing="median", scaling="none")
    assert table.feature_names == ("age", "age=(missing)", "town=x", "town=y", "town=(missing)", "full")
    assert_array_equal(table.X[:, 0], [1, 3, 3, 8])
    assert_array_equal(table.X[:, 1], [0, 1, 0, 0])
    assert_array_equal(table.X[:, 2:5], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])


def test_a_level_of_the_name_of_the_flag_is_another_feature():
    table = load(pd.DataFrame({"a": ["(missing)", None, "x"], "b": [1.0, 2.0, 4.0]}), missing="median")
    assert table.feature_names == ("a=(missing)", "a=x", "a=(no value)", "b")


def test_missing_is_one_more_level_of_a_text_column(gaps):
    flagged = load(gaps[["town"]], missing="median")
    named = load(gaps[["town"]].fillna("~"))
    assert_allclose(flagged.X, named.X, rtol=1e-15)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=3, max_size=30),
    st.integers(1, 20),
)
def test_value_and_flag_together_have_the_variance_of_one_column(values, n_holes):
    frame = pd.DataFrame({"a": [*values, *[np.nan] * n_holes], "b": np.arange(len(values) + n_holes) % 7.0})
    table = load(frame, missing="median")
    assert_allclose(table.X[:, :2].var(axis=0).sum(), 1.0, rtol=1e-9)


def test_a_rare_hole_throws_no_row_out_of_the_map():
    """One hole in 1,000 rows lies no farther from the rest than two rows from each other."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(1_000, 2)))
    frame.iloc[7, 0] = np.nan
    table = load(frame, missing="median")
    assert abs(table.X[7, 1] - table.X[0, 1]) == pytest.approx(np.sqrt(2), rel=0.01)


def test_known_values_that_are_constant_leave_the_flag():
    frame = pd.DataFrame({"a": [2.0, 2.0, np.nan, 2.0], "b": [1.0, 2.0, 3.0, 4.0]})
    table = load(frame, missing="median")
    assert_array_equal(table.X[:, 0], 0.0)
    assert_allclose(table.X[:, 1].std(), 1.0)


def test_minmax_keeps_a_column_and_its_flag_within_one(gaps):
    X = load(gaps, missing="median", scaling="minmax").X
    for columns in (slice(0, 2), slice(2, 5)):
        distances = np.linalg.norm(X[:, None, columns] - X[None, :, columns], axis=2)
        assert distances.max() <= 1 + 1e-12


@pytest.mark.parametrize("scaling", ["standard", "minmax", "robust", "none"])
def test_new_rows_get_the_same_medians_and_flags(gaps, scaling):
    table = load(gaps, missing="median", scaling=scaling)
    prepared = through_json(table.preparation)
    for row in range(len(gaps)):
        assert_array_equal(load(gaps[row : row + 1], preparation=prepared).X, table.X[row : row + 1])


def test_a_complete_column_has_no_flag_for_new_holes(gaps):
    table = load(gaps, missing="median", scaling="none")
    with pytest.warns(TableWarning, match="were complete in the fitted table have missing values: 'full'"):
        new = load(gaps.assign(full=np.nan), preparation=table.preparation)
    assert_array_equal(new.X[:, 5], 2.5)


def test_a_rule_that_was_not_fitted_is_refused(gaps):
    by_mean = load(gaps, missing="mean").preparation
    with pytest.raises(
        InvalidInputError,
        match=r"missing must be one of raise, drop, mean, keep, got 'median'.*had missing='mean'",
    ):
        load(gaps, preparation=by_mean, missing="median")
    with pytest.raises(InvalidInputError, match="one of raise, drop, keep, median, got 'mean'"):
        load(gaps, preparation=load(gaps, missing="median").preparation, missing="mean")


def test_the_error_of_new_rows_names_what_their_preparation_can(gaps):
    complete = load(gaps.dropna()).preparation
    with pytest.raises(InvalidInputError) as caught:
        load(gaps, preparation=complete)
    assert str(caught.value).endswith(
        "Choose missing='mean' to fill in the means of the fitted table, or missing='drop' to leave out 2 "
        "rows."
    )


# ---- factors -----------------------------------------------------------------------------------


def planted(n: int = 300, share: float = 0.2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Eight columns of two factors with a little noise, complete, and with holes."""
    rng = np.random.default_rng(3)
    W = rng.normal(size=(2, 8))
    X = rng.normal(size=(n, 2)) @ (W / np.linalg.norm(W, axis=0)) + 0.1 * rng.normal(size=(n, 8))
    complete = pd.DataFrame(X, columns=list("abcdefgh"))
    return complete, complete.mask(rng.random(X.shape) < share)


def test_factors_guess_what_the_other_columns_tell():
    complete, holes = planted()
    with pytest.warns(TableWarning, match=r"by 2 factors. .* off by 0.1\d?, and by (0.9\d?|1) if the"):
        table = load(holes, missing="ppca")
    scale, lost = table.preparation.scale, holes.isna().to_numpy()
    truth = (complete.to_numpy() - scale.centre) / scale.scale
    error = np.sqrt(np.mean((table.X - truth)[lost] ** 2))
    assert error < 0.2 < 0.8 < np.sqrt(np.mean(truth[lost] ** 2))
    assert_array_equal(table.X[~lost], load(holes, missing="keep").X[~lost])


def test_factors_agree_with_probabilistic_pca():
    """The map of probabilistic PCA is the mean of z, from which the guesses come."""
    from isentropic import ProbabilisticPCA

    _, holes = planted()
    with pytest.warns(TableWarning, match="guessed"):
        table = load(holes, missing="ppca")
    filled, prepared = table.X, table.preparation
    kept = load(holes, missing="keep").X
    model = ProbabilisticPCA(n_components=len(prepared.factors.loadings.T), missing="em").fit(kept)
    spread = np.sqrt(model.explained_variance_ - model.noise_variance_)
    guesses = model.mean_ + (model.embedding_ * spread) @ model.components_
    lost = np.isnan(kept)
    assert_allclose(filled[lost], guesses[lost], atol=0.05)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "robust", "none"])
def test_new_rows_are_filled_as_the_first(scaling):
    _, holes = planted(60)
    with pytest.warns(TableWarning, match="guessed"):
        table = load(holes, missing="ppca", scaling=scaling)
    prepared = through_json(table.preparation)
    assert_array_equal(load(holes[:9], preparation=prepared).X, table.X[:9])
    assert_array_equal(load(holes[4:5], preparation=prepared).X, table.X[4:5])


def test_a_complete_table_has_factors_for_new_rows():
    complete, holes = planted(100)
    table = load(complete, missing="ppca")
    assert_array_equal(table.X, load(complete).X)
    new = load(holes, preparation=table.preparation).X
    assert np.sqrt(np.mean((new - table.X)[holes.isna().to_numpy()] ** 2)) < 0.2


def test_levels_and_rows_without_any_value_are_filled():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, np.nan], "town": ["x", "x", None, "y", "y", None]})
    with pytest.warns(TableWarning, match="guessed"):
        table = load(frame, missing="ppca")
    assert np.isfinite(table.X).all()
    assert_allclose(table.X[5], table.preparation.factors.mean, atol=1e-12)


def test_one_column_tells_nothing_of_itself():
    with pytest.raises(InvalidInputError, match="at least 2 features for missing='ppca', got 1"):
        load(pd.DataFrame({"a": [1.0, np.nan, 3.0]}), missing="ppca")


def test_many_rows_are_drawn_with_a_value_for_every_column():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=12_000), "b": rng.normal(size=12_000), "rare": np.nan})
    frame.loc[[11, 4_000], "rare"] = [1.0, 2.0]
    with pytest.warns(TableWarning, match="guessed"):
        assert np.isfinite(load(frame, missing="ppca").X).all()
