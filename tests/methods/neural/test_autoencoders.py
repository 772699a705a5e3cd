"""Autoencoders against PCA and probabilistic PCA; rows that were not learnt, tables on a disk."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from sklearn.datasets import load_digits

from assertions import assert_same_bits
from isentropic import PCA, Autoencoder, ProbabilisticPCA, RBMAutoencoder, VariationalAutoencoder
from isentropic._core.errors import InvalidInputError, IsentropicWarning
from isentropic.embedding.maps.network import Layers
from isentropic.methods.neural.training import ScaledRows, TrainingSplit
from isentropic.methods.neural.variational_autoencoder import VariationalNetwork

DIGITS = load_digits().data
TRAIN, TEST = DIGITS[::2], DIGITS[1::2]
KINDS = (Autoencoder, RBMAutoencoder, VariationalAutoencoder)


def error(fitted, X):
    return ((X - fitted.inverse_transform(fitted.transform(X))) ** 2).mean()


def plane(n, seed=0):
    """Rows around a plane, of other lengths than width, off the origin."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    return rng.normal(size=(n, 2)) * [3, 1.5] @ basis.T + 0.5 * rng.normal(size=(n, 6)) + 7


# ---- what each becomes without hidden layers ---------------------------------------------------


@pytest.mark.parametrize("precision", ["single", "double"])
def test_without_hidden_layers_it_finds_the_plane_of_pca(precision):
    X = plane(600)
    network = Autoencoder(layers=(), weight_decay=0.0, max_epochs=300, precision=precision).fit(X)
    assert network.reconstruction_error_ == pytest.approx(error(PCA().fit(X), X), rel=1e-3)
    found = network.inverse_transform(np.eye(2)) - network.inverse_transform(np.zeros((1, 2)))
    assert np.rad2deg(subspace_angles(found.T, PCA().fit(X).components_.T)).max() < 2


def test_a_linear_variational_autoencoder_is_probabilistic_pca():
    X = plane(2000)
    peer = ProbabilisticPCA().fit(X)
    found = VariationalAutoencoder(layers=(), weight_decay=0.0, max_epochs=1500, precision="double").fit(X)
    assert found.elbo_ == pytest.approx(peer.log_likelihood_, abs=0.06)  # 0.02 is the luck of the draws
    assert found.noise_variance_ == pytest.approx(peer.noise_variance_, rel=0.1)
    directions = found.inverse_transform(np.eye(2)) - found.inverse_transform(np.zeros((1, 2)))
    assert np.rad2deg(subspace_angles(directions.T, peer.components_.T)).max() < 2


# ---- the evidence lower bound ------------------------------------------------------------------


@pytest.fixture
def network(rng):
    rows = ScaledRows.standard(rng.normal(size=(60, 4)))
    random = np.random.RandomState(0)
    encoder = Layers.initialized((4, 5, 4), ("relu", "linear"), random)
    decoder = Layers.initialized((2, 5, 4), ("tanh", "linear"), random)
    return VariationalNetwork(encoder, decoder, TrainingSplit.of(rows, random), beta=0.7, weight_decay=0.0)


def test_the_bound_is_its_formula(network):
    X, random = network.split.rows.take(slice(0, 60)), np.random.RandomState(0)
    means, logarithms = np.split(network.encoder.forward(X)[-1], 2, axis=1)
    places = means + np.exp(logarithms / 2) * random.standard_normal((60, 2))
    squares = ((network.decoder.forward(places)[-1] - X) ** 2).sum(axis=1)
    densities = -squares / (2 * network.noise) - 2 * np.log(2 * np.pi * network.noise)
    divergences = (means**2 + np.exp(logarithms) - 1 - logarithms).sum(axis=1) / 2
    bound = network.bound(iter([X[:40], X[40:]]))
    assert_allclose(bound.value(0.7), (densities - 0.7 * divergences).mean())


def test_its_slopes_are_those_of_differences(network):
    batch = next(network.batches(np.random.RandomState(1)))

    def cost():
        X, draws = batch
        means, logarithms = np.split(network.encoder.forward(X)[-1], 2, axis=1)
        squares = (network.decoder.forward(means + np.exp(logarithms / 2) * draws)[-1] - X) ** 2
        bound = squares.sum() / (2 * network.noise) + X.size / 2 * np.log(network.noise)
        return (bound + 0.7 * (means**2 + np.exp(logarithms) - 1 - logarithms).sum() / 2) / X.size

    gradient, found = network.gradient(batch), []
    for i in range(len(network.vector)):
        sides = []
        for step in (1e-6, -2e-6):
            network.vector[i] += step
            sides.append(cost())
        network.vector[i] += 1e-6
        found.append((sides[0] - sides[1]) / 2e-6)
    assert_allclose(gradient, found, atol=1e-7)


