"""CCA and CDA: the published rule, figures, planted maps, radii, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import kendalltau
from sklearn.datasets import make_swiss_roll

from isentropic import PCA, CurvilinearComponentAnalysis, Geodesic
from isentropic._core.errors import InvalidInputError
from isentropic.embedding.row_distances import Distances
from isentropic.kernels.pairs.curvilinear import curvilinear_epoch
from isentropic.quality import trustworthiness
from naive_curvilinear import naive_curvilinear_epochs, naive_stress

ROLL, _ = make_swiss_roll(300, random_state=0)


def flat(rng, n=60):
    """A plane in three dimensions, and its coordinates."""
    P = rng.normal(size=(n, 2)) * [3, 1]
    return P @ np.linalg.qr(rng.normal(size=(3, 3)))[0][:2], P


@pytest.fixture(scope="module")
def cca():
    return CurvilinearComponentAnalysis().fit(ROLL)


@pytest.fixture(scope="module")
def cda():
    return CurvilinearComponentAnalysis(metric=Geodesic(10)).fit(ROLL)


def test_the_published_rule_is_that_of_its_twin(rng):
    D, Z = squareform(pdist(rng.normal(size=(30, 4)))), rng.normal(size=(30, 2))
    Z[3] = Z[7]  # moved nowhere by each other
    rates, radii = np.geomspace(0.5, 0.05, 5), np.geomspace(3.0, 0.5, 5)
    orders = [rng.permutation(30) for _ in rates]
    found = Z.copy()
    for order, rate, radius in zip(orders, rates, radii, strict=True):
        curvilinear_epoch(squareform(D), order, rate, radius, found)
    assert_allclose(found, naive_curvilinear_epochs(D, Z, orders, rates, radii), rtol=1e-9)


def test_rolls_are_mapped_as_trustworthily_as_published(cca, cda):
    before = trustworthiness(ROLL, PCA().fit_transform(ROLL), n_neighbors=15)
    assert trustworthiness(ROLL, cca.embedding_, n_neighbors=15) >= 0.987 > 0.95 > before
    assert trustworthiness(ROLL, cda.embedding_, n_neighbors=15) >= 0.987


def test_stages_end_lower_than_the_published_rule(cca):
    published = CurvilinearComponentAnalysis(rule="stochastic").fit(ROLL)
    assert trustworthiness(ROLL, published.embedding_, n_neighbors=15) > 0.97
    assert cca.cost_ < 0.25 * published.cost_


def test_the_cost_is_that_of_the_pairs_within_the_radius(cca):
    near = cdist(cca.embedding_, cca.embedding_) <= cca.radius_
    assert cca.cost_ == pytest.approx(naive_stress(cca.embedding_, cdist(ROLL, ROLL), near), rel=1e-9)


def test_geodesics_unroll_where_straight_lines_tear(cca, cda):
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(4.7, 11.0, size=200), rng.uniform(0, 12, size=200)
    X = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    arc = 0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle))
    model = CurvilinearComponentAnalysis(metric=Geodesic(6), max_iter=30).fit(X)
    planted = pdist(np.column_stack([arc, height]))
    assert kendalltau(planted, pdist(model.embedding_)).statistic > 0.95


def test_a_plane_is_kept(rng):
    X, P = flat(rng)
    model = CurvilinearComponentAnalysis(max_iter=10).fit(X)
    assert model.cost_ < 1e-12
    assert procrustes(P, model.embedding_)[2] < 1e-10


def test_new_rows_go_where_their_neighbours_are(cda):
    new = 0.5 * (ROLL[::30] + ROLL[np.argsort(cdist(ROLL[::30], ROLL), axis=1)[:, 1]])
    near = np.argsort(cdist(new, ROLL), axis=1)[:, :10]
    found = np.argsort(cdist(cda.transform(new), cda.embedding_), axis=1)[:, :10]
    assert np.mean([np.isin(a, b).mean() for a, b in zip(near, found, strict=True)]) > 0.8


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
def test_lists_of_drawn_pairs_measure_the_data_again(rng, metric):
    """Late stages list the pairs of a tree whatever the early ones were drawn from."""
    X, _ = flat(rng, 150)
    model = CurvilinearComponentAnalysis(pairs=20, metric=metric, radius=1.0, max_iter=15).fit(X)
    near = cdist(model.embedding_, model.embedding_) <= model.radius_
    given = cdist(X, X, metric)
    assert model.cost_ == pytest.approx(naive_stress(model.embedding_, given, near), rel=1e-9)
    assert model.cost_ < 0.05


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev", "precomputed"])
def test_single_pairs_have_the_distances_of_whole_rows(rng, metric):
    X = rng.normal(size=(20, 3))
    D = cdist(X, X, "euclidean" if metric == "precomputed" else metric)
    first, second = rng.integers(20, size=(2, 50))
    rows = Distances.of(D if metric == "precomputed" else X, metric, random_state=0, n_jobs=1)
    assert_allclose(rows.of_pairs(first, second), D[first, second], rtol=1e-12)


def test_the_radius_is_that_given_or_of_the_fifteenth_neighbour(cca):
    assert cca.radius_ == pytest.approx(np.median(np.sort(cdist(ROLL, ROLL), axis=1)[:, 15]))
    model = CurvilinearComponentAnalysis(radius=3.0, max_iter=2).fit(ROLL[:50])
    assert model.radius_ == 3.0
    assert (
        CurvilinearComponentAnalysis(radius=1e9, max_iter=2).fit(ROLL[:50]).radius_ == pdist(ROLL[:50]).max()
    )


def test_different_rows_in_one_place_are_parted():
    X = np.random.default_rng(0).normal(size=(40, 3))
    start = X[:, :2].copy()
    start[1] = start[0]
    model = CurvilinearComponentAnalysis(init=start, max_iter=10).fit(X)
    assert np.linalg.norm(model.embedding_[0] - model.embedding_[1]) > 0.1


def test_no_stages_leave_the_start():
    model = CurvilinearComponentAnalysis(max_iter=0).fit(ROLL[:40])
    assert_array_equal(np.isfinite(model.embedding_), True)
    assert model.n_iter_ == 0


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"radius": 0}, "radius must be a positive number or None, got 0"),
        ({"rule": "stage"}, "rule must be one of stages, stochastic, got 'stage'. Did you mean 'stages'"),
        ({"max_iter": -1}, "max_iter must be a number of stages, got -1"),
        ({"rule": "stochastic", "pairs": 4}, "pairs must be all for the published rule"),
    ],
)
def test_bad_parameters_are_refused(params, said):
    with pytest.raises(InvalidInputError) as caught:
        CurvilinearComponentAnalysis(**params).fit(ROLL[:40])
    assert str(caught.value).startswith(said)
