"""Covariances of thousands of features are factored by LAPACK: the same terms, up to rounding."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isentropic._core.errors import InvalidInputError
from isentropic.divergences import FullForm, large_covariances

HEADS, TAILS = np.array([0, 0, 1]), np.array([1, 2, 2])


@pytest.fixture
def gaussians(rng):
    rows = rng.normal(size=(3, 40, 12)) * rng.uniform(0.1, 10, size=(3, 1, 12))
    return rows.mean(axis=1), np.stack([np.cov(one.T) for one in rows])


def _terms(means, S):
    form = FullForm(means, S)
    return form.plain(HEADS, TAILS), form.mixed(HEADS, TAILS, 0.3), form.log_dets


def test_terms_are_those_of_the_kernels(gaussians, monkeypatch):
    expected = _terms(*gaussians)
    monkeypatch.setattr(large_covariances, "LARGE", 5)
    found = _terms(*gaussians)
    for own, other in zip(found, expected, strict=True):
        assert_allclose(own, other, rtol=1e-10)
    assert any((own != other).any() for own, other in zip(found, expected, strict=True))  # another way


def test_what_is_not_positive_definite_is_refused(gaussians, monkeypatch):
    means, S = gaussians
    monkeypatch.setattr(large_covariances, "LARGE", 5)
    S[1, 0, 0] = -1.0
    with pytest.raises(InvalidInputError, match="positive definite"):
        _terms(means, S)
