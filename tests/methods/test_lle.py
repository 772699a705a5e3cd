"""LLE against scikit-learn's, and what it does with parts, equal rows and new ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.manifold import LocallyLinearEmbedding

from assertions import assert_same_up_to_sign
from isentropic import LLE, DisconnectedGraphWarning, IsentropicWarning, datasets
from isentropic._errors import DisconnectedGraphError, InvalidInputError

ROLL = datasets.load("builtin:swiss-roll", n_samples=300).X


@pytest.mark.parametrize(("k", "d", "share"), [(8, 2, 1e-3), (12, 3, 1e-3), (6, 2, 0.1)])
@pytest.mark.parametrize("n", [150, 300], ids=["dense", "sparse"])
def test_it_agrees_with_scikit_learn_up_to_sign_and_scale(k, d, share, n):
    peer = LocallyLinearEmbedding(n_neighbors=k, n_components=d, reg=share, eigen_solver="dense")
    expected = peer.fit_transform(ROLL[:n]) * np.sqrt(n)
    found = LLE(k, d, regularization=share).fit(ROLL[:n]).embedding_
    assert_same_up_to_sign(found, expected, rtol=1e-8, atol=1e-8)
    assert_allclose(found.T @ found / n, np.eye(d), atol=1e-10)
    assert_allclose(found.mean(axis=0), 0, atol=1e-9)


def test_a_new_row_is_the_sum_of_its_neighbours():
    fitted = LLE(8).fit(ROLL[:200])
    peer = LocallyLinearEmbedding(n_neighbors=8, eigen_solver="dense").fit(ROLL[:200])
    signs = np.sign((fitted.embedding_ * peer.embedding_).sum(axis=0))
    expected = peer.transform(ROLL[200:]) * signs * np.sqrt(200)
    assert_allclose(fitted.transform(ROLL[200:]), expected, atol=1e-10)


def test_parts_are_joined_or_refused(rng):
    X = np.vstack([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 50])
    with pytest.warns(
        DisconnectedGraphWarning, match="2 parts of 40, 40 rows: the shortest edge between them joins them"
    ):
        fitted = LLE(6).fit(X)
    assert fitted.eigenvalues_[0] > 1e-12  # one part: the only zero is that of the constant
    with pytest.warns(DisconnectedGraphWarning, match="the largest is fitted, the other 40 rows are placed"):
        largest = LLE(6, on_disconnected="largest").fit(X)
    assert_array_equal(largest.embedding_[:40], LLE(6).fit(X[:40]).embedding_)
    assert_array_equal(largest.embedding_[40:], LLE(6).fit(X[:40]).transform(X[40:]))
    with pytest.raises(DisconnectedGraphError):
        LLE(6, on_disconnected="raise").fit(X)


@pytest.mark.filterwarnings("ignore::isentropic._errors.NeighborsClippedWarning")
def test_more_coordinates_than_rows_tell_apart_are_zero(rng):
    with pytest.warns(IsentropicWarning, match="X has 3 rows: the last 1 of 3 coordinates are zero"):
        fitted = LLE(3, 3).fit(rng.normal(size=(3, 4)))
    assert not fitted.embedding_[:, 2].any()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LLE(1), "n_neighbors must be an integer of at least n_components = 2, got 1"),
        (LLE(regularization=0), "regularization must be a positive number, got 0"),
        (
            LLE(on_disconnected="inflate"),
            "on_disconnected must be one of bridge, largest, raise",
        ),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(ROLL[:50])
