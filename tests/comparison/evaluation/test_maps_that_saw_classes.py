"""Comparisons with methods that learn from classes: the null, who is trusted, and what is recommended."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from isentropic import LDA, Run, compare, config_context, datasets
from isentropic.comparison import verdict
from isentropic.comparison.evaluation import data as classifiers
from isentropic.comparison.evaluation import label_tests
from isentropic.comparison.evaluation.data import Data, classifier_accuracies
from isentropic.comparison.evaluation.fitting import Split

IRIS = datasets.load("builtin:iris")
QUICK = {"preset": "quick", "tune": False}
COPY = 142  # equal to row 101, so that iris has 149 different rows


class Supervised(BaseEstimator):
    """Puts classes apart, and new rows nowhere."""

    def fit_transform(self, X, y):
        if self.fails_with is not None and not np.array_equal(y, self.fails_with[: len(y)]):
            raise ValueError("not these labels")
        return X[:, :2] + 100.0 * np.asarray(y)[:, None]

    fails_with = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class Placing(Supervised):
    def transform(self, X):
        return X[:, :2]


@pytest.fixture(scope="module")
def runs():
    return compare(IRIS.X, IRIS.y, ["pca", "lda"], **QUICK)


def noise(kind, n, m, n_classes):
    random = np.random.default_rng([n, m, n_classes])
    draw = {
        "normal": random.normal,
        "uniform": random.uniform,
        "binary": lambda size: random.integers(0, 2, size),
    }
    return draw[kind](size=(n, m)).astype(float), random.integers(0, n_classes, n)


# ---- what a Run holds --------------------------------------------------------------------------


def test_only_maps_that_saw_the_classes_are_tested(runs):
    pca, lda = runs
    assert (pca.saw_classes, pca.label_test) == (False, None)
    assert lda.saw_classes
    assert len(lda.label_test.null) == 9
    assert lda.label_test.protocol == "honest"
    assert lda.label_test.n_splits == 5
    model, (train, test) = LDA(), (Split.of(IRIS.y, 0).train, Split.of(IRIS.y, 0).test)
    known = KNeighborsClassifier(10).fit(model.fit_transform(IRIS.X[train], IRIS.y[train]), IRIS.y[train])
    assert lda.accuracy[0] == known.score(model.transform(IRIS.X[test]), IRIS.y[test])  # as of any other map
    assert lda.accuracy[1] < lda.accuracy[0] <= lda.accuracy[2] + 1e-9
    assert set(pca.classifiers) == {"k-NN", "QDA", "LDA"}
    assert pca.data_accuracy == pca.classifiers["k-NN"]
    assert lda.warnings == ()
    back = Run.from_json(lda.to_json())
    assert back.label_test == lda.label_test
    assert back.saw_classes


def test_the_standard_preset_permutes_nineteen_times():
    (run,) = compare(IRIS.X[::3], IRIS.y[::3], ["lda"], tune=False)
    assert len(run.label_test.null) == 19


def test_of_many_rows_some_are_drawn_for_the_test(monkeypatch):
    monkeypatch.setattr(label_tests, "MOST_TESTED", 60)
    (run,) = compare(IRIS.X, IRIS.y, ["lda"], **QUICK)
    assert run.label_test.n_fitted == 42
    assert run.label_test.n_scored == 18
    (whole,) = compare(IRIS.X, IRIS.y, {"lda": {"shrinkage": 0.0}}, **QUICK)
    assert run.accuracy == whole.accuracy


def test_a_map_that_places_no_rows_is_not_tested_and_not_trusted():
    X, y = IRIS.X[:, :2], IRIS.y
    (run,) = compare(X, y, {"mine": Supervised()}, **QUICK)
    assert run.label_test is run.accuracy is None
    assert any("could not be tested: estimator must be one that places new rows" in w for w in run.warnings)
    found = verdict([run])
    assert found.ratings[0].labels == "untested"
    assert not found.ratings[0].usable
    assert found.classes == ("Not tested with permuted labels, and so not recommended: mine.",)


def test_a_fit_that_fails_for_permuted_labels_is_told(monkeypatch):
    monkeypatch.setattr(Placing, "fails_with", IRIS.y)
    (run,) = compare(IRIS.X, IRIS.y, {"mine": Placing()}, **QUICK)
    assert not run.failed
    assert any("could not be tested: not these labels" in text for text in run.warnings)


def test_progress_counts_permutations():
    seen = []
    with config_context(progress=lambda *told: seen.append(told)):
        compare(IRIS.X, IRIS.y, ["pca", "lda"], **QUICK)
    done = [count for _, count, _ in seen]
    assert done == sorted(done)
    assert {total for _, _, total in seen} == {done[-1]} == {2 + 2 + 9}
    assert sum(what.startswith("lda: labels permuted") for what, _, _ in seen) >= 9


def test_scores_of_permutations_are_kept_in_the_folder(tmp_path, runs):
    seen = []
    for _ in range(2):
        found = compare(
            IRIS.X, IRIS.y, ["lda"], folder=tmp_path, on_run=lambda run, back: seen.append(back), **QUICK
        )
        assert found[0].label_test == runs[1].label_test
    assert seen == [False, True]
    assert sorted(path.name.rsplit("-", 1)[0] for path in tmp_path.iterdir()) == ["lda", "lda-labels"]


class Complaining(Placing):
    """Warns of every fit."""

    def fit_transform(self, X, y=None):
        warnings.warn(f"of {len(X)} rows", UserWarning, stacklevel=2)
        return X[:, :2]

    def __sklearn_tags__(self):
        return BaseEstimator.__sklearn_tags__(self)


@pytest.mark.parametrize(("rows", "different"), [(150, 149), (60, 60)])
def test_warnings_are_those_of_the_map_and_leak_nowhere(rows, different):
    (run,) = compare(IRIS.X[:rows], IRIS.y[:rows], {"mine": Complaining()}, **QUICK)
    assert run.warnings == (f"of {different} rows",)
    assert run.accuracy is not None


def test_a_half_labelled_table_is_measured_by_its_labelled_rows():
    y = IRIS.y.astype(float)
    y[::3] = np.nan
    lda, le, pca = compare(IRIS.X, y, ["lda", "supervised-le", "pca"], **QUICK)
    assert "y must be" in lda.reason
    rows = (np.arange(150) % 3 > 0) & (np.arange(150) != COPY)
    split = Split.of(IRIS.y[rows], 0)
    train, test = np.flatnonzero(rows)[split.train], np.flatnonzero(rows)[split.test]
    expected = KNeighborsClassifier(10).fit(IRIS.X[train], IRIS.y[train]).score(IRIS.X[test], IRIS.y[test])
    assert pca.classifiers["k-NN"][0] == le.classifiers["k-NN"][0] == expected
    assert pca.accuracy[0] > 0.8
    assert (le.label_test.n_fitted, le.label_test.n_scored) == (69, 30)
    assert verdict([le]).ratings[0].labels == "real"


# ---- classifiers -------------------------------------------------------------------------------


def test_classifiers_on_the_table_agree_with_scikit_learn():
    split = Split.of(IRIS.y, 0)
    train, test = split.train, split.test
    found = classifier_accuracies(IRIS.X, IRIS.y, split)
    for name, model in (
        ("k-NN", KNeighborsClassifier(10)),
        ("QDA", QuadraticDiscriminantAnalysis()),
        ("LDA", LinearDiscriminantAnalysis()),
    ):
        expected = model.fit(IRIS.X[train], IRIS.y[train]).score(IRIS.X[test], IRIS.y[test])
        assert found[name][0] == pytest.approx(expected, abs=0.05 if name == "QDA" else 1e-12)


def test_constant_columns_small_classes_and_missing_ones_have_classifiers_too(rng):
    X, y = rng.normal(size=(60, 5)), np.repeat([0, 1, 7], [30, 29, 1])
    X[:, 2] = 1.0
    assert set(classifier_accuracies(X, y, Split.of(y, 0))) == {"k-NN", "QDA", "LDA"}


def test_a_classifier_that_would_take_too_long_is_left_out(monkeypatch):
    split = Split.of(IRIS.y, 0)
    monkeypatch.setattr(classifiers, "_MOST_CELLS", 1)
    assert set(classifier_accuracies(IRIS.X, IRIS.y, split)) == {"k-NN", "LDA"}
    monkeypatch.setattr(classifiers, "_MOST_WORK", 1)
    assert set(classifier_accuracies(IRIS.X, IRIS.y, split)) == {"k-NN"}


# ---- verdicts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "n", "m", "n_classes"), [("normal", 60, 2, 2), ("uniform", 80, 4, 3), ("binary", 90, 12, 5)]
)
def test_no_supervised_map_of_noise_is_trusted(kind, n, m, n_classes):
    X, y = noise(kind, n, m, n_classes)
    found = verdict(compare(X, y, {"lda": {}, "placing": Placing()}, tune=False))
    assert not any(rating.usable for rating in found.ratings)
    assert found.effects == ("lda", "placing")
    assert found.recommended is None


def test_a_faithful_drawing_of_noise_is_an_effect_of_the_labels():
    X, y = noise("normal", 60, 2, 3)
    found = verdict(compare(X, y, ["lda"], **QUICK))
    assert found.recommended is None
    assert "what they show of the classes is an effect of the labels" in found.headline
    assert found.classes[0].startswith("An effect of the labels: LDA. Held-out rows are classified no better")
    both = verdict(compare(X, y, ["lda", "pca"], **QUICK))
    assert both.recommended == both.shown == 1


def test_classes_that_are_there_are_not_accused(runs):
    found = verdict(runs)
    assert found.effects == ()
    assert [rating.labels for rating in found.ratings] == ["", "real"]
    assert all(rating.usable for rating in found.ratings)
    (said,) = found.classes
    assert said.startswith("LDA saw the classes and tells them apart: 98% of held-out rows are classified")
    assert "On the table itself, without a map: k-NN 96%, QDA 100%, LDA 100%." in said
    assert found.lines[-1] == said


def test_a_map_that_saw_the_classes_is_recommended_only_alone(runs):
    pca, lda = runs
    better = replace(lda, quality=pca.quality, embedding=pca.embedding, baseline=pca.baseline)
    assert verdict([better, pca]).recommended == 1
    assert verdict([better]).recommended == 0
    worthless = replace(pca, baseline={"rnx_auc": (0.99, 0.99)})
    assert verdict([better, worthless]).recommended == 0


def test_an_effect_is_never_recommended(runs):
    pca, lda = runs
    reached = replace(lda.label_test, observed=lda.label_test.highest)
    effect = replace(lda, quality=pca.quality, embedding=pca.embedding, label_test=reached)
    assert verdict([effect]).recommended is None
    assert verdict([effect]).ratings[0].labels == "effect"
    assert "It shows an effect of the labels: " in verdict([effect]).ratings[0].text


# ---- maps that see no classes -------------------------------------------------------------------


def test_umap_in_a_comparison_sees_no_classes():
    (told,) = compare(IRIS.X, IRIS.y, ["umap"], **QUICK)
    (alone,) = compare(IRIS.X, None, ["umap"], **QUICK)
    assert not told.saw_classes
    np.testing.assert_array_equal(told.embedding, alone.embedding)


def test_minus_one_and_one_other_number_are_two_classes():
    data = Data.of(IRIS.X, np.where(IRIS.y > 0, 1, -1), 0, measured=False)
    np.testing.assert_array_equal(data.classes, IRIS.y > 0)
    np.testing.assert_array_equal(data.y, IRIS.y > 0)  # for methods that learn from them, too


def test_minus_one_beside_several_classes_is_none_of_them():
    y = np.where(np.arange(150) % 3, IRIS.y, -1).astype(int)
    data = Data.of(IRIS.X, y, 0, measured=False)
    np.testing.assert_array_equal(data.classes, y)
    np.testing.assert_array_equal(data.y, np.where(y < 0, np.nan, y))
