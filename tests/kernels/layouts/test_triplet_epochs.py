"""Steps over fixed triplets against differences of the plain cost, and their bits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.objectives import Triplets, TripletSteps
from isentropic.optim import batch_epochs
from naive_layouts import naive_gradient, naive_triplets_cost


def triplets(rng, n):
    near, far = rng.integers(n, size=(2, n, 5)).astype(np.int32)
    weights = rng.uniform(0.5, 2, size=(n, 5)).astype(np.float32)
    weights[::4, 2] = 0
    return Triplets(near, far, weights)


def naive_descent(given, start, n_steps):
    """Momentum 0.5, then 0.8, gains, the gradient looked up ahead: in double precision."""
    Z, speed, gain = start.astype(float), np.zeros(start.shape), np.ones(start.shape)
    for step in range(n_steps):
        momentum = 0.8 if step > 0.625 * n_steps else 0.5
        ahead = Z + momentum * speed
        cost = lambda at: naive_triplets_cost(at, given.near, given.far, given.weights)  # noqa: E731
        gradient = naive_gradient(cost, ahead) / 2  # the published gradient leaves the 2 to the rate
        gain = np.where(np.sign(speed) != np.sign(gradient), gain + 0.2, np.maximum(0.8 * gain, 0.01))
        speed = momentum * speed - 0.1 * gain * gradient
        Z = Z + speed
    return Z


@pytest.mark.parametrize("d", [1, 2, 3])
def test_steps_are_those_of_the_twin(rng, d):
    n = 20
    given, start = triplets(rng, n), rng.normal(size=(n, d)).astype(np.float32)
    found = batch_epochs(TripletSteps(given, n_steps=4), start, 4)
    expected = naive_descent(given, start, 4)
    assert_allclose(found, expected, atol=2e-4 * np.abs(expected - start).max())


def test_the_cost_and_the_violated_share_fall(rng):
    n = 60
    X = rng.normal(size=(n, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    one, two = rng.integers(n, size=(2, n, 8))
    own = np.arange(n)[:, None]
    swap = D[own, one] > D[own, two]
    given = Triplets(np.where(swap, two, one).astype(np.int32), np.where(swap, one, two).astype(np.int32),
                     np.ones((n, 8), np.float32))  # fmt: skip
    start = 1e-2 * rng.normal(size=(n, 2))
    Z = batch_epochs(TripletSteps(given, n_steps=200), start, 200)

    def violated(at):
        E = np.linalg.norm(at[:, None] - at, axis=2)
        return (E[own, given.near] > E[own, given.far]).mean()

    assert violated(Z) < 0.2 < violated(start)


def test_threads_change_no_bit(rng):
    n = 300
    given, Z = triplets(rng, n), rng.normal(size=(n, 2)).astype(np.float32)
    outs = []
    for n_jobs in (1, 2, 4):
        memory, out = np.zeros((2, n, 2), np.float32), np.empty((n, 2), np.float32)
        with threads(n_jobs):
            TripletSteps(given, n_steps=3)(Z, memory, out, 1)
        outs.append(out)
    assert_same_bits(outs[1], outs[0])
    assert_same_bits(outs[2], outs[0])
