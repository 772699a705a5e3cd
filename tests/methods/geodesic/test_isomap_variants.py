"""C-ISOMAP and kernel ISOMAP against plain twins: dense matrices, formulas as they are printed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigvals
from scipy.sparse.csgraph import floyd_warshall
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import make_swiss_roll

import laws
from assertions import assert_same_up_to_sign
from isentropic import IsentropicWarning, Isomap, Radius
from isentropic._core.errors import InvalidInputError
from isentropic.linalg import additive_constant, classical_scaling, positive_scaling

ROLL = make_swiss_roll(150, random_state=0)[0]
NEW = make_swiss_roll(9, random_state=1)[0]
pytestmark = pytest.mark.filterwarnings("ignore:.*is added to all distances:isentropic.IsentropicWarning")


def centred(A):
    return -0.5 * (A - A.mean(axis=0) - A.mean(axis=1)[:, None] + A.mean())


def scaled(K, d=2):
    values, vectors = np.linalg.eigh(K)
    return vectors[:, ::-1][:, :d] * np.sqrt(values[::-1][:d])


def edges(X, k):
    """Distances to the k nearest, either way; infinite where there is no edge."""
    D = cdist(X, X)
    near = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)[:, :k]
    W = np.full(D.shape, np.inf)
    for i, row in enumerate(near):
        W[i, row] = W[row, i] = D[i, row]
    return W, np.take_along_axis(D, near, axis=1).mean(axis=1)


# ---- conformal ---------------------------------------------------------------------------------


def test_conformal_edges_are_divided_by_the_mean_distances_of_their_ends():
    W, M = edges(ROLL, 8)
    G = floyd_warshall(W / np.sqrt(M[:, None] * M))
    fitted = Isomap(8, conformal=True).fit(ROLL)
    assert_same_up_to_sign(fitted.embedding_, scaled(centred(G**2)), atol=1e-8)
    near = np.argsort(cdist(NEW, ROLL), axis=1)[:, :8]
    d = np.take_along_axis(cdist(NEW, ROLL), near, axis=1)
    entry = d / np.sqrt(d.mean(axis=1)[:, None] * M[near])
    g = (entry[:, :, None] + G[near]).min(axis=1)
    Z = fitted.embedding_
    expected = -0.5 * (g**2 - (G**2).mean(axis=0)) @ Z / (Z**2).sum(axis=0)
    assert_allclose(fitted.transform(NEW), expected, atol=1e-8)


def test_a_conformal_map_undoes_a_change_of_density():
    """A disc seen through ``z -> exp(z)``, which keeps angles: dense on one side, sparse on the other."""
    rng = np.random.default_rng(0)
    flat = rng.uniform(-1, 1, size=(900, 2))
    z = np.exp(1.2 * (flat[:, 0] + 1j * flat[:, 1]))
    X = np.column_stack([z.real, z.imag])

    def left(estimator):
        Z, centred_flat = estimator.fit_transform(X), flat - flat.mean(axis=0)
        return ((centred_flat - Z @ np.linalg.lstsq(Z, centred_flat)[0]) ** 2).sum() / (centred_flat**2).sum()

    assert left(Isomap(10, conformal=True)) < 0.1 * left(Isomap(10))


def test_rows_with_nothing_but_equal_neighbours_have_the_least_scale():
    X = np.concatenate([np.repeat(ROLL[:1], 7, axis=0), ROLL[1:60]])
    fitted = laws.fit(Isomap(5, conformal=True), X)
    assert np.isfinite(fitted.embedding_).all()
    assert (fitted._map.edges.scales[:7] == fitted._map.edges.scales[7:].min()).all()
    assert_array_equal(laws.fit(Isomap(5, conformal=True), np.ones((9, 2))).embedding_, np.zeros((9, 2)))


# ---- kernel ------------------------------------------------------------------------------------


def naive_constant(D):
    """The largest real eigenvalue of the printed matrix."""
    n = len(D)
    block = np.block([[np.zeros((n, n)), 2 * centred(D**2)], [-np.eye(n), -4 * centred(D)]])
    values = eigvals(block)
    return values.real[np.abs(values.imag) < 1e-9 * np.abs(values).max()].max()


def test_kernel_isomap_scales_geodesics_and_the_constant_of_the_paper():
    G = floyd_warshall(edges(ROLL, 8)[0])
    c = naive_constant(G)
    K = centred(G**2) + 2 * c * centred(G) + c**2 / 2 * (np.eye(150) - 1 / 150)
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-9 * values[-1]
    assert np.linalg.eigvalsh(centred(G**2))[0] < -1_000
    fitted = Isomap(8, positive=True).fit(ROLL)
    assert fitted._map.scaling.constant == pytest.approx(c)
    assert_allclose(fitted.eigenvalues_, values[::-1][:2], rtol=1e-9)
    assert_same_up_to_sign(fitted.embedding_, scaled(K), atol=1e-8 * np.sqrt(values[-1]))
    assert fitted.euclidean_defect_ == (0.0, 0.0)


@pytest.mark.parametrize("n", [150, 320], ids=["whole", "lanczos"])
def test_a_little_less_than_the_constant_is_not_enough(n):
    D = squareform(floyd_warshall(edges(make_swiss_roll(n, random_state=0)[0], 8)[0]), checks=False)
    c = additive_constant(D, n)
    least = [np.linalg.eigvalsh(centred(squareform(D + factor * c) ** 2))[0] for factor in (1.0, 0.99)]
    assert least[0] > -1e-9 * c**2
    assert least[1] < -1e-6 * c**2


@pytest.mark.parametrize("unit", [-200, 200])
def test_the_constant_is_in_the_unit_of_the_distances(unit):
    D = squareform(floyd_warshall(edges(ROLL[:60], 5)[0]), checks=False)
    assert additive_constant(np.ldexp(D, unit), 60) == pytest.approx(np.ldexp(additive_constant(D, 60), unit))


@pytest.mark.parametrize("n", [40, 230], ids=["whole", "lanczos"])
def test_euclidean_distances_need_no_constant(n, rng):
    D = pdist(rng.normal(size=(n, 3)))
    assert additive_constant(D, n) == 0.0
    assert_array_equal(positive_scaling(D, n, 2).embedding, classical_scaling(D, n, 2).embedding)


@pytest.mark.parametrize("kind", ["drawn", "two levels", "chebyshev", "equal rows"])
@pytest.mark.parametrize("n", [80, 230], ids=["whole", "lanczos"])
def test_the_constant_is_the_largest_real_eigenvalue_of_cailliez(n, kind, rng):
    D = {
        "drawn": rng.random(n * (n - 1) // 2) ** 4,
        "two levels": rng.integers(1, 3, n * (n - 1) // 2).astype(float),
        "chebyshev": pdist(rng.normal(size=(n, 3)), "chebyshev"),
        "equal rows": pdist(np.repeat(rng.normal(size=(n // 10, 3)), 10, axis=0), "chebyshev"),
    }[kind]
    once, twice = centred(squareform(D)), centred(squareform(D) ** 2)
    values = np.linalg.eigvals(np.block([[0 * once, 2 * twice], [-np.eye(n), -4 * once]]))
    expected = values.real[np.abs(values.imag) < 1e-8 * np.abs(values).max()].max()
    assert additive_constant(D, n) == pytest.approx(expected, rel=1e-9)


def test_a_row_near_a_fitted_one_is_placed_near_it():
    """As printed, ``d + c`` of new rows would draw them all to the centre, by ``c^2 / (2 lambda)``."""
    fitted = Isomap(8, positive=True).fit(ROLL)
    moved = fitted.transform(ROLL + 1e-7)
    assert np.abs(moved - fitted.embedding_).max() < 1e-5 * laws.width(fitted.embedding_)
    assert (fitted._map.scaling.constant**2 / 2 / fitted.eigenvalues_ > 0.05).all()


def test_a_large_constant_is_said():
    with pytest.warns(IsentropicWarning, match=r"146 is added to all distances, 7.2 times their mean"):
        Isomap(8, positive=True).fit(ROLL)


# ---- both --------------------------------------------------------------------------------------

VARIANTS = {
    "conformal": Isomap(8, conformal=True),
    "conformal landmarks": Isomap(8, conformal=True, n_landmarks=40),
    "conformal, by radius": Isomap(neighbors=Radius(8.0), conformal=True),
    "kernel": Isomap(8, positive=True),
    "kernel landmarks": Isomap(8, positive=True, n_landmarks=40),
    "both": Isomap(8, conformal=True, positive=True),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_formula_alone_gives_a_fitted_row_its_coordinates(name):
    """Without looking rows up."""
    fitted = laws.fit(VARIANTS[name], ROLL)
    assert_allclose(
        fitted._map.transform(ROLL, None), fitted.embedding_, atol=1e-8 * laws.width(fitted.embedding_)
    )


@pytest.mark.parametrize("name", ["conformal", "positive"])
def test_a_flag_is_true_or_false(name):
    with pytest.raises(InvalidInputError, match=f"{name} must be True or False, got 'yes'"):
        Isomap(**{name: "yes"}).fit(ROLL)
