"""Kernel densities on a grid and their divergences, against sums of exponentials."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isentropic.kernels.densities import (
    FIXED,
    SCOTT,
    SCOTT_HISTOGRAM,
    SILVERMAN,
    add_squared_divergences,
    patch_densities,
)
from naive_entropic import naive_bandwidth, naive_density

RULES = {"silverman": SILVERMAN, "scott": SCOTT, "scott-histogram": SCOTT_HISTOGRAM}
VALUES = np.random.default_rng(0).normal(size=12)
INDPTR, MEMBERS = np.array([0, 5, 12, 13, 17]), np.r_[0:5, 5:12, 3, [2, 2, 2, 7]]
GRID = np.linspace(VALUES.min(), VALUES.max(), 40)
STEP = GRID[1] - GRID[0]


def densities(rule, fixed=0.0, below=0.0, least=0.0, values=VALUES, low=GRID[0], step=STEP):
    found, logs = np.empty((4, 40)), np.empty((4, 40))
    patch_densities(values, INDPTR, MEMBERS, rule, fixed, below, least, low, step, found, logs)
    assert_allclose(logs, np.log(found), rtol=1e-15)
    return found


@pytest.mark.parametrize("h", [2.0, 0.3, 0.05, 0.004])
def test_densities_are_sums_of_bumps_down_to_the_floor(h):
    found = densities(FIXED, fixed=h)
    for i in range(4):
        x = VALUES[MEMBERS[INDPTR[i] : INDPTR[i + 1]]]
        assert_allclose(found[i], np.maximum(naive_density(x, h, GRID), 1e-300), rtol=1e-10)
    assert (found == 1e-300).any() == (h < 0.1)


@pytest.mark.parametrize("rule", RULES)
def test_bandwidths_follow_the_rules(rule):
    found = densities(RULES[rule], below=0.01, least=0.07)
    for i in range(4):
        x = VALUES[MEMBERS[INDPTR[i] : INDPTR[i + 1]]]
        h = naive_bandwidth(x, rule, None)
        h = 0.07 if h < 0.01 else h
        assert_allclose(found[i], np.maximum(naive_density(x, h, GRID), 1e-300), rtol=1e-9)


def test_rows_outside_the_grid_and_a_grid_of_one_point():
    outside = densities(FIXED, fixed=0.5, low=5.0)
    x = VALUES[MEMBERS[:5]]
    assert_allclose(
        outside[0], np.maximum(naive_density(x, 0.5, 5.0 + STEP * np.arange(40)), 1e-300), rtol=1e-10
    )
    flat = densities(FIXED, fixed=1.0, values=np.ones(12), low=1.0, step=0.0)
    assert_allclose(flat, 1 / np.sqrt(2 * np.pi))


def test_divergences_add_their_squares():
    found = densities(FIXED, fixed=0.3)
    heads, tails, out = np.array([0, 1, 2]), np.array([1, 3, 2]), np.ones(3)
    add_squared_divergences(found, np.log(found), heads, tails, out)
    p, q = found[heads], found[tails]
    symmetrised = 0.5 * (np.mean(p * np.log(p / q), axis=1) + np.mean(q * np.log(q / p), axis=1))
    assert_allclose(out, 1 + symmetrised**2, rtol=1e-12)
