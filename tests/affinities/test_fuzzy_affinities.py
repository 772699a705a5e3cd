import numpy as np
import pytest
from numpy.testing import assert_allclose

from assertions import assert_same_bits
from isentropic import Knn
from isentropic._core.errors import InvalidInputError
from isentropic._core.values import Neighbors
from isentropic.affinities import class_intersection, fitted_curve, fuzzy_graph, memberships
from isentropic.neighbors import nearest_neighbors
from naive_class_maps import naive_intersection
from naive_layouts import naive_fuzzy_graph, naive_memberships

ROWS = {
    "plain": [1.0, 1.5, 2.0, 2.5, 4.0],
    "far": [1.0, 1.1, 1.2, 1.3, 1e12],
    "two of a place": [0.0, 0.0, 2.0, 2.5, 4.0],
    "more ties than the sum": [1.0, 1.0, 1.0, 1.0, 2.0],
    "all equal": [3.0, 3.0, 3.0],
    "no distance": [0.0, 0.0, 0.0],
    "one": [5.0],
    "two": [1.0, 2.0],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_weights_of_a_row_are_those_of_the_twin(name, unit):
    row = np.array(ROWS[name])
    assert_allclose(memberships(unit * row[None])[0], naive_memberships(row), rtol=1e-9, atol=1e-12)


def test_the_graph_is_that_of_the_twin(rng):
    X = rng.normal(size=(60, 3))
    found = nearest_neighbors(X, Knn(7))
    W = fuzzy_graph(found)
    assert W.has_sorted_indices
    assert_allclose(W.toarray(), naive_fuzzy_graph(found.indices, found.distances), rtol=1e-9, atol=1e-12)


def test_the_graph_agrees_with_umap_learn(rng):
    umap_ = pytest.importorskip("umap.umap_")
    X = rng.normal(size=(200, 4)).astype(np.float32).astype(float)
    X[:5] = X[5:10]  # rows at a distance of 0
    found = nearest_neighbors(X, Knn(10))
    own = np.arange(len(X))[:, None]  # in their lists a row comes first in its own
    indices, distances = np.hstack([own, found.indices]), np.hstack([0.0 * own, found.distances])
    theirs, *_ = umap_.fuzzy_simplicial_set(
        X, 10, None, "euclidean", knn_indices=indices, knn_dists=distances.astype(np.float32)
    )
    assert_allclose(fuzzy_graph(found).toarray(), theirs.toarray(), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("min_dist", "spread"), [(0.1, 1.0), (0.0, 1.0), (0.5, 1.0), (0.2, 3.0), (1.0, 1.0)])
def test_the_curve_agrees_with_umap_learn(min_dist, spread):
    umap_ = pytest.importorskip("umap.umap_")
    assert_allclose(fitted_curve(min_dist, spread), umap_.find_ab_params(spread, min_dist), rtol=1e-5)


@pytest.mark.parametrize(
    ("min_dist", "spread"), [(2.0, 1.0), (-0.1, 1.0), (0.1, 0.0), (np.nan, 1.0), (0.1, np.inf)]
)
def test_a_curve_that_cannot_be_is_refused(min_dist, spread):
    with pytest.raises(InvalidInputError, match=r"min_dist|spread"):
        fitted_curve(min_dist, spread)


def test_threads_change_no_bit(rng):
    found = nearest_neighbors(rng.normal(size=(300, 3)), Knn(9))
    one, two = fuzzy_graph(found, n_jobs=1), fuzzy_graph(found, n_jobs=2)
    assert_same_bits(one.data, two.data)


def test_lists_stay_as_they_were(rng):
    found = nearest_neighbors(rng.normal(size=(30, 3)), Knn(4))
    before = Neighbors(found.indices.copy(), found.distances.copy(), "euclidean", True)
    fuzzy_graph(found)
    assert_same_bits(found.indices, before.indices)
    assert_same_bits(found.distances, before.distances)


@pytest.mark.parametrize("far", [2.5, 5.0, 700.0])
def test_the_intersection_with_classes_is_that_of_the_twin_and_of_umap_learn(far, rng):
    umap_ = pytest.importorskip("umap.umap_")
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    W = fuzzy_graph(nearest_neighbors(X, Knn(7)))
    heads = np.repeat(np.arange(60), np.diff(W.indptr))
    same = (y[heads] == y[W.indices]).astype(float)
    found = class_intersection(W, same, far).toarray()
    square = (y[:, None] == y).astype(float)
    assert_allclose(found, naive_intersection(W.toarray(), square, far), rtol=1e-9, atol=1e-12)
    theirs = umap_.discrete_metric_simplicial_set_intersection(W.tocoo(), y, far_dist=far)
    assert_allclose(found, theirs.toarray(), rtol=1e-5, atol=1e-6)  # theirs is in single precision


def test_uncertain_classes_are_intersected_by_their_expectation(rng):
    X = rng.normal(size=(40, 3))
    W = fuzzy_graph(nearest_neighbors(X, Knn(6)))
    square = rng.uniform(size=(40, 40))
    square = (square + square.T) / 2
    heads = np.repeat(np.arange(40), np.diff(W.indptr))
    found = class_intersection(W, square[heads, W.indices], 3.0).toarray()
    assert_allclose(found, naive_intersection(W.toarray(), square, 3.0), rtol=1e-9, atol=1e-12)
