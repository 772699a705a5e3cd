"""Lists compared by order: counts of pairs, whatever the buckets, the ties and the spread of the values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from isentropic.quality.ranks import rank_correlations
from isentropic.quality.ranks.rank_correlations import compare_ranks, compare_row_ranks, rank_values
from naive import naive_kendall_tau, naive_order_counts, naive_spearman_rho

numbers = st.one_of(st.integers(0, 6).map(float), st.floats(0, 1e300))
pairs_of_lists = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=60)


@pytest.fixture
def small_parts(monkeypatch):
    """Many buckets, chunks and groups already for a few entries."""
    for name, value in {"_BUCKET": 4, "_CHUNK": 7, "_STEP": 16, "_GROUP_BITS": 3}.items():
        monkeypatch.setattr(rank_correlations, name, value)


def comparison(a, b, n_jobs=1):
    return compare_ranks(np.array(a, float), rank_values(np.array(b, float), n_jobs=n_jobs), n_jobs=n_jobs)


def check(a, b):
    found = comparison(a, b)
    _, discordant, only_a, only_b, both = naive_order_counts(a, b)
    assert found.discordant == discordant
    assert found.tied == (only_a + both, only_b + both, both)
    assert found.constant == (only_a + both == len(a) * (len(a) - 1) // 2, len(set(b)) == 1)
    if not any(found.constant):
        assert found.kendall_tau == pytest.approx(naive_kendall_tau(a, b), abs=1e-14)
        assert found.spearman_rho == pytest.approx(naive_spearman_rho(a, b), abs=1e-12)


@given(pairs_of_lists)
def test_one_bucket(pairs):
    check(*zip(*pairs, strict=True))


def test_many_buckets(small_parts):
    given(pairs_of_lists)(lambda pairs: check(*zip(*pairs, strict=True)))()


@given(pairs_of_lists)
def test_short_lists_are_compared_alike(pairs):
    a, b = np.array(pairs).T.copy()
    assert compare_row_ranks(np.vstack([a, b]), np.vstack([b, a]), n_jobs=1) == [
        comparison(a, b),
        comparison(b, a),
    ]


# Values that fill the buckets in every which way.
KINDS = {
    "even": lambda rng, n: rng.uniform(size=n),
    "ties": lambda rng, n: rng.integers(0, 300, size=n) / 7,
    "two values": lambda rng, n: rng.integers(0, 2, size=n).astype(float),
    "mostly zero": lambda rng, n: np.where(rng.uniform(size=n) < 0.9, 0.0, rng.uniform(size=n)),
    "far outliers": lambda rng, n: np.where(rng.uniform(size=n) < 0.999, rng.uniform(1, 1.001, size=n), 1e9),
    "all magnitudes": lambda rng, n: np.exp(rng.uniform(-600, 600, size=n)),
    "ascending": lambda rng, n: np.arange(n, dtype=float),
    "descending": lambda rng, n: np.arange(n, 0, -1, dtype=float),
}


@pytest.mark.parametrize("kind", KINDS)
def test_long_lists_agree_with_scipy(rng, kind):
    n = 400_000  # 12 buckets, and a bucket of one value that is larger than a copy may be
    a, b = KINDS[kind](rng, n), KINDS["ties"](rng, n) + rng.uniform(size=n).round(2)
    found = comparison(a, b)
    assert found.kendall_tau == pytest.approx(kendalltau(a, b).statistic, abs=1e-12)
    assert found.spearman_rho == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_equal_and_opposite_orders_are_exactly_one(rng):
    a = rng.uniform(size=5000)
    same, opposite = comparison(a, a**3), comparison(a, 1 - a)
    assert (same.kendall_tau, same.spearman_rho) == (1.0, 1.0)
    assert (opposite.kendall_tau, opposite.spearman_rho) == (-1.0, -1.0)


def test_a_constant_list_has_no_correlation():
    found = comparison([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    assert math.isnan(found.kendall_tau)
    assert math.isnan(found.spearman_rho)
    assert found.constant == (True, False)


def test_the_number_of_threads_changes_no_bit(rng, small_parts):
    a, b = rng.integers(0, 900, size=(2, 3000)).astype(float)
    assert comparison(a, b, n_jobs=1) == comparison(a, b, n_jobs=2)


def test_the_estimate_of_memory_holds(rng):
    import tracemalloc

    a, b = rng.uniform(size=(2, 2**20))
    tracemalloc.start()
    ranks = rank_values(b)
    compare_ranks(a, ranks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the list itself is not traced: 8 bytes an entry
    assert peak + 8 * len(a) < rank_correlations.bytes_to_compare(len(a))
    assert rank_correlations.bytes_to_compare(10**9) < 17.1e9
