"""Mean and covariance in one pass over any batches."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic import PCA
from isentropic._core.errors import InvalidInputError
from isentropic.scale import row_sums
from isentropic.scale.row_sums import blocks_of, moments_of

X = np.random.default_rng(0).normal(size=(1000, 5)) @ np.diag([3, 2, 1, 0.5, 0.1]) + 1e6


def cut(sizes):
    bounds = np.cumsum([0, *sizes])
    return [X[a:b] for a, b in itertools.pairwise(bounds)]


SIZES = [[1000], [1] * 1000, [0, 999, 0, 1], [64, 64, 872], [63, 65, 100, 772]]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(row_sums, "BLOCK", 64)
    monkeypatch.setattr(row_sums, "_GROUP", 3)


@pytest.mark.parametrize("sizes", SIZES)
def test_blocks_are_the_rows_in_order(sizes):
    blocks = list(blocks_of(cut(sizes)))
    assert [len(block) for block in blocks] == [64] * 15 + [40]
    assert_array_equal(np.concatenate(blocks), X)


@pytest.mark.parametrize("sizes", SIZES)
def test_batches_do_not_change_a_bit(sizes):
    centre = X[:10].mean(axis=0)
    whole, found = moments_of([X], centre), moments_of(cut(sizes), centre)
    assert found.n == 1000
    assert_array_equal(found.mean, whole.mean)
    assert_array_equal(found.covariance, whole.covariance)


def test_they_are_those_of_numpy():
    found = moments_of([X], X[:10].mean(axis=0))
    assert_allclose(found.mean, X.mean(axis=0), rtol=1e-14)
    assert_allclose(found.covariance, np.cov(X.T), rtol=1e-9, atol=1e-12)


def test_pca_of_the_moments_is_pca_of_all_rows():
    moments = moments_of([X], X[:10].mean(axis=0))
    sample, whole = PCA(3).fit(X[::10], moments=moments), PCA(3).fit(X)
    assert_allclose(sample.components_, whole.components_, atol=1e-8)
    assert_allclose(sample.explained_variance_, whole.explained_variance_, rtol=1e-9)
    assert_allclose(sample.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-9)
    assert_allclose(sample.transform(X), whole.transform(X), atol=1e-7)
    assert_array_equal(sample.embedding_, sample.transform(X[::10]))


def test_one_row_has_no_covariance():
    with pytest.raises(InvalidInputError, match="at least 2 rows"):
        moments_of([X[:1]], X[0])
