"""The Bayesian signed-rank test: against a plain twin and baycomp, where it is installed, and its laws."""

import numpy as np
import pytest

from isentropic._core.errors import InvalidInputError
from isentropic.experiments import statistics as bayesian
from isentropic.experiments.statistics import Posterior, signed_rank_posterior


def pairs(seed, n=12, shift=0.01):
    random = np.random.default_rng(seed)
    first = random.normal(0.8, 0.05, n)
    return first, first - shift + random.normal(0, 0.02, n)


def naive_posterior(first, second, rope, n_draws, seed):
    """Draw by draw and pair by pair."""
    d = [0.0, *(np.asarray(first) - np.asarray(second))]
    random, found = np.random.default_rng(seed), [0, 0, 0]
    for w in random.dirichlet([0.5] + [1.0] * len(first), n_draws):
        shares = [0.0, 0.0, 0.0]
        for i in range(len(d)):
            for j in range(len(d)):
                mean = (d[i] + d[j]) / 2
                region = 0 if mean > rope else 2 if mean < -rope else 1
                shares[region] += w[i] * w[j]
        found[int(np.argmax(shares))] += 1
    return Posterior(*(count / n_draws for count in found))


@pytest.mark.parametrize(("seed", "shift"), [(0, 0.01), (1, 0.0), (2, -0.02), (3, 0.015)])
def test_it_is_its_plain_twin(seed, shift):
    first, second = pairs(seed, shift=shift)
    assert signed_rank_posterior(first, second, n_draws=400, seed=seed) == naive_posterior(
        first, second, 0.01, 400, seed
    )


def test_draws_in_parts_are_all_draws(monkeypatch):
    first, second = pairs(4)
    whole = signed_rank_posterior(first, second, n_draws=1000)
    monkeypatch.setattr(bayesian, "_BLOCK", 100)
    assert signed_rank_posterior(first, second, n_draws=1000) == whole


@pytest.mark.parametrize(("shift", "rope"), [(0.012, 0.01), (0.0, 0.005), (0.01, 0.0)])
def test_it_is_that_of_baycomp(shift, rope):
    baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
    first, second = pairs(5, shift=shift)
    ours = signed_rank_posterior(first, second, rope)
    theirs = baycomp.SignedRankTest.probs(second, first, rope, random_state=0)
    told = (ours.second, ours.level, ours.first) if rope else (ours.second, ours.first)
    np.testing.assert_allclose(told, theirs, atol=0.012)  # five deviations of two draws of 50,000


def test_the_other_way_round_is_the_other_way_round():
    first, second = pairs(6)
    one, other = signed_rank_posterior(first, second), signed_rank_posterior(second, first)
    assert (one.first, one.level, one.second) == (other.second, other.level, other.first)
    assert one.first + one.level + one.second == pytest.approx(1.0)


def test_a_wider_region_is_more_often_level():
    first, second = pairs(7)
    found = [signed_rank_posterior(first, second, rope).level for rope in (0.0, 0.005, 0.01, 0.02, 0.2)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0.0, 1.0)


def test_a_pair_on_the_border_counts_half():
    """All differences are the border itself: pairs of blocks are split, and level has the rest."""
    assert signed_rank_posterior([0.51] * 9, [0.5] * 9, 0.01, n_draws=2000).level > 0.4
    assert signed_rank_posterior([0.52] * 9, [0.5] * 9, 0.01, n_draws=2000).first > 0.9


def test_more_blocks_say_more():
    few, many = (signed_rank_posterior(*pairs(8, n, 0.02)) for n in (4, 60))
    assert few.first < many.first


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(InvalidInputError, match="a score of each for every block"):
        signed_rank_posterior([0.1, 0.2], [0.1])
    with pytest.raises(InvalidInputError, match="finite"):
        signed_rank_posterior([0.1, np.nan], [0.1, 0.2])
    with pytest.raises(InvalidInputError, match="rope must be a difference of at least 0"):
        signed_rank_posterior([0.1], [0.1], -0.1)
