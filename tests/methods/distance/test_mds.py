"""Metric and nonmetric MDS against plain versions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist
from scipy.stats import kendalltau
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.isotonic import isotonic_regression
from sklearn.manifold import MDS

from assertions import assert_same_bits
from isentropic import Geodesic, MetricMDS, NonmetricMDS, Sammon, config_context, make
from isentropic._core.errors import InvalidInputError, IsentropicWarning, MemoryBudgetError
from isentropic.quality import kruskal_stress, sammon_stress
from naive import distances
from naive_stress import smacof, weighted_stress

# ---- Maps of stress: majorisation and scikit-learn as oracles, published figures, planted truth, d


IRIS, CANCER, WINE = load_iris().data, load_breast_cancer().data, load_wine().data
PLANE = np.random.default_rng(0).normal(size=(60, 2))  # its map has no stress
NEW = np.random.default_rng(1).normal(size=(5, 2))


def tau(X, Z):
    return kendalltau(pdist(X), pdist(Z)).statistic


# ---- oracles -----------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_minimum_is_that_of_majorisation(power):
    X = WINE[:60]
    D = distances(X)
    W = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0) ** power
    np.fill_diagonal(W, 0.0)
    fitted = MetricMDS(power=power).fit(X)
    settled = smacof(D, W, fitted.embedding_, 20)
    assert fitted.cost_ == pytest.approx(weighted_stress(D, W, fitted.embedding_), rel=1e-9)
    assert weighted_stress(D, W, settled) > (1 - 1e-4) * fitted.cost_
    from_start = smacof(D, W, make("pca").fit_transform(X), 300)
    assert fitted.cost_ < (1 + 1e-3) * weighted_stress(D, W, from_start)


def test_the_stress_is_no_more_than_that_of_scikit_learn():
    fitted = MetricMDS().fit(IRIS)
    theirs = MDS(2, metric_mds=True, init="classical_mds", n_init=1, max_iter=300, eps=1e-9).fit(IRIS)
    assert fitted.cost_ <= theirs.stress_ / (pdist(IRIS) ** 2).sum() * (1 + 1e-3)
    assert fitted.cost_**0.5 == pytest.approx(kruskal_stress(IRIS, fitted.embedding_), rel=1e-9)


@pytest.mark.parametrize(("X", "least"), [(IRIS, 0.9642), (CANCER, 0.9980)], ids=["iris", "cancer"])
def test_tau_is_that_of_a_map_that_converged(X, least):
    assert tau(X, MetricMDS().fit_transform(X)) >= least


@pytest.mark.parametrize(
    ("X", "least"), [(IRIS, 0.00397), (WINE, 1.801e-5), (CANCER, 7.44e-5)], ids=["iris", "wine", "cancer"]
)
def test_the_stress_of_sammon_is_that_of_converged_maps(X, least):
    """Iris has a pair of equal rows, whose distance is 0."""
    fitted = Sammon().fit(X)
    assert fitted.cost_ <= least
    assert fitted.cost_ == pytest.approx(sammon_stress(X, fitted.embedding_), rel=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_a_plane_is_found_again_and_new_rows_in_it(metric, power):
    given = (cdist(PLANE, PLANE), cdist(NEW, PLANE)) if metric == "precomputed" else (PLANE, NEW)
    fitted = MetricMDS(power=power, metric=metric, tol=1e-14).fit(given[0])
    assert fitted.cost_ < 1e-12
    assert_allclose(pdist(fitted.embedding_), pdist(PLANE), atol=1e-5)
    assert_allclose(cdist(fitted.transform(given[1]), fitted.embedding_), cdist(NEW, PLANE), atol=1e-5)


# ---- duplicates, metrics, drawn pairs ----------------------------------------------------------


@pytest.mark.parametrize("power", [0.0, 2.0])
def test_equal_rows_count_as_often_as_they_come(rng, power):
    """The stress of the whole table, all its rows apart, has no lower place nearby."""
    X = IRIS[rng.integers(40, size=80)]
    fitted = MetricMDS(power=power, tol=1e-13).fit(X)
    Z, D = fitted.embedding_, distances(X)
    W = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0) ** power * (D > 0)
    assert fitted.cost_ == pytest.approx(weighted_stress(D, W, Z), rel=1e-9)
    assert weighted_stress(D, W, smacof(D, W, Z, 5)) > (1 - 1e-5) * fitted.cost_
    assert_same_bits(fitted.transform(X), Z)


def test_given_distances_merge_equal_rows_as_a_table_does(rng):
    X = PLANE[rng.integers(20, size=50)] @ rng.normal(size=(2, 4))
    by_rows = MetricMDS().fit(X).embedding_
    by_distances = MetricMDS(metric="precomputed").fit(cdist(X, X)).embedding_
    assert_allclose(pdist(by_distances), pdist(by_rows), atol=1e-4)
    first = np.unique(X, axis=0, return_index=True, return_inverse=True)
    assert_same_bits(by_distances, by_distances[first[1]][first[2].ravel()])


def test_geodesics_of_merged_rows_are_those_of_all():
    """Around most of a circle, along which a chord grows and shrinks again."""
    t = np.linspace(0, 5, 60)
    arc = np.column_stack([np.cos(t), np.sin(t)])
    fitted = MetricMDS(1, metric=Geodesic(6)).fit(np.vstack([arc, arc[:20]]))
    assert abs(np.corrcoef(fitted.embedding_[:60, 0], t)[0, 1]) > 0.9999
    assert_same_bits(fitted.embedding_[60:], fitted.embedding_[:20])


@pytest.mark.parametrize("name", ["metric-mds", "sammon", "elastic-scaling"])
def test_drawn_pairs_stand_a_row_that_comes_often_and_weights_that_differ_much(name):
    X = np.vstack([IRIS[::3], np.repeat(IRIS[:1], 200, axis=0)])
    drawn, every = (make(name, pairs=pairs).fit(X) for pairs in (10, "all"))
    D = distances(X)
    W = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0) ** (every._map.power)
    assert weighted_stress(D, W, drawn.embedding_) < 10 * every.cost_ < 0.02
    assert drawn.cost_ < 0.02


def test_drawn_pairs_that_are_near_throw_no_row_out():
    X = np.repeat(IRIS[:60:3], 2, axis=0)
    drawn, every = (make("elastic-scaling", pairs=pairs).fit(X) for pairs in (4, "all"))
    assert drawn.cost_ < 10 * every.cost_
    assert np.ptp(drawn.embedding_) < 2 * np.ptp(every.embedding_)


def test_drawn_pairs_are_nearly_as_good_as_all():
    whole = MetricMDS().fit(CANCER)
    drawn = MetricMDS(pairs=64).fit(CANCER)
    W = np.ones((len(CANCER),) * 2)
    assert weighted_stress(distances(CANCER), W, drawn.embedding_) < 2 * whole.cost_


def test_a_row_that_a_metric_cannot_tell_from_a_fitted_one_takes_its_place(rng):
    X = rng.normal(size=(30, 3)) + 3
    fitted = MetricMDS(metric="hamming").fit(np.round(X))
    known = fitted.transform(np.round(X[:3]))
    assert_same_bits(known, fitted.embedding_[:3])


def test_a_start_that_costs_more_than_one_point_does_not_end_the_search_early():
    D = distances(IRIS[::3]) ** 4  # near rows are far apart in the plane of the start
    assert make("elastic-scaling", metric="precomputed").fit(D).cost_ < 0.9


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"power": -1.0}, "power must be a number of at least 0"),
        ({"tol": 1.5}, "tol must be"),
        ({"pairs": 1}, "pairs must be"),
        ({"init": "pcs"}, "init must be"),
    ],
)
def test_a_wrong_parameter_is_told(wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        MetricMDS(**wrong).fit(IRIS)


def test_memory_is_estimated_before_it_is_taken():
    rows = np.arange(5000.0)[:, None]
    with config_context(memory_limit=10**6), pytest.raises(MemoryBudgetError, match="All pairs of 5,000"):
        MetricMDS().fit(rows)


@pytest.mark.parametrize("name", ["metric-mds", "nonmetric-mds", "local-mds", "cca", "dd-hds"])
@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_a_start_whose_distances_have_no_squares_is_told(name, factor):
    with pytest.raises(InvalidInputError, match="init must be as wide as the data"):
        make(name, init=factor * PLANE).fit(PLANE)


# ---- Nonmetric MDS: scikit-learn as a bound, invariance under increasing functions, ties, degenera


DISTINCT_IRIS = np.unique(load_iris().data, axis=0)


def stress_1(D, Z):
    e = pdist(Z)
    order = np.lexsort((e, np.round(D, 9)))  # distances that differ in their last digits are tied
    return np.sqrt(((e[order] - isotonic_regression(e[order])) ** 2).sum() / (e**2).sum())


def test_stress_1_is_no_more_than_that_of_scikit_learn():
    fitted = NonmetricMDS().fit(DISTINCT_IRIS)
    theirs = MDS(2, metric_mds=False, init="classical_mds", n_init=1, normalized_stress=True).fit(
        DISTINCT_IRIS
    )
    assert fitted.stress_ == pytest.approx(stress_1(pdist(DISTINCT_IRIS), fitted.embedding_), rel=1e-9)
    assert fitted.stress_ <= 1.001 * stress_1(pdist(DISTINCT_IRIS), theirs.embedding_)
    assert fitted.stress_ < stress_1(pdist(DISTINCT_IRIS), MetricMDS().fit_transform(DISTINCT_IRIS))


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_only_the_order_of_distances_matters(rng, ties):
    X, init = rng.normal(size=(60, 5)), rng.normal(size=(60, 2))
    D = cdist(X, X)
    asked = NonmetricMDS(ties=ties, metric="precomputed", init=init, max_iter=40)
    first = asked.fit(D).embedding_
    for changed in (D**3, np.log1p(D), np.exp(D) - 1):
        assert_allclose(asked.fit(changed).embedding_, first, atol=1e-6)


def test_a_map_of_distances_that_a_function_bent_is_found_again(rng):
    X = rng.uniform(size=(80, 2))
    fitted = NonmetricMDS(metric="precomputed", tol=1e-9).fit(cdist(X, X) ** 4)
    assert fitted.stress_ < 0.005
    assert np.corrcoef(pdist(fitted.embedding_), pdist(X))[0, 1] > 0.999
    new = rng.uniform(0.2, 0.8, size=(5, 2))
    placed = fitted.transform(cdist(new, X) ** 4)
    scale = np.linalg.norm(pdist(fitted.embedding_)) / np.linalg.norm(pdist(X))
    assert_allclose(cdist(placed, fitted.embedding_), scale * cdist(new, X), atol=0.05 * scale)


def test_tied_distances_are_told_apart_or_not():
    X = np.round(DISTINCT_IRIS[:60])
    first, second = (NonmetricMDS(ties=ties).fit(X).stress_ for ties in ("primary", "secondary"))
    assert first < second


def test_a_simplex_keeps_its_metric_map():
    with pytest.warns(IsentropicWarning, match="All distances are equal"):
        fitted = NonmetricMDS(metric="precomputed").fit(1 - np.eye(5))
    assert np.isfinite(fitted.embedding_).all()
    assert fitted.cost_ == 0 or fitted.stress_ < 1


def test_wrong_ties_are_told():
    with pytest.raises(InvalidInputError, match="ties must be one of primary, secondary"):
        NonmetricMDS(ties="tertiary").fit(DISTINCT_IRIS)
