"""RankVisu: figures, what it depends on, planted maps, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from isentropic import RankVisu
from isentropic._core.errors import InvalidInputError, NeighborsClippedWarning
from naive_curvilinear import naive_zetas

IRIS = load_iris().data


@pytest.fixture(scope="module")
def fitted():
    return RankVisu(30).fit(IRIS)


def test_the_cost_falls_by_a_sixth_on_iris(fitted):
    assert fitted.cost_ <= 0.83 * fitted.start_cost_
    assert fitted.start_cost_ == pytest.approx(440_990, rel=1e-3)  # that of principal components


def test_the_cost_is_that_of_the_map():
    model = RankVisu(5, leniency=0.3, max_iter=3).fit(IRIS[::5])
    strict, lenient = naive_zetas(cdist(IRIS[::5], IRIS[::5]), model.embedding_, 5)
    assert model.cost_ == pytest.approx(0.7 * strict + 0.3 * lenient, rel=1e-12)


def test_from_a_given_start_only_the_order_of_distances_matters():
    X = np.random.default_rng(0).normal(size=(40, 3))
    D, start = cdist(X, X), X[:, :2]
    one, *others = (
        RankVisu(8, init=start, metric="precomputed", max_iter=4).fit(given).embedding_
        for given in (D, D**2, np.expm1(D))
    )
    assert np.abs(one - start).max() > 0.1
    for other in others:
        assert_allclose(other, one, atol=1e-9)


def test_a_plane_stays_as_it_is():
    P = np.random.default_rng(0).normal(size=(50, 2))
    model = RankVisu(10).fit(np.column_stack([P, np.zeros(50)]))
    assert model.cost_ == 0
    assert_allclose(cdist(model.embedding_, model.embedding_), cdist(P, P), atol=1e-9)


def test_new_rows_go_among_their_neighbours(fitted):
    new = IRIS[::10] + 0.02
    near = np.argsort(cdist(new, IRIS), axis=1)[:, :15]
    found = np.argsort(cdist(fitted.transform(new), fitted.embedding_), axis=1)[:, :15]
    assert np.mean([np.isin(a, b).mean() for a, b in zip(near, found, strict=True)]) > 0.6


def test_more_neighbours_than_rows_are_all_of_them():
    with pytest.warns(NeighborsClippedWarning, match="at most 18"):
        model = RankVisu(30, max_iter=2).fit(IRIS[::8])
    assert_array_equal(model.embedding_, RankVisu(18, max_iter=2).fit(IRIS[::8]).embedding_)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"leniency": 1.5}, "leniency must be a number from 0 to 1, got 1.5"),
        ({"n_neighbors": 0}, "n_neighbors must be a positive integer, got 0"),
        ({"max_iter": 0.5}, "max_iter must be a number of rounds, got 0.5"),
    ],
)
def test_bad_parameters_are_refused(params, said):
    with pytest.raises(InvalidInputError) as caught:
        RankVisu(**params).fit(IRIS)
    assert str(caught.value).startswith(said)


def test_more_rows_than_ranks_are_made_for_are_refused():
    with pytest.raises(
        InvalidInputError, match="X must be a table of at most 10,000 rows, got '10,001 rows'"
    ):
        RankVisu().fit(np.zeros((10_001, 1)))
