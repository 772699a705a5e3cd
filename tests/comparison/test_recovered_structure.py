"""Structure recovered by a map, the measure of benchmarks/real_tables.py, against plain loops."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="benchmarks are not packaged")


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import recovered

    return recovered


def _neighbors(Z, i, allowed, k):
    others = [j for j in range(len(Z)) if allowed(j)]
    return sorted(others, key=lambda j: ((Z[i] - Z[j]) ** 2).sum())[:k]


def test_classes_are_scored_by_balanced_accuracy_of_a_vote(module, rng):
    Z = rng.normal(size=(80, 2))
    truth = pd.Series(np.where(Z[:, 0] + 0.5 * rng.normal(size=80) > 0.7, "rare", "common"), name="class")
    truth[5] = None  # neither votes nor counts
    right = {"rare": [], "common": []}
    for i in range(80):
        if i != 5:
            near = _neighbors(Z, i, lambda j, i=i: j not in (i, 5), 10)
            votes = [truth[j] for j in near]
            counts = {level: votes.count(level) for level in right}
            winner = votes[0] if counts["rare"] == counts["common"] else max(counts, key=counts.get)
            right[truth[i]].append(winner == truth[i])
    expected = np.mean([np.mean(hits) for hits in right.values()])
    assert module.recovered(Z, truth.to_frame()) == pytest.approx(expected)


def test_numbers_are_scored_by_the_rank_correlation_of_means(module, rng):
    Z = rng.normal(size=(60, 2))
    truth = pd.Series(Z[:, 0] + 0.3 * rng.normal(size=60), name="size")
    means = [truth[_neighbors(Z, i, lambda j, i=i: j != i, 10)].mean() for i in range(60)]
    assert module.recovered(Z, truth.to_frame()) == pytest.approx(spearmanr(truth, means).statistic)


def test_rows_of_one_entity_do_not_vote_for_each_other(module, rng):
    country = pd.Series(np.repeat(np.arange(30), 6))
    Z = rng.normal(size=(30, 2))[country] * 100 + rng.normal(size=(180, 2))  # a capsule for each country
    continent = pd.Series(rng.permutation(np.repeat(["a", "b"], 15))[country], name="continent")
    assert module.recovered(Z, continent.to_frame()) > 0.95
    assert module.recovered(Z, continent.to_frame(), country) < 0.75
    near = _neighbors(Z, 0, lambda j: country[j] != 0, 10)
    votes = (continent[near] == "a").sum()
    assert votes == 5 or module.predictions(Z, continent, country)[0] == int(votes < 5)


def test_classes_of_one_entity_count_as_unknown(module):
    model = pd.Series(["a", "a", "b", "c", "c"])
    known = pd.DataFrame({"class": ["van", "van", "small", "small", None], "size": [1.0, 2, 3, 4, 5]})
    found = module.known_elsewhere(known, model)
    assert found["class"].isna().tolist() == [True, True, False, False, True]
    assert found["size"].equals(known["size"])
    assert module.known_elsewhere(known, None) is known


def test_a_worse_map_is_clearly_below_and_an_equal_one_is_not(module, rng):
    Z = rng.normal(size=(150, 2))
    known = pd.DataFrame({"side": np.where(Z[:, 0] > 0, "right", "left"), "size": Z[:, 1]})
    noise = rng.normal(size=(150, 2))
    assert module.is_clearly_below(noise, Z, known)
    assert not module.is_clearly_below(Z, noise, known)
    assert not module.is_clearly_below(Z, Z, known)


def test_plain_numbers_are_standardised_one_hot_columns_with_medians(module):
    frame = pd.DataFrame(
        {
            "id": [f"row {i}" for i in range(6)],
            "kind": ["a", "b", "a", "b", "a", "b"],
            "size": [1.0, 2.0, np.nan, 4.0, 5.0, 9.0],
            "same": [3] * 6,
        }
    )
    X = module.plain_numbers(frame)
    assert X.shape == (6, 3)  # size, kind a, kind b
    assert np.allclose(X.mean(axis=0), 0)
    assert np.allclose(X.std(axis=0), 1)
    sizes = np.array([1, 2, 4, 4, 5, 9.0])
    assert np.allclose(X[:, 0], (sizes - sizes.mean()) / sizes.std())
