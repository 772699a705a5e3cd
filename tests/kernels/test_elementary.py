"""Exponentials and logarithms of rows against numpy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_equal

from isentropic.kernels.elementary import LEAST_EXPONENT, exponentials, logarithms, weighted_logs


@pytest.mark.parametrize(("scale", "rtol"), [(1e-9, 4e-16), (1.0, 1e-15), (30.0, 1e-14), (690.0, 1e-13)])
def test_exponentials_are_those_of_numpy(rng, scale, rtol):
    x = scale * rng.random(60)
    x[:3] = 0.0, np.log(2) / 2, np.log(2)
    out, bits = np.empty(60), np.empty(60, np.int64)
    total = exponentials(x, -1.0, out, bits)
    assert_allclose(out, np.exp(-x), rtol=rtol)
    assert total == pytest.approx(np.exp(-x).sum(), rel=1e-13)
    exponentials(x, -0.25, out, bits)
    assert_allclose(out, np.exp(-x / 4), rtol=rtol)


def test_exponents_have_a_least_one():
    x, out, bits = np.array([699.0, 701.0, 1e300, np.inf]), np.empty(4), np.empty(4, np.int64)
    exponentials(x, -1.0, out, bits)
    assert_allclose(out, np.exp([-699.0, *[LEAST_EXPONENT] * 3]), rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e3, 1e200])
def test_weighted_logs_are_those_of_numpy(rng, scale):
    x, weights = 1.0 + scale * rng.uniform(size=50), rng.uniform(size=50)
    x[:4] = 1.0, 2.0, np.sqrt(2.0), np.nextafter(np.sqrt(2.0), 2.0)
    found = weighted_logs(weights, x, np.empty(50))
    assert_allclose(found, weights @ np.log(x), rtol=2e-15)


@pytest.mark.parametrize("exponent", [-0.1, -3, -280, -300])
def test_weighted_logs_of_small_numbers(rng, exponent):
    x, weights = (1.0 + rng.uniform(size=50)) * 10.0**exponent, rng.uniform(size=50)
    found = weighted_logs(weights, x, np.empty(50))
    assert_allclose(found, weights @ np.log(x), rtol=1e-14)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_the_log_of_what_is_no_number_is_none(value):
    found = weighted_logs(np.ones(3), np.array([1.0, value, 2.0]), np.empty(3))
    assert_equal(found, value)


@pytest.mark.parametrize("exponent", [-300, -9, 0, 5, 300])
def test_logarithms_are_those_of_numpy(rng, exponent):
    x = (1.0 + rng.uniform(size=50)) * 10.0**exponent
    x[:3] = 1.0, np.sqrt(2.0), np.nextafter(np.sqrt(2.0), 2.0)
    out = np.empty(50)
    logarithms(x, np.empty(50), out)
    assert_allclose(out, np.log(x), rtol=4e-16, atol=4e-16)
