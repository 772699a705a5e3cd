"""Triangles of symmetric matrices, against the full ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from assertions import assert_same_bits
from isentropic.kernels._jit import threads
from isentropic.kernels.distances.condensed import (
    CHUNKS,
    _chunk_bounds,
    _row_start,
    combined_comoments,
    comoments,
    condensed_starts,
    fourth_power_sums,
    square_starts,
    squared_times,
)
from naive import condensed, distances

sizes = pytest.mark.parametrize("n", [1, 2, 3, 4, 31, 40])


def triangle(D):
    return condensed(D), condensed_starts(len(D))


def square(D):
    """Within longer rows; what is below the diagonal is never read."""
    wide = np.full((len(D), len(D) + 3), np.nan)
    wide[:, : len(D)] = np.where(np.tri(len(D), k=-1), np.nan, D)
    return wide.ravel(), square_starts(len(D), len(D) + 3)


layouts = pytest.mark.parametrize("layout", [triangle, square])


def symmetric(rng, n):
    upper = np.triu(rng.uniform(0.5, 2.0, size=(n, n)), 1)
    return upper + upper.T


# ---- layout ------------------------------------------------------------------------------------


@sizes
def test_a_row_starts_where_scipy_puts_it(n):
    positions = [_row_start(i, n) + j for i in range(n) for j in range(i + 1, n)]
    assert positions == list(range(n * (n - 1) // 2))
    assert condensed_starts(n).tolist() == [_row_start(i, n) for i in range(n)]


@given(st.integers(1, 10_000))
def test_chunks_cover_every_row_once(n):
    bounds = _chunk_bounds(n)
    assert bounds[0] == 0
    assert bounds[-1] == n
    assert len(bounds) == CHUNKS + 1
    assert (np.diff(bounds) >= 0).all()


def test_chunks_hold_about_equally_many_entries():
    n = 4000
    entries = np.array([n - 1 - i for i in range(n)])
    held = np.add.reduceat(entries, _chunk_bounds(n)[:-1])
    assert held.max() < 1.05 * held.mean()
    assert held.min() > 0.95 * held.mean()


# ---- sums --------------------------------------------------------------------------------------


@layouts
@sizes
def test_squared_times_matches_the_full_product(rng, n, layout):
    D, x = symmetric(rng, n), rng.normal(size=n)
    assert_allclose(squared_times(*layout(D), x), (D * D) @ x, rtol=1e-12, atol=1e-12)


@layouts
@sizes
def test_fourth_powers_match_the_full_sum(rng, n, layout):
    D = symmetric(rng, n)
    assert_allclose(fourth_power_sums(*layout(D), 2.0), np.triu(D**4).sum(axis=1) / 16, rtol=1e-12)


# ---- moments -----------------------------------------------------------------------------------


@layouts
@sizes
def test_comoments_of_every_row(rng, n, layout):
    D, Z = symmetric(rng, n), rng.normal(size=(n, 2))
    moments = comoments(*layout(D), Z.T.copy())
    assert moments.shape == (n, 6)
    for i in range(n - 1):
        given, mapped = D[i, i + 1 :], distances(Z[i : i + 1], Z[i + 1 :])[0]
        a, b = given - given.mean(), mapped - mapped.mean()
        expected = [n - 1 - i, given.mean(), mapped.mean(), a @ a, b @ b, a @ b]
        assert_allclose(moments[i], expected, rtol=1e-12, atol=1e-13)
    assert not moments[-1].any()  # the last row has no pair


@sizes
def test_combined_comoments_are_those_of_all_pairs(rng, n):
    D, Z = symmetric(rng, n), rng.normal(size=(n, 2))
    given, mapped = condensed(D), condensed(distances(Z))
    a, b = given - given.mean() if n > 1 else given, mapped - mapped.mean() if n > 1 else mapped
    found = combined_comoments(comoments(*triangle(D), Z.T.copy()))
    assert_allclose(found, [a @ a, b @ b, a @ b], rtol=1e-11, atol=1e-12)


def test_comoments_survive_a_large_mean(rng):
    # The textbook sum of squares minus the square of the sum would have lost every digit.
    D = symmetric(rng, 20)
    Z = rng.normal(size=(20, 2))
    far = D + 1e8 * (1 - np.eye(20))
    near_moments = combined_comoments(comoments(*triangle(D), Z.T.copy()))
    far_moments = combined_comoments(comoments(*triangle(far), Z.T.copy()))
    assert_allclose(far_moments, near_moments, rtol=1e-6)


def test_rows_without_pairs_add_nothing():
    moments = np.array([[0.0, 9, 9, 9, 9, 9], [2.0, 1, 1, 0.5, 0.5, 0.5], [0.0, 9, 9, 9, 9, 9]])
    assert combined_comoments(moments) == (0.5, 0.5, 0.5)


# ---- threads -----------------------------------------------------------------------------------


def test_the_number_of_threads_changes_no_bit(rng):
    D, Z, x = triangle(symmetric(rng, 37)), rng.normal(size=(37, 2)), rng.normal(size=37)
    results = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            results.append((squared_times(*D, x), fourth_power_sums(*D, 1.0), comoments(*D, Z.T.copy())))
    for one, two in zip(*results, strict=True):
        assert_same_bits(one, two)
