"""LDA against the generalised eigenproblem, dense, and scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from assertions import assert_same_up_to_sign
from isentropic import LDA, IsentropicWarning, datasets
from isentropic._core.errors import InvalidInputError
from isentropic.methods.linear.lda import ledoit_wolf

WINE = datasets.load("builtin:wine")


def within(X, y):
    return X - np.array([X[y == label].mean(axis=0) for label in y])


def dense(X, y, shrinkage, count):
    """Both covariances, and the leading solutions of variance 1 within classes."""
    W = within(X, y)
    B = X - W - X.mean(axis=0)
    Sw, Sb = W.T @ W / (len(X) - len(np.unique(y))), B.T @ B / len(X)
    Sw = (1 - shrinkage) * Sw + shrinkage * np.trace(Sw) / len(Sw) * np.eye(len(Sw))
    values, vectors = eigh(Sb, Sw)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


@pytest.mark.parametrize("shrinkage", ["auto", 0, 0.3])
def test_it_solves_the_generalised_problem(shrinkage):
    fitted = LDA(shrinkage=shrinkage).fit(WINE.X, WINE.y)
    assert fitted.shrinkage_ == (0 if shrinkage == "auto" else shrinkage)
    values, vectors = dense(WINE.X, WINE.y, fitted.shrinkage_, 2)
    assert_same_up_to_sign(fitted.components_.T, vectors, rtol=1e-8)
    assert_allclose(fitted.explained_variance_ratio_, values / values.sum(), rtol=1e-9)


def test_coordinates_are_those_of_scikit_learn():
    theirs = LinearDiscriminantAnalysis(n_components=2).fit(WINE.X, WINE.y)
    ours = LDA().fit(WINE.X, WINE.labels)
    unit = np.sqrt(175 / 178)  # their variance within classes has the divisor n
    assert_same_up_to_sign(ours.embedding_, unit * theirs.transform(WINE.X), rtol=1e-8, atol=1e-8)
    assert list(ours.classes_) == sorted(set(WINE.labels))
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)


def test_more_features_than_rows_are_shrunk(rng):
    X, y = rng.normal(size=(30, 50)), np.arange(30) % 3
    fitted = LDA().fit(X, y)
    amount = ledoit_wolf_shrinkage(within(X, y), assume_centered=True)
    assert fitted.shrinkage_ == pytest.approx(amount, rel=1e-9)
    assert fitted.shrinkage_ > 0.5
    assert_same_up_to_sign(fitted.components_.T, dense(X, y, amount, 2)[1], rtol=1e-7)


@pytest.mark.parametrize("shape", [(40, 6), (10, 25)])
def test_the_amount_is_that_of_ledoit_and_wolf(shape, rng):
    rows = rng.normal(size=shape) * np.linspace(1, 4, shape[1])
    assert ledoit_wolf(rows, shape[1]) == pytest.approx(ledoit_wolf_shrinkage(rows, assume_centered=True))
    assert ledoit_wolf(np.zeros((5, 2)), 2) == 1


def test_rows_that_equal_others_of_their_class_are_told_apart():
    X = np.repeat([[0.0, 0, 1], [2, 0, 1], [2, 4, 1]], 3, axis=0)
    Z = LDA().fit(X, np.repeat([0, 1, 2], 3)).embedding_
    apart = np.linalg.norm(Z[::3] - Z[[3, 6, 0]], axis=1)
    assert_allclose(apart / apart[0], [1, 2, np.sqrt(5)], rtol=1e-9)


def test_two_classes_have_one_coordinate_and_it_is_said():
    y = WINE.y == 0
    with pytest.warns(IsentropicWarning, match="2 classes lie in 1 dimensions: the last 1 of 2 coordinates"):
        fitted = LDA().fit(WINE.X, y)
    assert_same_up_to_sign(fitted.embedding_[:, :1], LDA(1).fit(WINE.X, y).embedding_)
    assert not fitted.embedding_[:, 1].any()


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (LDA(), np.zeros(178, int), r"y must be at least two classes, got 1\. PCA needs none"),
        (
            LDA(),
            ["a", None] * 89,
            r"y must be a class for every row, got '89 without one'\. Leave these rows",
        ),
        (LDA(14), WINE.y, "n_components must be at most the number of features 13, got 14"),
        (LDA(shrinkage=1.5), WINE.y, "shrinkage must be 'auto' or a number from 0 to 1, got 1.5"),
        (LDA(shrinkage="ledoit"), WINE.y, "shrinkage must be 'auto' or a number from 0 to 1, got 'ledoit'"),
    ],
)
def test_what_is_refused(estimator, y, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(WINE.X, y)
