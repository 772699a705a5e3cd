"""LPP against the generalised eigenproblem, dense, and against its own laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from assertions import assert_same_up_to_sign
from isentropic import LPP, Can, IsentropicWarning, Knn, Percentile, Pnn, Radius, datasets, neighbor_graph
from isentropic._errors import InvalidInputError

IRIS = datasets.load("builtin:iris").X


def dense(X, rule, t, count):
    """Weights edge by edge, and a generalised problem with the matrices of the paper."""
    graph = neighbor_graph(X, rule)
    W = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            d = graph.weights[e]
            W[i, graph.indices[e]] = np.exp(-(d**2) / t) if graph.is_distance else d
    D = np.diag(W.sum(axis=1))
    mean = D.sum(axis=0) @ X / D.sum()
    Xc = X - mean
    values, vectors = eigh(Xc.T @ (D - W) @ Xc, Xc.T @ D @ Xc, subset_by_index=(0, count - 1))
    return values, mean, vectors * np.sqrt(D.sum())


@pytest.mark.filterwarnings("ignore::isentropic._errors.IsentropicWarning")
@pytest.mark.parametrize("t", [0.5, 3.0])
@pytest.mark.parametrize("rule", [Knn(7), Radius(1.0), Percentile(8), Can(6), Pnn(6)], ids=repr)
def test_it_solves_the_generalised_problem(rule, t):
    values, mean, vectors = dense(IRIS, rule, t, 3)
    fitted = LPP(n_components=3, neighbors=rule, t=t).fit(IRIS)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    assert_allclose(fitted.mean_, mean, rtol=1e-12)
    assert_same_up_to_sign(fitted.components_.T, vectors, rtol=1e-7)


def test_auto_is_the_mean_squared_length_of_an_edge():
    t = float((neighbor_graph(IRIS, 10).weights ** 2).mean())
    assert_allclose(LPP(t=t).fit(IRIS).embedding_, LPP().fit(IRIS).embedding_, rtol=1e-9, atol=1e-12)


def test_infinite_heat_is_a_binary_graph():
    assert_allclose(LPP(t=np.inf).fit(IRIS).embedding_, LPP(t=1e12).fit(IRIS).embedding_, atol=1e-6)


def test_more_features_than_rows_and_collinear_ones(rng):
    wide = rng.normal(size=(20, 50))
    assert np.isfinite(LPP(4).fit(wide).embedding_).all()
    turned = IRIS @ np.linalg.qr(rng.normal(size=(6, 4)))[0].T  # the same distances in six columns of rank 4
    assert_allclose(LPP().fit(turned).eigenvalues_, LPP().fit(IRIS).eigenvalues_, rtol=1e-8)
    assert_same_up_to_sign(LPP().fit(turned).embedding_, LPP().fit(IRIS).embedding_, rtol=1e-6, atol=1e-7)


def test_coordinates_beyond_the_rank_are_zero_and_said_to_be(rng):
    flat = np.outer(rng.normal(size=40), [1.0, 2.0, 3.0])
    with pytest.warns(IsentropicWarning, match="X has a rank of 1: the last 1 of 2 coordinates are zero"):
        fitted = LPP().fit(flat)
    assert np.ptp(fitted.embedding_[:, 0]) > 1
    assert not fitted.embedding_[:, 1].any()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LPP(t=0), "t must be 'auto' or a positive number, got 0"),
        (LPP(t="mean"), "t must be 'auto' or a positive number, got 'mean'"),
        (LPP(n_components=5), "n_components must be at most the number of features 4, got 5"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(IRIS)
