"""Class ISOMAP against plain twins, and the classifier that it is for new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from assertions import assert_same_up_to_sign
from honest import accuracy
from isentropic import ClassIsomap, InvalidInputError, IsentropicWarning, Isomap, geodesics, neighbor_graph
from isentropic.dissimilarities import class_gaussians, posterior
from isentropic.divergences import EDGE_DIVERGENCES, bhattacharyya_distance, symmetrised_kl_divergence
from isentropic.embedding.class_divergences import class_divergences

IRIS, SPECIES = load_iris(return_X_y=True)
WINE, CULTIVARS = load_wine(return_X_y=True)
IRIS, WINE = (StandardScaler().fit_transform(X) for X in (IRIS, WINE))
quiet = pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")


def between_classes(X, y, formula):
    g = class_gaussians(X, y)
    parts = list(zip(g.means, g.covariances, strict=True))
    return np.array([[0.0 if a is b else formula(*a, *b) for b in parts] for a in parts])


def naive_map(D):
    squared = D**2
    B = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean())
    values, vectors = np.linalg.eigh(B)
    return values[:-3:-1], vectors[:, :-3:-1]


@pytest.mark.parametrize("scale", ["match", None])
@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.9])
def test_fitted_and_new_rows_are_those_of_the_blended_matrix(alpha, scale):
    X, y = WINE[::2], CULTIVARS[::2]
    G = squareform(geodesics.all_pairs(neighbor_graph(X, 10)))
    DE = between_classes(X, y, symmetrised_kl_divergence)
    apart = y[:, None] != y
    s = G[apart].mean() / DE[y][:, y][apart].mean() if scale else 1.0
    D = alpha * G + (1 - alpha) * s * DE[y][:, y]
    values, vectors = naive_map(D)
    fitted = ClassIsomap(alpha=alpha, scale=scale).fit(X, y)
    assert_allclose(fitted.scale_, s, rtol=1e-9)
    assert_allclose(fitted.divergences_, DE, rtol=1e-9)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-9)
    assert_same_up_to_sign(fitted.embedding_, vectors * np.sqrt(values), rtol=0, atol=1e-8 * np.ptp(D))
    new = WINE[1:20:2]
    plain = Isomap(10).fit(X)
    entries = plain._map.edges.of_new(new, plain._map, None)
    paths = geodesics.shortest_paths.from_neighbors(plain.graph_, entries.indices, entries.distances)
    mixed = alpha * paths + (1 - alpha) * s * (posterior(new, class_gaussians(X, y)) @ DE)[:, y]
    places = -0.5 * (mixed**2 - (D**2).mean(axis=0)) @ (vectors / np.sqrt(values))
    signs = np.sign((fitted.embedding_ * vectors).sum(axis=0))
    assert_allclose(fitted.transform(new), signs * places, rtol=0, atol=1e-7 * np.ptp(D))


def test_the_ends_of_alpha_are_isomap_and_points():
    plain, all_of_it = Isomap(10).fit(WINE), ClassIsomap(10, alpha=1.0).fit(WINE, CULTIVARS)
    assert_allclose(all_of_it.embedding_, plain.embedding_, rtol=0, atol=1e-10)
    assert_allclose(all_of_it.transform(WINE[:5] + 0.1), plain.transform(WINE[:5] + 0.1), rtol=0, atol=1e-10)
    points = ClassIsomap(10, alpha=0.0).fit(WINE, CULTIVARS).embedding_
    assert len(np.unique(points.round(6), axis=0)) == 3


@pytest.mark.parametrize("divergence", EDGE_DIVERGENCES)
def test_every_divergence_has_a_map(divergence):
    fitted = ClassIsomap(10, divergence=divergence).fit(WINE, CULTIVARS)
    assert_allclose(fitted.divergences_, fitted.divergences_.T, rtol=1e-9)
    assert (fitted.divergences_[~np.eye(3, dtype=bool)] > 0).all()


def test_divergences_have_no_unit():
    plain = class_divergences(class_gaussians(WINE, CULTIVARS), "bhattacharyya")
    assert_allclose(plain, between_classes(WINE, CULTIVARS, bhattacharyya_distance), rtol=1e-9)
    for unit in (1e-60, 1e60):
        found = class_divergences(class_gaussians(unit * WINE, CULTIVARS), "bhattacharyya")
        assert_allclose(found, plain, rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "y", "k", "measured"),
    [(IRIS, SPECIES, 9, 0.977), (WINE, CULTIVARS, 9, 0.983)],
    ids=["iris", "wine"],
)
@quiet
def test_new_rows_are_told_apart_as_by_their_posterior(X, y, k, measured):
    assert accuracy(ClassIsomap(k), X, y) == pytest.approx(measured, abs=0.02)


def test_neutral_rows_fall_into_the_middle():
    assert accuracy(ClassIsomap(9, unlabelled="neutral"), IRIS, SPECIES, 2) < 0.6


def test_landmarks_that_are_most_rows_give_nearly_the_same_map():
    exact, through = (ClassIsomap(10, n_landmarks=n).fit(WINE, CULTIVARS) for n in (None, 120))
    assert through.landmarks_.shape == (120,)
    signs = np.sign((exact.embedding_ * through.embedding_).sum(axis=0))
    apart = np.abs(exact.embedding_ - signs * through.embedding_).max()
    assert apart < 0.1 * np.ptp(exact.embedding_)
    assert np.isfinite(through.transform(WINE[:5] + 0.1)).all()


def test_rows_without_a_class_are_in_the_graph():
    y = CULTIVARS.astype(float)
    y[::3] = np.nan
    fitted = ClassIsomap(10).fit(WINE, y)
    assert fitted.graph_.n_rows == len(WINE)
    assert_array_equal(fitted.transform(WINE), fitted.embedding_)
    shares = posterior(
        WINE[::3], class_gaussians(WINE[np.arange(178) % 3 > 0], CULTIVARS[np.arange(178) % 3 > 0])
    )
    assert_allclose(fitted._map.lengths.shares[::3], shares, rtol=1e-9, atol=1e-12)
    whole = ClassIsomap(10).fit(WINE, CULTIVARS)
    signs = np.sign((whole.embedding_ * fitted.embedding_).sum(axis=0))
    assert np.median(np.abs(whole.embedding_ - signs * fitted.embedding_)) < 0.1 * np.ptp(whole.embedding_)


@quiet
@pytest.mark.parametrize("classes", ["one row", "fifty", "equal rows"])
def test_odd_classes_have_a_map(rng, classes):
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 3, 120)
    if classes == "one row":
        y[7] = 9
    elif classes == "fifty":
        y = np.arange(120) % 50
    else:
        X[60:] = X[:60]
        y = np.repeat([0, 1], 60)
    fitted = ClassIsomap(8).fit(X, y)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.transform(X[:4] + 0.1)).all()
    if classes == "equal rows":
        assert not np.array_equal(fitted.embedding_[0], fitted.embedding_[60])


def test_one_class_is_isomap_with_a_warning():
    with pytest.warns(IsentropicWarning, match="y has a single class"):
        fitted = ClassIsomap(10, alpha=1.0).fit(WINE, np.zeros(178))
    assert_allclose(fitted.embedding_, Isomap(10).fit(WINE).embedding_, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 1.5}, r"alpha must be a number in \[0, 1\]"),
        ({"divergence": "kullback"}, "divergence must be one of kl, bhattacharyya"),
        ({"scale": "units"}, "scale must be 'match' or None"),
        ({"unlabelled": "guess"}, "unlabelled must be one of votes, posterior, neutral"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(InvalidInputError, match=message):
        ClassIsomap(**params).fit(IRIS, SPECIES)
