"""Rank tests against scipy, against plain twins, and against what textbooks and the sources print."""

import math

import numpy as np
import pytest
from scipy import stats

from isentropic._core.errors import InvalidInputError
from isentropic.experiments.statistics import (
    cliques,
    critical_difference,
    effect,
    holm,
    pairwise,
    rank_test,
    ranks,
)

# Demšar (2006), Table 6: AUC of four variants of C4.5 on 14 data sets, a block each
DEMSAR = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


def scores(seed, n_blocks=12, k=5, ties=False):
    random = np.random.default_rng(seed)
    found = random.normal(size=(n_blocks, k)) + np.linspace(0, 0.8, k)
    return np.round(found, 0) if ties else found


def test_the_example_of_demsar():
    """Mean ranks 3.143, 2.000, 2.893, 1.964; chi-square 9.28, F 3.69 without the correction for ties."""
    test = rank_test(DEMSAR, NAMES)
    assert [round(rank, 3) for rank in test.average_ranks] == [3.143, 2.0, 2.893, 1.964]
    plain = 12 * 14 / (4 * 5) * (sum(rank**2 for rank in test.average_ranks) - 4 * 25 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    assert test.friedman > plain  # ties are corrected for
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, 0.1), 2) == 1.12


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_friedman_is_that_of_scipy(seed, ties):
    S = scores(seed, ties=ties)
    test = rank_test(S, "abcde")
    expected = stats.friedmanchisquare(*S.T)
    assert test.friedman == pytest.approx(expected.statistic)
    assert test.friedman_p == pytest.approx(expected.pvalue)
    F = 11 * expected.statistic / (12 * 4 - expected.statistic)
    assert test.iman_davenport == pytest.approx(F)
    assert test.iman_davenport_p == pytest.approx(stats.f.sf(F, 4, 44))
    assert test.agreement == pytest.approx(expected.statistic / 48)


def test_blocks_that_all_rank_alike():
    test = rank_test(np.tile([1.0, 2.0, 3.0], (6, 1)), "abc")
    assert test.average_ranks == (3.0, 2.0, 1.0)
    assert (test.iman_davenport, test.iman_davenport_p, test.agreement) == (math.inf, 0.0, 1.0)
    p = pairwise(np.tile([1.0, 2.0, 3.0], (6, 1)), "conover")
    assert p[0, 1] == 0.0
    assert p[1, 1] == 1.0


def naive_conover(S):
    """As Conover (1999) writes it, with sums over cells."""
    N, k = S.shape
    R = np.array([stats.rankdata(-row) for row in S])
    A, B = sum(r**2 for row in R for r in row), sum(sum(R[:, j]) ** 2 for j in range(k)) / N
    p = np.ones((k, k))
    for i in range(k):
        for j in range(k):
            if i != j:
                t = abs(sum(R[:, i]) - sum(R[:, j])) / math.sqrt(2 * (N * A - N * B) / ((N - 1) * (k - 1)))
                p[i, j] = 2 * stats.t.sf(t, (N - 1) * (k - 1))
    return p


@pytest.mark.parametrize("ties", [False, True])
def test_conover_is_that_of_the_book(ties):
    S = scores(3, ties=ties)
    assert np.allclose(pairwise(S, "conover"), naive_conover(S), rtol=1e-9)


def test_nemenyi_is_the_range_of_normals():
    """Drawn: how often k mean ranks at random lie as far apart, at the level that the formula says."""
    S = scores(1)
    p = pairwise(S)
    mean = stats.rankdata(-S, axis=1).mean(axis=0)
    q = abs(mean[0] - mean[4]) / math.sqrt(5 * 6 / (12 * 12))
    assert p[0, 4] == pytest.approx(stats.studentized_range.sf(q, 5, np.inf))
    drawn = np.ptp(np.random.default_rng(0).normal(size=(200_000, 5)), axis=1)
    assert p[0, 4] == pytest.approx((drawn > q).mean(), abs=0.005)
    difference = critical_difference(5, 12)
    at = np.abs(mean[:, None] - mean) > difference
    assert np.array_equal(at, p < 0.05)
    assert np.array_equal(p, p.T)


