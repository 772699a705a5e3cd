"""Steps over fixed pairs against differences of the plain cost, and their bits."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.objectives.sampled_losses import PairSteps, both_ends, phase_weights
from naive_layouts import naive_gradient, naive_pairs_cost


def lists(rng, n):
    far = rng.integers(n, size=(n, 4))
    far[::3, 3] = -1
    return rng.integers(n, size=(n, 3)), rng.integers(n, size=(n, 2)), far


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("epoch", [0, 30, 60])
def test_a_step_is_adams_along_the_gradient_of_the_twin(rng, d, epoch):
    n = 30
    Z, pairs = (3 * rng.normal(size=(n, d))).astype(np.float32), lists(rng, n)
    weights = phase_weights(epoch, 90)
    gradient = naive_gradient(lambda at: naive_pairs_cost(at, pairs, weights), Z.astype(float))
    memory, out = np.zeros((2, n, d), np.float32), np.empty((n, d), np.float32)
    PairSteps(pairs, n_steps=90)(Z, memory, out, epoch)
    assert_allclose(memory[0], 0.1 * gradient, atol=1e-4 * np.abs(gradient).max())
    mean, square = 0.1 * gradient, 0.001 * gradient**2
    rate = np.sqrt(1 - 0.999 ** (epoch + 1)) / (1 - 0.9 ** (epoch + 1))
    some = np.abs(gradient) > 1e-2 * np.abs(gradient).max()
    step = (rate * mean / (np.sqrt(square) + 1e-7))[some]
    assert_allclose((Z - out)[some], step, rtol=1e-2)


def test_weights_are_the_published_ones():
    assert phase_weights(0, 450) == (2.0, 1000.0, 1.0)
    assert phase_weights(50, 450) == pytest.approx((2.0, 501.5, 1.0))
    assert phase_weights(100, 450) == (3.0, 3.0, 1.0)
    assert phase_weights(199, 450) == (3.0, 3.0, 1.0)
    assert phase_weights(200, 450) == (1.0, 0.0, 1.0)


def test_a_pair_stands_in_the_lists_of_both_rows():
    starts, partners = both_ends((np.array([[1], [2], [0]]), np.array([[-1], [0], [-1]])))
    found = [[sorted(partners[a:b]) for a, b in pairwise(row)] for row in starts]
    assert found == [[[1, 2], [1]], [[0, 2], [0]], [[0, 1], []]]
    assert_array_equal(starts[1:, 0], starts[:-1, 2])


def test_threads_change_no_bit(rng):
    n = 300
    Z, pairs = rng.normal(size=(n, 2)).astype(np.float32), lists(rng, n)
    outs = []
    for n_jobs in (1, 2, 4):
        memory, out = np.zeros((2, n, 2), np.float32), np.empty((n, 2), np.float32)
        with threads(n_jobs):
            PairSteps(pairs, n_steps=10)(Z, memory, out, 1)
        outs.append(out)
    assert_same_bits(outs[1], outs[0])
    assert_same_bits(outs[2], outs[0])
