"""Robust PCA: L1 against all signs, pursuit against a split that is known."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assertions import assert_same_up_to_sign
from isentropic import PCA, IsentropicWarning, RobustPCA, datasets
from isentropic._core.errors import InvalidInputError
from isentropic.methods.linear.robust_pca import climbed, low_rank_and_sparse, spatial_median

WINE = datasets.load("builtin:wine").X


def deviation(fitted, X):
    """What L1-PCA makes large, around the median: the largest sum of any directions in the plane."""
    scores = (X - spatial_median(X)) @ fitted.components_.T
    turns = (
        np.linalg.qr(np.random.default_rng(seed).normal(size=2 * scores.shape[1:]))[0] for seed in range(9)
    )
    return max(np.abs(scores @ climbed(scores, turn)).sum() for turn in turns)


@pytest.mark.parametrize("seed", range(3))
def test_one_direction_is_the_best_of_all_signs(seed):
    X = np.random.default_rng(seed).standard_t(2, size=(11, 3))
    rows = X - spatial_median(X)
    best = max(np.linalg.norm(np.array(signs) @ rows) for signs in product([-1, 1], repeat=11))
    assert_allclose(deviation(RobustPCA(1).fit(X), X), best, rtol=1e-10)


def test_each_round_raises_the_deviation(rng):
    rows, W = rng.standard_t(2, size=(60, 5)), np.linalg.qr(rng.normal(size=(5, 2)))[0]
    sums = [np.abs(rows @ W).sum()]
    while True:
        left, _, right = np.linalg.svd(rows.T @ np.where(rows @ W < 0, -1, 1), full_matrices=False)
        W = left @ right
        sums.append(np.abs(rows @ W).sum())
        if sums[-1] <= sums[-2]:
            break
    assert (np.diff(sums[:-1]) > 0).all()
    assert len(sums) > 3
    assert_allclose(climbed(rows, W), W, atol=1e-9)


def test_it_is_never_below_pca_and_the_directions_are_orthonormal():
    fitted = RobustPCA(3).fit(WINE)
    assert deviation(fitted, WINE) >= deviation(PCA(3).fit(WINE), WINE) * (1 - 1e-12)
    assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(3), atol=1e-12)
    sums = np.abs(fitted.embedding_).sum(axis=0)
    assert (np.diff(sums) < 0).all()
    assert_allclose(fitted.mean_, spatial_median(WINE), atol=1e-9)


def test_rows_symmetric_about_axes_have_the_axes(rng):
    quarter = np.abs(rng.normal(size=(20, 2))) * [9, 1]
    X = np.vstack([quarter * signs for signs in product([1, -1], repeat=2)])
    X += [3, 5]
    assert_same_up_to_sign(RobustPCA().fit(X).components_.T, np.eye(2))
    assert_same_up_to_sign(RobustPCA().fit(X).embedding_, PCA().fit(X).embedding_)


def test_one_row_far_off_turns_it_less_than_pca(rng):
    X = np.vstack([rng.normal(size=(200, 3)) * [5, 1, 1], [[0, 0, 300]]])
    assert abs(PCA().fit(X).components_[0, 2]) > 0.99
    assert abs(RobustPCA().fit(X).components_[0, 0]) > 0.85


@pytest.mark.parametrize("seed", range(5))
def test_more_features_than_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 30))
    fitted = RobustPCA().fit(X)
    turned = RobustPCA().fit(X @ np.linalg.qr(rng.normal(size=(30, 30)))[0])
    assert_same_up_to_sign(turned.embedding_, fitted.embedding_, atol=1e-8)
    assert deviation(fitted, X) >= deviation(PCA().fit(X), X)


# ---- the median --------------------------------------------------------------------------------


def test_pulls_towards_all_rows_cancel_at_the_median(rng):
    rows = rng.standard_t(2, size=(40, 3))
    apart = rows - spatial_median(rows)
    assert_allclose((apart / np.linalg.norm(apart, axis=1)[:, None]).sum(axis=0), 0, atol=1e-8)


def test_the_median_may_be_a_row():
    rows = np.array([[0.0, 0], [0, 0], [0, 0], [1, 0], [0, 2]])
    assert_allclose(spatial_median(rows), 0, atol=1e-9)
    held = np.array([[0.0, 0], [0, 0], [0, 0], [1, 0], [-0.5, 3], [-0.5, -3]])  # pulled less than held
    assert_allclose(spatial_median(held), 0, atol=1e-12)
    corners = np.array([[0.0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])  # the start is a row, and the median
    assert_allclose(spatial_median(corners), 0)


# ---- pursuit -----------------------------------------------------------------------------------


def spoiled(rng):
    low = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    sparse = np.where(rng.random(low.shape) < 0.05, rng.choice([-20.0, 20.0], low.shape), 0.0)
    return low, sparse


def test_low_rank_and_odd_values_are_told_apart(rng):
    low, sparse = spoiled(rng)
    L, S = low_rank_and_sparse(low + sparse)
    assert_allclose(L, low, atol=1e-4)
    assert_allclose(S, sparse, atol=1e-4)


def test_pursuit_finds_the_axes_that_odd_values_hide(rng):
    low, sparse = spoiled(rng)
    expected = PCA().fit(low).components_
    found, spoilt = RobustPCA(solver="pcp").fit(low + sparse).components_, PCA().fit(low + sparse).components_
    assert np.linalg.norm(expected @ found.T, 2) ** 2 > 1 - 1e-6
    assert abs(np.linalg.det(expected @ found.T)) > 0.999 > abs(np.linalg.det(expected @ spoilt.T))


def test_the_rank_is_said(rng):
    flat = np.outer(rng.normal(size=40), [1.0, 2.0, 3.0])
    wide = np.outer(rng.normal(size=40), rng.normal(size=30))
    for fitted, table in ((RobustPCA(), flat), (RobustPCA(solver="pcp"), wide)):
        with pytest.warns(IsentropicWarning, match="rank of 1: the last 1 of 2 coordinates are zero"):
            fitted.fit(table)
        assert not fitted.embedding_[:, 1].any()


def test_another_solver_is_refused():
    with pytest.raises(InvalidInputError, match="solver must be one of l1, pcp, got 'huber'"):
        RobustPCA(solver="huber").fit(WINE)
