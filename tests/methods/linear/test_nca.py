"""NCA: scikit-learn's, in a unit of the table; what it makes large, pair by pair."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from assertions import assert_same_up_to_sign
from isentropic import NCA, PCA, IsentropicWarning, config_context, datasets
from isentropic._core.errors import DeadlineError, InvalidInputError
from isentropic.methods.linear.nca import expected_accuracy

WINE = datasets.load("builtin:wine")  # every feature has the variance 1


def test_the_map_is_that_of_scikit_learn_from_the_principal_axes():
    ours, pca = NCA(max_iter=20).fit(WINE.X, WINE.labels), PCA().fit(WINE.X)
    theirs = NeighborhoodComponentsAnalysis(2, init=pca.components_, max_iter=20).fit(WINE.X, WINE.y)
    assert_same_up_to_sign(ours.components_.T, theirs.components_.T, rtol=1e-4, atol=1e-4)
    assert ours.n_iter_ == theirs.n_iter_


def test_it_raises_what_it_is_to_make_large():
    before = expected_accuracy(PCA().fit(WINE.X).embedding_, WINE.y)
    few, many = (NCA(max_iter=count).fit(WINE.X, WINE.y).expected_accuracy_ for count in (3, 30))
    assert before < few < many < 1
    assert many > 0.99


def test_the_accuracy_is_the_mean_of_all_chances(rng):
    Z, y = rng.normal(size=(9, 2)), np.arange(9) % 2
    total = 0.0
    for i in range(9):
        weights = [np.exp(-((Z[i] - Z[j]) ** 2).sum()) * (i != j) for j in range(9)]
        total += sum(w for w, label in zip(weights, y, strict=True) if label == y[i]) / sum(weights)
    assert_allclose(expected_accuracy(Z, y), total / 9)


def test_the_rank_is_said(rng):
    flat = np.outer(rng.normal(size=40), [1.0, 2.0, 3.0])
    with pytest.warns(IsentropicWarning, match="X has a rank of 1: the last 1 of 2 coordinates are zero"):
        assert not NCA().fit(flat, flat[:, 0] > 0).embedding_[:, 1].any()


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (NCA(), np.zeros(178, int), r"y must be at least two classes, got 1\. PCA needs none"),
        (NCA(14), WINE.y, "n_components must be at most the number of features 13, got 14"),
        (NCA(max_iter=0), WINE.y, "max_iter must be a positive integer, got 0"),
    ],
)
def test_what_is_refused(estimator, y, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(WINE.X, y)


def test_rounds_are_reported_and_a_deadline_stops_between_them():
    told = []
    with config_context(progress=lambda *step: told.append(step)):
        NCA(max_iter=5).fit(WINE.X, WINE.y)
    assert [done for what, done, _ in told if what == "descent steps"] == [0, 1, 2, 3, 4, 5]
    with config_context(deadline=time.perf_counter() + 1e-9), pytest.raises(DeadlineError):
        NCA(max_iter=5).fit(WINE.X, WINE.y)
