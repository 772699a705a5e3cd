"""Which numbers are distances, and which are refused before a path is made of them."""

import numpy as np
import pytest

from isentropic import ClassicalMDS, Isomap, Knn, Radius, neighbor_graph
from isentropic._core.errors import InvalidInputError
from isentropic.distances import distances_between, metric_names

SQUARE = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))


def negative(x, y):
    return float(x[0] - y[0])


def city(x, y):
    return float(np.abs(x - y).sum())


@pytest.fixture
def X(rng):
    X = rng.normal(size=(60, 5))
    X[7] = 3.0  # no variance: its correlation with anything is 0 / 0
    return X


@pytest.mark.parametrize("estimator", [Isomap, ClassicalMDS], ids=lambda kind: kind.__name__)
def test_a_row_without_a_distance_is_named_by_the_metric(estimator, X):
    match = r"metric 'correlation' must be finite and at least 0 between all rows, got nan\. A row may"
    with pytest.raises(InvalidInputError, match=match):
        estimator(metric="correlation").fit(X)


@pytest.mark.filterwarnings("ignore:.*boolean:sklearn.exceptions.DataConversionWarning")
def test_the_zero_row_of_dice(X):
    flags = X > 0
    flags[3] = False
    flags[4] = False
    with pytest.raises(InvalidInputError, match="metric 'dice' must be finite"):
        Isomap(metric="dice").fit(flags)


def test_a_function_that_returns_negatives(X):
    with pytest.raises(InvalidInputError, match=r"metric 'negative' must be finite and at least 0"):
        neighbor_graph(X, 5, metric=negative)


def test_new_rows_are_looked_at_too(X):
    X = np.delete(X, 7, axis=0)
    fitted = Isomap(metric="correlation").fit(X)
    with pytest.raises(InvalidInputError, match="metric 'correlation' must be finite"):
        fitted.transform(np.full((1, 5), 2.0))


def test_a_rounding_error_below_zero_is_zero(rng):
    X = rng.normal(size=(40, 3))
    D = distances_between(X, X, "cosine", 1)
    assert D.min() >= 0


@pytest.mark.parametrize(
    ("D", "match"),
    [
        (SQUARE[:, :5], r"a square matrix of distances, got \(8, 5\)"),
        (-SQUARE, r"Negative values in data: distances must be at least 0, got -7"),
        (SQUARE + 1, "zero on its diagonal"),
        (np.triu(SQUARE), "symmetric, got 'differences up to 7'"),
    ],
    ids=["not square", "negative", "diagonal", "not symmetric"],
)
@pytest.mark.parametrize("rule", [3, Radius(2.0)], ids=["knn", "radius"])
def test_a_matrix_that_is_none_of_distances(D, match, rule):
    with pytest.raises(InvalidInputError, match=match):
        neighbor_graph(D, rule, metric="precomputed")


def test_new_rows_of_negative_distances():
    for method in (Isomap(2, metric="precomputed"), ClassicalMDS(metric="precomputed")):
        with pytest.raises(InvalidInputError, match="at least 0, got -7"):
            method.fit(SQUARE).transform(-SQUARE)


@pytest.mark.parametrize("metric", ["mahalanobis", "seuclidean", "russellrao", "haversine", "eucliden"])
def test_a_metric_that_is_not_offered(metric, rng):
    X = rng.normal(size=(20, 2))
    for fit in (Isomap(metric=metric).fit, lambda X: neighbor_graph(X, metric=metric)):
        with pytest.raises(InvalidInputError, match="metric must be one of"):
            fit(X)


@pytest.mark.filterwarnings("ignore:.*boolean:sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("metric", sorted(set(metric_names()) - {"precomputed"}))
def test_every_metric_that_is_offered_measures(metric, rng):
    X = rng.uniform(0.1, 1.0, size=(12, 4))
    if metric in ("dice", "jaccard", "rogerstanimoto", "sokalmichener", "sokalsneath", "yule"):
        X = np.array([[i >> bit & 1 for bit in range(4)] for i in range(1, 13)], bool)
    D = distances_between(X, X, metric, 1)
    assert D.shape == (12, 12)
    assert (D.diagonal() < 1e-7).all()


def test_approximate_search_is_for_metrics_that_it_knows(rng):
    X = rng.normal(size=(80, 4))
    rule = Knn(5, exact_below=50)
    assert neighbor_graph(X, rule, metric=city).exact  # "auto" is exact for a function
    assert not neighbor_graph(X, rule, metric="correlation").exact
    with pytest.raises(InvalidInputError, match="approximate must be False for the metric 'city'"):
        neighbor_graph(X, Knn(5, approximate=True), metric=city)
