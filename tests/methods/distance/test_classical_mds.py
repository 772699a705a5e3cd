"""Classical scaling as a method: against the plain eigenproblem, and where distances are not Euclidean."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist

from isentropic import (
    ClassicalMDS,
    InvalidInputError,
    Landmarks,
    MemoryBudgetError,
    NegativeEigenvalueWarning,
    config_context,
    linalg,
)


def plain_scaling(D, n_components):
    """Eigenvectors of the doubly centred squares, each times the root of its eigenvalue."""
    n = len(D)
    centring = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ D**2 @ centring)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    return values, vectors * np.sqrt(np.maximum(values, 0))


@pytest.mark.parametrize("n", [50, 300], ids=["dense", "Lanczos"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_plain_eigenproblem_has_the_same_answer(rng, n, metric):
    X = rng.normal(size=(n, 4)) * [4, 3, 2, 1]
    mds = ClassicalMDS(3, metric=metric).fit(X)
    values, Z = plain_scaling(cdist(X, X, "cityblock" if metric == "manhattan" else metric), 3)
    assert_allclose(mds.eigenvalues_, values, rtol=1e-9)
    assert_allclose(mds.embedding_ * np.sign((mds.embedding_ * Z).sum(axis=0)), Z, atol=1e-8)


@pytest.mark.parametrize("n", [60, 300])
def test_euclidean_distances_are_kept(rng, n):
    X = rng.normal(size=(n, 3))
    mds = ClassicalMDS(3).fit(X)
    assert_allclose(pdist(mds.embedding_), pdist(X), rtol=1e-9)
    assert mds.residual_variance_ < 1e-12
    assert mds.euclidean_defect_[0] < 1e-9


@pytest.mark.parametrize("n", [60, 520, 900])
@pytest.mark.parametrize("power", [1.5, 2.0])
def test_distances_that_no_space_has(rng, n, power):
    """Most eigenvalues crowd around zero, where Lanczos by itself does not converge."""
    D = cdist(X := rng.normal(size=(n, 3)), X) ** power
    with pytest.warns(NegativeEigenvalueWarning) if power == 1.5 else _nothing():
        mds = ClassicalMDS(5, metric="precomputed").fit(D)
    values, Z = plain_scaling(D, 3)
    assert_allclose(mds.eigenvalues_[:3], values, rtol=1e-9)
    assert_allclose(np.abs(mds.embedding_[:, :3]), np.abs(Z), atol=1e-6 * np.abs(Z).max())
    assert np.abs(mds.embedding_[:, 3:]).max() < 1e-4 * np.abs(Z).max()
    assert np.isfinite(mds.transform(D)).all()


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


@pytest.mark.parametrize("n", [5, 300])
def test_equal_rows_are_one_point(n):
    mds = ClassicalMDS().fit(np.ones((n, 3)))
    assert_array_equal(mds.embedding_, np.zeros((n, 2)))
    assert_array_equal(mds.transform(np.zeros((2, 3))), np.zeros((2, 2)))


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_memory_is_asked_for_before_it_is_taken(rng, metric):
    D = cdist(X := rng.normal(size=(400, 3)), X)
    with config_context(memory_limit=300_000), pytest.raises(MemoryBudgetError, match="All distances of 400"):
        ClassicalMDS(metric=metric).fit(X if metric == "euclidean" else D)


def test_the_number_of_distances_is_checked():
    for call in (
        lambda: linalg.classical_scaling(np.ones(3), 10, 1),
        lambda: linalg.euclidean_defect(np.ones(3), 10),
        lambda: linalg.residual_variance(np.ones(3), np.ones((10, 2))),
    ):
        with pytest.raises(ValueError, match="the 45 distances of 10 rows, in the order of scipy's pdist"):
            call()


def test_landmarks_find_a_plane_again_and_place_all_rows_in_it(rng):
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 5))
    whole, few = ClassicalMDS().fit(X), ClassicalMDS(n_landmarks=10).fit(X)
    assert len(few.landmarks_) == 10
    assert_allclose(pdist(few.embedding_), pdist(X), atol=1e-9)
    assert few.residual_variance_ < 1e-12
    new = X[:4] * 0.5 + X[4:8] * 0.5
    assert_allclose(cdist(few.transform(new), few.embedding_), cdist(new, X), atol=1e-9)
    assert whole.landmarks_ is None
    assert ClassicalMDS(n_landmarks=80).fit(X).landmarks_ is None


def test_given_distances_have_landmarks_too(rng):
    X = rng.normal(size=(60, 3))
    given = ClassicalMDS(metric="precomputed", n_landmarks=12).fit(cdist(X, X))
    assert_allclose(given.transform(cdist(X[:3] + 0.1, X)).shape, (3, 2))
    drawn = ClassicalMDS(metric="precomputed", n_landmarks=Landmarks(12, "random"), random_state=1)
    assert sorted(drawn.fit(cdist(X, X)).landmarks_) == list(drawn.landmarks_)


def test_too_few_landmarks_are_told():
    with pytest.raises(InvalidInputError, match="n_landmarks must be an integer of at least"):
        ClassicalMDS(n_landmarks=3).fit(np.eye(9))
