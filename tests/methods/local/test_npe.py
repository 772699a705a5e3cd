"""NPE and linear LTSA against dense generalised eigenproblems, and on planes, parts and wide tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles

from assertions import assert_same_up_to_sign
from isentropic import LLE, LTSA, NPE, PCA, DisconnectedGraphWarning, IsentropicWarning, LinearLTSA, datasets
from isentropic._core.errors import InvalidInputError
from naive_patches import naive_ltsa, naive_weights, patches_of

WINE = datasets.load("builtin:wine").X
WINE = WINE / WINE.std(axis=0)


def dense(X, M, d):
    """Values, and directions of coordinates of mean square 1."""
    centred = X - X.mean(axis=0)
    values, vectors = eigh(centred.T @ M @ centred, centred.T @ centred, subset_by_index=(0, d - 1))
    return values, vectors * np.sqrt(len(X))


def operator(kind, X, k, d):
    if kind is LinearLTSA:
        return naive_ltsa(X, patches_of(X, k), d)
    apart = np.eye(len(X)) - naive_weights(X, k, 1e-3)
    return apart.T @ apart


@pytest.mark.parametrize("kind", [NPE, LinearLTSA])
@pytest.mark.parametrize(("k", "d"), [(7, 2), (12, 3)])
def test_it_solves_the_generalised_problem(kind, k, d):
    values, vectors = dense(WINE, operator(kind, WINE, k, d), d)
    fitted = kind(k, d).fit(WINE)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    assert_same_up_to_sign(fitted.components_.T, vectors, rtol=1e-6, atol=1e-8)
    assert_allclose(fitted.embedding_.T @ fitted.embedding_ / len(WINE), np.eye(d), atol=1e-10)
    assert_allclose(fitted.transform(WINE), fitted.embedding_, atol=1e-12)


def test_in_a_plane_linear_ltsa_costs_nothing_and_is_an_affine_image_of_pca(rng):
    X = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 5)) + 3
    fitted = LinearLTSA().fit(X)
    assert_allclose(fitted.eigenvalues_, 0, atol=1e-12)
    assert fitted.n_separating_ == 0
    assert subspace_angles(fitted.embedding_, PCA(2).fit_transform(X)).max() < 1e-7


@pytest.mark.parametrize(("kind", "whole"), [(NPE, LLE), (LinearLTSA, LTSA)])
def test_as_many_features_as_rows_less_one_give_the_map_without_restriction(rng, kind, whole):
    X = rng.normal(size=(40, 60))
    with pytest.warns(IsentropicWarning, match="X has 40 rows and a rank of 39: .* say nothing of new ones"):
        fitted = kind(8).fit(X)
    assert_same_up_to_sign(fitted.embedding_, whole(8).fit(X).embedding_, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", [NPE, LinearLTSA])
def test_collinear_columns_and_coordinates_beyond_the_rank(rng, kind):
    line = np.outer(rng.normal(size=60), [1.0, 2.0, -1.0])
    with pytest.warns(IsentropicWarning) as told:
        fitted = kind().fit(line)
    assert "X has a rank of 1: the last 1 of 2 coordinates are zero." in {str(one.message) for one in told}
    assert np.ptp(fitted.embedding_[:, 0]) > 1
    assert not fitted.embedding_[:, 1].any()


@pytest.mark.parametrize("kind", [NPE, LinearLTSA])
def test_parts_are_joined_and_told(rng, kind):
    far = np.array([1e5, 0, 0])
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + far])
    with pytest.warns(DisconnectedGraphWarning) as told:
        fitted = kind().fit(X)
    Z = fitted.embedding_
    still = (np.ptp(Z[:60], axis=0) < 0.1) & (np.ptp(Z[60:], axis=0) < 0.1)
    assert fitted.n_separating_ == np.count_nonzero(still) == 1
    messages = [str(one.message) for one in told]
    assert len(messages) == 2
    assert "2 parts of 60, 60 rows: the shortest edge between" in messages[0]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (NPE(1), "n_neighbors must be an integer of at least n_components = 2, got 1"),
        (NPE(regularization=-1), "regularization must be a positive number, got -1"),
        (NPE(n_components=14, n_neighbors=20), "n_components must be at most the number of features 13"),
        (LinearLTSA(2), "n_neighbors must be an integer of at least 3, for n_components = 2, got 2"),
        (LinearLTSA(n_components=14, n_neighbors=20), "n_components must be at most the number of features"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(WINE)
