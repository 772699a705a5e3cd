"""Local MDS: planted truth, what its balance trades, new rows, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_swiss_roll

from isentropic import PCA, LocalMDS
from isentropic._core.errors import InvalidInputError, NeighborsClippedWarning
from isentropic.quality import continuity, trustworthiness

ROLL = make_swiss_roll(150, random_state=0)[0]


def test_a_plane_is_found_again_and_new_rows_in_it(rng):
    X, new = rng.normal(size=(50, 2)), rng.normal(size=(3, 2))
    fitted = LocalMDS(10, init=X + 0.1 * rng.normal(size=X.shape)).fit(X)
    assert fitted.cost_ < 1e-6
    assert_allclose(pdist(fitted.embedding_), pdist(X), atol=0.01)
    assert_allclose(cdist(fitted.transform(new), fitted.embedding_), cdist(new, X), atol=0.05)


def test_neighbours_in_the_map_are_true_ones_and_the_balance_decides_how_much():
    false, torn = [], []
    for balance in (0.1, 0.9):
        Z = LocalMDS(15, balance=balance, max_iter=120).fit_transform(ROLL)
        false.append(1 - trustworthiness(ROLL, Z, n_neighbors=15))
        torn.append(1 - continuity(ROLL, Z, n_neighbors=15))
    assert false[1] < false[0]
    assert torn[0] < torn[1]
    assert false[1] < 1 - trustworthiness(ROLL, PCA().fit_transform(ROLL), n_neighbors=15)


def test_without_a_stage_the_cost_is_that_of_the_start(rng):
    X = rng.normal(size=(20, 3))
    fitted = LocalMDS(5, max_iter=3).fit(X)
    e, d = pdist(PCA().fit_transform(X)), pdist(X)
    assert fitted.n_iter_ == 0
    assert fitted.cost_ == pytest.approx(((d - e) ** 2).sum() / (d**2).sum())


def test_a_map_in_which_no_rows_are_near_costs_nothing(rng):
    X = rng.normal(size=(4, 3))
    fitted = LocalMDS(2, balance=1, init=1e4 * X[:, :2], max_iter=8).fit(X)
    assert_allclose(fitted.embedding_, 1e4 * X[:, :2])
    assert fitted.cost_ == 0


def test_equal_rows_count_as_often_as_they_come(rng):
    X = rng.normal(size=(12, 3))
    X = np.vstack([X, X[:3]])
    fitted = LocalMDS(11, balance=0, max_iter=8).fit(X)  # all pairs count
    e, d = pdist(fitted.embedding_), pdist(X)
    assert fitted.cost_ == pytest.approx(((d - e) ** 2).sum() / (d**2).sum())


def test_more_neighbours_than_rows_are_all_of_them(rng):
    with pytest.warns(NeighborsClippedWarning, match="n_neighbors must be at most 9"):
        LocalMDS(20, max_iter=8).fit(rng.normal(size=(10, 3)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"balance": 1.5}, "balance must be a number from 0 to 1"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"max_iter": -1}, "max_iter must be"),
    ],
)
def test_a_wrong_parameter_is_told(wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        LocalMDS(**wrong).fit(ROLL)
