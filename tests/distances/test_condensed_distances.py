"""All pairs i < j are the upper triangle of the rows, to the bit, whatever the source, blocks and threads."""

import numpy as np
import pytest

from assertions import assert_same_bits
from isentropic.distances import (
    condensed_distances,
    distance_rows,
    distances_between,
    pairwise_blocks,
    store_distances,
)
from naive import condensed, distances


@pytest.fixture
def X(rng):
    return rng.normal(size=(90, 5))


@pytest.fixture(params=[1, 7, 90], ids="{} rows a block".format)
def small_blocks(request, monkeypatch):
    monkeypatch.setattr(pairwise_blocks, "_BLOCK_BYTES", 8 * 90 * request.param)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "canberra"])
def test_a_table(X, metric, small_blocks):
    expected = condensed(distances_between(X, X, metric, 1))
    for n_jobs in (1, 2):
        assert_same_bits(condensed_distances(X, metric, n_jobs), expected)


def test_a_matrix(X):
    D = distances(X)
    assert_same_bits(condensed_distances(D, "precomputed", None), condensed(D))


@pytest.mark.parametrize("metric", ["euclidean", "canberra"])
def test_a_source_of_rows(X, metric, small_blocks):
    source = distance_rows(X, metric)  # Euclidean ones leave out the tiles before a block
    out = np.full(90 * 89 // 2, np.nan)
    assert store_distances(source, out, n_jobs=2) is out
    assert_same_bits(out, condensed(source.rows(np.arange(90))))


@pytest.mark.parametrize("n", [1, 2])
def test_few_rows(X, n):
    assert_same_bits(condensed_distances(X[:n], "euclidean", None), condensed(distances(X[:n])))
