"""Layers of a network, and Adam's step, against their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from isentropic.kernels.networks import adam_step, write_layer

ACTIVATIONS = {0: lambda x: x, 1: lambda x: np.maximum(x, 0.0), 2: np.tanh, 3: expit}


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_layer(activation, rng):
    X, weights, bias = rng.normal(size=(19, 4)), rng.normal(size=(4, 5)), rng.normal(size=5)
    X[3, 1] = 0.0
    out = np.empty((19, 5))
    write_layer(X, weights, bias, activation, out)
    assert_allclose(out, ACTIVATIONS[activation](X @ weights + bias), atol=1e-14)


@pytest.mark.parametrize("activation", [2, 3])
def test_units_far_from_zero_are_full_or_empty(activation):
    out = np.empty((2, 1))
    write_layer(np.array([[1e9], [-1e9]]), np.ones((1, 1)), np.zeros(1), activation, out)
    assert out.ravel().tolist() == [1.0, -1.0 if activation == 2 else 0.0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_step_of_adam(kind, rng):
    vector, slopes, means, squares = np.abs(rng.normal(size=(4, 7))).astype(kind)
    old, m, v = vector.astype(float), 0.9 * means + 0.1 * slopes, 0.99 * squares + 0.01 * slopes**2
    numbers = (0.5, 0.9, 0.99, 0.1, 0.01, 1e-3)
    adam_step(vector, slopes, means, squares, *map(kind, numbers))
    near = {"rtol": 1e-5 if kind is np.float32 else 1e-13, "atol": 1e-6 if kind is np.float32 else 1e-15}
    assert vector.dtype == kind
    assert_allclose(means, m, **near)
    assert_allclose(squares, v, **near)
    assert_allclose(vector, old - 0.5 * m / (np.sqrt(v) + 1e-3), **near)
