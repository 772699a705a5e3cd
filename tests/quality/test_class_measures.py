"""Labels on a map: formulas, agreement with scikit-learn, one class."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, silhouette_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from isentropic._core.errors import InvalidInputError
from isentropic._core.values import DistanceRows
from isentropic.distances import distance_rows
from isentropic.quality.class_measures import kappa, knn_accuracy, label_measures, silhouette
from isentropic.tables.class_labels import class_codes
from naive import distances, naive_kappa, naive_silhouettes, naive_votes


@pytest.fixture
def Z(rng):
    return rng.normal(size=(45, 2)) + 1.2 * np.repeat(np.eye(3, 2), 15, axis=0)


@pytest.fixture
def y():
    return np.repeat(["b", "a", "c"], 15)


def test_silhouette_matches_the_formula_and_scikit_learn(Z, y):
    found = silhouette(Z, y)
    assert found == pytest.approx(naive_silhouettes(distances(Z), y.tolist()).mean(), rel=1e-12)
    assert found == pytest.approx(silhouette_score(Z, y), abs=1e-12)
    assert silhouette(Z, y, metric="cityblock") == pytest.approx(
        silhouette_score(Z, y, metric="cityblock"), abs=1e-12
    )


def test_a_row_alone_in_its_class_counts_zero(Z, y):
    y = y.copy()
    y[7] = "z"
    assert silhouette(Z, y) == pytest.approx(silhouette_score(Z, y), abs=1e-12)


def test_rows_on_one_spot_have_a_silhouette_of_zero(y):
    assert silhouette(np.ones((45, 2)), y) == 0


@pytest.mark.parametrize("k", [1, 2, 7, 44])
def test_votes_of_the_neighbours(Z, y, k):
    votes = naive_votes(distances(Z), y.tolist(), k)
    assert knn_accuracy(Z, y, k) == pytest.approx(np.mean(votes == y), rel=1e-14)
    assert kappa(Z, y, k) == pytest.approx(naive_kappa(y.tolist(), votes), abs=1e-14)


@pytest.mark.parametrize("k", [1, 4, 7])
def test_votes_agree_with_scikit_learn(Z, y, k):
    votes = cross_val_predict(KNeighborsClassifier(k), Z, y, cv=LeaveOneOut())
    assert knn_accuracy(Z, y, k) == pytest.approx(np.mean(votes == y), rel=1e-14)
    assert kappa(Z, y, k) == pytest.approx(cohen_kappa_score(y, votes), abs=1e-14)


def test_separate_classes_are_perfect(Z, y):
    apart = Z + 1000 * np.repeat(np.eye(3, 2), 15, axis=0)
    assert knn_accuracy(apart, y) == kappa(apart, y) == 1
    assert silhouette(apart, y) > 0.99


def test_chance_has_no_kappa(rng):
    Z, y = rng.normal(size=(600, 2)), rng.integers(0, 2, size=600)
    assert abs(kappa(Z, y)) < 0.12
    assert knn_accuracy(Z, np.where(np.arange(600) < 590, 0, 1)) > 0.98
    assert kappa(Z, np.where(np.arange(600) < 590, 0, 1)) == pytest.approx(0, abs=1e-12)


def test_moving_scaling_and_renaming_change_nothing(Z, y, rng):
    turned = 5 * Z @ np.linalg.qr(rng.normal(size=(2, 2)))[0] - 3
    order = rng.permutation(45)
    for function in (silhouette, knn_accuracy, kappa):
        value = function(Z, y)
        assert function(turned, y) == pytest.approx(value, rel=1e-9)
        assert function(Z[order], y[order]) == pytest.approx(value, rel=1e-12)
        assert function(Z, np.array([{"b": 7, "a": 2, "c": 90}[c] for c in y])) == pytest.approx(value)
        assert function(distance_rows(Z), y) == value


def test_threads_change_no_bit(Z, y):
    sides = distance_rows(Z)
    assert label_measures(sides, y, n_jobs=1) == label_measures(sides, y, n_jobs=2)


def test_all_at_once_is_the_same(Z, y):
    found = label_measures(distance_rows(Z), y, n_neighbors=4)
    assert {name: measure.value for name, measure in found.items()} == {
        "silhouette": silhouette(Z, y),
        "knn_accuracy": knn_accuracy(Z, y, 4),
        "kappa": kappa(Z, y, 4),
    }


@pytest.mark.parametrize(
    ("apart", "sizes", "drawn"), [(1.5, [80, 80, 80], 80), (3.5, [80, 80, 80], 50), (1.5, [190, 40, 10], 50)]
)
def test_intervals_of_sampled_rows_cover(apart, sizes, drawn):
    """Also of a map on which nearly all rows agree, and a sample of it may well hold no other."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], sizes)
    Z = rng.normal(size=(240, 2)) + apart * np.eye(3, 2)[y]
    rows_Z = distance_rows(Z, n_jobs=1)
    truth = label_measures(rows_Z, y, n_jobs=1)
    hits = dict.fromkeys(truth, 0)
    for _ in range(400):
        rows = rng.choice(240, drawn, replace=False)
        for name, found in label_measures(rows_Z, y, rows, n_jobs=1).items():
            hits[name] += found.low <= truth[name].value <= found.high
    coverage = {name: count / 400 for name, count in hits.items()}
    assert all(0.90 < each < 0.99 for each in coverage.values()), coverage


