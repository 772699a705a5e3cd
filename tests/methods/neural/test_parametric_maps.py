"""Networks on the costs of t-SNE and UMAP: their gradients, what they learn, and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from assertions import assert_same_bits
from isentropic import InvalidInputError, IsentropicWarning, ParametricTSNE, ParametricUMAP
from isentropic.embedding.maps.network import Layers
from isentropic.methods.neural import parametric_maps
from isentropic.methods.neural.parametric_maps import EdgeSplit, PairLoss, matching
from isentropic.methods.neural.training import ScaledRows
from isentropic.objectives import StudentNeighbors
from naive_neighbours import naive_student

BOTH = pytest.mark.parametrize("method", [ParametricTSNE, ParametricUMAP])
SMALL = {"layers": (24,), "max_epochs": 20, "random_state": 0}


@pytest.fixture(scope="module")
def groups():
    """Five groups, of which every second row is new."""
    X, y = make_blobs(400, 8, centers=5, cluster_std=1.0, center_box=(-6, 6), random_state=2)
    return X, y


def lesson_of(rng, exaggeration=1.0, weight_decay=0.0):
    """A lesson of a small network in double precision, and a batch of it."""
    X = rng.normal(size=(60, 3))
    W = csr_array(np.where(cdist(X, X) < 1.5, 1.0, 0.0) - np.eye(60))
    layers = Layers.initialized((3, 5, 2), ("relu", "linear"), np.random.RandomState(0))
    pairs = EdgeSplit.of(W, np.random.RandomState(0))
    cost_of = lambda graph: StudentNeighbors(graph, n_components=2)  # noqa: E731
    loss = PairLoss(layers, ScaledRows.standard(X), pairs, cost_of, exaggeration, weight_decay)
    return loss, next(loss.batches(np.random.RandomState(1)))


@pytest.mark.parametrize("exaggeration", [1.0, 4.0])
def test_the_slopes_of_a_batch_are_those_of_the_cost_of_t_sne_by_the_weights(rng, exaggeration):
    loss, batch = lesson_of(rng, exaggeration, weight_decay=0.3)
    P, layers = matching(len(batch) // 2).toarray(), loss.layers

    def cost(vector):
        layers.vector[:] = vector
        Z = layers.forward(batch)[-1]
        pulls = (P * np.log1p(cdist(Z, Z, "sqeuclidean"))).sum()
        decay = sum((weights**2).sum() for weights, _ in layers.parts()) / 2
        return (naive_student(P, Z)[0] + (exaggeration - 1) * pulls) / 4 + 0.3 * decay

    start = layers.vector.copy()
    found = loss.gradient(batch)
    steps = 1e-6 * np.eye(len(start))
    expected = [(cost(start + step) - cost(start - step)) / 2e-6 for step in steps]
    assert_allclose(found, expected, atol=2e-6)  # slopes of places are in single precision


def test_rows_held_back_are_in_no_batch_and_in_each_pair_that_judges(rng):
    pairs = lesson_of(rng)[0].pairs
    unseen = np.setdiff1d(np.arange(60), np.concatenate([pairs.training.first, pairs.training.second]))
    assert len(unseen) >= 6
    assert np.isin(pairs.validation, unseen).any(axis=0).all()


def test_rows_of_a_batch_lie_on_the_line_through_both_at_most_half_the_way_off(rng, monkeypatch):
    loss, _ = lesson_of(rng)
    shaken = next(loss.batches(np.random.RandomState(1)))
    monkeypatch.setattr(parametric_maps, "_JITTER", 0.0)
    still = next(loss.batches(np.random.RandomState(1)))
    rows = loss.rows.take(slice(None))
    assert cdist(still, rows).min(axis=1).max() == 0
    way = np.roll(still, len(still) // 2, axis=0) - still
    share = ((shaken - still) * way).sum(axis=1) / (way**2).sum(axis=1)
    assert_allclose(shaken, still + share[:, None] * way, atol=1e-12)
    assert 0.3 < np.abs(share).max() <= 0.5
    assert share.min() < 0 < share.max()


def test_phases_share_the_epochs():
    for n in (1, 2, 7, 100):
        found = list(parametric_maps._phases(n))
        assert sum(epochs for epochs, *_ in found) == n
    rates = [rate for *_, rate in parametric_maps._phases(100)]
    assert rates == sorted(rates, reverse=True)


@BOTH
def test_new_rows_land_in_their_groups(method, groups):
    X, y = groups
    model = method(**SMALL).fit(X[::2])
    nearest = cdist(model.transform(X[1::2]), model.embedding_).argmin(axis=1)
    assert (y[::2][nearest] == y[1::2]).mean() > 0.95


def test_training_lowers_the_divergence_of_the_map(groups):
    X, _ = groups
    few, many = (ParametricTSNE(**{**SMALL, "max_epochs": n}).fit(X).kl_divergence_ for n in (1, 20))
    assert 0 < many < 0.8 * few


def test_training_lowers_the_cost_of_the_fuzzy_graph(groups):
    X, _ = groups
    few, many = (ParametricUMAP(**{**SMALL, "max_epochs": n}).fit(X).cost_ for n in (1, 20))
    assert 0 < many < few


def test_the_divergence_is_that_of_the_map(groups):
    X, _ = groups
    model = ParametricTSNE(perplexity=10, **SMALL).fit(X[:80])
    D = cdist(X[:80], X[:80])
    P = np.zeros_like(D)
    for i, row in enumerate(D):
        near = np.argsort(row)[1:31]
        low, high = 1e-6, 1e6
        for _ in range(200):  # bisection
            middle = np.sqrt(low * high)
            p = np.exp(-(row[near] ** 2 - row[near].min() ** 2) * middle)
            p /= p.sum()
            low, high = (middle, high) if -(p * np.log(p + 1e-300)).sum() > np.log(10) else (low, middle)
        P[i, near] = p
    P = (P + P.T) / 160
    assert model.kl_divergence_ == pytest.approx(naive_student(P, model.embedding_)[0], rel=1e-6)


@BOTH
def test_weight_decay_shrinks_the_weights(method, groups):
    X, _ = groups
    small = {**SMALL, "max_epochs": 4}
    free, validation = (method(weight_decay=w, **small).fit(X[:100])._map.encoder.vector for w in (0.0, 1.0))
    assert np.linalg.norm(validation) < 0.9 * np.linalg.norm(free)


@BOTH
def test_a_seed_says_all(method, groups):
    X, _ = groups
    small = {**SMALL, "max_epochs": 2}
    one, two = (method(n_jobs=n, **small).fit(X[:100]).embedding_ for n in (1, 2))
    assert_same_bits(one, two)


@BOTH
def test_few_rows_are_told(method, rng):
    with pytest.warns(IsentropicWarning, match="learns 30 rows by heart"):
        method(5, layers=(4,), max_epochs=1).fit(rng.normal(size=(30, 3)))


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [("layers", (0,)), ("max_epochs", 0), ("weight_decay", -1.0), ("n_components", 0)],
)
def test_bad_parameters_are_named(method, name, value, rng):
    with pytest.raises(InvalidInputError, match=f"{name} must be"):
        method(**{name: value}).fit(rng.normal(size=(60, 3)))


@pytest.mark.parametrize(("name", "value"), [("n_neighbors", 0), ("min_dist", 2.0)])
def test_bad_parameters_of_umap_are_named(name, value, rng):
    with pytest.raises(InvalidInputError, match=f"{name} must be"):
        ParametricUMAP(**{name: value}).fit(rng.normal(size=(60, 3)))


def test_a_bad_perplexity_is_named(rng):
    with pytest.raises(InvalidInputError, match="perplexity must be"):
        ParametricTSNE(0.5).fit(rng.normal(size=(60, 3)))
