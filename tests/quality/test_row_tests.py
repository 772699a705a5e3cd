"""Is a row placed better than by chance? Even p-values of random maps, small ones of exact maps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isentropic._core.errors import InvalidInputError
from isentropic.quality import distance_rows, row_tests
from naive_trust import naive_row_tests


def table(seed=0, n=120, m=4):
    return np.random.default_rng(seed).normal(size=(n, m))


@pytest.mark.parametrize("share", [0.5, 0.2, 1.0])
def test_the_tests_are_those_of_the_plain_twin(share):
    X = table()
    Z = X[:, :2] + table(1, m=2)
    rows = [3, 50, 77, 119]
    found = row_tests(X, Z, share=share, rows=rows, random_state=5)
    fits, p = naive_row_tests(X, Z, rows, 5, share)
    np.testing.assert_allclose(found.reliability, fits, rtol=1e-9)
    np.testing.assert_allclose(found.p, p)
    assert 0 < p.min() < p.max()


def test_p_values_are_even_on_random_maps():
    p = np.concatenate([row_tests(table(s, 60), table(100 + s, 60, 2), share=0.3).p for s in range(60)])
    assert stats.kstest(p, "uniform").statistic < 0.05  # 3,600 of them, in steps of 1/31
    assert np.mean(p > 0.05) == pytest.approx(0.95, abs=0.03)


def test_an_exact_map_has_no_row_in_doubt_and_a_random_one_has_all():
    X = table(m=2)
    exact = row_tests(X, 3.0 * X + 1.0)
    assert exact.reliability.min() > 0.99
    assert exact.p.max() < 0.05
    assert (exact.by_chance, len(exact.doubtful)) == (0.0, 0)
    shares = [row_tests(X, table(s, m=2)).by_chance for s in range(10, 30)]
    assert np.mean(shares) > 0.8


def test_planted_rows_in_the_places_of_others_are_flagged():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 3)) * [3.0, 3.0, 0.5]
    Z = X[:, :2].copy()
    moved = rng.choice(600, 90, replace=False)
    Z[moved] = Z[rng.permutation(moved)]
    found = row_tests(X, Z)
    flagged = np.isin(np.arange(600), found.doubtful)
    assert flagged[moved].mean() >= 0.9
    assert np.delete(flagged, moved).mean() < 0.02
    assert found.by_chance == pytest.approx(0.15, abs=0.05)


def test_one_place_is_no_place():
    X = table(n=30)
    Z = X[:, :2].copy()
    Z[:] = 0.0
    with pytest.warns(match="All rows of Z are equal"):
        found = row_tests(X, Z)
    np.testing.assert_array_equal(found.p, 1.0)
    np.testing.assert_array_equal(found.reliability, 0.0)


def test_laws_of_motion_threads_and_given_distances():
    X, Z = table(5, 300), table(6, 300, 2) * 0.3
    Z += X[:, :2]
    found = row_tests(X, Z)
    moved = row_tests(4.0 * X, 0.5 * Z, n_jobs=1)
    np.testing.assert_array_equal(found.p, moved.p)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(row_tests(D, Z, metric="precomputed").p, found.p, rtol=1e-6)
    np.testing.assert_array_equal(row_tests(distance_rows(X), Z).p, found.p)
    np.testing.assert_array_equal(row_tests(X, Z, rows=[7, 5]).p, found.p[[5, 7]])
    some = row_tests(X, Z, rows=np.isin(np.arange(len(X)), [5, 7]))  # flags, which are no positions 0 and 1
    np.testing.assert_array_equal(some.rows, [5, 7])


@pytest.mark.parametrize("n", [24, 39, 40, 60])
def test_rows_of_a_small_map_are_not_doubtful_for_their_number(n):
    """A perfect map of few rows: no p can be below one in as many places as there are."""
    X = np.random.default_rng(n).normal(size=(n, 2)) * [5.0, 1.0]
    found = row_tests(X, X)
    assert len(found.doubtful) <= n // 3
    shuffled = np.random.default_rng(0).permutation(n)
    assert len(row_tests(X, X[shuffled]).doubtful) >= 3 * n // 4


def test_bad_input_says_what_to_give():
    X = table()
    for given, said in (
        ({"share": 0.0}, "share must be above 0"),
        ({"rows": [120]}, "rows must be positions from 0 to 119"),
        ({"rows": []}, "rows must be at least one row"),
        ({"rows": [1.5]}, "rows must be flags or positions"),
    ):
        with pytest.raises(InvalidInputError, match=said):
            row_tests(X, X, **given)
    with pytest.raises(InvalidInputError, match="at least 8 rows"):
        row_tests(X[:7], X[:7])
