"""Rows placed one by one, against plain sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.rows.projections import (
    project_centred,
    project_squared,
    row_hashes,
    through_neighbors,
)


def hashes(X):
    with np.errstate(over="ignore"):  # without the JIT, numpy remarks on the overflow that a hash lives on
        return row_hashes(np.ascontiguousarray(X, float).view(np.uint64))


# ---- projections -------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "n_references", "n_components"), [(0, 3, 2), (1, 1, 1), (5, 9, 3)])
def test_project_squared_is_the_kernel_formula(rng, n_rows, n_references, n_components):
    D, means = rng.uniform(size=(n_rows, n_references)), rng.uniform(size=n_references)
    projection = rng.normal(size=(n_references, n_components))
    expected = -0.5 * (D**2 - means) @ projection
    assert_allclose(project_squared(D, means, projection), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("n_rows", "m", "n_components"), [(0, 3, 2), (1, 1, 1), (6, 8, 2)])
def test_project_centred_is_the_plain_product(rng, n_rows, m, n_components):
    X, mean, projection = rng.normal(size=(n_rows, m)), rng.normal(size=m), rng.normal(size=(m, n_components))
    assert_allclose(project_centred(X, mean, projection), (X - mean) @ projection, rtol=1e-12, atol=1e-13)


def test_a_row_is_placed_by_itself(rng):
    X, mean, projection = rng.uniform(size=(11, 23)), rng.uniform(size=23), rng.normal(size=(23, 2))
    order = rng.permutation(11)
    for place in (project_squared, project_centred):
        together = place(X, mean, projection)
        assert_same_bits(place(X[order], mean, projection), together[order])
        for i in range(11):
            assert_same_bits(place(X[i : i + 1], mean, projection)[0], together[i])


# ---- the way through neighbours ----------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    n_new=st.integers(0, 5),
    k=st.integers(1, 4),
    n_references=st.integers(1, 6),
)
def test_through_neighbors_takes_the_shortest_way(seed, n_new, k, n_references):
    rng = np.random.default_rng(seed)
    n = 8
    indices, lengths = rng.integers(0, n, size=(n_new, k)).astype(np.int32), rng.uniform(size=(n_new, k))
    lengths[rng.uniform(size=lengths.shape) < 0.2] = np.inf  # an entry that only fills the list
    G = rng.uniform(size=(n_references, n))
    G[rng.uniform(size=G.shape) < 0.2] = np.inf  # no path
    out = np.full((n_new, n_references), np.nan)
    through_neighbors(indices, lengths, G, out)
    for i in range(n_new):
        for reference in range(n_references):
            ways = [lengths[i, s] + G[reference, indices[i, s]] for s in range(k)]
            assert out[i, reference] == min(ways)


# ---- hashes ------------------------------------------------------------------------------------


def naive_hash(row):
    """The same mixing in Python's integers, modulo 2^64."""
    value, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    for f, bits in enumerate(row.view(np.uint64).tolist()):
        value ^= bits
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
        value = ((value ^ (value >> 31)) + f) & mask
    return value


def test_hashes_match_plain_integers(rng):
    X = rng.normal(size=(9, 5))
    assert hashes(X).tolist() == [naive_hash(row) for row in X]


def test_equal_rows_have_equal_hashes_and_others_do_not(rng):
    X = rng.integers(0, 2, size=(40, 6)).astype(float)
    H = hashes(X)
    for i in range(40):
        for j in range(40):
            assert (H[i] == H[j]) == (X[i] == X[j]).all()


def test_hashes_notice_order_and_the_last_bit():
    x = np.array([[1.0, 2.0, 3.0]])
    different = [x, x[:, ::-1], np.nextafter(x, 9), x * [1, 1, -1], x[:, :2]]
    assert len({int(hashes(row)[0]) for row in different}) == len(different)


def test_the_number_of_threads_changes_no_bit(rng):
    X, mean, projection = rng.normal(size=(20, 4)), rng.normal(size=4), rng.normal(size=(4, 2))
    results = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            placed = project_squared(X, mean, projection), project_centred(X, mean, projection)
            results.append((*placed, hashes(X)))
    for one, two in zip(*results, strict=True):
        assert_same_bits(one, two)
