"""Laws that hold for every method: what it does with rows, threads and degenerate tables."""

import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from isentropic import IsentropicWarning

WIDTH = {"exact": 1e-8, "optimised": 1e-2}  # how near transform(X) is to embedding_, by the width of the map


def fit(estimator, X):
    """Fit, without the warnings about data that are degenerate on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        return estimator.fit(X)


def width(Z):
    return float(np.ptp(Z, axis=0).max())


def assert_fitted_rows_stay(fitted, X, out_of_sample):
    """A fitted row is placed where it was fitted."""
    Z = fitted.embedding_
    assert_allclose(fitted.transform(X), Z, rtol=0, atol=WIDTH[out_of_sample] * width(Z))


def assert_rows_by_themselves(fitted, new):
    """A batch, its rows one by one and its shuffle get the same coordinates."""
    together = fitted.transform(new)
    assert np.isfinite(together).all()
    alone = np.vstack([fitted.transform(row[None]) for row in new])
    order = np.random.default_rng(0).permutation(len(new))
    tolerance = 1e-12 * width(fitted.embedding_)
    assert_allclose(alone, together, rtol=0, atol=tolerance)
    assert_allclose(fitted.transform(new[order]), together[order], rtol=0, atol=tolerance)


def assert_threads_change_no_bit(make_estimator, X, new):
    one, two = fit(make_estimator(n_jobs=1), X), fit(make_estimator(n_jobs=2), X)
    assert_array_equal(one.embedding_, two.embedding_)
    assert_array_equal(one.transform(new), two.transform(new))


def assert_finite(fitted, X, new):
    """Every row has a place, and so has a new one."""
    assert fitted.embedding_.shape[0] == len(X)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.transform(new)).all()
