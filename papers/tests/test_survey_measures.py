"""The four measures of the survey against plain twins."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier

from isentropic_papers.survey.measures import MEAN, MEASURES, four_measures, neighborhood_hit


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, 2)), rng.integers(3, size=n)


def naive_hits(Z, y, order, k):
    """Of each row: itself and the first k - 1 others by distance, equal ones in the given order of rows."""
    place, found = np.argsort(order), []
    for i, distances in enumerate(cdist(Z, Z)):
        others = sorted((d, place[j], y[j]) for j, d in enumerate(distances) if j != i)
        found.append((1 + sum(label == y[i] for _, _, label in others[: k - 1])) / k)
    return np.array(found)


def test_the_measures_are_those_of_their_definitions():
    X, Z, y = data()
    found = four_measures(X, Z, y)
    near = KNeighborsClassifier(7).fit(Z, y).kneighbors(Z, return_distance=False)
    expected = {
        "trustworthiness": trustworthiness(X, Z, n_neighbors=7),
        "continuity": trustworthiness(Z, X, n_neighbors=7),
        "neighborhood hit": (y[near] == y[:, None]).mean(),
        "shepard": (spearmanr(pdist(X), pdist(Z)).statistic + 1) / 2,
    }
    assert {name: found[name] for name in MEASURES} == pytest.approx(expected, abs=1e-12)
    assert found[MEAN] == pytest.approx(np.mean(list(expected.values())), abs=1e-12)


def test_without_ties_no_order_changes_anything():
    found = four_measures(*data())
    for name in (*MEASURES, MEAN):
        assert found[f"{name} low"] == pytest.approx(found[name], abs=1e-12)
        assert found[f"{name} high"] == pytest.approx(found[name], abs=1e-12)


def test_orders_of_equal_rows_stay_within_the_extremes():
    X, Z, y = data(30)
    X[10:20], Z[10:20] = X[0], Z[0]  # eleven rows in one place, of three classes
    found, seen = four_measures(X, Z, y), []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(X))
        seen.append(four_measures(X[order], Z[order], y[order]))
    for name in (*MEASURES, MEAN):
        values = [one[name] for one in seen]
        assert found[f"{name} low"] - 1e-12 <= min(values)
        assert max(values) <= found[f"{name} high"] + 1e-12
    hits = {one["neighborhood hit"] for one in seen}
    assert len(hits) > 1
    # equal rows in one order on both sides cost nothing, as another sort on one side would
    assert found["trustworthiness low"] < found["trustworthiness"]


@pytest.mark.parametrize("seed", range(5))
def test_the_extremes_of_the_hit_are_those_of_all_orders(seed):
    rng = np.random.default_rng(seed)
    Z, y = rng.integers(2, size=(6, 1)).astype(float), rng.integers(2, size=6)
    hits = np.array([naive_hits(Z, y, np.array(order), 3) for order in itertools.permutations(range(6))])
    expected = hits[0].mean(), hits.min(axis=0).mean(), hits.max(axis=0).mean()
    assert neighborhood_hit(Z, y, k=3) == pytest.approx(expected, abs=1e-12)
