"""Multilinear PCA: PCA as its limits, the factors against Kronecker products, sweeps that only gain."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assertions import assert_same_up_to_sign
from isentropic import PCA, IsentropicWarning, MultilinearPCA, datasets, load, save
from isentropic._core.errors import InvalidInputError
from isentropic.methods.linear.multilinear_pca import _leading, swept

DIGITS = datasets.load("builtin:digits").X[:400]
CENTRED = DIGITS - DIGITS.mean(axis=0)


def kept(factors):
    """Share of the variance in the products, by the Kronecker product of the factors."""
    basis = np.ones((1, 1))
    for factor in factors:
        basis = np.kron(basis, factor)
    return ((CENTRED @ basis) ** 2).sum() / (CENTRED**2).sum()


@pytest.mark.parametrize(
    "options", [{}, {"shape": (64,), "ranks": (5,)}, {"shape": (8, 8), "ranks": (8, 8)}, {"shape": (4, 2, 8)}]
)
def test_one_axis_or_all_ranks_are_pca(options):
    if options.get("shape") == (4, 2, 8):
        options = {**options, "variance": 1.0}
    fitted, pca = MultilinearPCA(3, **options).fit(DIGITS), PCA(3).fit(DIGITS)
    assert_same_up_to_sign(fitted.components_.T, pca.components_.T, atol=1e-7)
    assert_allclose(fitted.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-7)


def test_coordinates_are_pca_of_the_products():
    fitted = MultilinearPCA(3, shape=(8, 8), ranks=(3, 4)).fit(DIGITS)
    assert [factor.shape for factor in fitted.factors_] == [(8, 3), (8, 4)]
    for factor in fitted.factors_:
        assert_allclose(factor.T @ factor, np.eye(factor.shape[1]), atol=1e-12)
    cores = CENTRED @ np.kron(*fitted.factors_)
    assert_same_up_to_sign(fitted.embedding_, PCA(3).fit(cores).embedding_, atol=1e-8)
    assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(3), atol=1e-10)


def test_sweeps_only_gain_and_end_where_one_more_gains_nothing():
    arrays = CENTRED.reshape(-1, 8, 8)
    start = [_leading(arrays, axis)[1][:, :4] for axis in range(2)]
    end = swept(arrays, start)
    assert kept(start) < kept(end) <= PCA(16).fit(DIGITS).explained_variance_ratio_.sum()
    assert kept(swept(arrays, end)) == pytest.approx(kept(end), rel=1e-6)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 4)))[0]
    assert kept(swept(arrays, [start[0], turned])) == pytest.approx(kept(end), rel=1e-3)


def test_ranks_keep_the_share_along_each_axis():
    fitted = MultilinearPCA(shape=(8, 8), variance=0.9).fit(DIGITS)
    arrays = CENTRED.reshape(-1, 8, 8)
    for axis, factor in enumerate(fitted.factors_):
        values = _leading(arrays, axis)[0]
        shares, rank = np.cumsum(values) / values.sum(), factor.shape[1]
        assert shares[rank - 1] >= 0.9 > shares[rank - 2]


def test_ranks_are_raised_until_there_are_enough_coordinates():
    fitted = MultilinearPCA(6, shape=(8, 8), variance=0.01).fit(DIGITS)
    ranks = [factor.shape[1] for factor in fitted.factors_]
    assert np.prod(ranks) >= 6 > np.prod(ranks) / 2
    assert fitted.embedding_.any(axis=0).all()


def test_fewer_rows_than_an_axis_is_long(rng):
    wide = rng.normal(size=(12, 60))
    for options in ({}, {"shape": (30, 2), "variance": 1.0}, {"shape": (30, 2), "ranks": (30, 2)}):
        fitted = MultilinearPCA(3, **options).fit(wide)
        assert_same_up_to_sign(fitted.embedding_, PCA(3).fit(wide).embedding_, atol=1e-8)
    with pytest.warns(
        IsentropicWarning, match="The arrays have a rank of 1: the last 2 of 3 coordinates are zero"
    ):
        MultilinearPCA(3).fit(wide[:2])


def test_factors_are_saved(tmp_path):
    fitted = MultilinearPCA(shape=(8, 8), ranks=(2, 3)).fit(DIGITS)
    save(fitted, tmp_path / "model.isentropic")
    again = load(tmp_path / "model.isentropic")
    assert [factor.shape for factor in again.factors_] == [(8, 2), (8, 3)]
    assert_allclose(again.transform(DIGITS[:5]), fitted.embedding_[:5], rtol=0, atol=0)


def test_the_rank_is_said(rng):
    flat = np.outer(rng.normal(size=40), [1.0, 2.0, 3.0, 4.0])
    with pytest.warns(IsentropicWarning, match="rank of 1: the last 1 of 2 coordinates are zero"):
        assert not MultilinearPCA(shape=(2, 2)).fit(flat).embedding_[:, 1].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": (8, 9)}, r"shape must be of 64 numbers, as many as features, got '\(8, 9\): 72'"),
        ({"shape": 64}, "shape must be a tuple of positive integers, got 64"),
        ({"shape": (8, -8)}, "shape must be a positive integer, got -8"),
        ({"shape": (8, 8), "ranks": (9, 2)}, r"ranks must be one for each axis of \(8, 8\), and at most its"),
        ({"shape": (8, 8), "ranks": (4,)}, "ranks must be one for each axis"),
        (
            {"shape": (8, 8), "ranks": (1, 1)},
            r"ranks must be such that 2 coordinates remain, got '\(1, 1\): 1'",
        ),
        ({"variance": 0}, "variance must be a number above 0, at most 1, got 0"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        MultilinearPCA(**options).fit(DIGITS)
