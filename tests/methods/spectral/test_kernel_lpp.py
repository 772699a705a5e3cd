"""Kernel LPP against the generalised problem, LPP, and Laplacian eigenmaps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from assertions import assert_same_up_to_sign
from isentropic import (
    LPP,
    Can,
    IsentropicWarning,
    KernelLPP,
    LaplacianEigenmaps,
    MemoryBudgetError,
    config_context,
    datasets,
    neighbor_graph,
)
from isentropic._core.errors import InvalidInputError
from isentropic.affinities import heat

IRIS = datasets.load("builtin:iris").X
ROLL = datasets.load("builtin:swiss-roll", n_samples=120).X


def kernel(A, B, gamma):
    return np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2))


def dense(X, new, k, gamma, share, d):
    """Matrices as they are written, and the place of new rows."""
    W = heat(neighbor_graph(X, k)).toarray()
    D = np.diag(W.sum(axis=1))
    n = len(X)
    p = D.sum(axis=0) / D.sum()
    H = np.eye(n) - np.outer(np.ones(n), p)
    K = kernel(X, X, gamma)
    S, Q = np.linalg.eigh(H @ K @ H.T)
    S, Q = S[::-1], Q[:, ::-1]
    positive = S[S > 1e-12 * S[0]]
    r = int(np.flatnonzero(np.cumsum(positive) >= share * positive.sum())[0]) + 1
    F = Q[:, :r] * np.sqrt(S[:r])
    values, c = eigh(F.T @ (D - W) @ F, F.T @ D @ F, subset_by_index=(0, d - 1))
    c *= np.sqrt(D.sum())
    rows = (kernel(new, X, gamma) - p @ K) @ H.T
    return r, values, F @ c, rows @ (Q[:, :r] / np.sqrt(S[:r])) @ c


@pytest.mark.parametrize(("gamma", "share"), [(0.1, 0.99), (0.5, 0.9), (0.02, 0.999)])
def test_it_solves_the_generalised_problem_and_places_new_rows(gamma, share):
    X, new = ROLL / 5, ROLL[:20] / 5 + 0.01
    rank, values, Z, places = dense(X, new, 8, gamma, share, 2)
    fitted = KernelLPP(8, gamma=gamma, kept=share).fit(X)
    assert fitted.rank_ == rank
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    found = np.vstack([fitted.embedding_, fitted.transform(new)])
    assert_same_up_to_sign(found, np.vstack([Z, places]), rtol=0, atol=1e-7)


def test_a_kernel_of_full_rank_is_laplacian_eigenmaps():
    with pytest.warns(
        IsentropicWarning, match="120 rows has a rank of 119: the map is that of Laplacian eigen"
    ):
        fitted = KernelLPP(8, 3, gamma=0.5, kept=1).fit(ROLL)
    expected = LaplacianEigenmaps(8, 3).fit(ROLL)
    assert_allclose(fitted.eigenvalues_, expected.eigenvalues_, atol=1e-10)
    assert_same_up_to_sign(fitted.embedding_, expected.embedding_, rtol=0, atol=1e-7)


def test_what_is_left_out_makes_it_another_map():
    fitted, other = KernelLPP(8).fit(ROLL), LaplacianEigenmaps(8).fit(ROLL)
    assert fitted.rank_ < 119
    assert (fitted.eigenvalues_ > 1.01 * other.eigenvalues_).all()


@pytest.mark.parametrize("rule", [None, Can(6)])
def test_the_linear_kernel_is_lpp(rule):
    fitted = KernelLPP(7, neighbors=rule, kernel="linear", kept=1).fit(IRIS[:100])
    expected = LPP(7, neighbors=rule).fit(IRIS[:100])
    assert fitted.rank_ == 4
    assert_allclose(fitted.eigenvalues_, expected.eigenvalues_, rtol=1e-7)
    found = np.vstack([fitted.embedding_, fitted.transform(IRIS[100:])])
    expected = np.vstack([expected.embedding_, expected.transform(IRIS[100:])])
    assert_same_up_to_sign(found, expected, rtol=0, atol=1e-7)


def test_coordinates_beyond_the_rank_are_zero_and_said_to_be():
    with pytest.warns(IsentropicWarning, match="a rank of 1: the last 1 of 2 coordinates are zero"):
        fitted = KernelLPP(kernel="linear", kept=0.5).fit(IRIS)
    assert np.ptp(fitted.embedding_[:, 0]) > 1
    assert not fitted.embedding_[:, 1].any()


def test_memory_is_refused_before_it_is_taken():
    with (
        config_context(memory_limit=10**5),
        pytest.raises(MemoryBudgetError, match="All kernels of 120 rows"),
    ):
        KernelLPP().fit(ROLL)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KernelLPP(kernel="precomputed"), "kernel must be one of rbf, linear, poly, got 'precomputed'"),
        (KernelLPP(kept=0), "kept must be a share above 0 and at most 1, got 0"),
        (KernelLPP(kept=1.5), "kept must be a share above 0 and at most 1, got 1.5"),
        (KernelLPP(gamma=-1), "gamma must be 'auto' or a positive number, got -1"),
        (KernelLPP(t=0), "t must be 'auto' or a positive number, got 0"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(IRIS)
