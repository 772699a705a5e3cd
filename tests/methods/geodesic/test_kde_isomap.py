"""KDE-ISOMAP: weights against the plain twin, the algorithm, laws, new rows, odd and bad input."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

import laws
from isentropic import KDEIsomap, config_context
from isentropic._core.errors import (
    DisconnectedGraphWarning,
    InvalidInputError,
    MemoryBudgetError,
    NegativeEigenvalueWarning,
    TableWarning,
)
from naive_entropic import naive_kde_weight

WINE = StandardScaler().fit_transform(load_wine().data)
IRIS = StandardScaler().fit_transform(load_iris().data)
NEW = WINE[:12] + 0.1 * np.random.default_rng(0).normal(size=(12, 13))
RULES = [0.1, "silverman", "scott", "scott-histogram"]


def width(Z):
    return np.ptp(Z, axis=0).max()


def quiet(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        warnings.filterwarnings("ignore", "All neighbourhoods hold", TableWarning)
        warnings.simplefilter("ignore", NegativeEigenvalueWarning)
        return estimator.fit(X)


def naive_patches(X, p, data=None):
    """The rows within the percentile of each row's distances, itself included; of new rows among ``data``."""
    if data is None:
        D = cdist(X, X)
        return [np.flatnonzero(row <= np.percentile(row, p)) for row in D]
    D = cdist(X, data)
    return [np.flatnonzero(row <= np.percentile(np.append(row, 0.0), p)) for row in D]


# ---- the algorithm -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("floor", ["reference", 0.0])
def test_weights_are_those_of_the_plain_twin(rule, floor):
    X = WINE[:, :5]
    isomap = quiet(KDEIsomap(8, bandwidth=rule, bandwidth_floor=floor), X)
    graph, patches = isomap.graph_, naive_patches(X, 8)
    grid = np.linspace(X.min(), X.max(), 256)
    rows = np.repeat(np.arange(len(X)), np.diff(graph.indptr))
    assert {(i, j) for i, j in zip(rows, graph.indices, strict=True)} >= {
        (i, j) for i in range(len(X)) for j in patches[i] if i != j
    }
    for e in range(0, len(rows), 97):
        expected = naive_kde_weight(X, patches[rows[e]], patches[graph.indices[e]], rule, grid, floor)
        assert_allclose(graph.weights[e], expected, rtol=1e-6)


def test_new_rows_enter_by_the_weights_of_the_plain_twin():
    X, new = WINE[:, :5], NEW[:, :5]
    isomap = quiet(KDEIsomap(8, bandwidth_floor="reference"), X)
    indices, weights, _ = isomap._map.edges.of_new(new, isomap._map, None)
    patches, near = naive_patches(X, 8), naive_patches(new, 8, X)
    rows, grid = np.concatenate([X, new]), np.linspace(X.min(), X.max(), 256)
    for i in range(len(new)):
        assert_array_equal(indices[i][np.isfinite(weights[i])], near[i])
        own = np.append(len(X) + i, near[i])
        for j, weight in list(zip(indices[i], weights[i], strict=True))[: len(near[i]) : 4]:
            expected = naive_kde_weight(rows, own, patches[j], "silverman", grid, "reference")
            assert_allclose(weight, expected, rtol=1e-6)


def test_the_rest_is_isomap():
    isomap = KDEIsomap(15, root=True).fit(IRIS[50:])
    graph = isomap.graph_
    n = graph.n_rows
    G = np.full((n, n), np.inf)
    np.fill_diagonal(G, 0)
    G[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = graph.weights
    for via in range(n):
        G = np.minimum(G, G[:, via : via + 1] + G[via : via + 1])
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * H @ G**2 @ H)
    expected = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    signs = np.sign((isomap.embedding_ * expected).sum(axis=0))
    assert_allclose(isomap.embedding_, expected * signs, atol=1e-7 * width(expected))


@pytest.mark.parametrize(("rule", "published"), [(0.1, 0.588), ("silverman", 0.597), ("scott", 0.619)])
def test_the_published_silhouettes_of_iris(rule, published):
    isomap = KDEIsomap(11, bandwidth=rule, bandwidth_floor="reference", on_disconnected="inflate")
    Z = quiet(isomap, IRIS).embedding_
    assert abs(silhouette_score(Z, load_iris().target) - published) < 0.01


def test_the_root_is_the_root():
    plain, root = (quiet(KDEIsomap(10, root=root), WINE).graph_ for root in (False, True))
    assert_array_equal(root.weights, np.sqrt(plain.weights))


# ---- laws --------------------------------------------------------------------------------------


