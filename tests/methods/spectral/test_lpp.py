"""LPP and kernel LPP against plain eigenproblems."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh

from assertions import assert_same_up_to_sign
from isentropic import (
    LPP,
    PCA,
    Can,
    DisconnectedGraphWarning,
    IsentropicWarning,
    KernelLPP,
    Knn,
    LaplacianEigenmaps,
    MemoryBudgetError,
    Percentile,
    Pnn,
    Radius,
    config_context,
    datasets,
    make,
    neighbor_graph,
)
from isentropic._core.errors import InvalidInputError
from isentropic.affinities import heat

# ---- LPP against the generalised eigenproblem, dense, and against its own laws -------------------


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


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
@pytest.mark.parametrize("t", [0.5, 3.0])
@pytest.mark.parametrize("rule", [Knn(7), Radius(1.0), Percentile(8), Can(6), Pnn(6, 2.0)], ids=repr)
def test_it_solves_the_generalised_problem(rule, t):
    values, mean, vectors = dense(IRIS, rule, t, 3)
    fitted = LPP(n_components=3, neighbors=rule, t=t).fit(IRIS)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    assert_allclose(fitted.mean_, mean, rtol=1e-12)
    assert_same_up_to_sign(fitted.components_.T, vectors, rtol=1e-7)


@pytest.mark.parametrize(("name", "rule"), [("can", Can(6)), ("pnn", Pnn(6))])
def test_adaptive_and_probabilistic_neighbours_by_name(name, rule):
    values, mean, vectors = dense(IRIS, rule, None, 2)
    fitted = make(f"{name}-lpp", n_neighbors=6).fit(IRIS)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    assert_allclose(fitted.mean_, mean, rtol=1e-12)
    assert_same_up_to_sign(fitted.components_.T, vectors, rtol=1e-7)
    assert_array_equal(fitted.embedding_, LPP(neighbors=rule).fit(IRIS).embedding_)


def test_a_given_t_is_the_heat_of_probabilistic_neighbours():
    given = LPP(6, neighbors="pnn", t=0.5).fit(IRIS)
    assert_array_equal(given.embedding_, LPP(neighbors=Pnn(6, 0.5)).fit(IRIS).embedding_)
    assert np.abs(given.eigenvalues_ - LPP(6, neighbors="pnn").fit(IRIS).eigenvalues_).max() > 1e-4


def test_auto_is_the_mean_squared_length_of_an_edge():
    t = float((neighbor_graph(IRIS, 10).weights ** 2).mean())
    assert_allclose(LPP(t=t).fit(IRIS).embedding_, LPP().fit(IRIS).embedding_, rtol=1e-9, atol=1e-12)


def test_infinite_heat_is_a_binary_graph():
    assert_allclose(LPP(t=np.inf).fit(IRIS).embedding_, LPP(t=1e12).fit(IRIS).embedding_, atol=1e-6)


def test_more_features_than_rows_and_collinear_ones(rng):
    wide = rng.normal(size=(20, 50))
    with pytest.warns(IsentropicWarning, match="X has 20 rows and a rank of 19: .* n_pca below 19") as told:
        Z = LPP(4).fit_transform(wide)
    assert np.isfinite(Z).all()
    assert told[0].filename == __file__  # not that of a wrapper
    turned = IRIS @ np.linalg.qr(rng.normal(size=(6, 4)))[0].T  # the same distances in six columns of rank 4
    assert_allclose(LPP().fit(turned).eigenvalues_, LPP().fit(IRIS).eigenvalues_, rtol=1e-8)
    assert_same_up_to_sign(LPP().fit(turned).embedding_, LPP().fit(IRIS).embedding_, rtol=1e-6, atol=1e-7)


def test_as_many_features_as_rows_less_one_give_laplacian_eigenmaps(rng):
    wide = rng.normal(size=(20, 19))
    W = heat(neighbor_graph(wide, 4)).toarray()
    D = np.diag(W.sum(axis=1))
    expected = eigh(D - W, D, subset_by_index=(1, 2))[0]
    with pytest.warns(IsentropicWarning, match="say nothing of new ones"):
        assert_allclose(LPP(4).fit(wide).eigenvalues_, expected, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.DisconnectedGraphWarning")
@pytest.mark.parametrize(("n_pca", "count"), [(3, 3), (0.95, 2), (0.98, 3), (1e-9, 1), (4, 4)])
def test_principal_components_first_are_lpp_of_the_map_of_pca(n_pca, count):
    d = min(2, count)
    shift = np.array([5.0, -40.0, 0.0, 2.0])
    fitted = LPP(7, d, n_pca=n_pca).fit(IRIS + shift)
    pca = PCA(count).fit(IRIS + shift)
    expected = LPP(7, d).fit(pca.embedding_)
    assert_allclose(fitted.eigenvalues_, expected.eigenvalues_, rtol=1e-8)
    assert_same_up_to_sign(fitted.embedding_, expected.embedding_, rtol=1e-6, atol=1e-7)
    inside = pca.components_.T @ pca.components_
    assert_allclose(fitted.components_ @ inside, fitted.components_, atol=1e-9)


def test_principal_components_keep_a_wide_table_from_being_interpolated(rng):
    fitted = LPP(4, n_pca=5).fit(rng.normal(size=(20, 50)))
    assert fitted.components_.shape == (2, 50)


def test_a_direction_that_only_separates_parts_is_told(rng):
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 50])
    with (
        pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates groups of rows"),
        pytest.warns(DisconnectedGraphWarning, match="in 2 parts"),
    ):
        fitted = LPP().fit(X)
    assert fitted.n_separating_ == 1
    assert LPP().fit(IRIS).n_separating_ == 0


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
        (LPP(neighbors="knn"), "neighbors must be one of can, pnn, got 'knn'"),
        (LPP(t="mean"), "t must be 'auto' or a positive number, got 'mean'"),
        (LPP(n_pca=0), "n_pca must be an integer from 1 to 4, got 0"),
        (LPP(n_pca=5), "n_pca must be an integer from 1 to 4, got 5"),
        (LPP(n_pca=1.0), "n_pca must be a number of components, a share of the variance in .*, got 1.0"),
        (LPP(n_pca="half"), "n_pca must be a number of components"),
        (LPP(n_pca=1), "n_components must be at most the number of principal components 1, got 2"),
        (LPP(n_components=5), "n_components must be at most the number of features 4, got 5"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(IRIS)


# ---- Kernel LPP against the generalised problem, LPP, and Laplacian eigenmaps --------------------


ROLL = datasets.load("builtin:swiss-roll", n_samples=120).X


def kernel(A, B, gamma):
    return np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2))


def dense_kernel(X, new, k, gamma, share, d):
    """Matrices as they are written, and the place of new rows."""
    W = heat(neighbor_graph(X, k)).toarray()
    D = np.diag(W.sum(axis=1))
    n = len(X)
    p = D.sum(axis=0) / D.sum()
    H = np.eye(n) - np.outer(np.ones(n), p)
    K = kernel(X, X, gamma)
    S, Q = np.linalg.eigh(H @ K @ H.T)
    S, Q = S[::-1], Q[:, ::-1]
    positive = S[S > 1e-12 * S[0]]
    r = int(np.flatnonzero(np.cumsum(positive) >= share * positive.sum())[0]) + 1
    F = Q[:, :r] * np.sqrt(S[:r])
    values, c = eigh(F.T @ (D - W) @ F, F.T @ D @ F, subset_by_index=(0, d - 1))
    c *= np.sqrt(D.sum())
    rows = (kernel(new, X, gamma) - p @ K) @ H.T
    return r, values, F @ c, rows @ (Q[:, :r] / np.sqrt(S[:r])) @ c


@pytest.mark.parametrize(("gamma", "share"), [(0.1, 0.99), (0.5, 0.9), (0.02, 0.999)])
def test_it_solves_the_generalised_problem_and_places_new_rows(gamma, share):
    X, new = ROLL / 5, ROLL[:20] / 5 + 0.01
    rank, values, Z, places = dense_kernel(X, new, 8, gamma, share, 2)
    fitted = KernelLPP(8, gamma=gamma, variance_share=share).fit(X)
    assert fitted.rank_ == rank
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    found = np.vstack([fitted.embedding_, fitted.transform(new)])
    assert_same_up_to_sign(found, np.vstack([Z, places]), rtol=0, atol=1e-7)


def test_a_kernel_of_full_rank_is_laplacian_eigenmaps():
    with pytest.warns(
        IsentropicWarning, match="120 rows has a rank of 119: the map is that of Laplacian eigen"
    ):
        fitted = KernelLPP(8, 3, gamma=0.5, variance_share=1).fit(ROLL)
    expected = LaplacianEigenmaps(8, 3).fit(ROLL)
    assert_allclose(fitted.eigenvalues_, expected.eigenvalues_, atol=1e-10)
    assert_same_up_to_sign(fitted.embedding_, expected.embedding_, rtol=0, atol=1e-7)


def test_what_is_left_out_makes_it_another_map():
    fitted, other = KernelLPP(8).fit(ROLL), LaplacianEigenmaps(8).fit(ROLL)
    assert fitted.rank_ < 119
    assert (fitted.eigenvalues_ > 1.01 * other.eigenvalues_).all()


@pytest.mark.parametrize("rule", [None, Can(6)])
def test_the_linear_kernel_is_lpp(rule):
    fitted = KernelLPP(7, neighbors=rule, kernel="linear", variance_share=1).fit(IRIS[:100])
    expected = LPP(7, neighbors=rule).fit(IRIS[:100])
    assert fitted.rank_ == 4
    assert_allclose(fitted.eigenvalues_, expected.eigenvalues_, rtol=1e-7)
    found = np.vstack([fitted.embedding_, fitted.transform(IRIS[100:])])
    expected = np.vstack([expected.embedding_, expected.transform(IRIS[100:])])
    assert_same_up_to_sign(found, expected, rtol=0, atol=1e-7)


def test_coordinates_beyond_the_rank_are_zero_and_said_to_be_kernel():
    with pytest.warns(IsentropicWarning, match="a rank of 1: the last 1 of 2 coordinates are zero"):
        fitted = KernelLPP(kernel="linear", variance_share=0.5).fit(IRIS)
    assert np.ptp(fitted.embedding_[:, 0]) > 1
    assert not fitted.embedding_[:, 1].any()


def test_memory_is_refused_before_it_is_taken():
    with (
        config_context(memory_limit=10**5),
        pytest.raises(MemoryBudgetError, match="All kernels of 120 rows"),
    ):
        KernelLPP().fit(ROLL)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KernelLPP(kernel="precomputed"), "kernel must be one of rbf, linear, poly, got 'precomputed'"),
        (KernelLPP(variance_share=0), "variance_share must be a share above 0 and at most 1, got 0"),
        (KernelLPP(variance_share=1.5), "variance_share must be a share above 0 and at most 1, got 1.5"),
        (KernelLPP(gamma=-1), "gamma must be 'auto' or a positive number, got -1"),
        (KernelLPP(t=0), "t must be 'auto' or a positive number, got 0"),
    ],
)
def test_bad_parameters_are_refused_kernel(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(IRIS)
