"""Nonlinear PCA against PCA, on a planted arc, with holes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from scipy.stats import spearmanr
from sklearn.datasets import load_wine

from assertions import assert_same_bits
from isentropic import PCA, NonlinearPCA
from isentropic._core.errors import InvalidInputError
from isentropic.embedding.maps.network import Layers
from isentropic.methods.neural.nonlinear_pca import _Surface

WINE = load_wine().data / load_wine().data.std(axis=0)


def arc(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 1.5 * np.pi, n)
    return t, np.column_stack([np.cos(t), np.sin(t)]) + noise * rng.normal(size=(n, 2))


def test_without_hidden_units_it_is_pca():
    found, pca = NonlinearPCA(n_hidden=0, weight_decay=1e-6).fit(WINE), PCA().fit(WINE)
    expected = ((WINE - pca.inverse_transform(pca.embedding_)) ** 2).mean()
    assert found.reconstruction_error_ == pytest.approx(expected, rel=1e-6)
    found_plane = found.inverse_transform(np.eye(2)) - found.inverse_transform(np.zeros((1, 2)))
    assert np.rad2deg(subspace_angles(found_plane.T, pca.components_.T)).max() < 0.1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_noisy_arc_leaves_its_noise_and_is_walked_from_end_to_end(seed):
    t, X = arc(300, 0.05, seed)
    curve = NonlinearPCA(1, random_state=seed).fit(X)
    assert np.sqrt(2 * curve.reconstruction_error_) == pytest.approx(0.05, rel=0.15)
    assert abs(spearmanr(curve.embedding_[:, 0], t).statistic) > 0.99
    assert PCA(1).fit(X).explained_variance_ratio_[0] < 0.8
    t, X = arc(200, 0.05, seed + 50)
    assert abs(spearmanr(curve.transform(X)[:, 0], t).statistic) > 0.99


def test_holes_take_no_part_and_are_filled_from_the_curve():
    t, X = arc(300, 0.03)
    rng = np.random.default_rng(1)
    spoilt = X.copy()
    rows = rng.choice(300, 60, replace=False)
    spoilt[rows, rng.integers(2, size=60)] = np.nan
    curve = NonlinearPCA(1).fit(spoilt)
    assert abs(spearmanr(np.delete(curve.embedding_[:, 0], rows), np.delete(t, rows)).statistic) > 0.99
    whole = np.delete(X, rows, axis=0)
    away = whole - curve.inverse_transform(curve.transform(whole))
    assert np.sqrt((away**2).sum(axis=1).mean()) < 0.045  # what a curve without holes leaves: 0.03


def test_values_that_are_missing_come_back_better_than_by_their_mean():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 4, size=(200, 1))
    X = np.hstack([np.cos(t), np.sin(t), np.cos(2 * t), t, t**2 / 4]) + 0.05 * rng.normal(size=(200, 5))
    holes = rng.random(X.shape) < 0.15
    holes[holes.all(axis=1), 0] = False
    spoilt = np.where(holes, np.nan, X)
    model = NonlinearPCA(1).fit(spoilt)
    filled, means = model.inverse_transform(model.embedding_), np.nanmean(spoilt, axis=0)
    assert ((filled - X)[holes] ** 2).mean() < 0.1 * ((means - X)[holes] ** 2).mean()


def test_rows_with_holes_are_placed_by_themselves():
    X = arc(100, 0.05)[1]
    curve = NonlinearPCA(1, max_iter=300).fit(X)
    new = arc(12, 0.05, 9)[1]
    new[::3, 1] = np.nan
    together = curve.transform(new)
    assert_same_bits(np.vstack([curve.transform(row[None]) for row in new]), together)


def test_slopes_are_those_of_differences(rng):
    rows = rng.normal(size=(7, 3))
    rows[1, 2] = rows[4, 0] = np.nan
    surface = _Surface(rows, Layers.initialized((2, 4, 3), ("tanh", "linear"), np.random.RandomState(0)), 0.1)
    point = surface.start(np.random.RandomState(0))
    value, gradient = surface(point)
    places, layers = surface.split(point)
    squares = np.nansum((rows - layers.forward(places)[-1]) ** 2)
    weights = sum((part**2).sum() for part, _ in layers.parts())
    assert_allclose(value, squares + 0.1 * (weights + (places**2).sum()))
    steps = 1e-6 * np.eye(len(point))
    assert_allclose(
        gradient, [(surface(point + h)[0] - surface(point - h)[0]) / 2e-6 for h in steps], atol=1e-6
    )


def test_more_decay_gives_a_straighter_curve():
    X = arc(200, 0.05)[1]
    loose, tight = (NonlinearPCA(1, weight_decay=nu).fit(X).reconstruction_error_ for nu in (1e-3, 10.0))
    assert tight > 2 * loose


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_hidden": -1}, "n_hidden must be a number of units, or None, got -1"),
        ({"weight_decay": -1}, "weight_decay must be a number of at least 0, got -1"),
        ({"max_iter": 0}, "max_iter must be a positive integer, got 0"),
        ({"n_components": 0}, "n_components must be a positive integer, got 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        NonlinearPCA(**parameters).fit(WINE)


def test_rows_and_features_of_which_nothing_is_known_are_refused():
    X = WINE.copy()
    X[3] = np.nan
    with pytest.raises(InvalidInputError, match=r"X must be known in some feature .*none in rows \[3\]"):
        NonlinearPCA().fit(X)
    X = WINE.copy()
    X[:, 5] = np.nan
    with pytest.raises(InvalidInputError, match=r"X must be known in some row .*none in columns \[5\]"):
        NonlinearPCA().fit(X)
    fitted = NonlinearPCA(max_iter=50).fit(WINE)
    with pytest.raises(InvalidInputError, match=r"none in rows \[0\]"):
        fitted.transform(np.full((1, 13), np.nan))
