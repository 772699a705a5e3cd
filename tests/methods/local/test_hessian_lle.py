"""Hessian LLE against a plain twin, what scikit-learn calls by its name, and its promise of isometry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from sklearn.manifold import LocallyLinearEmbedding

from assertions import assert_same_up_to_sign
from isentropic import LTSA, HessianLLE, IsentropicWarning, Isomap, datasets
from isentropic._core.errors import InvalidInputError
from naive_patches import bottom, naive_hessian, naive_ltsa, patches_of

ROLL = datasets.load("builtin:swiss-roll", n_samples=400).X
FEW = ROLL[:300]


@pytest.mark.parametrize(("k", "d"), [(8, 2), (14, 2), (11, 3)])
def test_it_is_that_of_the_plain_twin(k, d):
    X = np.hstack([ROLL[:240], np.sin(ROLL[:240])]) if d == 3 else ROLL[:240]
    values, expected = bottom(naive_hessian(X, patches_of(X, k), d), d)
    fitted = HessianLLE(k, d).fit(X)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-7)
    assert_same_up_to_sign(fitted.embedding_, expected, rtol=1e-7, atol=1e-7)


def test_the_hessian_of_scikit_learn_is_its_ltsa_and_not_this():
    first, second = (
        LocallyLinearEmbedding(n_neighbors=12, method=method, eigen_solver="dense").fit(FEW).embedding_
        for method in ("hessian", "ltsa")
    )
    assert_same_up_to_sign(first, second, rtol=0, atol=2e-9)
    near = patches_of(FEW, 12)[:, 1:]  # without the centre, as there
    assert np.sin(subspace_angles(bottom(naive_ltsa(FEW, near, 2), 2)[1], first).max()) < 1e-6
    assert np.sin(subspace_angles(bottom(naive_hessian(FEW, near, 2), 2)[1], first).max()) > 0.01
    assert (
        np.sin(subspace_angles(HessianLLE(12).fit(FEW).embedding_, LTSA(12).fit(FEW).embedding_).max()) > 0.01
    )


def test_with_the_fewest_neighbours_both_are_the_same(rng):
    """Six rows have no more columns than 1, two tangents and three products."""
    patches = np.array([rng.choice(60, 6, replace=False) for _ in range(200)])
    X = rng.normal(size=(60, 3))
    assert_allclose(naive_hessian(X, patches, 2), naive_ltsa(X, patches, 2), atol=1e-9)


def test_blocks_have_the_rank_of_second_derivatives_and_no_affine_function(rng):
    X = rng.normal(size=(12, 2))
    block = naive_hessian(X, np.arange(12)[None], 2)
    assert np.linalg.matrix_rank(block, tol=1e-8) == 3
    assert_allclose(block @ np.column_stack([X, np.ones(12)]), 0, atol=1e-12)


def test_a_sheet_with_a_hole_is_found_up_to_an_affine_map():
    data = datasets.load("builtin:swiss-hole", n_samples=900)
    angle = np.asarray(data.y, float)
    length = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2  # along the spiral
    sheet = np.column_stack([length, data.X[:, 1]])
    sheet = sheet - sheet.mean(axis=0)

    def misfit(Z):
        left = sheet - (Z - Z.mean(axis=0)) @ np.linalg.lstsq(Z - Z.mean(axis=0), sheet)[0]
        return (left**2).sum() / (sheet**2).sum()

    hessian, isomap = HessianLLE(10).fit(data.X), Isomap(10).fit(data.X)
    assert misfit(hessian.embedding_) < 0.1 * misfit(isomap.embedding_)


def test_a_flat_sheet_has_no_curvature(rng):
    X = np.column_stack([rng.uniform(size=(250, 2)), np.zeros(250)])
    fitted = HessianLLE(9).fit(X)
    assert_allclose(fitted.eigenvalues_, 0, atol=1e-10)
    assert_allclose(
        np.linalg.lstsq(np.column_stack([X[:, :2], np.ones(250)]), fitted.embedding_)[1], 0, atol=1e-9
    )
    assert fitted.n_separating_ == 0


def test_equal_rows_are_tied_and_hold_no_coordinate_of_their_own():
    """Else a coordinate that only tells two equal rows apart would cost nothing."""
    fitted = HessianLLE(12).fit(np.vstack([ROLL[:250], ROLL[20:22]]))
    alone = HessianLLE(12).fit(ROLL[:250])
    assert_allclose(fitted.eigenvalues_, alone.eigenvalues_, rtol=0.1)
    assert_allclose(fitted.embedding_[20:22], fitted.embedding_[250:], atol=0)
    assert np.sin(subspace_angles(fitted.embedding_[:250], alone.embedding_).max()) < 0.2


def test_patches_without_second_derivatives_are_counted(rng):
    X = np.vstack([rng.normal(size=(100, 3)), np.repeat([[0.1, 0.2, 0.3]], 12, axis=0)])
    with (
        pytest.warns(IsentropicWarning, match="patches span fewer than 2 dimensions"),
        pytest.warns(
            IsentropicWarning, match=r"\d+ of 112 patches are too small, .*: they are aligned as in"
        ),
    ):
        HessianLLE(8).fit(X)


def test_too_few_neighbours_are_refused():
    message = "n_neighbors must be an integer of at least 6, for n_components = 2, got 5"
    with pytest.raises(InvalidInputError, match=message):
        HessianLLE(5).fit(ROLL[:50])
