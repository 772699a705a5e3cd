"""Epochs of layouts against plain twins, and their bits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.elementary import key_jumps, next_key, random_below, random_key
from isentropic.kernels.layouts.epochs import fuzzy_epoch, fuzzy_gradient
from isentropic.objectives.sampled_losses import force_table, packed_tables
from naive_layouts import naive_draws, naive_fuzzy_step, naive_pull_cost, naive_push_cost

# Without the JIT, numpy remarks on the overflow that a hash lives on.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
A, B = 1.577, 0.895
TABLES = packed_tables(force_table(A, B))
single = np.float32


def graph(rng, n):
    W = np.where(rng.uniform(size=(n, n)) < 0.1, rng.uniform(0.1, 1, size=(n, n)), 0.0)
    W = np.maximum(W, W.T) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    np.fill_diagonal(W, 0)
    return W.astype(single).astype(float)


def epoch_of(Z, W, *, seed=5, epoch=3, draws=6, push=5.0, rate=0.5, momentum=0.7, farthest=100.0):
    sparse = csr_array(W)
    speeds, out = np.full(Z.shape, 0.25, single), np.empty(Z.shape, single)
    edges = sparse.indptr.astype(np.int64), sparse.indices.astype(np.uint32), sparse.data.astype(single)
    fuzzy_epoch(Z.astype(single), speeds, out, *edges, W.sum(axis=1).astype(single), TABLES, seed, epoch,
                key_jumps(draws), single(push), single(rate), single(momentum), single(farthest))  # fmt: skip
    return out, speeds


def test_draws_are_those_of_the_twin():
    found = []
    key = random_key(7, 2, 11)
    for _ in range(50):
        key = next_key(np.uint64(key))
        found.append(random_below(np.uint64(key), 1000))
    assert_array_equal(found, naive_draws(7, 2, 11, 1000, 50))


def test_jumps_lead_to_the_keys_that_follow():
    key, (factors, summands) = np.uint64(12345678901234567890), key_jumps(30)
    following = key
    for factor, summand in zip(factors, summands, strict=True):
        following = np.uint64(next_key(following))
        assert key * factor + summand == following


def test_draws_are_even_and_those_of_other_rows_are_others():
    drawn = np.concatenate([naive_draws(1, 0, row, 10, 100) for row in range(100)])
    counts = np.bincount(drawn, minlength=10)
    assert abs(counts - 1000).max() < 150  # five standard deviations
    assert (
        len({tuple(naive_draws(*key, 1000, 4)) for key in [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1)]}) == 4
    )


@pytest.mark.parametrize("d", [1, 2, 3])
def test_an_epoch_is_that_of_the_twin(rng, d):
    n = 70  # more than a thread takes at a time
    Z, W = (4 * rng.normal(size=(n, d))).astype(single).astype(float), graph(rng, n)
    forces, stiffness = naive_fuzzy_step(Z, W, A, B, [naive_draws(5, 3, i, n, 6) for i in range(n)], 5.0)
    step = 0.7 * 0.25 + 0.5 * forces / stiffness[:, None]
    out, speeds = epoch_of(Z, W)
    assert_allclose(speeds, step, rtol=2e-3, atol=2e-3 * np.abs(step).max())
    assert_allclose(out, Z + step, atol=2e-3 * np.abs(step).max())


def test_no_row_goes_farther_than_allowed(rng):
    Z, W = rng.normal(size=(50, 2)), graph(rng, 50)
    _, speeds = epoch_of(Z, W, farthest=0.1)
    lengths = np.linalg.norm(speeds, axis=1)
    assert lengths.max() == pytest.approx(0.1, rel=1e-5)


def test_the_table_holds_the_gradients_of_the_cost(rng):
    forces = force_table(A, B)
    entries = np.arange(24 * 64 - 400, 24 * 64 + 400, 37)
    for at in entries:
        r = np.sqrt((1 + at % 64 / 64) * 2.0 ** (at // 64 - 24))
        gap, h = np.array([r, 0.0]), 1e-5 * r
        step = np.array([h, 0.0])
        for column, cost in enumerate((naive_pull_cost, naive_push_cost)):
            slope = (cost(gap + step, A, B) - cost(gap - step, A, B)) / (2 * h)
            softened = r * r / (r * r + 1e-3) if column else 1.0
            sign = -1.0 if column else 1.0
            assert sign * forces[at, column] * r == pytest.approx(slope * softened, rel=1e-5)


def test_rows_at_one_place_get_no_nan():
    Z, W = np.zeros((5, 2)), np.ones((5, 5)) - np.eye(5)
    out, _ = epoch_of(Z, W)
    assert np.isfinite(out).all()


def test_threads_change_no_bit(rng):
    Z, W = rng.normal(size=(400, 2)), graph(rng, 400)
    outs = []
    for n_jobs in (1, 2, 4):
        with threads(n_jobs):
            outs.append(epoch_of(Z, W)[0])
    assert_same_bits(outs[1], outs[0])
    assert_same_bits(outs[2], outs[0])


def slopes_of(Z, W, *, seed=5, epoch=3, draws=6, push=5.0):
    sparse, out = csr_array(W), np.empty(Z.shape, single)
    edges = sparse.indptr.astype(np.int64), sparse.indices.astype(np.uint32), sparse.data.astype(single)
    fuzzy_gradient(Z.astype(single), *edges, W.sum(axis=1).astype(single), TABLES, seed, epoch,
                 key_jumps(draws), single(push), out)  # fmt: skip
    return out


@pytest.mark.parametrize("d", [1, 2, 3])
def test_slopes_are_the_forces_of_the_twin_the_other_way(rng, d):
    n = 70
    Z, W = (4 * rng.normal(size=(n, d))).astype(single).astype(float), graph(rng, n)
    forces, _ = naive_fuzzy_step(Z, W, A, B, [naive_draws(5, 3, i, n, 6) for i in range(n)], 5.0)
    assert_allclose(slopes_of(Z, W), -forces, atol=2e-3 * np.abs(forces).max())


def test_slopes_are_differences_of_a_row_s_own_cost(rng):
    n = 25
    Z, W = 6.0 * rng.permutation(np.stack(np.divmod(np.arange(n), 5), axis=1)).astype(float), graph(rng, n)
    drawn = [naive_draws(5, 3, i, n, 6) for i in range(n)]

    def cost(i, z):  # rows are six apart or more: neither the bound of a push nor the softening counts
        pulls = sum(W[i, j] * naive_pull_cost(z - Z[j], A, B) for j in np.flatnonzero(W[i]))
        pushes = sum(naive_push_cost(z - Z[j], A, B) for j in drawn[i] if j != i)
        return pulls + 5.0 * W[i].sum() / 6 * pushes

    slopes = slopes_of(Z, W)
    for i in range(n):
        for c in range(2):
            step = 1e-4 * np.eye(2)[c]
            expected = (cost(i, Z[i] + step) - cost(i, Z[i] - step)) / 2e-4
            assert slopes[i, c] == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_threads_change_no_bit_of_slopes(rng):
    Z, W = rng.normal(size=(400, 2)), graph(rng, 400)
    outs = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            outs.append(slopes_of(Z, W))
    assert_same_bits(outs[1], outs[0])
