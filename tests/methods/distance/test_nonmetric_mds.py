"""Nonmetric MDS: scikit-learn as a bound, invariance under increasing functions, ties, degenerate tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris
from sklearn.isotonic import isotonic_regression
from sklearn.manifold import MDS

from isentropic import MetricMDS, NonmetricMDS
from isentropic._core.errors import InvalidInputError, IsentropicWarning

IRIS = np.unique(load_iris().data, axis=0)


def stress_1(D, Z):
    e = pdist(Z)
    order = np.lexsort((e, np.round(D, 9)))  # distances that differ in their last digits are tied
    return np.sqrt(((e[order] - isotonic_regression(e[order])) ** 2).sum() / (e**2).sum())


def test_stress_1_is_no_more_than_that_of_scikit_learn():
    fitted = NonmetricMDS().fit(IRIS)
    theirs = MDS(2, metric_mds=False, init="classical_mds", n_init=1, normalized_stress=True).fit(IRIS)
    assert fitted.stress_ == pytest.approx(stress_1(pdist(IRIS), fitted.embedding_), rel=1e-9)
    assert fitted.stress_ <= 1.001 * stress_1(pdist(IRIS), theirs.embedding_)
    assert fitted.stress_ < stress_1(pdist(IRIS), MetricMDS().fit_transform(IRIS))


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_only_the_order_of_distances_matters(rng, ties):
    X, init = rng.normal(size=(60, 5)), rng.normal(size=(60, 2))
    D = cdist(X, X)
    asked = NonmetricMDS(ties=ties, metric="precomputed", init=init, max_iter=40)
    first = asked.fit(D).embedding_
    for changed in (D**3, np.log1p(D), np.exp(D) - 1):
        assert_allclose(asked.fit(changed).embedding_, first, atol=1e-6)


def test_a_map_of_distances_that_a_function_bent_is_found_again(rng):
    X = rng.uniform(size=(80, 2))
    fitted = NonmetricMDS(metric="precomputed", tol=1e-9).fit(cdist(X, X) ** 4)
    assert fitted.stress_ < 0.005
    assert np.corrcoef(pdist(fitted.embedding_), pdist(X))[0, 1] > 0.999
    new = rng.uniform(0.2, 0.8, size=(5, 2))
    placed = fitted.transform(cdist(new, X) ** 4)
    scale = np.linalg.norm(pdist(fitted.embedding_)) / np.linalg.norm(pdist(X))
    assert_allclose(cdist(placed, fitted.embedding_), scale * cdist(new, X), atol=0.05 * scale)


def test_tied_distances_are_told_apart_or_not():
    X = np.round(IRIS[:60])
    first, second = (NonmetricMDS(ties=ties).fit(X).stress_ for ties in ("primary", "secondary"))
    assert first < second


def test_a_simplex_keeps_its_metric_map():
    with pytest.warns(IsentropicWarning, match="All distances are equal"):
        fitted = NonmetricMDS(metric="precomputed").fit(1 - np.eye(5))
    assert np.isfinite(fitted.embedding_).all()
    assert fitted.cost_ == 0 or fitted.stress_ < 1


def test_wrong_ties_are_told():
    with pytest.raises(InvalidInputError, match="ties must be one of primary, secondary"):
        NonmetricMDS(ties="tertiary").fit(IRIS)
