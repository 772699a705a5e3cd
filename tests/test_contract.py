"""scikit-learn's estimator checks, strictly, for every class; what every method documents, and pandas."""

import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import cases
import laws
from isentropic import Isomap, KernelPCA, Knn, ProbabilisticPCA, make
from isentropic._core.errors import IsentropicWarning
from supervised_stub import stub_in_registry  # noqa: F401 - a fixture

# Every class once, by the first line of the registry that has it, and the ways in that a fit can take; other
# variants are held to the laws instead.
CLASSES = dict(reversed([(method.load(), name) for name, method in cases.METHODS_AND_STUB.items()]))
CHECKED = [name for name in CLASSES.values() if not cases.lacking(name)]
WAYS = [
    Isomap(metric="precomputed"),
    Isomap(n_landmarks=5),
    Isomap(neighbors=Knn(5, approximate=True)),
    KernelPCA(kernel="precomputed"),
    ProbabilisticPCA(missing="em"),
]
ESTIMATORS = [*map(cases.made, CHECKED), *WAYS]
# The published descent or weights, kept for reproduction, are one more; so is the weight of given classes.
MOST_PARAMETERS = {"sdd": 11, "multi-sdd": 11, "t-sne": 11, "umap": 12, "trimap": 11}


# The checks have ten rows, far apart: our own warnings about such data have tests of their own.
@pytest.mark.filterwarnings(f"ignore::{IsentropicWarning.__module__}.{IsentropicWarning.__name__}")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: {}, xfail_strict=True)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", [*cases.NAMES, *cases.GIVEN, *cases.VARIANTS])
def test_no_tag_dodges_a_check(name):
    tags = get_tags(cases.case(name).estimator)
    assert [tags.non_deterministic, tags._skip_test, tags.no_validation] == [False, False, False]


@pytest.mark.parametrize("name", cases.NAMES)
def test_constructors_take_few_parameters_and_document_each(name):
    estimator = make(name)
    parameters = estimator.get_params()
    assert len(parameters) <= MOST_PARAMETERS.get(name, 10)
    for parameter in parameters:
        assert f"\n    {parameter} : " in type(estimator).__doc__


@pytest.mark.parametrize("name", cases.NAMES)
def test_fitted_attributes_are_the_documented_ones(name):
    fitted = cases.case(name).fitted
    documented = type(fitted).__doc__.split("Attributes\n")[1].split("References\n")[0]
    for attribute in vars(fitted):
        if attribute.endswith("_") and not attribute.startswith("_"):
            assert f"\n    {attribute} : " in documented


@pytest.mark.parametrize("name", cases.NAMES)
def test_pandas_in_and_out(name):
    pd = pytest.importorskip("pandas")
    estimator = clone(cases.case(name).estimator).set_output(transform="pandas")
    n_rows = 60 if "max_epochs" in estimator.get_params() else 40  # networks warn of fewer than 50
    X = pd.DataFrame(laws.X[:n_rows], columns=["a", "b", "c"])
    Z = estimator.fit_transform(X, laws.classes_of(X))
    prefix = type(estimator).__name__.lower()
    assert list(Z.columns) == [f"{prefix}0", f"{prefix}1"]
    assert list(Z.index) == list(X.index)
    assert list(estimator.feature_names_in_) == ["a", "b", "c"]
