"""Selected: scikit-learn's contract, pipelines, new rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from isentropic import ClassicalMDS, Isomap
from isentropic._core.errors import InvalidInputError, IsentropicWarning
from isentropic.meta import Selected


class Fixed(BaseEstimator):
    """A method without transform."""

    def __init__(self, power=1.0):
        self.power = power

    def fit_transform(self, X, y=None):
        return np.sign(X[:, :2]) * np.abs(X[:, :2]) ** self.power


GRID = {"n_neighbors": [3, 5]}


@pytest.mark.filterwarnings(f"ignore::{IsentropicWarning.__module__}.{IsentropicWarning.__name__}")
@parametrize_with_checks(
    [
        Selected(Isomap(), GRID),
        Selected(Isomap(metric="precomputed"), GRID, criterion="kendall_tau"),
    ],
    expected_failed_checks=lambda estimator: {},
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_it_is_the_chosen_estimator(roll):
    X = roll[:250]
    selected = Selected(Isomap(), {"n_neighbors": [5, 10, 60]}).fit(X)
    assert selected.best_params_ == selected.selection_.params
    inner = Isomap(**selected.best_params_).fit(X)
    np.testing.assert_array_equal(selected.embedding_, inner.embedding_)
    np.testing.assert_array_equal(selected.transform(X[:7]), inner.transform(X[:7]))
    assert len(selected.selection_.trials) == 3
    assert selected.get_feature_names_out().tolist() == ["selected0", "selected1"]


def test_in_a_pipeline(roll):
    X = roll[:120] * [1.0, 5.0, 0.1]
    pipeline = make_pipeline(StandardScaler(), Selected(Isomap(), GRID)).fit(X)
    Z = pipeline.transform(X)
    np.testing.assert_allclose(Z, pipeline[-1].embedding_, atol=1e-8)
    pipeline.set_params(selected__estimator__n_components=3)
    assert clone(pipeline).fit_transform(X).shape == (120, 3)


def test_transform_is_there_only_where_the_inner_one_has_it(rng):
    X = rng.normal(size=(30, 2))
    without = Selected(Fixed(), {"power": [0.5, 1.0]}).fit(X)
    assert not hasattr(without, "transform")
    assert without.best_params_ == {"power": 1.0}
    assert hasattr(Selected(ClassicalMDS(), {"n_components": [2]}).fit(X), "transform")


def test_pandas_in_and_out(roll):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(roll[:60], columns=["a", "b", "c"])
    selected = Selected(Isomap(), GRID).set_output(transform="pandas").fit(X)
    assert list(selected.transform(X[:5]).columns) == ["selected0", "selected1"]
    assert list(selected.feature_names_in_) == ["a", "b", "c"]


def test_without_a_grid_neighbours_are_tried(roll):
    selected = Selected(Isomap()).fit(roll[:160])
    tried = [trial.params["n_neighbors"] for trial in selected.selection_.trials]
    assert tried[0] == 5
    assert tried[-1] == 40
    assert 10 in tried
    with pytest.raises(InvalidInputError, match="grid must be given for Fixed"):
        Selected(Fixed()).fit(roll[:30])
