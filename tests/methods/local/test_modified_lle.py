"""Modified LLE against scikit-learn's, and on equal rows, where that fails."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.manifold import LocallyLinearEmbedding

from assertions import assert_same_up_to_sign
from isentropic import DisconnectedGraphWarning, ModifiedLLE, datasets
from isentropic._core.errors import InvalidInputError

ROLL = datasets.load("builtin:swiss-roll", n_samples=300).X
# Without ties between distances, which lists may break either way.
DIGITS = datasets.load("builtin:digits").X[:300] + 1e-3 * np.random.default_rng(0).normal(size=(300, 64))


@pytest.mark.parametrize(("k", "d"), [(12, 2), (12, 1), (14, 3)])
@pytest.mark.parametrize("X", [ROLL, ROLL[:160], DIGITS], ids=["roll", "dense", "digits"])
def test_it_agrees_with_scikit_learn_up_to_sign_and_scale(X, k, d):
    options = {"method": "modified", "eigen_solver": "dense"}
    peer = LocallyLinearEmbedding(n_neighbors=k, n_components=d, **options).fit(X)
    fitted = ModifiedLLE(k, d).fit(X)
    assert_same_up_to_sign(fitted.embedding_, peer.embedding_ * np.sqrt(len(X)), rtol=1e-6, atol=1e-6)


def test_a_new_row_is_the_sum_of_its_neighbours():
    peer = LocallyLinearEmbedding(n_neighbors=10, method="modified", eigen_solver="dense").fit(ROLL[:250])
    fitted = ModifiedLLE(10).fit(ROLL[:250])
    signs = np.sign((fitted.embedding_ * peer.embedding_).sum(axis=0)) * np.sqrt(250)
    assert_allclose(fitted.transform(ROLL[250:]), peer.transform(ROLL[250:]) * signs, atol=1e-7)


def test_equal_rows_have_a_place():
    X = np.vstack([ROLL[:100], np.repeat(ROLL[:1], 20, axis=0)])
    with pytest.raises(ValueError, match="infs or NaNs"), np.errstate(invalid="ignore", divide="ignore"):
        LocallyLinearEmbedding(n_neighbors=8, method="modified", eigen_solver="dense").fit(X)
    Z = ModifiedLLE(8).fit_transform(X)
    assert np.isfinite(Z).all()
    assert np.ptp(Z[100:], axis=0).max() == 0


def test_a_flat_sheet_is_found_up_to_an_affine_map(rng):
    X = np.column_stack([rng.uniform(size=(250, 2)), np.zeros(250)])
    fitted = ModifiedLLE(10).fit(X)
    left = np.linalg.lstsq(np.column_stack([X[:, :2], np.ones(250)]), fitted.embedding_)[1]
    assert_allclose(left, 0, atol=1e-4 * 250)
    assert fitted.n_separating_ == 0


def test_parts_are_joined_and_told(rng):
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 1e4])
    with (
        pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates groups of rows"),
        pytest.warns(DisconnectedGraphWarning, match="2 parts of 60, 60 rows"),
    ):
        assert ModifiedLLE(8).fit(X).n_separating_ == 1


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (ModifiedLLE(1), "n_neighbors must be an integer of at least n_components = 2, got 1"),
        (ModifiedLLE(regularization=0), "regularization must be a positive number, got 0"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(ROLL[:50])
