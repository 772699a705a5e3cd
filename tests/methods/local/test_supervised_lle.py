"""SLLE and its kin against plain twins, and the graph in classes, which is the normal case."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from assertions import assert_same_up_to_sign
from honest import accuracy
from isentropic import (
    LLE,
    ClassDivergence,
    Dis3,
    DisconnectedGraphWarning,
    InvalidInputError,
    IsentropicWarning,
    SupervisedLLE,
)
from isentropic._core.errors import DisconnectedGraphError
from isentropic.dissimilarities import class_gaussians
from isentropic.divergences import kl_divergence, symmetrised_kl_divergence
from isentropic.embedding.components import component_eigenvectors, indicator_coordinates

IRIS, SPECIES = load_iris(return_X_y=True)
SCALED = StandardScaler().fit_transform(IRIS)
quiet = pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")


def naive_map(X, D, k, share=1e-3, d=2):
    """Neighbours by D, weights from X, bottom eigenvectors."""
    n, W = len(X), np.zeros((len(X), len(X)))
    np.fill_diagonal(D, np.inf)
    for i, near in enumerate(np.argsort(D, axis=1, kind="stable")[:, :k]):
        C = (X[i] - X[near]) @ (X[i] - X[near]).T
        w = np.linalg.solve(C + share * np.trace(C) * np.eye(k), np.ones(k))
        W[i, near] = w / w.sum()
    apart = np.eye(n) - W
    values, vectors = np.linalg.eigh(apart.T @ apart)
    return values[1 : d + 1], np.sqrt(n) * vectors[:, 1 : d + 1]


def mixed_classes(rng, n=80):
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


@quiet
def test_the_map_is_that_of_all_pairs(rng):
    X, y = mixed_classes(rng)
    D = cdist(X, X)
    values, Z = naive_map(X, D + 0.05 * D.max() * (y[:, None] != y), 12)
    fitted = SupervisedLLE(12, dissimilarity=Dis3(0.05)).fit(X, y)
    assert 0 < fitted.crossing_ < 0.5
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-6)
    assert_same_up_to_sign(fitted.embedding_, Z, rtol=0, atol=1e-5)


@quiet
@pytest.mark.parametrize(
    ("divergence", "formula"), [("kl", symmetrised_kl_divergence), ("directed-kl", kl_divergence)]
)
@pytest.mark.parametrize("scale", ["match", None])
def test_stochastic_slle_adds_divergences_between_classes(rng, divergence, formula, scale):
    X, y = mixed_classes(rng)
    g = class_gaussians(X, y)
    DE = np.array([[formula(*pair) for pair in ((g.means[a], g.covariances[a], g.means[b], g.covariances[b])
                                                for b in (0, 1))] for a in (0, 1)])  # fmt: skip
    D = cdist(X, X)
    s = 1.0 if scale is None else D.max() / DE.max()
    values, Z = naive_map(X, D + 0.05 * s * DE[y][:, y], 12)
    choice = ClassDivergence(0.05, divergence, scale)
    fitted = SupervisedLLE(12, dissimilarity=choice).fit(X, y)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-6)
    assert_same_up_to_sign(fitted.embedding_, Z, rtol=0, atol=1e-5)


def test_without_weight_of_the_classes_it_is_lle(rng):
    X, y = mixed_classes(rng, 200)
    fitted, plain = SupervisedLLE(12, dissimilarity=Dis3(0.0)).fit(X, y), LLE(12).fit(X)
    assert_allclose(fitted.embedding_, plain.embedding_, rtol=0, atol=1e-8)
    assert_allclose(fitted.transform(X[:5] + 0.1), plain.transform(X[:5] + 0.1), rtol=0, atol=1e-8)


# ---- classes that are parts --------------------------------------------------------------------------


def test_1_slle_shows_each_class_as_a_point():
    with pytest.warns(DisconnectedGraphWarning, match="3 parts, and each is one point along 2 of 2 coord"):
        fitted = SupervisedLLE(12, dissimilarity=Dis3(1.0), on_disconnected="points").fit(SCALED, SPECIES)
    Z = fitted.embedding_
    assert len(np.unique(Z.round(9), axis=0)) == 3
    assert fitted.crossing_ == 0
    assert fitted.n_separating_ == 2
    assert_allclose(fitted.eigenvalues_, 0, atol=1e-15)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(Z.T @ Z / 150, np.eye(2), atol=1e-12)
    # The layout is that of the class means: their first principal axis orders the classes.
    means = np.stack([SCALED[SPECIES == c].mean(axis=0) for c in range(3)])
    axis = np.linalg.svd(means - means.mean(axis=0))[2][0]
    order = np.argsort(means @ axis)
    places = Z[[0, 50, 100], 0][order]
    assert (np.diff(places) > 0).all() or (np.diff(places) < 0).all()


@quiet
@pytest.mark.parametrize("policy", ["bridge", "largest", "raise"])
def test_parts_are_joined_left_out_or_refused(policy):
    estimator = SupervisedLLE(12, dissimilarity=Dis3(1.0), on_disconnected=policy)
    if policy == "raise":
        with pytest.raises(DisconnectedGraphError, match="3 parts of 50, 50, 50 rows"):
            estimator.fit(SCALED, SPECIES)
        return
    with pytest.warns(DisconnectedGraphWarning, match="3 parts of 50, 50, 50 rows"):
        fitted = estimator.fit(SCALED, SPECIES)
    assert np.isfinite(fitted.embedding_).all()
    if policy == "largest":
        new = fitted.transform(SCALED[60:63] + 1e-3)
        assert_allclose(fitted.embedding_[60:63], new, atol=0.1 * np.ptp(fitted.embedding_))


@quiet
def test_more_coordinates_than_parts_go_on_with_the_slowest_ones():
    few, more = (
        SupervisedLLE(12, d, dissimilarity=Dis3(1.0), on_disconnected="points").fit(SCALED, SPECIES)
        for d in (2, 4)
    )
    assert_allclose(more.embedding_[:, :2], few.embedding_, rtol=0, atol=1e-9)
    assert (more.eigenvalues_[2:] > 1e-9).all()
    assert_allclose(more.embedding_.T @ more.embedding_ / 150, np.eye(4), atol=1e-6)


def test_parts_of_an_operator_are_counted_and_turned(rng):
    X, parts = rng.normal(size=(40, 3)), np.repeat([0, 1, 2], [20, 15, 5])
    ring = sum(np.eye(n, k=1) + np.eye(n, k=-1) for n in (40,))
    ring *= parts[:, None] == parts
    L = np.diag(ring.sum(axis=1)) - ring
    values, vectors = component_eigenvectors(L, X, parts, 3)
    assert_array_equal(values[:2], 0)
    assert_allclose(values[2], np.linalg.eigvalsh(L)[3], rtol=1e-9)
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    weights = rng.uniform(1, 2, 40)
    Z = indicator_coordinates(X, parts, weights)
    assert_allclose((weights[:, None] * Z).T @ Z / weights.sum(), np.eye(2), atol=1e-12)
    assert_allclose(weights @ Z, 0, atol=1e-12)
    assert all(len(np.unique(Z[parts == p].round(12), axis=0)) == 1 for p in range(3))


# ---- new rows and odd classes ------------------------------------------------------------------------


def test_1_slle_is_as_accurate_on_new_rows_as_was_measured():
    estimator = SupervisedLLE(9, dissimilarity=Dis3(1.0), on_disconnected="points")
    assert accuracy(estimator, IRIS, SPECIES, 6) == pytest.approx(0.942, abs=0.02)


@quiet
def test_convex_weights_place_new_rows_within_their_neighbours():
    params = {"dissimilarity": Dis3(1.0), "on_disconnected": "points"}
    far = SCALED[1::2] * 3
    free, convex = (
        SupervisedLLE(12, convex=flag, **params).fit(SCALED[::2], SPECIES[::2]) for flag in (False, True)
    )
    assert_array_equal(free.embedding_, convex.embedding_)
    low, high = convex.embedding_.min(axis=0) - 1e-9, convex.embedding_.max(axis=0) + 1e-9
    places = convex.transform(far)
    assert ((places >= low) & (places <= high)).all()
    assert (np.abs(free.transform(far)) > high.max()).any()


@quiet
@pytest.mark.parametrize("choice", ["dis1", "dis2", "dis3", "divergence"])
@pytest.mark.parametrize("policy", ["bridge", "points"])
@pytest.mark.parametrize("classes", ["one row", "fifty", "one class", "equal rows"])
def test_odd_classes_have_a_map(rng, choice, policy, classes):
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 3, 150)
    if classes == "one row":
        y[7] = 9
    elif classes == "fifty":
        y = np.arange(150) % 50
    elif classes == "one class":
        y[:] = 1
    else:
        X[75:] = X[:75]
        y = np.repeat([0, 1], 75)
    fitted = SupervisedLLE(6, dissimilarity=choice, on_disconnected=policy).fit(X, y)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.transform(X[:4] + 0.1)).all()
    if classes == "equal rows":
        assert not np.array_equal(fitted.embedding_[0], fitted.embedding_[75])


@quiet
def test_a_class_smaller_than_k_takes_neighbours_of_other_classes(rng):
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1], [54, 6])
    fitted = SupervisedLLE(8, dissimilarity=Dis3(1.0)).fit(X, y)
    assert_allclose(fitted.crossing_, 6 * 3 / (60 * 8), rtol=1e-12)  # five of its own, three of the other


@quiet
def test_rows_without_a_class_are_placed_as_new_ones():
    y = np.where(np.arange(150) % 2, None, SPECIES.astype(object))
    half, whole = SupervisedLLE(12).fit(SCALED, y), SupervisedLLE(12).fit(SCALED[::2], SPECIES[::2])
    assert_allclose(half.embedding_[::2], whole.embedding_, rtol=0, atol=1e-12)
    equal = [np.flatnonzero((SCALED[::2] == row).all(axis=1)) for row in SCALED[1::2]]
    expected = whole.transform(SCALED[1::2])
    assert sum(map(len, equal)) > 0
    assert_allclose(half.embedding_[1::2], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 1}, "n_neighbors must be an integer of at least n_components = 2"),
        ({"regularization": 0}, "regularization must be a positive number"),
        ({"convex": "yes"}, "convex must be True or False"),
        ({"on_disconnected": "inflate"}, "on_disconnected must be one of bridge, points, largest, raise"),
        ({"dissimilarity": ClassDivergence(divergence="wasserstein")}, "divergence must be one of kl, "),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(InvalidInputError, match=message):
        SupervisedLLE(**params).fit(IRIS, SPECIES)


def test_the_largest_distance_is_that_of_all_pairs():
    """What mu is a share of: with as much as the diameter, no other class comes before the own one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        fitted = SupervisedLLE(30, dissimilarity=Dis3(1.0)).fit(IRIS, SPECIES)
    assert fitted.crossing_ == 0
    assert pdist(IRIS).max() < 8
