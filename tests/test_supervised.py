"""A method that learns from classes: compared, selected, wrapped, on the command line."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks
from typer.testing import CliRunner

import isentropic
import laws
from isentropic import InvalidInputError, ParametricEmbedding, compare, datasets, make, registry
from isentropic._core import state as _state
from isentropic.cli import app
from isentropic.comparison import PRESETS
from isentropic.comparison.presets import methods_of
from isentropic.meta import Selected
from supervised_stub import LINE, ClassMeans, stub_in_registry  # noqa: F401 - a fixture

X = laws.numbers(0, 60)
Y = laws.classes_of(X)


def test_the_line_says_that_the_method_learns_from_y():
    assert make(LINE.name).__sklearn_tags__().target_tags.required
    assert "class-means" in registry.METHODS
    assert LINE.name in methods_of(PRESETS["thorough"], 1000, has_classes=True)
    assert LINE.name not in methods_of(PRESETS["thorough"], 1000, has_classes=False)


@pytest.mark.parametrize("fit", [ClassMeans().fit, ClassMeans().fit_transform])
def test_without_y_it_says_that_it_learns_from_it(fit):
    with pytest.raises(
        InvalidInputError, match="y must be given, because ClassMeans learns from it, got None"
    ):
        fit(X, None)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (Y[:-1], r"y must be one class for each of the 60 rows, got \(59,\)"),
        (X[:, 0], "y must be classes as text or whole numbers, got 'other numbers'"),
        (np.where(X[:, 0] > 0, np.nan, 1.0), "y must be classes as text or whole numbers"),
        (np.stack([Y, Y], axis=1), "y should be a 1d array"),
    ],
)
def test_a_y_that_is_no_list_of_classes_is_refused(y, said):
    with pytest.raises(ValueError, match=said):
        ClassMeans().fit(X, y)


@pytest.mark.parametrize("kind", [str, object, np.int32, np.uint8, float, bool])
def test_classes_keep_their_names_in_a_saved_model(kind, tmp_path, monkeypatch):
    monkeypatch.setitem(_state._registered(), "class-means", "supervised_stub:ClassMeans")
    y = Y.astype(kind) if kind in (str, object) else (X[:, 0] > 0).astype(kind)
    fitted = ClassMeans().fit(X, y)
    assert_array_equal(fitted.classes_, np.unique(y))
    isentropic.save(fitted, tmp_path / "model.isentropic")
    again = isentropic.load(tmp_path / "model.isentropic")
    assert_array_equal(again.classes_, np.unique(y))
    assert_array_equal(again.transform(X), fitted.embedding_)


# ---- compared and selected ---------------------------------------------------------------------


@pytest.mark.parametrize("methods", [["class-means"], {"mine": ClassMeans()}], ids=["line", "estimator"])
def test_a_comparison_gives_it_the_classes(methods):
    (run,) = compare(X, Y, methods, preset="quick", tune=False)
    assert run.reason == ""
    assert_array_equal(run.embedding, ClassMeans(n_jobs=1).fit(X, Y).embedding_)
    (without,) = compare(X, None, methods, preset="quick", tune=False)
    assert "y must be given, because" in without.reason


def test_selection_gives_it_the_classes():
    selected = Selected(ClassMeans(), {"n_components": [1, 2]}, n_jobs=1).fit(X, Y)
    assert [trial.reason for trial in selected.selection_.trials] == ["", ""]
    assert_array_equal(selected.embedding_, ClassMeans(**selected.best_params_).fit(X, Y).embedding_)
    assert_array_equal(selected.transform(X), selected.embedding_)


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
@parametrize_with_checks(
    [
        Selected(ClassMeans(), {"n_components": [1]}, criterion="kendall_tau", n_jobs=1),
        ParametricEmbedding(ClassMeans(1), layers=(4,), max_epochs=2, synthetic=0),
    ],
    expected_failed_checks=lambda estimator: {},
    xfail_strict=True,
)
def test_wrapped_it_keeps_scikit_learns_contract(estimator, check):
    check(estimator)


# ---- command line ------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_the_command_line_gives_it_the_target(tmp_path):
    out = tmp_path / "map.csv"
    found = run("embed", "builtin:iris", "-m", "class-means", "--out", str(out), "--quiet")
    assert found.exit_code == 0, found.output
    iris = datasets.load("builtin:iris")
    given = np.loadtxt(out, delimiter=",", skiprows=1, usecols=(1, 2))
    np.testing.assert_allclose(given, ClassMeans().fit(iris.X, iris.y).embedding_, rtol=1e-12)
    assert "needed" in run("methods", "class-means").output


def test_the_command_line_says_that_a_target_is_missing(tmp_path):
    table = tmp_path / "table.csv"
    np.savetxt(table, X, delimiter=",", header="a,b,c", comments="")
    found = run("embed", str(table), "-m", "class-means", "--out", str(tmp_path / "map.csv"))
    assert found.exit_code == 2
    assert "--target must be given, because class-means learns from it" in found.output
