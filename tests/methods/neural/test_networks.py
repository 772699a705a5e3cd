"""Layers of networks and their training: slopes by differences, every row in a batch, the best epoch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from assertions import assert_same_bits
from isentropic._core.errors import InvalidInputError
from isentropic._core.state import StateError
from isentropic.embedding.maps.network import ACTIVATIONS, Layers
from isentropic.methods.neural.training import ScaledRows, Schedule, shuffled_batches, train, validation_split
from isentropic.optim import Adam


def layers_of(activation, seed=0, dtype=np.float64):
    random = np.random.RandomState(seed)
    return Layers.initialized((3, 5, 4, 2), (activation, "linear", activation), random, dtype)


# ---- layers ------------------------------------------------------------------------------------


def cost_of(layers, X, weights):
    return float((layers.forward(X)[-1] * weights).sum())


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_slopes_are_those_of_differences(activation, rng):
    layers, X, weights = layers_of(activation), rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    gradient = np.zeros_like(layers.vector)
    by_rows = layers.backward(layers.forward(X), weights, gradient, to_rows=True)

    def differences(into):
        found = np.empty(into.shape)
        for place in np.ndindex(*into.shape):
            sides = []
            for step in (1e-6, -2e-6):
                into[place] += step
                sides.append(cost_of(layers, X, weights))
            into[place] += 1e-6
            found[place] = (sides[0] - sides[1]) / 2e-6
        return found

    assert_allclose(gradient, differences(layers.vector), atol=1e-7)
    assert_allclose(by_rows, differences(X), atol=1e-7)


def test_slopes_are_added_and_decay_spares_the_biases(rng):
    layers, X = layers_of("tanh"), rng.normal(size=(6, 3))
    outputs, once = layers.forward(X), np.zeros_like(layers.vector)
    layers.backward(outputs, outputs[-1], once)
    twice = once.copy()
    layers.backward(outputs, outputs[-1], twice)
    assert_allclose(twice, 2 * once)
    decayed = np.zeros_like(layers.vector)
    layers.decay(0.5, decayed)
    for (weights, _), (found, of_biases) in zip(layers.parts(), layers.parts(decayed), strict=True):
        assert_allclose(found, weights / 2)
        assert not of_biases.any()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_row_by_itself_is_what_goes_forward_with_others(activation, rng):
    layers, X = layers_of(activation), rng.normal(size=(40, 3))
    placed = layers.apply(X, 2)
    assert_allclose(placed, layers.forward(X)[-1], atol=1e-13)
    assert_same_bits(np.vstack([layers.apply(row[None], 1) for row in X]), placed)


def test_parts_of_a_network_are_networks_and_share_its_parameters(rng):
    layers, X = layers_of("relu"), rng.normal(size=(6, 3))
    first, rest = layers[:2], layers[2:]
    assert (first.sizes, rest.sizes) == ((3, 5, 4), (4, 2))
    assert_array_equal(rest.forward(first.forward(X)[-1])[-1], layers.forward(X)[-1])
    first.vector[:] = 0
    assert not layers.parts()[0][0].any()
    assert layers.parts()[2][0].any()
    weights, biases = zip(*layers.parts(), strict=True)
    assert_array_equal(Layers.of(weights, biases, layers.activations).vector, layers.vector)


def test_single_precision_stays_single(rng):
    layers = layers_of("logistic", dtype=np.float32)
    outputs = layers.forward(rng.normal(size=(6, 3)).astype(np.float32))
    gradient = np.zeros_like(layers.vector)
    layers.decay(0.1, gradient)
    gradient = layers.backward(outputs, outputs[-1], gradient)
    assert {part.dtype for part in (*outputs, gradient, gradient)} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("sizes", "activations", "length"),
    [((3, 2), ("relu",), 7), ((3, 2), (), 8), ((3,), (), 0), ((3, 2), ("relu", "relu"), 8)],
)
def test_layers_that_do_not_fit_are_unsound(sizes, activations, length):
    Layers((3, 2), ("relu",), np.zeros(8))._require_sound()
    with pytest.raises(StateError):
        Layers(sizes, activations, np.zeros(length))._require_sound()


# ---- training ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_adam_takes_the_published_steps(kind, rng):
    gradient = rng.normal(size=(30, 5)).astype(kind)
    vector = np.ones(5, kind)
    adam = Adam(vector, 0.01)
    point, mean, square = np.ones(5), np.zeros(5), np.zeros(5)
    for t, slope in enumerate(gradient.astype(float), start=1):
        adam.step(gradient[t - 1])
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        point -= 0.01 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    assert_allclose(vector, point, rtol=1e-5 if kind is np.float32 else 1e-12)


class Told:
    """A lesson of one parameter whose slopes and errors are told, and how often it was asked."""

    def __init__(self, vector, errors):
        self.vector, self.errors, self.seen = vector, iter(errors), []

    def batches(self, random):
        return iter(range(3))

    def gradient(self, batch):
        return np.ones(1)

    def error(self):
        self.seen.append(self.vector.copy())
        return next(self.errors)


def test_the_best_epoch_counts_and_the_next_rate_begins_there():
    vector = np.zeros(1)
    loss = Told(vector, [3.0, 2.0, 2.5, 2.5, 2.2, 2.4])
    trained = train(vector, loss, Schedule(20, patience=2, rates=(1.0, 0.1)), np.random.RandomState(0))
    assert trained.errors == (3.0, 2.0, 2.5, 2.5, 2.2, 2.4)
    assert (trained.error, trained.n_epochs) == (2.0, 6)
    assert_array_equal(vector, loss.seen[1])
    assert_allclose(np.diff(np.ravel(loss.seen[:4])), -3.0)
    assert_allclose(loss.seen[4] - loss.seen[1], -0.3)


def test_no_more_epochs_than_asked_for():
    vector = np.zeros(1)
    loss = Told(vector, np.arange(9.0)[::-1])
    assert train(vector, loss, Schedule(4), np.random.RandomState(0)).n_epochs == 4


@pytest.mark.parametrize("error", [np.nan, np.inf])
def test_a_training_that_runs_away_is_an_error(error):
    with pytest.raises(InvalidInputError, match=r"The error of the network must be finite, got (nan|inf)"):
        train(np.zeros(1), Told(np.zeros(1), [error] * 30), Schedule(20), np.random.RandomState(0))


@pytest.mark.parametrize(("n", "size"), [(5, 8), (8, 8), (20, 8), (21, 8), (300_001, 128)])
def test_an_epoch_has_every_row_once(n, size):
    rows = np.arange(n) * 2
    batches = list(shuffled_batches(rows, size, np.random.RandomState(0)))
    assert_array_equal(np.sort(np.concatenate(batches)), rows)
    lengths = {len(batch) for batch in batches}
    assert max(lengths) <= max(1.5 * size, 1)
    assert len(batches) == 1 or min(lengths) >= size / 2
    again = list(shuffled_batches(rows, size, np.random.RandomState(1)))
    assert n < 9 or not np.array_equal(batches[0], again[0])


def test_batches_of_a_large_table_are_of_rows_from_all_over_it():
    batches = list(shuffled_batches(np.arange(600_000), 1000, np.random.RandomState(0)))
    spread = [np.ptp(batch) for batch in batches]
    assert min(spread) > 500_000
    window = np.concatenate(batches[:100]) // 256  # read in runs: few of them, each whole
    assert len(np.unique(window)) < 600


def test_rows_held_back_are_not_learnt():
    validation, training = validation_split(1000, 0.1, np.random.RandomState(0), fewest=50, most=70)
    assert len(validation) == 70
    assert_array_equal(np.sort(np.concatenate([validation, training])), np.arange(1000))
    validation, training = validation_split(20, 0.1, np.random.RandomState(0), fewest=50)
    assert len(validation) == len(training) == 20


# ---- rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 1e-130, 1e140])
def test_scaled_rows_have_no_mean_and_a_mean_square_of_one(scale, rng):
    X = (rng.normal(size=(70_000, 5)) * [1, 2, 3, 0, 1e-3] + 7) * scale
    rows = ScaledRows.standard(X)
    whole = np.concatenate(list(rows.blocks()))
    assert_allclose(whole.mean(axis=0), 0, atol=1e-10)
    assert_allclose((whole**2).mean(), 1)
    assert_array_equal(rows.take(np.array([7, 3])), whole[[7, 3]])
    within = np.concatenate(list(ScaledRows.within_one(X).blocks()))
    assert_allclose(within.min(axis=0), 0, atol=1e-12)
    assert_allclose(within.max(), 1)
    assert_allclose(np.ptp(within, axis=0) * np.ptp(X, axis=0).max(), np.ptp(X, axis=0))


def test_equal_rows_are_zero_and_precisions_are_those_asked_for(rng):
    assert not ScaledRows.standard(np.full((9, 2), 3.0)).take(slice(0, 9)).any()
    X = rng.normal(size=(9, 2)).astype(np.float32)
    assert ScaledRows.standard(X).take(slice(0, 9)).dtype == np.float64
    assert ScaledRows.standard(X, np.float32).take(slice(0, 9)).dtype == np.float32
    assert_array_equal(ScaledRows.standard(X).origin, ScaledRows.standard(X.astype(np.float64)).origin)