# ---- what has no answer ------------------------------------------------------------------------


def test_one_class(Z):
    y = np.zeros(45)
    assert knn_accuracy(Z, y) == 1
    for function in (silhouette, kappa):
        with pytest.raises(InvalidInputError, match=r"^y must be at least two classes for .*, got 1"):
            function(Z, y)
    found = label_measures(distance_rows(Z), y)
    assert list(found) == ["knn_accuracy"]
    assert found["knn_accuracy"].note == "a single class: silhouette and kappa are undefined"


def test_a_class_for_each_row(Z):
    y = np.arange(45)
    with pytest.raises(InvalidInputError, match=r"^y must be at most 44 classes"):
        silhouette(Z, y)
    assert knn_accuracy(Z, y) == 0
    assert set(label_measures(distance_rows(Z), y)) == {"knn_accuracy", "kappa"}


@pytest.mark.parametrize(
    ("y", "problem"),
    [
        (np.zeros(44), "one class for each of the 45 rows, got \\(44,\\)"),
        (np.linspace(0, 1, 45), "classes as text or whole numbers"),
        (np.where(np.arange(45) == 3, np.nan, 0.0), "classes as text or whole numbers"),
    ],
)
def test_what_is_no_class_is_refused(Z, y, problem):
    for function in (silhouette, knn_accuracy, kappa):
        with pytest.raises(InvalidInputError, match=f"^y must be {problem}"):
            function(Z, y)


@pytest.mark.parametrize("k", [0, 45, 2.5, True])
def test_neighbours_out_of_range(Z, y, k):
    for function in (knn_accuracy, kappa):
        with pytest.raises(InvalidInputError, match=r"^n_neighbors must be an integer from 1 to 44"):
            function(Z, y, k)


def test_one_row():
    with pytest.raises(InvalidInputError, match=r"^Z must be a table of at least 2 rows, got 1"):
        silhouette([[0.0, 1.0]], [1])


def test_classes_are_numbered_in_order():
    assert class_codes(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    assert class_codes(np.array([10, 9, 10]), 3).tolist() == [1, 0, 1]
    assert class_codes(np.array([2.0, -1.0, 2.0]), 3).tolist() == [1, 0, 1]
    assert class_codes(np.array(["x", 1, "x"], object), 3).tolist() == [1, 0, 1]
    assert class_codes([True, False, True], 3).tolist() == [1, 0, 1]


def test_any_distances_will_do(Z, y):
    D = distances(Z)
    rows = DistanceRows(45, lambda numbers: D[numbers], "mine")
    assert silhouette(rows, y) == pytest.approx(silhouette(Z, y), rel=1e-13)
    assert silhouette(D, y, metric="precomputed") == pytest.approx(silhouette(Z, y), rel=1e-13)
