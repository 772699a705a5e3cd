"""Laws that hold for every method: what it does with rows, threads and degenerate tables."""

import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import get_tags

from assertions import assert_same_bits
from isentropic import IsentropicWarning


def numbers(seed, n_rows):
    """Rows of numbers with twenty binary places: an offset of 1e7 can be added without rounding."""
    return np.round(np.random.default_rng(seed).normal(size=(n_rows, 3)) * [3, 2, 1] * 2**20) / 2**20


def classes_of(X):
    """Three classes, by thirds of the first feature: equal rows have one class, and units change none."""
    first = np.asarray(X)[:, 0]
    return np.array(["high", "low", "middle"])[np.searchsorted(np.quantile(first, [1 / 3, 2 / 3]), first)]


def fit(estimator, X):
    """Fit, to classes where it needs them, without warnings about data that are degenerate on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        return estimator.fit(X, classes_of(X) if get_tags(estimator).target_tags.required else None)


def width(Z):
    return float(np.ptp(Z, axis=0).max())


def assert_fitted_rows_stay(fitted, X):
    """A fitted row has exactly its own coordinates, and equal rows have the same ones."""
    assert_same_bits(fitted.transform(X), fitted.embedding_)


def assert_rows_by_themselves(fitted, new):
    """A batch, its rows one by one and its shuffle get the same coordinates, to the bit."""
    together = fitted.transform(new)
    assert np.isfinite(together).all()
    assert_same_bits(np.vstack([fitted.transform(row[None]) for row in new]), together)
    order = np.random.default_rng(0).permutation(len(new))
    assert_same_bits(fitted.transform(new[order]), together[order])


def assert_threads_change_no_bit(make_estimator, X, new):
    one, two = fit(make_estimator(n_jobs=1), X), fit(make_estimator(n_jobs=2), X)
    assert_array_equal(one.embedding_, two.embedding_)
    assert_array_equal(one.transform(new), two.transform(new))


def assert_finite(fitted, X, new):
    """Every row has a place, and so has a new one."""
    assert fitted.embedding_.shape[0] == len(X)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.transform(new)).all()


def assert_same_map(fitted, places, expected, expected_places, *, tolerance):
    """The same coordinates of fitted and new rows, up to a share of the width of the map."""
    apart = tolerance * width(expected)
    assert apart > 0
    assert_allclose(fitted.embedding_, expected, rtol=0, atol=apart)
    assert_allclose(places, expected_places, rtol=0, atol=apart)
