"""Labels that are permuted: the null by a plain twin, at chance where it must be, resumable, equal bits."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.neighbors import KNeighborsClassifier

from isentropic import LDA, PCA, LabelTest, config_context, datasets, label_permutation_test
from isentropic._core.errors import FileFormatError, InvalidInputError, StoredRunWarning
from isentropic.comparison.evaluation import fitting, label_tests
from isentropic.comparison.evaluation.fitting import Split
from isentropic.comparison.evaluation.label_tests import LabelTrial

IRIS = datasets.load("builtin:iris")
FITS = []


class Offsets(BaseEstimator):
    """Puts the classes of fitted rows far apart, whatever they are, and new rows where they were."""

    interrupted_at = None

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit_transform(self, X, y):
        FITS.append(self.random_state)
        if len(FITS) == self.interrupted_at:
            raise KeyboardInterrupt
        return X[:, :2] + 100.0 * np.asarray(y)[:, None]

    def transform(self, X):
        return X[:, :2]


class Stays(BaseEstimator):
    def fit_transform(self, X, y=None):
        return X


class Blind(BaseEstimator):
    def fit_transform(self, X):
        return X

    def transform(self, X):
        return X


class Still(Stays):
    def transform(self, X):
        return X


@pytest.fixture(autouse=True)
def no_fits(monkeypatch):
    FITS.clear()
    monkeypatch.setattr(Offsets, "interrupted_at", None)


@pytest.fixture
def one_split(monkeypatch):
    """So that a score is one fit."""
    monkeypatch.setattr(fitting, "_MOST_SPLITS", 1)


def noise(n, m, n_classes, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, m)), random.permutation(np.arange(n) % n_classes)


# ---- oracle ------------------------------------------------------------------------------------


def naive_test(estimator, X, y, protocol, n_permutations, seed):
    classes, n = np.unique(y, return_inverse=True)[1], len(X)
    first, second = train_test_split(np.arange(n), test_size=0.5, random_state=42)
    found = []
    for i in range(n_permutations + 1):
        labels = np.random.default_rng([seed, i]).permutation(classes) if i else classes
        parts = [(first, second)]
        if protocol == "honest":  # 45 of 150 rows, until 200 are scored
            parts = StratifiedShuffleSplit(5, test_size=round(0.3 * n), random_state=seed).split(X, labels)
        of_splits = []
        for train, test in parts:
            train, test = np.sort(train), np.sort(test)
            if protocol == "honest":
                Z = estimator.fit_transform(X[train], labels[train])
                placed, own, k = estimator.transform(X[test]), labels[train], 10
                model = KNeighborsClassifier(10).fit(Z, labels[train])
            else:
                Z = estimator.fit_transform(X, labels)
                placed, own, k = Z[test], labels, 7
                model = KNeighborsClassifier(7).fit(Z[train], labels[train])
            near = KNeighborsClassifier(k).fit(Z, own).kneighbors(return_distance=False)
            seen = np.array([np.bincount(own[row]).argmax() for row in near])
            of_splits.append((model.predict(placed), labels[test], seen, own))
        found.append([np.concatenate(several) for several in zip(*of_splits, strict=True)])
    return found


@pytest.mark.parametrize("score", ["accuracy", "kappa"])
@pytest.mark.parametrize("protocol", ["honest", "published"])
def test_the_scores_are_those_of_the_plain_twin(protocol, score):
    found = label_permutation_test(
        LDA(2), IRIS.X, IRIS.y, protocol=protocol, score=score, n_permutations=4, random_state=3
    )
    measure = cohen_kappa_score if score == "kappa" else lambda one, other: np.mean(one == other)
    plain = naive_test(LDA(2), IRIS.X, IRIS.y, protocol, 4, 3)
    np.testing.assert_allclose(
        [found.observed, *found.null], [measure(true, scored) for scored, true, _, _ in plain], rtol=1e-12
    )
    np.testing.assert_allclose(
        [found.seen, *found.seen_null], [measure(own, seen) for _, _, seen, own in plain], rtol=1e-12
    )
    assert found.n_scored == (45 if protocol == "honest" else 75)
    assert found.n_fitted == (105 if protocol == "honest" else 150)
    assert found.n_splits == (5 if protocol == "honest" else 1)


def test_p_counts_the_true_labels_too():
    test = LabelTest("honest", "accuracy", 0.6, (0.5, 0.6, 0.4, 0.7), 1.0, (1.0,) * 4, 7, 3, 1, 0)
    assert test.p == 3 / 5
    assert test.reached
    assert test.mean == pytest.approx(0.55)
    assert test.highest == 0.7


def test_a_score_just_beyond_the_null_is_not_yet_an_effect_of_anything_else():
    null = tuple(np.linspace(0.4, 0.6, 19))
    assert LabelTest("honest", "accuracy", 0.61, null, 1.0, null, 7, 3, 1, 0).reached
    assert not LabelTest("honest", "accuracy", 0.75, null, 1.0, null, 7, 3, 1, 0).reached


# ---- what the null says ------------------------------------------------------------------------


@pytest.mark.parametrize("n_columns", [2, 15, 60])
def test_permuted_labels_of_held_out_rows_score_what_chance_gives(n_columns, monkeypatch):
    """Kappa 0, though on rows that the map saw they score more where there are columns to choose from."""
    monkeypatch.setattr(fitting, "_MOST_SPLITS", 2)
    X, y = noise(90, n_columns, 3)
    X[:, 0] += y  # the labels mean something, but not when they are permuted
    test = label_permutation_test(LDA(2), X, y, score="kappa", n_permutations=49)
    error = np.std(test.null) / np.sqrt(len(test.null))
    assert abs(test.mean) < 3.5 * error
    assert n_columns == 2 or np.mean(test.seen_null) > 0.05 + 3.5 * error


def test_the_published_protocol_is_shown_for_what_it_is():
    X, y = noise(60, 5, 3)
    leaky = label_permutation_test(Offsets(), X, y, protocol="published", n_permutations=9)
    assert leaky.observed == 1.0
    assert set(leaky.null) == {1.0}
    assert leaky.p == 1.0
    assert leaky.reached
    honest = label_permutation_test(Offsets(), X, y, n_permutations=9)
    assert honest.seen == 1.0
    assert set(honest.seen_null) == {1.0}
    assert honest.observed < 0.7
    assert honest.reached


def test_classes_that_are_there_are_not_accused():
    for table in (IRIS, datasets.load("builtin:wine")):
        test = label_permutation_test(LDA(), table.X, table.y, n_permutations=19)
        assert test.p == 0.05
        assert not test.reached
        assert test.observed > 0.9


def test_a_map_that_did_not_see_the_classes_can_be_tested_too():
    test = label_permutation_test(PCA(), IRIS.X, IRIS.y.astype(str), n_permutations=19)
    assert test.observed > 0.8
    assert not test.reached


# ---- few rows, and odd classes -----------------------------------------------------------------


@pytest.mark.parametrize(("n", "n_splits"), [(10, 10), (66, 10), (67, 10), (100, 7), (150, 5), (700, 1)])
def test_small_tables_are_split_until_enough_rows_are_scored(n, n_splits):
    assert len(Split.several(np.arange(n) % 3, 0)) == n_splits


@pytest.mark.parametrize("protocol", ["honest", "published"])
def test_permuted_labels_score_what_they_would_as_true_ones(protocol):
    """So that p is exact. With labels permuted anew for each split the null would be too narrow."""
    X, y = noise(60, 2, 3)
    options = {"protocol": protocol, "score": "accuracy", "seed": 4}
    trial = LabelTrial.of(Offsets(), X, y, **options)
    for i in range(1, 5):
        labels = trial.labels(i)
        assert sorted(labels) == sorted(y)
        assert not np.array_equal(labels, trial.labels(i - 1))
        assert LabelTrial.of(Offsets(), X, labels, **options)(0) == trial(i)


def test_several_splits_of_few_rows_leave_less_to_luck(monkeypatch):
    X, y = noise(60, 2, 2)
    several = label_permutation_test(Still(), X, y, n_permutations=40, n_jobs=1)
    monkeypatch.setattr(fitting, "_MOST_SPLITS", 1)
    one = label_permutation_test(Still(), X, y, n_permutations=40, n_jobs=1)
    assert (several.n_splits, one.n_splits) == (10, 1)
    assert np.std(several.null) < 0.8 * np.std(one.null)


def test_a_class_of_one_row_is_never_held_out():
    y = np.repeat([0, 1, 2], [28, 1, 1])
    for split in Split.several(y, 3):
        assert set(split.test) <= set(range(28))
        assert {28, 29} <= set(split.train)
        assert sorted([*split.train, *split.test]) == list(range(30))
    X = np.random.default_rng(0).normal(size=(30, 3))
    assert label_permutation_test(LDA(), X, y, n_permutations=5).reached  # each of its fits has two classes


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("protocol", ["honest", "published"])
def test_rows_without_a_class_take_no_part(missing, protocol):
    X, y = noise(60, 3, 2)
    half = y.astype(object)
    half[::3] = missing
    rows = np.arange(60) % 3 > 0
    found, whole = (
        label_permutation_test(Offsets(), *table, protocol=protocol, n_permutations=3)
        for table in ((X, half), (X[rows], y[rows]))
    )
    assert found == whole


# ---- the same again ----------------------------------------------------------------------------


def test_processes_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(label_tests, "_WORTH_WORKERS", 0.0)
    one, two = (
        label_permutation_test(LDA(), IRIS.X, IRIS.y, n_permutations=5, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert one == two


@pytest.mark.usefixtures("one_split")
def test_the_seed_of_the_test_is_that_of_an_estimator_without_one():
    X, y = noise(20, 3, 2)
    label_permutation_test(Offsets(), X, y, n_permutations=2, random_state=5)
    label_permutation_test(Offsets(random_state=1), X, y, n_permutations=1, random_state=5)
    assert FITS == [5, 5, 5, 1, 1]


@pytest.mark.usefixtures("one_split")
def test_after_ctrl_c_it_goes_on(tmp_path, monkeypatch):
    X, y = noise(40, 3, 2)
    whole = label_permutation_test(Offsets(), X, y, n_permutations=6)
    FITS.clear()
    monkeypatch.setattr(Offsets, "interrupted_at", 4)
    with pytest.raises(KeyboardInterrupt):
        label_permutation_test(Offsets(), X, y, n_permutations=6, folder=tmp_path)
    again = label_permutation_test(Offsets(), X, y, n_permutations=6, folder=tmp_path)
    assert again == whole
    assert len(FITS) == 4 + 4  # three scores were kept
    more = label_permutation_test(Offsets(), X, y, n_permutations=8, folder=tmp_path)
    assert len(FITS) == 10
    assert more.null[:6] == whole.null
    assert label_permutation_test(Offsets(), X, y, n_permutations=6, folder=tmp_path) == whole
    assert len(FITS) == 10
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.usefixtures("one_split")
def test_other_labels_parameters_or_protocols_are_other_tests(tmp_path):
    X, y = noise(40, 3, 2)
    for estimator, labels, options in (
        (Offsets(), y, {}),
        (Offsets(), y[::-1], {}),
        (Offsets(2), y, {}),
        (Offsets(), y, {"protocol": "published"}),
        (Offsets(), y, {"score": "kappa"}),
        (Offsets(), y, {"random_state": 1}),
    ):
        FITS.clear()
        label_permutation_test(estimator, X, labels, n_permutations=1, folder=tmp_path, **options)
        assert len(FITS) == 2


@pytest.mark.usefixtures("one_split")
def test_long_arrays_that_differ_in_the_middle_are_other_parameters(tmp_path):
    X, y = noise(40, 3, 2)
    starts = np.zeros((2, 5000))
    starts[1, 2500] = 1.0
    for start in starts:
        label_permutation_test(Offsets(start), X, y, n_permutations=1, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.usefixtures("one_split")
def test_scores_that_were_changed_by_hand_are_computed_again(tmp_path):
    X, y = noise(40, 3, 2)
    first = label_permutation_test(Offsets(), X, y, n_permutations=2, folder=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text().replace("[[0, ", "[[0, 9"))
    with pytest.warns(StoredRunWarning, match="computed again.*checksum"):
        assert label_permutation_test(Offsets(), X, y, n_permutations=2, folder=tmp_path) == first
    assert len(FITS) == 6


def test_progress_counts_the_fits():
    X, y = noise(40, 3, 2)
    seen = []
    with config_context(progress=lambda *told: seen.append(told)):
        label_permutation_test(Offsets(), X, y, n_permutations=3)
    assert seen == [("labels permuted", done, 4) for done in range(5)]


def test_it_survives_json():
    X, y = noise(40, 3, 2)
    test = label_permutation_test(Offsets(), X, y, n_permutations=3)
    assert LabelTest.from_json(test.to_json()) == test
    data = json.loads(test.to_json())
    for change in ({"null": []}, {"observed": "1"}, {"more": 1}, {"format": "other/1"}, {"seen_null": [1.0]}):
        with pytest.raises(FileFormatError, match="text must be JSON of format isentropic"):
            LabelTest.from_json(json.dumps({**data, **change}))


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"protocol": "fair"}, "protocol must be one of honest, published"),
        ({"score": "f1"}, "score must be one of accuracy, kappa"),
        ({"n_permutations": 0}, "n_permutations must be"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"y": np.zeros(40)}, "y must be two classes of at least 10 rows in all"),
        ({"y": np.linspace(0, 1, 40)}, "y must be classes as text or whole numbers"),
        ({"y": np.arange(39)}, "y must be one class, or a missing one, for each of the 40 rows"),
        ({"y": [None] * 31 + [0, 1] * 4 + [0]}, "y must be two classes of at least 10 rows in all"),
        ({"estimator": Stays()}, "estimator must be one that places new rows.*protocol='published'"),
        ({"estimator": Blind()}, "estimator must be one whose fit_transform takes labels.*sees none"),
        ({"estimator": Offsets}, "estimator must be one with fit_transform"),
        ({"estimator": np.mean}, "estimator must be one with fit_transform"),
    ],
)
def test_what_is_refused(change, said):
    X, y = noise(40, 3, 2)
    given = {"estimator": Offsets(), "X": X, "y": y, **change}
    with pytest.raises(InvalidInputError, match=said):
        label_permutation_test(**given)
    assert FITS == []


@pytest.mark.parametrize("n_classes", [2, 20, 30])
def test_any_number_of_classes_can_be_tested(n_classes):
    X, y = noise(30, 3, n_classes)
    test = label_permutation_test(Offsets(), X, y, score="kappa", n_permutations=3)
    assert np.isfinite([test.observed, *test.null, test.seen, *test.seen_null]).all()
