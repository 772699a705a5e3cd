"""The batteries of the sources: each classifier as it was run, and counts that a plain twin gives too."""

import numpy as np
import pytest
from sklearn import datasets, metrics
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from isentropic._core.errors import InvalidInputError
from isentropic.experiments.classifiers import (
    EIGHT,
    agreement,
    best_of_grid,
    classifier,
    confusion_rates,
    half_scores,
    halves,
    nearest_score,
    old_folds,
    old_grid_score,
)

IRIS, SPECIES = datasets.load_iris(return_X_y=True)
Z = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)


def naive_folds(y, n_folds):
    """Block by block, row by row: what the documentation of the old splitter says."""
    folds = [[] for _ in range(n_folds)]
    for label in sorted(set(y)):
        rows = [i for i, one in enumerate(y) if one == label]
        for fold in range(n_folds):
            size = len(rows) // n_folds + (fold < len(rows) % n_folds)
            start = sum(len(rows) // n_folds + (f < len(rows) % n_folds) for f in range(fold))
            folds[fold] += rows[start : start + size]
    return [sorted(fold) for fold in folds]


@pytest.mark.parametrize("seed", range(5))
def test_old_folds_are_blocks_of_each_class(seed):
    y = np.random.default_rng(seed).integers(0, 4, 30).tolist()
    assert [fold.tolist() for fold in old_folds(y, 30)] == naive_folds(y, 3)


def test_old_folds_of_small_classes_and_of_numbers():
    assert [fold.tolist() for fold in old_folds([0, 1, 1, 0, 0, 2], 6)] == naive_folds([0, 1, 1, 0, 0, 2], 3)
    assert [len(fold) for fold in old_folds(None, 11)] == [4, 4, 3]
    assert np.concatenate([*old_folds(None, 11)]).tolist() == list(range(11))


def test_the_classifiers_are_those_of_the_sources():
    article = {name: classifier(name).get_params() for name in EIGHT}
    kappa = {name: classifier(name, "kappa").get_params() for name in EIGHT}
    assert (article["KNN"]["n_neighbors"], kappa["KNN"]["n_neighbors"]) == (7, 5)
    assert (article["DT"]["random_state"], kappa["DT"]["random_state"]) == (0, 42)
    assert (article["SVM"]["kernel"], article["SVM"]["gamma"]) == ("rbf", "auto")
    assert (article["MLP"]["activation"], article["MLP"]["max_iter"]) == ("logistic", 5000)
    assert (kappa["MLP"]["activation"], kappa["MLP"]["max_iter"]) == ("relu", 1000)
    with pytest.raises(InvalidInputError, match="classifier must be one of KNN"):
        classifier("NBB")


def test_half_scores_are_those_of_the_split_of_the_sources():
    train, test = train_test_split(np.arange(150), test_size=0.5, random_state=42)
    assert np.array_equal(halves(150)[1], test)
    said = KNeighborsClassifier(7).fit(Z[train], SPECIES[train]).predict(Z[test])
    found = half_scores(Z, SPECIES, ("KNN",))
    assert found == {"KNN": metrics.accuracy_score(SPECIES[test], said)}
    kappa = half_scores(Z, SPECIES, ("KNN",), measure="kappa")["KNN"]
    assert kappa == pytest.approx(metrics.cohen_kappa_score(SPECIES[test], said), abs=1e-12)
    assert half_scores(Z, SPECIES.astype(str), ("KNN",)) == found


def test_a_map_of_tiny_scale_is_not_rescaled_and_qda_takes_it():
    """The artefact of the sources: an RBF machine sees one point, and QDA as it was then does not mind."""
    tiny = Z[:, :2] / 1e5
    found = half_scores(tiny, SPECIES, ("SVM", "QDA"))
    assert found["SVM"] < 0.45 < 0.65 < half_scores(Z[:, :2], SPECIES, ("SVM",))["SVM"]
    assert found["QDA"] == half_scores(Z[:, :2], SPECIES, ("QDA",))["QDA"]


def test_a_classifier_that_refuses_is_left_out_and_all_are_an_error():
    classes = SPECIES.copy()
    classes[halves(150)[0][0]] = 7  # one row of this class to learn from
    assert set(half_scores(Z, classes, ("KNN", "QDA"))) == {"KNN"}
    with pytest.raises(InvalidInputError, match="some classifier can learn"):
        half_scores(Z, classes, ("QDA",))


@pytest.mark.parametrize("seed", range(4))
def test_rates_are_those_of_scikit_learn(seed):
    random = np.random.default_rng(seed)
    true, said = random.integers(0, 3, 60), random.integers(0, 4, 60)
    found = confusion_rates(true, said)
    own = {"labels": [0, 1, 2], "average": "macro", "zero_division": 0.0}
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(true, said))
    assert found["kappa"] == pytest.approx(metrics.cohen_kappa_score(true, said))
    assert found["true positive rate"] == pytest.approx(metrics.recall_score(true, said, **own))
    assert found["precision"] == pytest.approx(metrics.precision_score(true, said, **own))
    specific = np.mean([metrics.recall_score(true == c, said == c, pos_label=False) for c in range(3)])
    assert found["true negative rate"] == pytest.approx(specific)
    assert found["false positive rate"] == pytest.approx(1 - specific)
    assert found["false negative rate"] == pytest.approx(1 - found["true positive rate"])


def test_one_class_has_no_rates_and_no_kappa():
    ones = np.ones(5, int)
    assert agreement(ones, ones, "kappa") == 0.0
    with pytest.raises(InvalidInputError, match="at least two classes"):
        confusion_rates(ones, ones)


def test_printed_scores_of_iris():
    """002, Table 5.2: 1-NN of the original rows 1, the SVM .99 with "g: .01, k: rbf, C: 100"."""
    assert nearest_score(IRIS, SPECIES) == 1.0
    costs, widths = [1, 10, 100, 1000], [0.001, 0.01, 0.1, 1, 10]
    grid = [{"kernel": ["linear"], "C": costs}, {"kernel": ["rbf", "sigmoid"], "C": costs, "gamma": widths}]
    score, params = best_of_grid(IRIS, SPECIES, grid)
    assert round(score, 2) == 0.99
    assert params == {"kernel": "rbf", "C": 100, "gamma": 0.01}
    assert old_grid_score(IRIS, SPECIES, {"C": [100], "gamma": [0.01]}) == score


def test_the_grid_is_weighted_by_the_rows_of_folds_and_the_first_best_wins():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(31, 2)), random.integers(0, 2, 31)
    expected = 0.0
    for fold in naive_folds(y.tolist(), 3):
        rest = [i for i in range(31) if i not in fold]
        expected += (SVC(gamma="auto", C=10).fit(X[rest], y[rest]).predict(X[fold]) == y[fold]).sum()
    assert best_of_grid(X, y, {"C": [10]})[0] == pytest.approx(expected / 31, abs=1e-12)
    assert best_of_grid(X, y, {"C": [10, 10.0]})[1]["C"] == 10


def test_numbers_are_scored_by_their_variance():
    roll, t = datasets.make_swiss_roll(300, random_state=0)
    assert 0.9 < nearest_score(roll, t, numeric=True) <= 1
    assert old_grid_score(t[:, None], t, {"C": [10]}, numeric=True) > 0.8
