"""Sparse PCA: the criterion of each step, PCA as its limit, the order and what is left out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from assertions import assert_same_up_to_sign
from isentropic import PCA, IsentropicWarning, SparsePCA, datasets
from isentropic._core.errors import InvalidInputError
from isentropic.methods.linear.sparse_pca import power_direction

WINE = datasets.load("builtin:wine").X


def test_without_a_threshold_it_is_pca():
    sparse, pca = SparsePCA(3, rho=0).fit(WINE), PCA(3).fit(WINE)
    assert_same_up_to_sign(sparse.components_.T, pca.components_.T, atol=1e-6)
    assert_allclose(sparse.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-6)
    assert_array_equal(sparse.zeros_, 0)


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_a_direction_is_the_maximum_that_its_own_steps_reach(rho, shape, rng):
    rows = rng.normal(size=shape) * np.linspace(1, 2, shape[1])
    threshold = rho * np.linalg.norm(rows, axis=0).max()
    x = rows[:, np.linalg.norm(rows, axis=0).argmax()]
    criteria = []
    for _ in range(500):
        x = x / np.linalg.norm(x)
        products = [column @ x for column in rows.T]
        entries = np.array([np.sign(t) * max(abs(t) - threshold, 0) for t in products])
        criteria.append((entries**2).sum())
        x = sum(entry * column for entry, column in zip(entries, rows.T, strict=True))
    assert (np.diff(criteria) >= -1e-12 * criteria[-1]).all()
    assert_allclose(power_direction(rows, rho), entries / np.linalg.norm(entries), atol=1e-7)


def test_a_high_threshold_leaves_one_feature_each():
    fitted = SparsePCA(rho=0.99).fit(WINE * np.linspace(1, 2, 13))
    assert ((fitted.components_ != 0).sum(axis=1) == 1).all()
    assert_array_equal(fitted.zeros_, 12 / 13)


def test_more_is_left_out_as_the_threshold_rises_and_less_explained():
    fits = [SparsePCA(rho=rho).fit(WINE) for rho in (0, 0.2, 0.4, 0.6)]
    assert (np.diff([fitted.zeros_.sum() for fitted in fits]) > 0).all()
    assert (np.diff([fitted.explained_variance_ratio_.sum() for fitted in fits]) < 0).all()
    for fitted in fits:
        assert_allclose(np.linalg.norm(fitted.components_, axis=1), 1)
        assert (np.diff(fitted.explained_variance_ratio_) <= 0).all()


def test_variance_that_coordinates_share_counts_once(rng):
    fitted = SparsePCA(3, rho=0.3).fit(WINE)
    Z = fitted.embedding_ - fitted.embedding_.mean(axis=0)
    rest = Z[:, 1] - Z[:, 0] * (Z[:, 0] @ Z[:, 1]) / (Z[:, 0] @ Z[:, 0])
    total = ((WINE - WINE.mean(axis=0)) ** 2).sum()
    assert_allclose(fitted.explained_variance_ratio_[:2], [Z[:, 0] @ Z[:, 0] / total, rest @ rest / total])


def test_the_rank_is_said(rng):
    flat = np.outer(rng.normal(size=40), [1.0, 2.0, 3.0])
    with pytest.warns(IsentropicWarning, match="X has a rank of 1: the last 1 of 2 coordinates are zero"):
        assert not SparsePCA(rho=0).fit(flat).embedding_[:, 1].any()


@pytest.mark.parametrize("rho", [-0.1, 1, "auto"])
def test_other_thresholds_are_refused(rho):
    with pytest.raises(InvalidInputError, match="rho must be a number from 0 to below 1, got"):
        SparsePCA(rho=rho).fit(WINE)
