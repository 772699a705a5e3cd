"""The intrinsic dimension of data whose dimension is known."""

import numpy as np
import pytest

from isentropic._core.errors import InvalidInputError
from isentropic.comparison import Dimensions, intrinsic_dimension


def naive_maximum_likelihood(X, k):
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    total = []
    for row in D:
        near = np.sort(row)[1 : k + 1]
        total += [np.log(near[-1] / near[j]) for j in range(k - 1)]
    return 1 / np.mean(total)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_cube_turned_into_more_dimensions(rng, d):
    turn = np.linalg.qr(rng.normal(size=(12, 12)))[0][:d]
    found = intrinsic_dimension(rng.uniform(size=(3000, d)) @ turn)
    assert found.maximum_likelihood == pytest.approx(d, rel=0.12)
    assert found.two_nearest == pytest.approx(d, rel=0.1)


def test_a_curved_surface(roll):
    found = intrinsic_dimension(roll)
    assert found.maximum_likelihood == pytest.approx(2, abs=0.25)
    assert found.two_nearest == pytest.approx(2, abs=0.3)


def test_it_is_the_formula(rng):
    X = rng.normal(size=(60, 3))
    assert intrinsic_dimension(X, n_neighbors=7).maximum_likelihood == pytest.approx(
        naive_maximum_likelihood(X, 7), rel=1e-9
    )


def test_scale_and_place_change_nothing(rng):
    X = rng.normal(size=(200, 3))
    a, b = intrinsic_dimension(X), intrinsic_dimension(1000 * X + 5)
    assert a.maximum_likelihood == pytest.approx(b.maximum_likelihood, rel=1e-6)
    assert a.two_nearest == pytest.approx(b.two_nearest, rel=1e-6)


def test_equal_rows_count_once(rng):
    X = rng.normal(size=(200, 3))
    assert intrinsic_dimension(np.vstack([X, X, X])) == intrinsic_dimension(X)


def test_drawn_rows_say_the_same(rng):
    X = rng.uniform(size=(6000, 2))
    found = intrinsic_dimension(X)
    assert found == intrinsic_dimension(X)
    assert found.two_nearest == pytest.approx(2, rel=0.1)


def test_too_few_different_rows_have_none():
    assert intrinsic_dimension(np.ones((50, 3))) == Dimensions(None, None)
    assert intrinsic_dimension(np.eye(3)) == Dimensions(None, None)
    grid = np.array([[i, j] for i in range(5) for j in range(5)], float)
    assert intrinsic_dimension(grid).two_nearest is None  # two neighbours equally far say nothing


@pytest.mark.parametrize("n_neighbors", [1, 2.5, True])
def test_what_is_refused(n_neighbors):
    with pytest.raises(InvalidInputError, match="n_neighbors"):
        intrinsic_dimension(np.eye(9), n_neighbors=n_neighbors)


def test_given_distances_are_estimated_as_the_rows_they_come_from(rng):
    X = rng.uniform(size=(80, 3))
    X[5] = X[9]  # equal rows count once
    D = np.linalg.norm(X[:, None] - X, axis=2)
    given, found = intrinsic_dimension(D, metric="precomputed"), intrinsic_dimension(X)
    assert given.maximum_likelihood == pytest.approx(found.maximum_likelihood)
    assert given.two_nearest == pytest.approx(found.two_nearest)
    assert intrinsic_dimension(D[:3, :3], metric="precomputed").two_nearest is None