def test_a_unit_moves_the_bound_as_it_moves_a_density():
    X = plane(200)
    one, other = (VariationalAutoencoder(layers=(8,), max_epochs=5).fit(scale * X) for scale in (1, 4))
    assert other.elbo_ == pytest.approx(one.elbo_ - 6 * np.log(4), rel=1e-9)
    assert other.noise_variance_ == pytest.approx(16 * one.noise_variance_)
    assert_allclose(other.divergences_, one.divergences_)


def test_more_beta_gives_places_that_tell_less():
    little, much = (
        VariationalAutoencoder(layers=(16,), beta=beta, max_epochs=60).fit(TRAIN) for beta in (0.1, 10.0)
    )
    assert little.divergences_.sum() > much.divergences_.sum() + 1
    assert little.reconstruction_error_ < much.reconstruction_error_


def test_samples_are_seeded_and_like_the_rows():
    model = VariationalAutoencoder(layers=(64,), max_epochs=60).fit(TRAIN)
    drawn = model.sample(200, random_state=3)
    assert_array_equal(drawn, model.sample(200, random_state=3))
    assert not np.array_equal(drawn, model.sample(200, random_state=4))
    assert drawn.shape == (200, 64)
    nearest = np.sqrt(((drawn[:, None] - TEST[None, ::4]) ** 2).sum(axis=2)).min(axis=1)
    shuffled = np.random.default_rng(0).permuted(drawn, axis=1)
    astray = np.sqrt(((shuffled[:, None] - TEST[None, ::4]) ** 2).sum(axis=2)).min(axis=1)
    assert nearest.mean() < 0.6 * astray.mean()
    assert model.held_out_elbo_ == pytest.approx(model.elbo_, rel=0.05)


# ---- what all of them promise ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "share"),
    [
        (Autoencoder(layers=(64,), max_epochs=60), 0.75),
        (RBMAutoencoder(layers=(100,), pretrain_epochs=20, max_epochs=100), 0.95),
        (VariationalAutoencoder(layers=(64,), max_epochs=60), 0.85),
    ],
    ids=["plain", "machines", "variational"],
)
def test_rows_come_back_better_than_by_pca_also_those_not_learnt(model, share):
    model.fit(TRAIN)
    pca = PCA().fit(TRAIN)
    assert model.reconstruction_error_ == pytest.approx(error(model, TRAIN))
    assert error(model, TRAIN) < share * error(pca, TRAIN)
    assert error(model, TEST) < (share + 0.05) * error(pca, TEST)
    assert model.held_out_error_ == pytest.approx(error(model, TEST), rel=0.15)


