"""Optimizers: minima, constraints, epochs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic import config_context
from isentropic.optim import averaged_descent, batch_epochs, lbfgs, momentum_descent

# ---- Optimisers: each ends at the minimum of a bowl, and says what it did ------------------------


CENTRE = np.array([[1.0, -2.0], [-1.0, 2.0]])
WEIGHTS = np.array([[1.0, 30.0], [5.0, 0.5]])


def bowl(z):
    gap = z - CENTRE
    return float((WEIGHTS * gap**2).sum()) + 3.0, 2 * WEIGHTS * gap


def test_lbfgs_finds_the_bottom():
    found = lbfgs(bowl, np.zeros((2, 2)), max_iter=100, tol=1e-12)
    assert_allclose(found.point, CENTRE, atol=1e-4)
    assert_allclose(found.value, 3.0)
    assert found.converged
    assert 1 < found.n_iter < 50


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_scale_of_the_cost_does_not_matter(factor):
    def scaled(z):
        value, gradient = bowl(z)
        return factor * value, factor * gradient

    found = lbfgs(scaled, np.zeros((2, 2)), max_iter=100, tol=1e-12)
    assert_allclose(found.point, CENTRE, atol=1e-4)


def test_few_steps_are_said_not_to_have_converged():
    found = lbfgs(bowl, np.zeros((2, 2)), max_iter=2, tol=1e-12)
    assert (found.n_iter, found.converged) == (2, False)


def test_no_steps_and_no_cost_leave_the_start():
    start = np.ones((2, 2))
    assert_array_equal(lbfgs(bowl, start, max_iter=0, tol=1e-12).point, start)
    nothing = lbfgs(lambda z: (0.0, np.zeros_like(z)), start, max_iter=9, tol=1e-12)
    assert (nothing.n_iter, nothing.converged) == (0, True)


def test_progress_is_reported():
    told = []
    with config_context(progress=lambda *event: told.append(event)):
        lbfgs(bowl, np.zeros((2, 2)), max_iter=50, tol=1e-12)
    assert ("L-BFGS steps", 1, 50) in told


def test_momentum_finds_the_bottom():
    found = momentum_descent(bowl, np.zeros((2, 2)), max_iter=400, learning_rate=0.005, momentum=0.8)
    assert_allclose(found.point, CENTRE, atol=1e-3)
    assert found.n_iter == 400


def test_gains_grow_where_steps_agree_and_shrink_where_they_do_not():
    def tilted(z):  # one slope without end, one valley that is crossed at every step
        return 0.0, np.array([[1.0, 40.0 * z[0, 1]], [-1.0, 40.0 * z[1, 1]]])

    start = np.array([[0.0, 1.0], [0.0, -1.0]])
    found = momentum_descent(tilted, start, max_iter=10, learning_rate=0.04, momentum=0.0)
    assert found.point[0, 0] < -0.04 * 10 * 1.2  # further than without gains
    assert abs(found.point[0, 1]) < 1.0  # without gains it would swing to 0.6^10 with changing sign


def test_noise_is_averaged_and_not_fitted():
    rng = np.random.default_rng(0)
    views = [lambda z, shift=shift: (0.0, 2.0 * (z - shift)) for shift in rng.normal(5.0, 1.0, 400)]
    found = averaged_descent([(view, 2.0) for view in views], np.zeros(1), steps=400)
    assert_allclose(found, 5.0, atol=0.15)
    assert abs(found[0] - 5.0) < np.std([view(found)[1][0] / 2 for view in views]) / 5


# ---- Descents along samples, in epochs -----------------------------------------------------------


class Count:
    """Adds the number of the epoch, and what it remembers of those before."""

    n_memories = 1

    def __call__(self, Z, memory, out, epoch):
        memory[0] += epoch
        out[:] = Z + memory[0]


def test_epochs_see_the_last_positions_and_their_memory():
    assert_array_equal(batch_epochs(Count(), np.zeros((2, 1)), 4), np.full((2, 1), 0 + 1 + 3 + 6.0))
    assert_array_equal(batch_epochs(Count(), np.ones((2, 1)), 0), np.ones((2, 1)))


def test_a_start_in_single_precision_stays_what_it_is():
    start = np.zeros((3, 2), np.float32)
    batch_epochs(Count(), start, 5)
    assert not start.any()


def test_progress_is_told_after_every_epoch():
    seen = []
    with config_context(progress=lambda *told: seen.append(told)):
        batch_epochs(Count(), np.zeros((2, 1)), 3)
    assert seen == [("epochs", done, 3) for done in range(4)]
