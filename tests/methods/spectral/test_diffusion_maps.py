"""Diffusion maps against the dense walk, the distances that they stand for, and new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import (
    DiffusionMaps,
    DisconnectedGraphWarning,
    IsentropicWarning,
    Knn,
    LaplacianEigenmaps,
    Radius,
    datasets,
    load,
    neighbor_graph,
    quality,
    save,
)
from isentropic._core.errors import InvalidInputError
from naive_walks import naive_diffusion
from naive_walks import naive_walk as walk

ROLL = datasets.load("builtin:swiss-roll", n_samples=250).X
SMALL = ROLL[:40]
pytestmark = pytest.mark.filterwarnings("ignore:The walk has an eigenvalue of:isentropic.IsentropicWarning")


def dense(P, phi, d, t):
    """Right eigenvectors of P, of mean square 1 weighted by phi."""
    values, vectors = np.linalg.eig(P)
    order = np.argsort(-values.real)[1 : d + 1]
    psi = vectors[:, order].real
    psi /= np.sqrt(phi @ psi**2)
    return values[order].real, psi * values[order].real ** t


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
@pytest.mark.parametrize(
    ("rule", "sigma", "d", "t"), [(Knn(8), "auto", 2, 1), (Radius(6.0), 9.0, 3, 4), (12, 20.0, 2, 0)]
)
def test_it_is_the_dense_walk(rule, sigma, d, t, alpha):
    P, phi, _ = walk(ROLL, rule, sigma, alpha)
    values, Z = dense(P, phi, d, t)
    fitted = DiffusionMaps(n_components=d, neighbors=rule, sigma=sigma, alpha=alpha, t=t).fit(ROLL)
    assert_allclose(fitted.eigenvalues_, values, atol=1e-10)
    assert_same_up_to_sign(fitted.embedding_, Z, rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The last .* coordinates alternate:isentropic.IsentropicWarning")
@pytest.mark.parametrize(("t", "alpha"), [(1, 0), (3, 0), (2, 1)])
def test_all_coordinates_have_the_diffusion_distances(t, alpha):
    P, phi, _ = walk(SMALL, 6, "auto", alpha)
    expected = naive_diffusion(P, phi, t)
    fitted = DiffusionMaps(6, 39, t=t, alpha=alpha).fit(SMALL)
    assert_allclose(cdist(fitted.embedding_, fitted.embedding_), expected, atol=1e-7)
    rows = fitted.diffusion_distances().rows(np.arange(40))
    assert_allclose(rows**2, expected**2, atol=1e-12 * expected.max() ** 2)
    assert fitted.left_out_ == pytest.approx(0, abs=1e-9)


def test_quality_reads_the_diffusion_distances(tmp_path):
    fitted = DiffusionMaps(t=100).fit(ROLL)
    D = fitted.diffusion_distances()
    numbers = np.array([3, 200, 77])
    together = D.rows(numbers)
    assert_same_bits(np.vstack([D.rows(numbers[[i]]) for i in range(3)]), together)
    assert not together[np.arange(3), numbers].any()
    assert quality.kendall_tau(D, fitted.embedding_).value > 0.7  # so late only slow coordinates are left
    save(fitted, tmp_path / "maps.isentropic")
    assert_same_bits(load(tmp_path / "maps.isentropic").diffusion_distances().rows(numbers), together)


def test_the_share_left_out():
    P = walk(ROLL, 10, "auto", 0)[0]
    squares = np.sort(np.linalg.eigvals(P).real)[::-1][1:]
    for t in (0, 1, 3):
        exact = (np.delete(squares, [0, 1]) ** (2 * t)).sum() / (squares ** (2 * t)).sum()
        found = DiffusionMaps(t=t).fit(ROLL).left_out_
        assert found >= exact - 1e-9
        assert t > 1 or found == pytest.approx(exact, rel=1e-6)


def test_an_eigenvalue_far_below_zero_is_told():
    ring = np.column_stack([np.cos(np.arange(12) * np.pi / 6), np.sin(np.arange(12) * np.pi / 6)])
    graph = DiffusionMaps(2, 10, sigma=np.inf)
    with (
        pytest.warns(IsentropicWarning, match="an eigenvalue of -0.333, of more weight"),
        pytest.warns(IsentropicWarning, match="alternate"),
    ):
        graph.fit(ring)


@pytest.mark.parametrize(("t", "alpha"), [(1, 0.0), (0, 0.0), (3, 1.0)])
def test_a_new_row_is_placed_by_a_step_of_the_walk(t, alpha):
    fitted = DiffusionMaps(8, t=t, alpha=alpha).fit(ROLL)
    _, _, q = walk(ROLL, 8, "auto", alpha)
    sigma = np.mean(neighbor_graph(ROLL, 8).weights ** 2)
    new = ROLL[:4] + 0.3
    for row, place in zip(new, fitted.transform(new), strict=True):
        d = np.linalg.norm(ROLL - row, axis=1)
        near = np.argsort(d)[:9]
        p = np.exp(-(d[near] ** 2) / sigma) / q[near] ** alpha
        assert_allclose(place, p @ fitted.embedding_[near] / p.sum() / fitted.eigenvalues_, rtol=1e-9)


def test_a_row_that_moves_onto_a_fitted_one_ends_there():
    fitted = DiffusionMaps(neighbors=Radius(6.0), t=2, alpha=0.5).fit(ROLL)
    assert_allclose(fitted.transform(ROLL[:20] + 1e-9), fitted.embedding_[:20], atol=1e-6)


def test_without_steps_it_is_laplacian_eigenmaps_of_the_graph_with_loops():
    P, phi, _ = walk(ROLL, 10, "auto", 0)
    fitted = DiffusionMaps(t=0).fit(ROLL)
    Z = dense(P, phi, 2, 0)[1]
    assert_same_up_to_sign(fitted.embedding_, Z, rtol=0, atol=1e-6)
    other = LaplacianEigenmaps().fit(ROLL)  # without loops: other degrees
    assert np.abs(np.abs(other.embedding_) - np.abs(fitted.embedding_)).max() > 1e-3


def test_the_largest_part_alone_has_no_distances_to_the_others(rng):
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(30, 3)) + 100])
    with pytest.warns(DisconnectedGraphWarning, match="the largest is fitted"):
        fitted = DiffusionMaps(6, on_disconnected="largest").fit(X)
    with pytest.raises(InvalidInputError, match="Rows in separate parts have no diffusion distance"):
        fitted.diffusion_distances()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (DiffusionMaps(sigma=0), "sigma must be 'auto' or a positive number, got 0"),
        (DiffusionMaps(t=0.5), "t must be a number of steps, an integer of at least 0, got 0.5"),
        (DiffusionMaps(t=-1), "t must be a number of steps"),
        (DiffusionMaps(alpha=1.5), "alpha must be a number from 0 to 1, got 1.5"),
        (DiffusionMaps(on_disconnected="inflate"), "on_disconnected must be one of bridge, largest, raise"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(ROLL[:50])
