"""LTSA against a plain twin and scikit-learn's, whose patches are without their centres."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.manifold import LocallyLinearEmbedding

from assertions import assert_same_up_to_sign
from isentropic import LTSA, DisconnectedGraphWarning, IsentropicWarning, datasets
from isentropic._core.errors import DisconnectedGraphError, InvalidInputError
from isentropic.linalg import bottom_eigenpairs, sum_of_blocks
from isentropic.methods.local.neighborhoods import Tangents
from naive_patches import bottom, naive_ltsa, patches_of

ROLL = datasets.load("builtin:swiss-roll", n_samples=300).X


@pytest.mark.parametrize(("k", "d"), [(8, 2), (14, 2), (9, 1), (8, 3)])
def test_it_is_that_of_the_plain_twin(k, d):
    X = np.hstack([ROLL[:240], np.sin(ROLL[:240])]) if d == 3 else ROLL[:240]
    values, expected = bottom(naive_ltsa(X, patches_of(X, k), d), d)
    fitted = LTSA(k, d).fit(X)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-7)
    assert_same_up_to_sign(fitted.embedding_, expected, rtol=1e-7, atol=1e-7)
    assert_allclose(fitted.embedding_.T @ fitted.embedding_ / len(X), np.eye(d), atol=1e-9)


@pytest.mark.parametrize("k", [9, 12])
@pytest.mark.parametrize("method", ["ltsa", "hessian"])
def test_without_the_centre_it_is_both_ltsa_and_hessian_of_scikit_learn(k, method):
    """Whose Hessian LLE keeps every column after the tangents, which leaves LTSA."""
    peer = LocallyLinearEmbedding(n_neighbors=k, method=method, eigen_solver="dense").fit(ROLL)
    near = patches_of(ROLL, k)[:, 1:]
    M = sum_of_blocks(len(ROLL), [(near, Tangents.of(ROLL, near, 2).alignments())])
    found = bottom_eigenpairs(M, 2, known=np.ones(len(ROLL)))[1]
    assert_same_up_to_sign(found, peer.embedding_, rtol=0, atol=2e-9)


def _share_of_row(i, Z):
    """How much of the direction of one row alone is in the span of the constant and the coordinates."""
    return (np.linalg.qr(np.column_stack([np.ones(len(Z)), Z]))[0][i] ** 2).sum()


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.DisconnectedGraphWarning")
def test_a_row_that_is_nobodys_neighbour_has_a_place():
    X = datasets.load("builtin:digits").X[:300]
    orphans = np.setdiff1d(np.arange(300), patches_of(X, 8)[:, 1:])
    assert_array_equal(orphans, [78])
    theirs = LocallyLinearEmbedding(n_neighbors=8, method="ltsa", eigen_solver="dense").fit(X).embedding_
    # The row has a direction for itself, which a solver may turn into that of the constant.
    assert _share_of_row(78, theirs) > 0.99
    ours = LTSA(8).fit(X)
    assert _share_of_row(78, ours.embedding_) < 0.1
    assert np.abs(ours.embedding_[78]).max() < 0.2 * np.sqrt(300)
    assert ours.n_separating_ == 0


def test_a_flat_sheet_is_found_up_to_an_affine_map_and_new_rows_too(rng):
    plane, new = rng.uniform(size=(250, 2)), rng.uniform(size=(20, 2))
    turn = np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    fitted = LTSA(9).fit(plane @ turn + 7)
    assert_allclose(fitted.eigenvalues_, 0, atol=1e-10)
    assert fitted.n_separating_ == 0
    assert fitted.eigengap_ > 0.99
    affine = np.column_stack([plane, np.ones(250)])
    found, left, *_ = np.linalg.lstsq(affine, fitted.embedding_)
    assert_allclose(left, 0, atol=1e-10)
    places = fitted.transform(new @ turn + 7)
    assert_allclose(places, np.column_stack([new, np.ones(20)]) @ found, atol=1e-8)


def test_a_new_row_is_placed_by_the_tangents_of_its_nearest_row():
    X, new = ROLL[:250], ROLL[250:270]
    fitted = LTSA(10).fit(X)
    patches = patches_of(X, 10)
    for x, place in zip(new, fitted.transform(new), strict=True):
        patch = patches[((X - x) ** 2).sum(axis=1).argmin()]
        mean, Y = X[patch].mean(axis=0), fitted.embedding_[patch]
        axes = np.linalg.svd(X[patch] - mean)[2][:2].T
        L = np.linalg.lstsq((X[patch] - mean) @ axes, Y - Y.mean(axis=0))[0]
        assert_allclose(place, Y.mean(axis=0) + (x - mean) @ axes @ L, atol=1e-9)


def test_many_features_go_by_products(rng):
    X = np.hstack([ROLL[:220], 0.01 * rng.normal(size=(220, 40))])
    _, expected = bottom(naive_ltsa(X, patches_of(X, 8), 2), 2)
    assert_same_up_to_sign(LTSA(8).fit(X).embedding_, expected, rtol=1e-6, atol=1e-6)


def test_parts_are_joined_or_placed_or_refused(rng):
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 1e4])
    with (
        pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates groups of rows"),
        pytest.warns(DisconnectedGraphWarning, match="2 parts of 60, 60 rows: the shortest edge between"),
    ):
        fitted = LTSA(8).fit(X)
    assert fitted.n_separating_ == 1
    assert fitted._map.patches.shape == (120, 9)  # without the bridge
    with pytest.warns(DisconnectedGraphWarning, match="the largest is fitted, the other 60 rows are placed"):
        largest = LTSA(8, on_disconnected="largest").fit(X)
    alone = LTSA(8).fit(X[:60])
    assert_array_equal(largest.embedding_[:60], alone.embedding_)
    assert_array_equal(largest.embedding_[60:], alone.transform(X[60:]))
    with pytest.raises(DisconnectedGraphError):
        LTSA(8, on_disconnected="raise").fit(X)


def test_patches_of_less_dimension_are_counted(rng):
    X = np.vstack([rng.normal(size=(100, 3)), np.repeat([[0.1, 0.2, 0.3]], 12, axis=0)])
    ranks = [np.linalg.matrix_rank(X[patch] - X[patch[0]], tol=1e-9) for patch in patches_of(X, 8)]
    poor = np.count_nonzero(np.array(ranks) < 2)
    assert poor >= 12
    with pytest.warns(IsentropicWarning, match=f"{poor} of 112 patches span fewer than 2 dimensions"):
        fitted = LTSA(8).fit(X)
    assert np.ptp(fitted.embedding_[100:], axis=0).max() == 0


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LTSA(2), "n_neighbors must be an integer of at least 3, for n_components = 2, got 2"),
        (LTSA(n_components=4), "n_components must be at most the number of features 3, got 4"),
        (LTSA(on_disconnected="inflate"), "on_disconnected must be one of bridge, largest, raise"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(ROLL[:50])
