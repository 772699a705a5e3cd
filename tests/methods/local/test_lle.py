"""LLE, modified and Hessian LLE against plain versions."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from sklearn.manifold import LocallyLinearEmbedding

from assertions import assert_same_up_to_sign
from isentropic import (
    LLE,
    LTSA,
    DisconnectedGraphWarning,
    HessianLLE,
    IsentropicWarning,
    Isomap,
    ModifiedLLE,
    datasets,
    neighbor_graph,
)
from isentropic._core.errors import DisconnectedGraphError, InvalidInputError
from isentropic.linalg.eigen import count_separating_coordinates
from isentropic.methods.local.neighborhoods import Neighborhoods
from naive_patches import bottom, naive_hessian, naive_ltsa, patches_of

# ---- LLE against scikit-learn's, and what it does with parts, equal rows and new ones ------------


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
    peer.embedding_ = fitted.embedding_  # eigenvalues are so near that two solvers differ by 1e-9
    assert_allclose(fitted.transform(ROLL[200:]), peer.transform(ROLL[200:]), atol=1e-10)


def test_parts_are_joined_or_refused(rng):
    X = np.vstack([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 50])
    with (
        pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates groups of rows"),
        pytest.warns(
            DisconnectedGraphWarning, match="2 parts of 40, 40 rows: the shortest edge between them"
        ),
    ):
        fitted = LLE(6).fit(X)
    assert fitted.eigenvalues_[0] > 1e-12  # one part: the only zero is that of the constant
    assert fitted.n_separating_ == 1
    assert max(np.ptp(fitted.embedding_[:40, 0]), np.ptp(fitted.embedding_[40:, 0])) < 0.3
    with pytest.warns(DisconnectedGraphWarning, match="the largest is fitted, the other 40 rows are placed"):
        largest = LLE(6, on_disconnected="largest").fit(X)
    assert largest.n_separating_ == 0
    assert_array_equal(largest.embedding_[:40], LLE(6).fit(X[:40]).embedding_)
    assert_array_equal(largest.embedding_[40:], LLE(6).fit(X[:40]).transform(X[40:]))
    with pytest.raises(DisconnectedGraphError):
        LLE(6, on_disconnected="raise").fit(X)


def test_a_long_sheet_is_not_said_to_be_in_groups():
    """Though the eigenvalue of its length is more than a hundred times below the next."""
    fitted = LLE(12, 3).fit(datasets.load("builtin:swiss-roll").X)
    assert fitted.eigenvalues_[1] > 100 * fitted.eigenvalues_[0]
    assert fitted.n_separating_ == 0


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([0.1, 0.2, 0.3], 0),
        ([1e-5, 0.2, 0.3], 1),
        ([1e-5, 1e-4, 0.3], 2),  # the gap is behind the last coordinate
        ([1e-8, 0.1, 20.0], 2),
        ([1e-17, -1e-17, 1e-17], 2),  # nothing but zeros: as many groups, or more
        ([1e-3, 0.099], 0),
        ([1e-3, 0.101], 1),
        ([0.5], 0),
    ],
)
def test_coordinates_far_below_the_next_eigenvalue_are_counted(values, count):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert count_separating_coordinates(np.array(values), 2, size=1.0) == count
    assert len(told) == (count > 0)
    assert all(f"{count} of 2 coordinate" in str(one.message) for one in told)


def test_lists_that_lead_out_of_no_group_are_told_though_the_graph_is_one():
    X = datasets.load(
        "builtin:iris"
    ).X  # no list of the last 100 rows leads to the first 50, which has one of theirs
    with pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates"):
        fitted = LLE(10).fit(X)
    assert np.ptp(fitted.embedding_[50:, 0]) < 1e-6 * np.ptp(fitted.embedding_[:, 0])
    assert neighbor_graph(X, 10).n_components == 1


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.NeighborsClippedWarning")
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


def test_ends_of_bridges_are_in_each_others_lists():
    near = np.array([[1], [0], [3], [2], [5], [4]])
    lists = Neighborhoods(np.arange(6), near, np.array([[1, 2], [3, 4], [1, 4]]))
    found = {
        int(i): row.tolist() for rows, near in lists.by_size(3) for i, row in zip(rows, near, strict=True)
    }
    assert found == {0: [1], 1: [0, 2, 4], 2: [3, 1], 3: [2, 4], 4: [5, 1, 3], 5: [4]}
    assert_array_equal(np.concatenate([rows for rows, _ in lists.by_size(3)]).sum(), 15)


# ---- Modified LLE against scikit-learn's, and on equal rows, where that fails --------------------


# Without ties between distances, which lists may break either way.
DIGITS = datasets.load("builtin:digits").X[:300] + 1e-3 * np.random.default_rng(0).normal(size=(300, 64))


@pytest.mark.parametrize(("k", "d"), [(12, 2), (12, 1), (14, 3)])
@pytest.mark.parametrize("X", [ROLL, ROLL[:160], DIGITS], ids=["roll", "dense", "digits"])
def test_it_agrees_with_scikit_learn_up_to_sign_and_scale_modified(X, k, d):
    options = {"method": "modified", "eigen_solver": "dense"}
    peer = LocallyLinearEmbedding(n_neighbors=k, n_components=d, **options).fit(X)
    fitted = ModifiedLLE(k, d).fit(X)
    assert_same_up_to_sign(fitted.embedding_, peer.embedding_ * np.sqrt(len(X)), rtol=1e-6, atol=1e-6)


def test_a_new_row_is_the_sum_of_its_neighbours_modified():
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
def test_bad_parameters_are_refused_modified(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(ROLL[:50])


# ---- Hessian LLE against a plain twin, what scikit-learn calls by its name, and its promise of iso


LONG_ROLL = datasets.load("builtin:swiss-roll", n_samples=400).X
FEW = LONG_ROLL[:300]


@pytest.mark.parametrize(("k", "d"), [(8, 2), (14, 2), (11, 3)])
def test_it_is_that_of_the_plain_twin(k, d):
    X = np.hstack([LONG_ROLL[:240], np.sin(LONG_ROLL[:240])]) if d == 3 else LONG_ROLL[:240]
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
    fitted = HessianLLE(12).fit(np.vstack([LONG_ROLL[:250], LONG_ROLL[20:22]]))
    alone = HessianLLE(12).fit(LONG_ROLL[:250])
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
        HessianLLE(5).fit(LONG_ROLL[:50])
