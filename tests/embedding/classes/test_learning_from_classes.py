"""What methods that learn from classes share: classes that are missing, guessed, and told apart."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from isentropic import ClassDivergence, Dis1, Dis2, Dis3
from isentropic._core.errors import InvalidInputError
from isentropic.dissimilarities import (
    Added,
    ClassIndex,
    checked_dissimilarity,
    directed_distances,
    fitted_dissimilarity,
    largest_distance,
    mean_squared_distance,
)
from isentropic.tables.class_labels import half_labelled

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("y", "codes", "names"),
    [
        (["b", None, "a", "b"], [1, -1, 0, 1], ["a", "b"]),
        ([2.0, np.nan, 1.0, 2.0], [1, -1, 0, 1], [1, 2]),
        (pd.Series([2, None, 1, 2], dtype="Int64"), [1, -1, 0, 1], [1, 2]),
        (pd.Series(["b", pd.NA, "a", "b"], dtype="string"), [1, -1, 0, 1], ["a", "b"]),
        (pd.Categorical(["b", None, "a", "b"]), [1, -1, 0, 1], ["a", "b"]),
        (np.array([2, None, 1, 2], object), [1, -1, 0, 1], [1, 2]),
        (["b", "", "a", "b"], [1, -1, 0, 1], ["a", "b"]),
        (np.array(["b", "", "a", None], object), [1, -1, 0, -1], ["a", "b"]),
        ([2, -1, 1, 2], [1, -1, 0, 1], [1, 2]),
        ([2.0, -1.0, 1.0, np.nan], [1, -1, 0, -1], [1, 2]),
        (np.array(["b", -1, "a", None], object), [1, -1, 0, -1], ["a", "b"]),
        (["-1", "1", "-1", "1"], [0, 1, 0, 1], ["-1", "1"]),
        (np.ma.array([2, 7, 1, 2], mask=[0, 1, 0, 0]), [1, -1, 0, 1], [1, 2]),
        (np.array(["2020-01-02", "NaT", "2020-01-01", "2020-01-02"], "M8[D]"), [1, -1, 0, 1], None),
        (np.array([b"b", b"", b"a\xff", b"b"]), [1, -1, 0, 1], ["a\\xff", "b"]),
        (np.array([1, "2", 1.0, "1"], object), [0, 1, 0, 0], ["1", "2"]),
        ([True, False, True, True], [1, 0, 1, 1], [False, True]),
    ],
    ids=[
        "none",
        "nan",
        "Int64",
        "string",
        "categorical",
        "objects",
        "empty text",
        "empty objects",
        "minus one",
        "minus one as a float",
        "minus one among words",
        "minus one as text",
        "masked",
        "dates",
        "bytes",
        "numbers and text",
        "flags",
    ],
)
def test_missing_classes_are_those_of_pandas_and_numpy(y, codes, names):
    found, numbers = half_labelled(y, 4)
    assert_array_equal(numbers, codes)
    assert names is None or list(found) == names


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            [0.5, 1.0, 2.0],
            "classes as text or whole numbers, got 'other numbers'. A target of numbers has no",
        ),
        ([0.5, None, 2.0], "classes as text or whole numbers"),
        ([np.inf, 1.0, 2.0], "classes as text or whole numbers"),
        ([np.nan, np.nan, 1.0], "a class for at least two rows, got '1 with one'. Label some rows"),
        (["a", "b"], "one class, or a missing one, for each of the 3 rows"),
        ([-1, 1, 1], "at least two classes beside -1, which marks unlabelled rows, got '-1 in 1 of 3 rows"),
        ([-1, -1, -1], "a class for at least two rows, got '0 with one'"),
    ],
)
def test_targets_without_classes_are_refused(y, message):
    with pytest.raises(InvalidInputError, match=message):
        half_labelled(y, 3)


@pytest.mark.parametrize(
    ("y", "told"),
    [
        ([-1, 0, 1, 0, 1], "y has -1 in 1 of 5 rows: they are fitted as unlabelled. Give NaN"),
        ([-2, -1, 0, 1, 2], "y has -1 in 1 of 5 rows: they are fitted as unlabelled"),
        (["a", "-1", "b", "a", "b"], 'y has the text "-1" in 1 of 5 rows: it is a class. Give None'),
        ([-1, -1, -1, 0, 1], ""),
        ([-1, 0, 1, 2, 2], ""),
        (["-1", "0", "1", "0", "1"], ""),
    ],
    ids=repr,
)
def test_a_minus_one_that_may_mean_something_else_is_told_of(y, told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        half_labelled(y, 5)
    assert [str(one.message)[: len(told)] for one in caught] == [told] * bool(told)


# ---- nearest rows by a dissimilarity -----------------------------------------------------------------


def naive_dissimilarities(D, classes, choice, width, longest):
    """Every pair, as the formulas are printed."""
    same = classes[:, None] == classes
    if isinstance(choice, Dis1):
        return np.where(same, np.sqrt(1 - np.exp(-(D**2) / width)), np.exp(D**2 / width / 2) - choice.alpha)
    if isinstance(choice, Dis2):
        return np.where(same, D / choice.psi, D)
    return np.where(same, D, D + choice.mu * longest)


@pytest.mark.parametrize("choice", [Dis1(), Dis1(0.0), Dis2(), Dis2(34.0), Dis3(), Dis3(1.0)], ids=repr)
@pytest.mark.parametrize("given", [False, True], ids=["rows", "distances"])
def test_lists_are_those_of_all_pairs(rng, choice, given):
    X, classes = rng.normal(size=(60, 3)), np.repeat([0, 1, 2, 3], [30, 25, 4, 1])
    order = rng.permutation(60)
    X, classes = X[order], classes[order]
    D = cdist(X, X)
    pairs = D[np.triu_indices(60, 1)]
    expected = naive_dissimilarities(D, classes, choice, (pairs**2).mean(), pairs.max())
    table, metric = (D, "precomputed") if given else (X, "euclidean")
    measure = fitted_dissimilarity(choice, table, classes, metric=metric)
    assert_allclose(measure.between(D, classes[:, None], classes), expected, rtol=1e-9, atol=1e-12)
    near, plain = ClassIndex(table, classes, metric).among(8, measure)
    np.fill_diagonal(expected, np.inf)
    assert_array_equal(near, np.argsort(expected, axis=1, kind="stable")[:, :8])
    assert_allclose(plain, np.take_along_axis(D, near, axis=1), rtol=1e-12)


@pytest.mark.parametrize("choice", [Dis1(), Dis2(), Dis3(0.3)], ids=repr)
def test_new_rows_take_the_expectation_over_their_classes(rng, choice):
    X, classes, new = rng.normal(size=(50, 3)), rng.integers(0, 3, 50), rng.normal(size=(6, 3))
    measure, shares = fitted_dissimilarity(choice, X, classes), rng.dirichlet(np.ones(3), size=6)
    D, tails = cdist(new, X), np.tile(classes, (6, 1))
    by_class = [measure.between(D, np.full(D.shape, c), tails) for c in range(3)]
    expected = sum(shares[:, c, None] * by_class[c] for c in range(3))
    assert_allclose(measure.expected(D, shares, tails), expected, rtol=1e-12)
    assert_allclose(measure.expected(D, None, tails), measure.between(D, tails, tails), rtol=1e-12)
    near, values = ClassIndex(X, classes).nearest(new, 7, measure, shares)
    assert_array_equal(near, np.argsort(expected, axis=1, kind="stable")[:, :7])
    assert_allclose(values, np.sort(expected, axis=1)[:, :7], rtol=1e-9)


def test_a_single_class_is_the_plain_distance():
    measure = fitted_dissimilarity("dis1", IRIS, np.zeros(150, int))
    d = np.array([0.0, 1.0, 5.0])
    assert_array_equal(measure.between(d, np.zeros(3, int), np.zeros(3, int)), d)


def test_spreads_are_those_of_all_pairs(rng):
    X = rng.normal(size=(40, 3)) * 1e100
    for metric in ("euclidean", "cityblock"):
        D = cdist(X, X, metric)[np.triu_indices(40, 1)]
        assert_allclose(mean_squared_distance(X, metric), (D**2).mean(), rtol=1e-12)
        assert_allclose(largest_distance(X, metric), D.max(), rtol=1e-12)
    assert mean_squared_distance(np.ones((5, 2)), "euclidean") == 1
    assert largest_distance(np.ones((5, 2)), "euclidean") == 0


def test_the_box_of_many_rows_bounds_their_distances(rng, monkeypatch):
    X = rng.normal(size=(300, 3))
    exact = largest_distance(X, "euclidean")
    monkeypatch.setattr("isentropic.dissimilarities.class_dissimilarities._PAIRS", 200)
    assert exact <= largest_distance(X, "euclidean") <= 2 * exact


def test_directed_distances_shorten_the_way_to_larger_values():
    v = np.array([0.0, 1.0])
    there, back = (directed_distances(np.array([2.0]), 1.0, *pair) for pair in ((v[0], v[1]), (v[1], v[0])))
    assert_allclose([there[0], back[0]], [2 * np.exp(-1), 2 * np.e], rtol=1e-14)
    assert (there + back)[0] / 2 > 2  # the mean of both can only push apart


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("dis5", "dissimilarity must be one of dis1, dis2, dis3, divergence, got 'dis5'. Did you mean"),
        (3, "dissimilarity must be one of dis1, dis2, dis3, divergence, got 3. Or give Dis1"),
        (Dis1(alpha=2), r"alpha must be a number in \[0, 1\]"),
        (Dis1(beta=0), "beta must be 'auto' or a positive number"),
        (Dis2(0.5), "psi must be a number of at least 1"),
        (Dis3(1.5), r"mu must be a number in \[0, 1\]"),
        (ClassDivergence(alpha=-1), r"alpha must be a number in \[0, 1\]"),
        (ClassDivergence(scale="units"), "scale must be 'match' or None"),
    ],
    ids=repr,
)
def test_bad_choices_are_refused(choice, message):
    with pytest.raises(InvalidInputError, match=message):
        checked_dissimilarity(choice)


def test_neutral_rows_are_of_everybodys_class():
    measure = Added(np.array([[0.0, 3.0], [3.0, 0.0]]))
    assert_array_equal(measure.expected(np.ones((1, 2)), None, np.array([[0, 1]])), [[1.0, 1.0]])
