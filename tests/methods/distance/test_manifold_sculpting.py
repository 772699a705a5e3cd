"""Manifold sculpting: its error against a plain twin, planted maps, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import procrustes

from isentropic import ManifoldSculpting
from isentropic._core.errors import InvalidInputError
from isentropic.neighbors import nearest_among


def angle_at(p, j, c):
    one, other = p - j, c - j
    norms = np.linalg.norm(one) * np.linalg.norm(other)
    return np.arccos(np.clip(one @ other / norms, -1, 1)) if norms else np.pi / 2


def naive_error(X, Z, near):
    """Mean error of a neighbour: lengths, in multiples of the mean one, and angles of Z against X."""
    unit = np.mean([np.linalg.norm(X[i] - X[j]) for i, row in enumerate(near) for j in row])
    total = 0.0
    for i, row in enumerate(near):
        for j in row:
            opposite = max((c for c in near[j] if c != i), key=lambda c, i=i, j=j: angle_at(X[i], X[j], X[c]))
            lengths = [np.linalg.norm(Y[i] - Y[j]) / unit for Y in (X, Z)]
            angles = [angle_at(Y[i], Y[j], Y[opposite]) for Y in (X, Z)]
            total += ((lengths[1] - lengths[0]) / 2) ** 2 + ((angles[1] - angles[0]) / np.pi) ** 2
    return total / near.size


def test_the_error_is_that_of_its_twin(rng):
    X = rng.normal(size=(20, 3))
    model = ManifoldSculpting(4, n_tries=2, max_iter=470).fit(X)
    near = nearest_among(X, X, 4, selves=np.arange(20))[0]
    assert model.error_ == pytest.approx(naive_error(X, model.embedding_, near), rel=1e-9)
    assert model.error_ == model.errors_.min()
    assert model.errors_[0] != model.errors_[1]


def test_a_plane_stays_put(rng):
    P = rng.normal(size=(40, 2))
    model = ManifoldSculpting(6, n_tries=1, max_iter=30).fit(P @ np.linalg.qr(rng.normal(size=(3, 3)))[0][:2])
    assert model.error_ < 1e-12
    assert procrustes(P, model.embedding_)[2] < 1e-12


def test_an_arc_is_unbent_and_new_rows_lie_along_it():
    angle = np.linspace(0, 3, 60)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    model = ManifoldSculpting(4, 1, n_tries=2).fit(arc)
    assert procrustes(angle[:, None], model.embedding_)[2] < 0.01
    between = 0.5 * (angle[10:40:5] + angle[11:41:5])
    places = model.transform(np.column_stack([np.cos(between), np.sin(between)]))
    wanted = 0.5 * (model.embedding_[10:40:5] + model.embedding_[11:41:5])
    assert_allclose(places, wanted, atol=0.01)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"n_neighbors": 1}, "n_neighbors must be an integer of at least 2, got 1"),
        ({"n_tries": 0}, "n_tries must be a positive integer, got 0"),
        ({"max_iter": -1}, "max_iter must be a number of passes, got -1"),
    ],
)
def test_bad_parameters_are_refused(params, said):
    with pytest.raises(InvalidInputError) as caught:
        ManifoldSculpting(**params).fit(np.eye(5))
    assert str(caught.value).startswith(said)


def test_too_many_rows_are_refused():
    with pytest.raises(InvalidInputError, match="X must be a table of at most 5,000 rows"):
        ManifoldSculpting().fit(np.zeros((5_001, 1)))


@pytest.mark.parametrize("far", [1e3, 1e7])
def test_a_row_far_from_all_others_is_placed_as_far(rng, far):
    X = rng.normal(size=(12, 3))
    sculpted = ManifoldSculpting(4, n_tries=1, max_iter=20).fit(X)
    place = sculpted.transform(X[:1] + far)
    assert_allclose(np.linalg.norm(place - sculpted.embedding_[:1]), np.sqrt(3) * far, rtol=0.01)
