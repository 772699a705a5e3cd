import numpy as np
from numpy.testing import assert_array_equal

from isentropic._core.runtime import config_context
from isentropic.optim import batch_epochs


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