def test_machines_are_a_start_from_which_logistic_units_learn():
    """Three hidden layers, as drawn, give the mean of all rows; after contrastive divergence they do not."""
    begun, raw = (
        RBMAutoencoder(layers=(100, 50, 25), pretrain_epochs=n, max_epochs=10).fit(TRAIN) for n in (20, 0)
    )
    assert begun.reconstruction_error_ < 0.8 * raw.reconstruction_error_
    assert begun.free_energy_gaps_.shape == (4,)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_network_in_any_precision(kind):
    X = TRAIN[:80]

    def fitted(**params):
        return kind(layers=(8,), max_epochs=3, **params).fit_transform(X)

    assert_same_bits(fitted(random_state=1), fitted(random_state=1))
    assert_same_bits(fitted(), fitted(random_state=0))
    assert not np.array_equal(fitted(random_state=1), fitted(random_state=2))
    single, double = fitted(precision="single"), fitted(precision="double")
    assert not np.array_equal(single, double)
    if kind is not RBMAutoencoder:  # units drawn near their chance may fall to the other side
        assert_allclose(single, double, atol=2e-3 * np.ptp(double))


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_in_single_precision_is_not_copied_and_gives_the_same(kind):
    X = TRAIN[:80].astype(np.float32)
    fitted = [
        kind(layers=(8,), max_epochs=3).fit(table) for table in (X, X.astype(float), np.asfortranarray(X))
    ]
    for one in fitted[1:]:
        assert_same_bits(one.embedding_, fitted[0].embedding_)
        assert_same_bits(one.transform(X), fitted[0].transform(X.astype(float)))
    assert fitted[0].embedding_.dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_on_a_disk_is_read_in_batches(kind, tmp_path):
    n, m = 60_000, 64
    table = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(n, m))
    table[:] = np.random.default_rng(0).normal(size=(n, m))
    table.flush()
    params = {"pretrain_epochs": 1} if kind is RBMAutoencoder else {}
    model = kind(layers=(4,), max_epochs=1, n_jobs=1, **params)
    tracemalloc.start()
    model.fit(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * table.nbytes / 3, f"{peak / 2**20:.0f} of {table.nbytes / 2**20:.0f} MiB"


def test_training_ends_before_the_rows_are_learnt_by_heart():
    noise = np.random.default_rng(0).normal(size=(300, 20))
    fitted = Autoencoder(layers=(128,), weight_decay=0.0, max_epochs=400).fit(noise)
    assert fitted.n_epochs_ < 200
    assert fitted.held_out_error_ < 1.05


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_are_told(kind):
    with pytest.warns(IsentropicWarning, match="A network learns 20 rows by heart"):
        kind(layers=(4,), max_epochs=2).fit(TRAIN[:20])


def test_the_default_layers_of_machines_follow_the_features():
    small = RBMAutoencoder(pretrain_epochs=0, max_epochs=1).fit(TRAIN[:60])
    assert small._map.encoder.sizes == (64, 500, 250, 2)
    wide = RBMAutoencoder(pretrain_epochs=0, max_epochs=1).fit(np.tile(TRAIN[:60], 8))
    assert wide._map.encoder.sizes == (512, 1000, 500, 250, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"layers": (3, 0)}, "layers must be a sequence of positive integers"),
        ({"layers": "wide"}, "layers must be a sequence of positive integers"),
        ({"max_epochs": 0}, "max_epochs must be a positive integer, got 0"),
        ({"weight_decay": -1}, "weight_decay must be a number of at least 0, got -1"),
        ({"precision": "half"}, "precision must be one of single, double, got 'half'"),
        ({"n_components": 0}, "n_components must be a positive integer, got 0"),
    ],
)
def test_bad_parameters_are_refused(kind, parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        kind(**parameters).fit(TRAIN[:60])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Autoencoder(activation="sine"), "activation must be one of relu, tanh, got 'sine'"),
        (VariationalAutoencoder(beta=-1), "beta must be a number of at least 0, got -1"),
        (RBMAutoencoder(pretrain_epochs=-1), "pretrain_epochs must be"),
    ],
)
def test_bad_parameters_of_one_are_refused(model, message):
    with pytest.raises(InvalidInputError, match=message):
        model.fit(TRAIN[:60])


def test_coordinates_of_other_dimension_and_counts_of_no_samples_are_refused():
    model = VariationalAutoencoder(layers=(4,), max_epochs=1).fit(TRAIN[:60])
    with pytest.raises(InvalidInputError, match="Z must be rows of 2 coordinates"):
        model.inverse_transform(np.zeros((3, 5)))
    with pytest.raises(InvalidInputError, match="n_samples must be a positive integer, got 0"):
        model.sample(0)


def test_units_of_tanh_bend_too():
    bent, other = (
        Autoencoder(layers=(16,), activation=name, max_epochs=30).fit(TRAIN) for name in ("tanh", "relu")
    )
    assert bent.reconstruction_error_ < error(PCA().fit(TRAIN), TRAIN)
    assert not np.array_equal(bent.embedding_, other.embedding_)


@pytest.mark.parametrize("method", [Autoencoder, VariationalAutoencoder])
def test_the_layout_of_a_table_changes_no_bit(method, rng):
    X = rng.normal(size=(80, 6)) + 5.0
    maps = [method(max_epochs=2, random_state=0).fit(A).embedding_ for A in (X, np.asfortranarray(X))]
    np.testing.assert_array_equal(*maps)


def test_few_rows_of_boltzmann_machines_do_not_end_on_one_point():
    from sklearn.datasets import load_iris

    X = load_iris().data
    model = RBMAutoencoder(random_state=0).fit(X)
    assert model.embedding_.std(axis=0).min() > 0.1
    assert model.reconstruction_error_ < 0.5 * X.var(axis=0).mean()


def test_coordinates_that_lead_beyond_numbers_are_refused(rng):
    model = Autoencoder(max_epochs=1, random_state=0).fit(rng.normal(size=(60, 3)) * 1e120)
    with (
        pytest.raises(InvalidInputError, match="rows are finite"),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        model.inverse_transform([[1e300, -1e300]])