def test_nemenyi_has_digits_far_out():
    """Where integration gives 0 the sum over pairs stands in, and both agree where both have digits."""
    S = np.tile([3.0, 2.0, 1.0], (200, 1)) + np.random.default_rng(0).normal(0, 0.01, (200, 3))
    p = pairwise(S)
    assert 0 < p[0, 2] < 1e-60
    q = 9.0
    bound = 3 * 2 * stats.norm.sf(q / math.sqrt(2))
    assert bound == pytest.approx(stats.studentized_range.sf(q, 3, np.inf), rel=1e-3)


def test_wilcoxon_with_holm():
    S = scores(2, n_blocks=20)
    p = pairwise(S, "wilcoxon")
    pairs = [(i, j) for i in range(5) for j in range(i)]
    raw = {pair: stats.wilcoxon(S[:, pair[0]], S[:, pair[1]]).pvalue for pair in pairs}
    running = 0.0
    for step, pair in enumerate(sorted(pairs, key=raw.__getitem__)):
        running = max(running, min(1.0, raw[pair] * (10 - step)))
        assert p[pair] == p[pair[::-1]] == pytest.approx(running)
    equal = np.tile(S[:, :1], (1, 2))
    assert np.array_equal(pairwise(equal, "wilcoxon"), np.ones((2, 2)))


@pytest.mark.parametrize("ties", [False, True])
def test_pairs_are_those_of_scikit_posthocs(ties):
    posthocs = pytest.importorskip("scikit_posthocs", reason="scikit-posthocs is not installed")
    S = scores(3, n_blocks=14, k=5, ties=ties)
    assert_close = np.testing.assert_allclose
    assert_close(pairwise(S, "nemenyi"), posthocs.posthoc_nemenyi_friedman(S), atol=1e-8)
    assert_close(pairwise(S, "conover"), posthocs.posthoc_conover_friedman(S), atol=1e-8)
    if not ties:  # zeros are split there, and left out here
        assert_close(pairwise(S, "wilcoxon"), posthocs.posthoc_wilcoxon(S.T, p_adjust="holm"), atol=1e-8)


def test_holm_never_goes_down():
    p = holm(np.array([[1, 0.02, 0.021], [0.02, 1, 0.9], [0.021, 0.9, 1]]))
    assert p[0, 1] == pytest.approx(0.06)
    assert p[0, 2] == pytest.approx(0.06)
    assert p[1, 2] == pytest.approx(0.9)


def test_less_may_be_better():
    S = scores(0)
    assert np.array_equal(ranks(S, greater=False), ranks(-S))
    assert np.array_equal(pairwise(S, greater=False), pairwise(-S))
    down = effect(S, "abcde", "a", "b", greater=False)
    up = effect(-S, "abcde", "a", "b")
    assert (down.wins, down.rank_biserial, down.median) == (up.wins, up.rank_biserial, -up.median)


def test_effects_say_who_wins_by_how_much():
    S = np.array([[0.9, 0.5], [0.8, 0.7], [0.6, 0.6], [0.5, 0.7]])
    found = effect(S, ("a", "b"), "a", "b")
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert found.median == pytest.approx(0.05)
    assert found.rank_biserial == pytest.approx((3 + 1 - 2) / 6)
    assert effect(S, ("a", "b"), "b", "a").rank_biserial == -found.rank_biserial
    assert effect(S[2:3].repeat(2, 0), ("a", "b"), "a", "b").rank_biserial == 0.0


def test_cliques_are_the_largest_groups():
    assert cliques([3.0, 1.0, 2.0], 1.2) == ((1, 2), (2, 0))
    assert cliques([1.0, 1.1, 1.2], 5.0) == ((0, 1, 2),)
    assert cliques([1.0, 3.0], 1.0) == ()


def test_rounding_is_a_tie():
    assert ranks([[0.1 + 0.2, 0.3], [1, 2]])[0].tolist() == [1.5, 1.5]


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(InvalidInputError, match="at least two blocks"):
        rank_test([[1.0, 2.0]], "ab")
    with pytest.raises(InvalidInputError, match="finite"):
        ranks([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(InvalidInputError, match="different in some block"):
        rank_test(np.ones((4, 3)), "abc")
    with pytest.raises(InvalidInputError, match="3 names"):
        rank_test(scores(0)[:, :3], "ab")
    with pytest.raises(InvalidInputError, match="test must be one of"):
        pairwise(scores(0), "nemeny")
    with pytest.raises(InvalidInputError, match="alpha"):
        critical_difference(3, 5, 0.0)
