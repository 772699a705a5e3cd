"""Generative topographic mapping: EM by hand, a likelihood that never falls, places and refusals."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import spearmanr
from sklearn.datasets import load_iris

from isentropic import GTM, datasets
from isentropic._core.errors import InvalidInputError

IRIS = datasets.load("builtin:iris").X


def log_likelihood(X, centres, precision):
    """Of a mixture of equal Gaussians, over the features that vary."""
    m = int((X.std(axis=0) > 0).sum())
    squares = ((X[:, None] - centres[None]) ** 2).sum(axis=2)
    each = logsumexp(-precision / 2 * squares, axis=1) - np.log(len(centres))
    return (each + m / 2 * np.log(precision / (2 * np.pi))).sum()


def test_the_likelihood_is_that_of_the_mixture():
    gtm = GTM(n_nodes=6).fit(IRIS)
    expected = log_likelihood(IRIS, gtm.codebook_, gtm.precision_)
    assert gtm.log_likelihood_ == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("d", [1, 2])
def test_the_penalised_likelihood_never_falls(d):
    gtm = GTM(d, tol=0.0, max_iter=60).fit(IRIS)
    assert len(gtm.log_likelihoods_) == gtm.n_iter_ + 1 == 61
    assert (np.diff(gtm.log_likelihoods_) >= -1e-9 * np.abs(gtm.log_likelihoods_[1:])).all()


def test_iris_ends_where_it_is_known_to():
    """The penalised likelihood of the specification's own program is -292.2."""
    assert GTM().fit(load_iris().data).log_likelihoods_[-1] == pytest.approx(-292.2, abs=0.5)


def test_a_fixed_point_of_em():
    """Shares, weights and variance, computed once more without any of our code, change nothing."""
    X = (IRIS - IRIS.mean(axis=0)) / np.sqrt(IRIS.var(axis=0).mean())
    gtm = GTM(n_nodes=5, tol=0.0, max_iter=4000).fit(X)
    step = 2 / 3
    grid = np.linspace(-1, 1, 4)
    centres = np.array([(a, b) for a in grid for b in grid])
    away = ((gtm.places_[:, None] - centres[None]) ** 2).sum(axis=2)
    basis = np.hstack([np.exp(-away / (2 * (2 * step) ** 2)), gtm.places_, np.ones((25, 1))])
    squares = ((X[:, None] - gtm.codebook_[None]) ** 2).sum(axis=2)
    shares = np.exp(-gtm.precision_ / 2 * squares)
    shares /= shares.sum(axis=1)[:, None]
    penalty = 0.1 / gtm.precision_ * np.eye(19)
    penalty[-1, -1] = 0
    normal = basis.T @ np.diag(shares.sum(axis=0)) @ basis + penalty
    weights = np.linalg.solve(normal, basis.T @ shares.T @ X)
    np.testing.assert_allclose(basis @ weights, gtm.codebook_, atol=2e-3)
    assert 1 / gtm.precision_ == pytest.approx((shares * squares).sum() / X.size, rel=1e-3)


def test_mean_and_mode_of_the_posterior():
    mean, mode = GTM(n_nodes=8).fit(IRIS), GTM(n_nodes=8, place="mode").fit(IRIS)
    np.testing.assert_array_equal(mean.codebook_, mode.codebook_)
    squares = ((IRIS[:, None] - mean.codebook_[None]) ** 2).sum(axis=2)
    shares = np.exp(-mean.precision_ / 2 * (squares - squares.min(axis=1)[:, None]))
    expected = shares @ mean.places_ / shares.sum(axis=1)[:, None]
    np.testing.assert_allclose(mean.embedding_, expected, atol=1e-9)
    np.testing.assert_array_equal(mode.embedding_, mode.places_[squares.argmin(axis=1)])


def test_a_flat_sheet_is_found_again():
    rng = np.random.default_rng(0)
    plane = rng.uniform(-1, 1, size=(300, 2)) * (2, 1)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X = plane @ turn[:2] + 0.01 * rng.normal(size=(300, 5))
    Z = GTM().fit_transform(X)
    for axis in range(2):
        assert abs(spearmanr(Z[:, axis], plane[:, axis])[0]) > 0.97


def test_magnification_is_the_stretch_of_the_sheet():
    """Against differences between the centres of neighbouring nodes, which a fine grid makes small."""
    gtm = GTM(n_nodes=40, max_iter=20).fit(3 * IRIS)
    grid = gtm.codebook_.reshape(40, 40, -1)
    step = 2 / 39
    across, along = np.gradient(grid, step, axis=(0, 1))
    metric = np.stack([across, along], axis=2)
    areas = np.sqrt(np.linalg.det(metric @ metric.transpose(0, 1, 3, 2)))
    inner = (slice(2, -2), slice(2, -2))
    np.testing.assert_allclose(gtm.magnification_.reshape(40, 40)[inner], areas[inner], rtol=0.05)


def test_no_lower_likelihood_than_ugtm():
    ugtm = pytest.importorskip("ugtm")
    X = datasets.load("builtin:wine").X
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = ugtm.runGTM(X, k=8, m=4, s=-1, regul=0.1, niter=200)
    theirs = log_likelihood(X, peer.matY.T, 1 / peer.betaInv)
    assert GTM(n_nodes=8).fit(X).log_likelihood_ >= theirs


def test_rows_on_the_sheet_have_a_bounded_precision():
    X = np.outer(np.linspace(0, 1, 30), [1.0, 2.0, 0.0])
    gtm = GTM(1, max_iter=500).fit(X)
    assert np.isfinite(gtm.log_likelihood_)
    assert gtm.precision_ <= 1e12 / X.var(axis=0)[:2].mean() * 1.001
    order = np.abs(spearmanr(gtm.embedding_[:, 0], X[:, 0])[0])
    assert order > 0.999


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 3}, "n_components must be an integer from 1 to 2, got 3"),
        ({"n_nodes": 1}, "n_nodes must be an integer of at least 2, got 1"),
        ({"place": "median"}, "place must be one of mean, mode, got 'median'"),
        ({"max_iter": -1}, "max_iter must be an integer of at least 0"),
        ({"tol": 1.0}, "tol must be a number from 0 to below 1"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        GTM(**parameters).fit(IRIS)
