"""scikit-learn's estimator checks, strictly, for every method and every variant of its input."""

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import laws
from isentropic import METHODS, SDD, Geodesic, Isomap, Knn, Landmarks, Percentile, Radius, make
from isentropic._errors import IsentropicWarning
from supervised_stub import METHODS_AND_STUB, ClassMeans, stub_in_registry  # noqa: F401 - a fixture

VARIANTS = [
    Isomap(metric="precomputed"),
    Isomap(metric="manhattan"),
    Isomap(n_landmarks=5),
    Isomap(n_landmarks=Landmarks(5, "random")),
    Isomap(n_landmarks=5, metric="precomputed"),
    Isomap(neighbors=Knn(5, approximate=True)),
    Isomap(neighbors=Radius(0.5)),
    Isomap(neighbors=Percentile(20.0)),
    Isomap(n_neighbors=2, on_disconnected="largest"),
    Isomap(n_neighbors=2, on_disconnected="inflate"),
    make("classical-mds", metric="precomputed"),
    make("entropic-isomap", n_landmarks=5),
    make("entropic-isomap", divergence="hellinger", regularization="oas"),
    make("entropic-isomap", n_neighbors=2, on_disconnected="largest", regularization="reference"),
    make("entropic-isomap", n_neighbors=4, adaptive=True, root=True),
    make("kde-isomap", n_landmarks=5),
    make("kde-isomap", percentile=30, bandwidth="scott", on_disconnected="largest"),
    make("kde-isomap", bandwidth=0.1, on_disconnected="inflate", root=True),
    make("parameter-free-sdd", metric="precomputed"),
    make("parameter-free-sdd", metric="manhattan"),
    make("parameter-free-sdd", metric=Geodesic(3)),
    make("parameter-free-sdd", pairs=4),
    make("multi-sdd", degrees=(1, 2)),
    SDD(3),
    ClassMeans(),
]
# The published descent, kept for reproduction, is one more; so is the unit of a map.
MOST_PARAMETERS = {"sdd": 11, "multi-sdd": 11, "umap": 11}
ESTIMATORS = [make(name) for name in METHODS] + VARIANTS


# The checks have ten rows, far apart: our own warnings about such data have tests of their own.
@pytest.mark.filterwarnings(f"ignore::{IsentropicWarning.__module__}.{IsentropicWarning.__name__}")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: {}, xfail_strict=True)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_no_tag_dodges_a_check(estimator):
    tags = get_tags(estimator)
    assert [tags.non_deterministic, tags._skip_test, tags.no_validation] == [False, False, False]


@pytest.mark.parametrize("name", METHODS_AND_STUB)
def test_constructors_take_few_parameters_and_document_each(name):
    estimator = make(name)
    parameters = estimator.get_params()
    assert len(parameters) <= MOST_PARAMETERS.get(name, 10)
    for parameter in parameters:
        assert f"\n    {parameter} : " in type(estimator).__doc__


@pytest.mark.parametrize("name", METHODS_AND_STUB)
def test_fitted_attributes_are_the_documented_ones(name):
    X = np.random.default_rng(0).normal(size=(60, 4))
    estimator = laws.fit(make(name), X)
    documented = type(estimator).__doc__.split("Attributes\n")[1].split("References\n")[0]
    for attribute in vars(estimator):
        if attribute.endswith("_") and not attribute.startswith("_"):
            assert f"\n    {attribute} : " in documented


@pytest.mark.parametrize("name", METHODS_AND_STUB)
def test_pandas_in_and_out(name):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])
    estimator = make(name).set_output(transform="pandas")
    Z = estimator.fit_transform(X, laws.classes_of(X))
    prefix = type(estimator).__name__.lower()
    assert list(Z.columns) == [f"{prefix}0", f"{prefix}1"]
    assert list(Z.index) == list(X.index)
    assert list(estimator.feature_names_in_) == ["a", "b", "c"]
