"""Block Krylov iteration and what is built on it, against the whole spectrum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import pdist

from isentropic.linalg import (
    aligned,
    block_eigenpairs,
    classical_scaling,
    procrustes_correlation,
    warm_scaling,
)
from isentropic.linalg.eigen import NotConverged, fixed_signs


def symmetric(values, seed=0):
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return (basis * values) @ basis.T


def counted(A):
    calls = []

    def times(Q):
        calls.append(Q.shape)
        return A @ Q

    return times, calls


START = np.random.default_rng(1).normal(size=(120, 8))


@pytest.mark.parametrize("fall", [0.5, 0.9])
def test_leading_pairs_equal_those_of_the_whole_spectrum(fall):
    A = symmetric(fall ** np.arange(120.0) - 0.1)
    values, vectors = block_eigenpairs(lambda Q: A @ Q, START, 3)
    expected, basis = eigh(A)
    assert_allclose(values[:3], expected[::-1][:3], rtol=1e-12)
    assert_allclose(fixed_signs(vectors[:, :3]), fixed_signs(basis[:, ::-1][:, :3]), atol=1e-8)


def test_large_negative_eigenvalues_do_not_lead():
    A = symmetric(np.concatenate([[3.0, 2.0], np.linspace(-50, 1, 118)]))
    assert_allclose(block_eigenpairs(lambda Q: A @ Q, START, 2)[0][:2], [3, 2], rtol=1e-10)


def test_near_vectors_save_passes():
    A = symmetric(0.8 ** np.arange(120.0))
    cold, calls = counted(A)
    vectors = block_eigenpairs(cold, START, 2)[1]
    near, more = counted(A + 1e-4 * symmetric(np.linspace(-1, 1, 120), 5))
    block_eigenpairs(near, vectors, 2)
    assert len(more) < len(calls)


def test_flat_and_double_spectra_settle():
    assert_allclose(block_eigenpairs(lambda Q: 0 * Q, START, 2)[0], 0)
    A = symmetric(np.array([5.0, 5.0, 1.0] + [0.0] * 117))
    assert_allclose(block_eigenpairs(lambda Q: A @ Q, START, 2)[0][:3], [5, 5, 1], atol=1e-12)


def test_what_does_not_settle_says_so():
    random = np.random.default_rng(0)
    with pytest.raises(NotConverged):
        block_eigenpairs(lambda Q: random.normal(size=Q.shape), START, 2)


@pytest.mark.parametrize("n_components", [2, 11])
def test_warm_scaling_equals_the_cold_one(n_components):
    X = np.random.default_rng(2).normal(size=(320, 14)) * 0.8 ** np.arange(14)
    distances, other = pdist(X), pdist(X + 0.01 * np.random.default_rng(3).normal(size=X.shape))
    start = warm_scaling(other, len(X), n_components)[1]
    for given in (None, start):
        found, vectors = warm_scaling(distances, len(X), n_components, given)
        expected = classical_scaling(distances, len(X), n_components)
        assert vectors.shape[1] >= n_components
        assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-10)
        assert_allclose(found.embedding, expected.embedding, atol=1e-8)
        assert_allclose(found.means, expected.means)
        assert_allclose(found.euclidean_defect, expected.euclidean_defect, atol=1e-12)


def test_alignment_finds_a_motion_by_some_of_the_rows():
    random = np.random.default_rng(4)
    Z = random.normal(size=(30, 2))
    turned = Z @ np.array([[0.6, -0.8], [0.8, 0.6]]) * [1, -1] + 7
    assert_allclose(aligned(turned, Z[:10], slice(10)), Z, atol=1e-12)
    assert_allclose(procrustes_correlation(turned * 3, Z), 1)
    assert procrustes_correlation(random.normal(size=(30, 2)), Z) < 0.7
    assert procrustes_correlation(np.zeros((4, 2)), np.ones((4, 2))) == 1
