"""DD-HDS: figures, the cost against its twin, planted maps, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist
from scipy.stats import kendalltau
from sklearn.datasets import load_iris

from isentropic import DDHDS
from isentropic._core.errors import InvalidInputError
from isentropic.kernels.pairs.pair_stress import NEAR_GAPS
from isentropic.objectives import AllPairs, Stress
from naive_curvilinear import naive_ddhds

IRIS = np.unique(load_iris().data, axis=0)


@pytest.fixture(scope="module")
def fitted():
    return DDHDS().fit(IRIS)


def test_the_published_cost_is_reached_on_iris():
    start, found = (DDHDS(**params).fit(load_iris().data) for params in ({"max_iter": 0}, {}))
    assert start.cost_ == pytest.approx(351.5, rel=2e-3)
    assert found.cost_ < 227.5
    assert kendalltau(pdist(load_iris().data), pdist(found.embedding_)).statistic > 0.96


def test_the_cost_is_that_of_its_twin(fitted):
    assert fitted.cost_ == pytest.approx(naive_ddhds(cdist(IRIS, IRIS), fitted.embedding_, 0.5, 0), rel=1e-9)


@pytest.mark.parametrize("balance", [0.1, 0.5, 0.9])
def test_cost_and_gradient_of_pairs_are_those_of_the_twin(rng, balance):
    X, Z = rng.normal(size=(12, 4)), rng.normal(size=(12, 2))
    d = pdist(X)
    shape = (d.mean() - 2 * (1 - balance) * d.std(), 2 * balance * d.std(), 0.1)
    cost, gradient = Stress(AllPairs(12, d), term=NEAR_GAPS, shape=shape, normaliser=1.0)(Z)

    def twin(flat):
        return naive_ddhds(cdist(X, X), flat.reshape(Z.shape), balance, 0.1)

    assert cost == pytest.approx(twin(Z.ravel()), rel=1e-12)
    assert_allclose(gradient.ravel(), approx_fprime(Z.ravel(), twin, 1e-7), atol=1e-5)


def test_equal_rows_count_as_often_as_they_come():
    X = np.repeat(IRIS[::6], np.arange(len(IRIS[::6])) % 3 + 1, axis=0)
    model = DDHDS(max_iter=30).fit(X)
    apart = pdist(X)[pdist(X) > 0]
    e, d = pdist(model.embedding_), pdist(X)
    from scipy.stats import norm

    share = norm.sf((np.minimum(d, e) - (apart.mean() - apart.std())) / apart.std())
    assert model.cost_ == pytest.approx((np.abs(d - e) * share).sum(), rel=1e-9)


def test_a_plane_is_kept():
    P = np.random.default_rng(0).normal(size=(50, 2))
    model = DDHDS().fit(np.column_stack([P, np.zeros(50)]))
    assert procrustes(P, model.embedding_)[2] < 1e-6


def test_distances_that_are_all_equal_weigh_the_same():
    model = DDHDS(metric="precomputed").fit(1.0 - np.eye(5))
    e = pdist(model.embedding_)
    assert model.cost_ == pytest.approx(0.5 * np.abs(1 - e).sum(), rel=1e-9)


def test_a_new_row_is_near_where_it_would_have_been(fitted):
    others = np.ones(len(IRIS), bool)
    others[::30] = False
    model = DDHDS().fit(IRIS[others])
    places = model.transform(IRIS[::30])
    _, _, apart = procrustes(
        fitted.embedding_,
        np.vstack([model.embedding_, places])[
            np.argsort(np.concatenate([np.flatnonzero(others), np.flatnonzero(~others)]))
        ],
    )
    assert apart < 0.01


@pytest.mark.parametrize("balance", [0.05, 1.0, "half"])
def test_bad_parameters_are_refused(balance):
    with pytest.raises(InvalidInputError, match=r"balance must be a number from 0\.1 to 0\.9"):
        DDHDS(balance=balance).fit(IRIS)
