"""The co-ranking matrix, whole and in bins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError
from isentropic.quality import assess, coranking_matrix
from isentropic.quality.ranks import rank_measures
from naive import distances, naive_coranking, naive_rank_matrix


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(23, 3))
    return X, X[:, :2].round(1)


def test_every_pair_of_ranks_is_counted(pair):
    X, Z = pair
    found = coranking_matrix(X, Z)
    assert not found.binned
    assert found.n == 23
    assert_array_equal(found.edges, np.arange(1, 24))
    assert_array_equal(found.counts, naive_coranking(*(naive_rank_matrix(distances(side)) for side in pair)))
    assert found.counts.sum() == 23 * 22


def test_bins_are_sums_of_cells(pair):
    whole, found = coranking_matrix(*pair), coranking_matrix(*pair, bins=5)
    assert found.binned
    assert found.edges[0] == 1
    assert found.edges[-1] == 23
    assert np.ptp(np.diff(found.edges)) <= 1  # equally many ranks, up to one
    cuts = found.edges[:-1] - 1
    assert_array_equal(found.counts, np.add.reduceat(np.add.reduceat(whole.counts, cuts), cuts, axis=1))


def test_many_rows_are_binned_by_themselves(pair, monkeypatch):
    monkeypatch.setattr(rank_measures, "EXACT_ROWS", 20)
    monkeypatch.setattr(rank_measures, "BINS", 6)
    assert coranking_matrix(*pair).counts.shape == (6, 6)
    assert coranking_matrix(*pair, bins=None).counts.shape == (22, 22)


def test_the_curves_can_be_read_off_it(pair):
    Q = coranking_matrix(*pair).counts
    q_nx = [Q[:k, :k].sum() / (23 * k) for k in range(1, 23)]
    assert_allclose(assess(*pair, measures="ranks").curves.q_nx, q_nx, rtol=1e-14)


@pytest.mark.parametrize("bins", [0, 23, 2.5, "many", True])
def test_bins_must_fit(pair, bins):
    with pytest.raises(InvalidInputError, match="bins must be 'auto', None, or an integer from 1 to 22"):
        coranking_matrix(*pair, bins=bins)
