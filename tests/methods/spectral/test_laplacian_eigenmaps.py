"""Laplacian eigenmaps against dense problems and scikit-learn's, parts of a graph, and new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_matrix
from sklearn.manifold import SpectralEmbedding

from assertions import assert_same_up_to_sign
from isentropic import (
    Can,
    DisconnectedGraphWarning,
    IsentropicWarning,
    Knn,
    LaplacianEigenmaps,
    Percentile,
    Radius,
    datasets,
    neighbor_graph,
)
from isentropic._core.errors import DisconnectedGraphError, InvalidInputError
from isentropic.affinities import bridged_heat, heat_width

ROLL = datasets.load("builtin:swiss-roll", n_samples=300).X


def weights(X, rule, t):
    """Edge by edge, as the paper has them."""
    graph = neighbor_graph(X, rule)
    t = np.mean(graph.weights**2) if t == "auto" else t
    W = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            W[i, graph.indices[e]] = np.exp(-(graph.weights[e] ** 2) / t)
    return W


def dense(W, laplacian, d):
    """The generalised problem, its symmetric form, or that of L alone."""
    degrees = W.sum(axis=1)
    L = np.diag(degrees) - W
    if laplacian == "random-walk":
        values, vectors = eigh(L, np.diag(degrees))
        return values[1 : d + 1], vectors[:, 1 : d + 1] * np.sqrt(degrees.sum())
    if laplacian == "symmetric":
        L /= np.sqrt(np.outer(degrees, degrees))
    values, vectors = eigh(L)
    return values[1 : d + 1], vectors[:, 1 : d + 1] * np.sqrt(len(W))


@pytest.mark.parametrize("laplacian", ["random-walk", "symmetric", "unnormalised"])
@pytest.mark.parametrize(
    ("rule", "t", "d"),
    [(Knn(8), "auto", 2), (Knn(12), 3.0, 3), (Radius(6.0), np.inf, 1), (Percentile(5), 9.0, 2)],
)
def test_it_solves_the_problem_of_the_paper(rule, t, d, laplacian):
    values, Z = dense(weights(ROLL, rule, t), laplacian, d)
    fitted = LaplacianEigenmaps(n_components=d, neighbors=rule, t=t, laplacian=laplacian).fit(ROLL)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-7, atol=1e-12)
    assert_same_up_to_sign(fitted.embedding_, Z, rtol=0, atol=1e-6)


@pytest.mark.parametrize("d", [2, 4])
def test_it_agrees_with_scikit_learn_on_the_same_weights(d):
    W = csr_matrix(weights(ROLL, 10, "auto"))
    peer = SpectralEmbedding(d, affinity="precomputed", random_state=0).fit_transform(W)
    Z = LaplacianEigenmaps(10, d).fit(ROLL).embedding_
    assert np.sin(subspace_angles(Z, peer)).max() < 1e-6
    scale = np.linalg.norm(Z, axis=0) / np.linalg.norm(peer, axis=0)
    assert_same_up_to_sign(Z, peer * scale, rtol=0, atol=1e-6)


@pytest.mark.parametrize("laplacian", ["random-walk", "symmetric", "unnormalised"])
def test_a_step_from_a_fitted_row_leads_back_to_it(laplacian):
    """Within a radius a new row has the neighbours that it would have as a fitted one, but for itself."""
    fitted = LaplacianEigenmaps(neighbors=Radius(6.0), laplacian=laplacian).fit(ROLL)
    W = weights(ROLL, Radius(6.0), "auto")
    degrees, Z = W.sum(axis=1), fitted.embedding_
    for i in (0, 17, 90):
        if laplacian == "random-walk":
            z = W[i] @ Z / degrees[i] / (1 - fitted.eigenvalues_)
        elif laplacian == "symmetric":
            z = W[i] @ (Z / np.sqrt(degrees[i] * degrees)[:, None]) / (1 - fitted.eigenvalues_)
        else:
            z = W[i] @ Z / (degrees[i] - fitted.eigenvalues_)
        assert_allclose(z, Z[i], atol=1e-9)
        # the same sums for a row that is not known, with the fitted row itself among its neighbours
        row = ROLL[i] + 1e-9
        w = W[i].copy()
        w[i] = 1.0
        d = w.sum()
        if laplacian == "random-walk":
            z = w @ Z / d / (1 - fitted.eigenvalues_)
        elif laplacian == "symmetric":
            z = w @ (Z / np.sqrt(d * degrees)[:, None]) / (1 - fitted.eigenvalues_)
        else:
            z = w @ Z / (d - fitted.eigenvalues_)
        assert_allclose(fitted.transform(row[None])[0], z, atol=1e-6)


def test_new_rows_lie_where_the_map_of_all_rows_has_them():
    X = datasets.load("builtin:swiss-roll", n_samples=1200).X
    fitted = LaplacianEigenmaps(10).fit(X[:1000])
    expected = LaplacianEigenmaps(10).fit(X).embedding_[1000:]
    found = fitted.transform(X[1000:])
    for column in range(2):
        assert abs(np.corrcoef(found[:, column], expected[:, column])[0, 1]) > 0.99


@pytest.mark.parametrize("laplacian", ["random-walk", "symmetric", "unnormalised"])
def test_a_row_far_away_has_a_place(laplacian):
    fitted = LaplacianEigenmaps(laplacian=laplacian).fit(ROLL)
    far = fitted.transform(np.array([[1e6, 0.0, 0.0], [0.0, 1e100, 0.0]]))
    assert np.abs(far).max() <= 1.5 * np.abs(fitted.embedding_).max()


def test_parts_are_joined_by_a_median_edge_or_refused(rng):
    X = np.vstack([rng.normal(size=(150, 3)), rng.normal(size=(60, 3)) + 1e3])
    with pytest.warns(DisconnectedGraphWarning) as told:
        fitted = LaplacianEigenmaps(6).fit(X)
    assert "2 parts of 150, 60 rows: the shortest edge between them" in str(told[0].message)
    graph = fitted.graph_
    W = bridged_heat(graph, heat_width(graph)).toarray()
    (i, j), inside = graph.bridges[0], [neighbor_graph(part, 6).weights for part in (X[:150], X[150:])]
    lengths = np.concatenate(inside)
    assert_allclose(heat_width(graph), (lengths**2).mean(), rtol=1e-12)
    assert_allclose(W[i, j], np.median(np.exp(-(lengths**2) / heat_width(graph))), rtol=1e-12)
    assert_allclose(fitted.eigenvalues_, dense(W, "random-walk", 2)[0], rtol=1e-7)
    with pytest.warns(DisconnectedGraphWarning, match="the largest is fitted, the other 60 rows are placed"):
        largest = LaplacianEigenmaps(6, on_disconnected="largest").fit(X)
    alone = LaplacianEigenmaps(6).fit(X[:150])
    assert_array_equal(largest.embedding_[:150], alone.embedding_)
    assert_array_equal(largest.embedding_[150:], alone.transform(X[150:]))
    with pytest.raises(DisconnectedGraphError):
        LaplacianEigenmaps(6, on_disconnected="raise").fit(X)


def test_coordinates_that_only_separate_parts_are_told(rng):
    X = np.vstack([rng.normal(size=(300, 1)), rng.normal(size=(300, 1)) + 1e3])
    with pytest.warns(DisconnectedGraphWarning):
        assert LaplacianEigenmaps(200, 1).fit(X).n_separating_ == 1
    assert LaplacianEigenmaps().fit(ROLL).n_separating_ == 0


def test_the_gap_behind_the_last_coordinate():
    fitted = LaplacianEigenmaps(8).fit(ROLL)
    values = dense(weights(ROLL, 8, "auto"), "random-walk", 3)[0]
    assert_allclose(fitted.eigengap_, 1 - values[1] / values[2], rtol=1e-2)
    with pytest.warns(IsentropicWarning, match="alternate"):
        assert LaplacianEigenmaps(2, 2).fit(ROLL[:3]).eigengap_ == 1.0


def test_weights_that_vanish_are_an_error_that_names_the_scale():
    with pytest.raises(InvalidInputError, match=r"t must be so large that .* squared edge is .*, got 1e-06"):
        LaplacianEigenmaps(t=1e-6).fit(ROLL)


def test_coordinates_that_alternate_and_those_that_are_not_there_are_told(rng):
    with pytest.warns(IsentropicWarning, match="alternate between neighbours"):
        fitted = LaplacianEigenmaps(3, 3).fit(rng.normal(size=(4, 2)))
    assert np.isfinite(fitted.transform(rng.normal(size=(2, 2)))).all()
    with (
        pytest.warns(IsentropicWarning, match="X has 3 rows: the last 1 of 3 coordinates are zero"),
        pytest.warns(IsentropicWarning, match="alternate"),
    ):
        fitted = LaplacianEigenmaps(2, 3).fit(rng.normal(size=(3, 4)))
    assert not fitted.embedding_[:, 2].any()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LaplacianEigenmaps(t=-1), "t must be 'auto' or a positive number, got -1"),
        (
            LaplacianEigenmaps(laplacian="normalised"),
            "laplacian must be one of random-walk, symmetric, unnormal",
        ),
        (
            LaplacianEigenmaps(on_disconnected="inflate"),
            "on_disconnected must be one of bridge, largest, raise",
        ),
        (LaplacianEigenmaps(neighbors=Can(5)), "neighbors must be Knn, Radius or Percentile"),
        (LaplacianEigenmaps(n_components=0), "n_components must be a positive integer, got 0"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(ROLL[:50])
