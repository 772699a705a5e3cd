"""Sorting inside kernels, against numpy's stable order."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import isentropic.kernels
from isentropic.kernels.sorting import sort_by


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 257])
@pytest.mark.parametrize("levels", [1, 3, 10_000])
def test_the_order_is_that_of_a_stable_sort(size, levels):
    rng = np.random.default_rng(size)
    keys = rng.integers(levels, size=size).astype(float)
    order = rng.permutation(size)
    sort_by(keys, order)
    assert_array_equal(order, np.argsort(keys, kind="stable"))


def test_no_kernel_sorts_by_a_closure_of_numba():
    folder = Path(isentropic.kernels.__file__).parent
    found = [
        f"{file.name}: {call}"
        for file in sorted(folder.rglob("*.py"))
        for call in re.findall(r"np\.(?:sort|argsort|median|percentile|quantile|unique)\(", file.read_text())
    ]
    assert not found
