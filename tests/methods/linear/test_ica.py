"""FastICA and infomax on known mixtures, against scikit-learn, and against the likelihood, differentiated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import FastICA as FastICAOfScikitLearn

from assertions import assert_same_up_to_sign
from isentropic import PCA, FastICA, InfomaxICA, IsentropicWarning, datasets
from isentropic._core.errors import InvalidInputError
from isentropic.methods.linear import ica

IRIS = datasets.load("builtin:iris").X
BOTH = pytest.mark.parametrize("method", [FastICA, InfomaxICA])


def mixture(seed, n=2000):
    """A heavy-tailed, a light-tailed and a skewed source of variance 1, and a mixing matrix."""
    rng = np.random.default_rng(seed)
    S = np.column_stack([rng.laplace(size=n), rng.uniform(size=n), rng.exponential(size=n)])
    return (S - S.mean(axis=0)) / S.std(axis=0), rng.normal(size=(3, 3))


def amari(P):
    """How far a matrix is from one entry in each row and column: 0 to 1."""
    P, d = np.abs(P), len(P)
    rows, columns = P / P.max(axis=1, keepdims=True), P / P.max(axis=0)
    return (rows.sum() + columns.sum() - 2 * d) / (2 * d * (d - 1))


def test_the_amari_distance_is_0_for_a_permutation_and_1_for_a_full_mixture():
    assert amari(np.array([[0, -3.0], [2, 0]])) == 0
    assert amari(np.ones((3, 3))) == 1


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_known_sources_are_unmixed(method, seed):
    sources, A = mixture(seed)
    fitted = method(3).fit(sources @ A.T)
    assert amari(fitted.components_ @ A) < 0.04
    assert_allclose(fitted.embedding_.std(axis=0), 1, rtol=1e-9)
    assert_allclose(fitted.inverse_transform(fitted.embedding_), sources @ A.T, atol=1e-9)
    assert_allclose(fitted.mixing_ @ fitted.components_, np.eye(3), atol=1e-9)


@BOTH
def test_what_contributes_most_to_the_variance_comes_first(method):
    sources, A = mixture(0)
    fitted = method(3).fit(sources @ A.T)
    norms = (fitted.mixing_**2).sum(axis=0)
    assert (np.diff(norms) < 0).all()
    total = (sources @ A.T).var(axis=0).sum()
    assert_allclose(fitted.explained_variance_ratio_, norms / total, rtol=1e-9)
    assert fitted.explained_variance_ratio_.sum() == pytest.approx(1, abs=0.05)


def test_fastica_is_that_of_scikit_learn_up_to_order_and_sign():
    for X, d in ((IRIS, 2), (mixture(1)[0] @ mixture(1)[1].T, 3)):
        theirs = FastICAOfScikitLearn(d, whiten="unit-variance", tol=1e-10, max_iter=2000, random_state=0)
        expected, found = theirs.fit_transform(X), FastICA(d).fit(X).embedding_
        order = np.abs(found.T @ expected).argmax(axis=1)
        assert sorted(order) == list(range(d))
        assert_same_up_to_sign(found, expected[:, order], rtol=1e-4, atol=1e-4)


@BOTH
def test_the_map_lies_in_the_plane_of_pca(method):
    Z, plane = method().fit(IRIS).embedding_, PCA(whiten=True).fit(IRIS).embedding_
    turn = np.linalg.lstsq(plane, Z, rcond=None)[0]
    assert_allclose(plane @ turn, Z, atol=1e-9)
    if method is FastICA:
        assert_allclose(turn.T @ turn * 149 / 150, np.eye(2), atol=1e-9)


# ---- infomax -----------------------------------------------------------------------------------


def test_the_gradient_is_that_of_the_loss(rng):
    white, W, tails = rng.laplace(size=(200, 3)), rng.normal(size=(3, 3)), np.array([1.0, -1, 1])
    gradient = ica.relative_gradient(white @ W.T, tails)
    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = 1e-6
            up, down = W + step @ W, W - step @ W
            difference = ica.loss(white @ up.T, up, tails) - ica.loss(white @ down.T, down, tails)
            assert difference / 2e-6 == pytest.approx(gradient[i, j], abs=1e-6)


def test_a_step_solves_the_block_of_each_pair(rng):
    Y, tails = rng.laplace(size=(300, 3)), np.ones(3)
    gradient = ica.relative_gradient(Y, tails)
    step = ica.quasi_newton_step(Y, tails, gradient)
    curvature = [(2 - np.tanh(y) ** 2).mean() for y in Y.T]
    h = np.array([[curvature[i] * (Y[:, j] ** 2).mean() for j in range(3)] for i in range(3)])
    assert_allclose(
        np.array([[h[0, 1], 1], [1, h[1, 0]]]) @ [step[0, 1], step[1, 0]], -gradient[[0, 1], [1, 0]]
    )
    assert_allclose((1 + h[2, 2]) * step[2, 2], -gradient[2, 2])


def test_tails_are_told_apart(rng):
    Y = np.column_stack([rng.laplace(size=2000), rng.uniform(-1.7, 1.7, size=2000)])
    assert ica.tails_of(Y).tolist() == [1, -1]


def test_it_ends_where_the_gradient_is_zero_in_some_twenty_steps():
    sources, A = mixture(0)
    fitted = InfomaxICA(3).fit(sources @ A.T)
    assert fitted.n_iter_ < 25
    # Coordinates are scaled to the variance 1; in the scale of the likelihood the gradient vanishes.
    Z, tails = fitted.embedding_, ica.tails_of(fitted.embedding_)
    scales = np.ones(3)
    for _ in range(200):
        slopes = ((Z * scales) * (Z * scales + tails * np.tanh(Z * scales))).mean(axis=0)
        scales *= slopes**-0.5
    assert np.abs(ica.relative_gradient(Z * scales, tails)).max() < 1e-7


# ---- what is said ------------------------------------------------------------------------------


def test_rounds_that_do_not_suffice_are_said():
    X = np.random.default_rng(0).normal(size=(240, 3))
    with pytest.warns(IsentropicWarning, match=r"No independent components after 3 rounds: they still .* by"):
        FastICA(3, max_iter=3).fit(X)
    with pytest.warns(IsentropicWarning, match=r"after 2 rounds.*Normal data have none"):
        InfomaxICA(3, max_iter=2).fit(X)


@BOTH
def test_the_rank_is_said(method, rng):
    flat = np.outer(rng.normal(size=40), [1.0, 2.0, 3.0])
    with pytest.warns(IsentropicWarning, match="X has a rank of 1: the last 1 of 2 coordinates are zero"):
        assert not method().fit(flat).embedding_[:, 1].any()


@BOTH
def test_no_rounds_are_refused(method):
    with pytest.raises(InvalidInputError, match="max_iter must be a positive integer, got 0"):
        method(max_iter=0).fit(IRIS)
