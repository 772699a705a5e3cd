"""Equal distances: their share, and what their order could change."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isentropic.quality import assess, trustworthiness
from isentropic.quality.ranks import rank_sums
from naive import distances, naive_rank_weight, naive_tie_extremes, naive_tied_share


def worst_and_best(X, Z, k):
    """Trustworthiness and continuity over all orders of ties, each row by itself."""
    D_X, D_Z = distances(X), distances(Z)
    sums = sum(np.array(naive_tie_extremes(D_X[i], D_Z[i], i, k)) for i in range(len(X)))
    best_T, worst_T, best_C, worst_C = 1 - 2 * sums / naive_rank_weight(len(X), k)
    return (worst_T, best_T), (worst_C, best_C)


@pytest.fixture
def lattice(rng):
    return rng.integers(0, 3, size=(6, 2)).astype(float), rng.integers(0, 3, size=(6, 1)).astype(float)


def test_the_worst_and_the_best_order_of_ties(lattice):
    found = assess(*lattice, n_neighbors=(1, 2, 4), measures="ranks").ties
    for c, k in enumerate((1, 2, 4)):
        T, C = worst_and_best(*lattice, k)
        assert_allclose(found.trustworthiness[c], T, atol=1e-14)
        assert_allclose(found.continuity[c], C, atol=1e-14)


def test_the_share_of_tied_pairs(rng, lattice):
    X, Z = lattice
    found = assess(X, Z, measures="ranks").ties
    assert found.share_X == pytest.approx(naive_tied_share(distances(X)))
    assert found.share_Z == pytest.approx(naive_tied_share(distances(Z)))
    free = assess(rng.normal(size=(30, 2)), rng.normal(size=(30, 2)), measures="ranks").ties
    assert (free.share_X, free.share_Z) == (0.0, 0.0)


def test_the_value_lies_between_and_meets_them_without_ties(rng):
    X = rng.normal(size=(60, 3))
    for decimals, tied in ((0, True), (12, False)):
        Z = X[:, :2].round(decimals)
        found = assess(X, Z, n_neighbors=(5, 20, 40), measures="ranks")
        for c, k in enumerate((5, 20, 40)):
            for name in ("trustworthiness", "continuity"):
                worst, best = getattr(found.ties, name)[c]
                assert worst - 1e-12 <= found.at(k)[name].value <= best + 1e-12
                assert (best > worst) == (found.ties.share_Z > 0) == tied


def test_duplicates_on_both_sides_can_be_perfect(rng):
    # Each row three times: by row number the copies are in the same order on both sides.
    X = np.repeat(rng.normal(size=(10, 3)), 3, axis=0)
    assert trustworthiness(X, 2 * X, n_neighbors=5) == 1.0
    found = assess(X, 2 * X, n_neighbors=5, measures="ranks").ties
    assert found.trustworthiness[0][1] == 1.0
    assert found.share_X == found.share_Z == 1.0


def test_equal_places_in_a_map_are_stated(rng):
    X = rng.normal(size=(20, 3))
    with pytest.warns(UserWarning, match="All rows of Z are equal"):
        found = assess(X, np.zeros((20, 2)), n_neighbors=5, measures="ranks")
    assert found.ties.share_Z == 1.0
    assert found.ties.trustworthiness[0] == (pytest.approx(0.0, abs=1e-12), 1.0)
    assert any("All rows of Z are equal" in note for note in found.notes)


def test_ties_of_sampled_rows(rng):
    X = rng.integers(0, 4, size=(80, 3)).astype(float)
    whole = assess(X, X[:, :2], n_neighbors=5, measures="ranks").ties
    part = assess(X, X[:, :2], n_neighbors=5, sample=40, measures="ranks").ties
    assert part.share_X == pytest.approx(whole.share_X, abs=0.05)
    assert part.trustworthiness[0] == pytest.approx(whole.trustworthiness[0], abs=0.05)


def test_some_of_many_sampled_rows_stand_for_all(rng, monkeypatch):
    X = rng.integers(0, 4, size=(80, 3)).astype(float)
    whole = assess(X, X[:, :2], n_neighbors=5, sample=60, measures="ranks")
    monkeypatch.setattr(rank_sums.thin_rows, "__defaults__", (20,))
    part = assess(X, X[:, :2], n_neighbors=5, sample=60, measures="ranks")
    assert part.ties != whole.ties
    assert part.ties.share_Z == pytest.approx(whole.ties.share_Z, abs=0.05)
    for name in ("trustworthiness", "continuity"):
        worst, best = getattr(part.ties, name)[0]
        assert worst <= part.at(5)[name].value <= best
        assert (worst, best) == pytest.approx(getattr(whole.ties, name)[0], abs=0.05)
