"""Restricted Boltzmann machines against sums over all states of a small one."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.neural_network import BernoulliRBM

from isentropic._core.errors import InvalidInputError
from isentropic.methods.neural.rbm_autoencoder import Boltzmann, stacked
from isentropic.methods.neural.training import ScaledRows, TrainingSplit

V = np.array(list(product([0.0, 1.0], repeat=4)))  # all visible states
H = np.array(list(product([0.0, 1.0], repeat=3)))


@pytest.fixture
def machine(rng):
    return Boltzmann(rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=3))


def energies(machine):
    """``E(v, h)`` of every pair of states."""
    return -(V @ machine.weights @ H.T) - (V @ machine.visible)[:, None] - H @ machine.hidden


def probabilities(machine):
    """Of every visible state, by the definition."""
    p = np.exp(-energies(machine)).sum(axis=1)
    return p / p.sum()


def log_likelihood(machine, rows):
    p = probabilities(machine)
    return np.mean([np.log(p[(V == row).all(axis=1)][0]) for row in rows])


def test_free_energy_and_conditional_means_are_those_of_all_states(machine):
    joint = np.exp(-energies(machine))
    assert_allclose(machine.free_energy(V), -np.log(joint.sum(axis=1)))
    assert_allclose(machine.hidden_means(V), joint @ H / joint.sum(axis=1, keepdims=True))
    assert_allclose(machine.visible_means(H), joint.T @ V / joint.sum(axis=0)[:, None])


def test_statistics_of_rows_less_those_of_the_model_are_the_slope_of_the_likelihood(machine, rng):
    rows = V[rng.integers(16, size=6)]
    p = probabilities(machine)[:, None]
    means = machine.hidden_means(V)
    of_rows = machine.statistics(rows, machine.hidden_means(rows))
    of_model = ((p * V).T @ means, (p * V).sum(axis=0), (p * means).sum(axis=0))
    parameters = (machine.weights, machine.visible, machine.hidden)
    for part, one, other in zip(parameters, of_rows, of_model, strict=True):
        for place in np.ndindex(*part.shape):
            part[place] += 1e-6
            high = log_likelihood(machine, rows)
            part[place] -= 2e-6
            low = log_likelihood(machine, rows)
            part[place] += 1e-6
            assert_allclose(one[place] - other[place], (high - low) / 2e-6, atol=1e-8)


def test_contrastive_divergence_is_the_mean_over_all_hidden_states(machine, rng):
    rows = V[[3, 9]]
    means = machine.hidden_means(rows)
    chances = np.prod(np.where(H == 1, means[:, None], 1 - means[:, None]), axis=2)  # (row, hidden state)
    again = machine.visible_means(H)
    then = machine.hidden_means(again)
    expected = rows.T @ means / 2 - np.einsum("ih,hv,hk->vk", chances, again, then) / 2
    random = np.random.RandomState(0)
    drawn = [machine.contrastive_divergence(rows, random) for _ in range(4000)]
    found = np.mean([gradient[0] for gradient in drawn], axis=0)
    noise = np.std([gradient[0] for gradient in drawn], axis=0) / np.sqrt(len(drawn))
    assert (np.abs(found - expected) < 4.5 * noise + 1e-12).all()


def test_gaussian_units_have_the_means_and_the_free_energy_of_their_integral():
    machine = Boltzmann(np.array([[0.3], [-1.2]]), np.array([0.1, 0.4]), np.array([0.7]), gaussian=True)
    rows = np.array([[0.2, 0.9], [1.0, 0.0]])
    h = np.linspace(-12, 12, 4001)
    step = h[1] - h[0]
    for row, mean, energy in zip(rows, machine.hidden_means(rows), machine.free_energy(rows), strict=True):
        density = np.exp(row @ machine.weights[:, 0] * h + row @ machine.visible + 0.7 * h - h**2 / 2)
        assert_allclose(mean, (h * density).sum() / density.sum(), atol=1e-9)
        assert_allclose(energy, -np.log(density.sum() * step / np.sqrt(2 * np.pi)), atol=1e-9)
    drawn = machine.sampled_hidden(np.zeros((20_000, 1)), np.random.RandomState(0))
    assert_allclose([drawn.mean(), drawn.std()], [0, 1], atol=0.03)


def pseudo_likelihood(rows, energy):
    """Mean over rows and units of the logarithm of the chance of a unit given the others."""
    own = energy(rows)
    total = 0.0
    for unit in range(rows.shape[1]):
        flipped = rows.copy()
        flipped[:, unit] = 1 - flipped[:, unit]
        total += -np.logaddexp(0, own - energy(flipped)).mean()
    return total / rows.shape[1]


def test_as_good_as_scikit_learn_on_binary_digits():
    X = (load_digits().data[:600] > 7).astype(float)
    random = np.random.RandomState(0)
    split = TrainingSplit.of(ScaledRows.within_one(X), random)
    ours = stacked((64, 20, 1), split, 30, random, np.float64).machines[0]
    peer = BernoulliRBM(20, learning_rate=0.1, batch_size=30, n_iter=30, random_state=0).fit(X)
    theirs = Boltzmann(peer.components_.T, peer.intercept_visible_, peer.intercept_hidden_)
    found, expected = (pseudo_likelihood(X, one.free_energy) for one in (ours, theirs))
    assert found > expected - 0.01, (found, expected)
    assert found > -0.3


def test_a_stack_unrolls_to_what_goes_up_and_comes_down(rng):
    X = rng.random((120, 5))
    split = TrainingSplit.of(ScaledRows.within_one(X), np.random.RandomState(0))
    stack = stacked((5, 4, 2), split, 3, np.random.RandomState(0), np.float64)
    first, last = stack.machines
    assert (first.gaussian, last.gaussian) == (False, True)
    rows = split.rows.take(slice(0, 120))
    code = last.hidden_means(first.hidden_means(rows))
    outputs = stack.unrolled().forward(rows)
    assert_allclose(outputs[2], code)
    assert_allclose(outputs[-1], first.visible_means(last.visible_means(code)))
    assert stack.gaps.shape == (2,)


def test_a_gap_of_free_energy_tells_rows_learnt_by_heart(rng):
    X = (rng.random((200, 30)) < 0.5).astype(float)  # nothing to learn
    split = TrainingSplit.of(ScaledRows.within_one(X), np.random.RandomState(0))
    little, much = (
        stacked((30, 60, 1), split, n, np.random.RandomState(0), np.float64).gaps[0] for n in (1, 60)
    )
    assert much > little + 1


def test_a_machine_that_runs_away_is_an_error(monkeypatch, rng):
    from isentropic.methods.neural import rbm_autoencoder as boltzmann

    monkeypatch.setattr(boltzmann, "_RATE", 1e300)
    split = TrainingSplit.of(ScaledRows.within_one(rng.random((60, 4))), np.random.RandomState(0))
    with (
        np.errstate(all="ignore"),
        pytest.raises(InvalidInputError, match=r"The free energy of the rows must be finite, got (nan|inf)"),
    ):
        stacked((4, 3, 1), split, 5, np.random.RandomState(0), np.float64)