def test_order_of_rows_and_of_features_changes_nothing():
    random = np.random.default_rng(0)
    rows, features = random.permutation(len(WINE)), random.permutation(13)
    Z = quiet(KDEIsomap(10, root=True), WINE).embedding_
    other = quiet(KDEIsomap(10, root=True), WINE[rows][:, features]).embedding_
    signs = np.sign((other * Z[rows]).sum(axis=0))
    assert_allclose(other * signs, Z[rows], atol=1e-6 * width(Z))


@pytest.mark.parametrize("estimator", [KDEIsomap(), KDEIsomap(bandwidth="scott", root=True, n_landmarks=40)])
def test_a_shift_of_everything_changes_nothing(estimator):
    """What is left of the law of offsets: all features lie on one grid."""
    X, new = laws.numbers(0, 100), laws.numbers(1, 7)
    plain, moved = quiet(clone(estimator), X), quiet(clone(estimator), X + 1e7)
    found = moved.embedding_, moved.transform(new + 1e7)
    laws.assert_same_map(*found, plain.embedding_, plain.transform(new), tolerance=1e-8)


# ---- odd and bad input -------------------------------------------------------------------------


def odd_tables(n):
    X = np.random.default_rng(n).normal(size=(n, 4))
    duplicates, constant = X.copy(), X.copy()
    duplicates[: n // 2] = X[0]
    constant[np.argsort(X[:, 0])[: n // 3], 2] = 1.0
    constant[:, 3] = -1.0
    return {
        "duplicates": (duplicates, 10),
        "constant features": (constant, 10),
        "hardly any neighbour": (X, 0.5),
        "every row": (X, 100),
        "four values": (X[np.arange(n) % 4], 10),
        "one value": (np.ones((n, 4)), 10),
        "one zero": (np.zeros((n, 4)), 10),
        "far from zero": (X + 1e6, 10),
    }


@pytest.mark.parametrize(
    ("n", "rule", "floor"),
    [(60, 0.1, 0.05), (60, "silverman", 0.0), (60, "scott", "reference"), (300, "silverman", 0.05)],
)
@pytest.mark.parametrize("table", odd_tables(60))
def test_odd_tables_have_finite_maps(n, rule, floor, table):
    X, p = odd_tables(n)[table]
    isomap = quiet(KDEIsomap(p, bandwidth=rule, bandwidth_floor=floor), X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        new = isomap.transform(X[:5] + 0.5)
    assert np.isfinite(isomap.graph_.weights).all()
    assert np.isfinite(isomap.embedding_).all()
    assert np.isfinite(new).all()
    assert_allclose(isomap.transform(X), isomap.embedding_, atol=1e-8 * (1 + width(isomap.embedding_)))


def test_equal_patches_weigh_nothing():
    with pytest.warns(TableWarning, match="All neighbourhoods hold the same rows"):
        isomap = KDEIsomap(100).fit(WINE)
    assert_allclose(isomap.graph_.weights, 0.0, atol=1e-12)
    assert_array_equal(KDEIsomap(10).fit(np.ones((30, 3))).graph_.weights, 0.0)


def test_a_new_row_far_outside_the_grid_has_a_place():
    isomap = quiet(KDEIsomap(10), WINE)
    assert np.isfinite(isomap.transform(WINE[:3] + 100.0)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"percentile": 0}, r"percentile must be a number in \(0, 100\], got 0"),
        ({"percentile": True}, "percentile must be a number in"),
        ({"bandwidth_floor": np.ones(2)}, "bandwidth_floor must be a number"),
        ({"bandwidth": "silvermann"}, "bandwidth must be a positive number, or one of silverman"),
        ({"bandwidth": 0.0}, "bandwidth must be a positive number"),
        ({"bandwidth_floor": -1.0}, "bandwidth_floor must be a number of at least 0 or 'reference'"),
        ({"root": "yes"}, "root must be True or False, got 'yes'"),
        ({"n_bins": 1}, "n_bins must be an integer of at least 2"),
        ({"on_disconnected": "join"}, "on_disconnected must be one of"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        quiet(KDEIsomap(**parameters), WINE[:60])


def test_a_grid_that_does_not_fit_the_memory_is_refused():
    with config_context(memory_limit=2**24), pytest.raises(MemoryBudgetError, match="a smaller n_bins"):
        quiet(KDEIsomap(20, n_bins=100_000), WINE[:60])


def test_neighbourhoods_that_all_hold_the_same_rows_are_warned_of():
    """Rows at equal distances are all within one radius of each other: no density differs."""
    with pytest.warns(TableWarning, match="All neighbourhoods hold the same rows"):
        found = KDEIsomap().fit(np.eye(12))
    assert not found.embedding_.any()
