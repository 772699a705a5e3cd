"""One rule for the signs of eigenvectors."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic.linalg import fixed_signs
from naive import naive_fixed_signs

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n=st.integers(1, 20), d=st.integers(1, 4))
def test_the_entry_of_largest_magnitude_is_positive(seed, n, d):
    V = np.random.default_rng(seed).normal(size=(n, d))
    fixed = fixed_signs(V)
    assert_array_equal(fixed, naive_fixed_signs(V))
    assert (fixed[np.abs(fixed).argmax(axis=0), np.arange(d)] > 0).all()
    assert_same_up_to_sign(fixed, V, rtol=0, atol=0)


@given(seed=seeds, n=st.integers(1, 12))
def test_of_equal_magnitudes_the_first_counts(seed, n):
    V = np.random.default_rng(seed).choice([-1.0, 0.5, 1.0], size=(n, 3))
    assert_array_equal(fixed_signs(V), naive_fixed_signs(V))


@given(seed=seeds)
def test_a_vector_and_its_negative_come_out_alike(seed):
    V = np.random.default_rng(seed).normal(size=(7, 3))
    flips = np.random.default_rng(seed + 1).choice([-1.0, 1.0], size=3)
    assert_same_bits(fixed_signs(V * flips), fixed_signs(V))


def test_rounding_does_not_choose_the_sign():
    # Two entries as large up to rounding: the first counts, whichever is larger in the last bits.
    for slip in (-1e-14, 0.0, 1e-14):
        assert fixed_signs(np.array([[0.7], [-0.7 - slip], [0.1]]))[0, 0] > 0
        assert fixed_signs(np.array([[-0.7], [0.7 + slip], [0.1]]))[0, 0] > 0
    assert fixed_signs(np.array([[0.7], [-0.71]]))[0, 0] < 0  # that is no rounding


def test_a_column_of_zeros_stays_and_the_input_too():
    V = np.array([[0.0, -1.0], [0.0, 0.5]])
    before = V.copy()
    assert_array_equal(fixed_signs(V), [[0, 1], [0, -0.5]])
    assert_same_bits(V, before)
