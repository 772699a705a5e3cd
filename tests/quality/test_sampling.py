"""Sampled rows: which are drawn, and whether the intervals hold what they promise."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic.quality import assess, assessment, sampling
from isentropic.quality.assessment import _summaries
from isentropic.quality.inputs import both_sides
from isentropic.quality.measures import kinds
from isentropic.quality.ranks.rank_curves import Curves, row_values
from isentropic.quality.ranks.rank_sums import RankSums, rank_sums
from isentropic.quality.sampling import (
    half_width,
    half_widths,
    interval_grid,
    plausible_borders,
    row_means,
    sampled_rank_sums,
)


@pytest.fixture(scope="module")
def population():
    """Rows whose terms are skewed, most small and few large: a surface with a tear."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=3000), rng.uniform(size=3000), 0.02 * rng.normal(size=3000)])
    Z = X[:, :2].copy()
    Z[:, 0] = np.where(Z[:, 0] > 0.5, Z[:, 0] + 1, -Z[:, 0])
    Z += 0.03 * rng.normal(size=Z.shape)
    return X, Z


@pytest.fixture(scope="module")
def whole(population):
    return rank_sums(*both_sides(*population), interval_grid(3000, (10,)))


def part_of(whole, rows):
    return RankSums(whole.n, rows, whole.ks, whole.sums, whole.terms[rows], whole.close[rows])


# ---- coverage ----------------------------------------------------------------------------------


def shares_covered(whole, n_drawn, n_times, values_of):
    """How often the interval of drawn rows holds the mean of all, for each column of the row values."""
    rng = np.random.default_rng(1)
    values = values_of(whole)
    truth = values.mean(axis=0)
    hits = np.zeros(len(truth))
    for _ in range(n_times):
        drawn = values[rng.permutation(whole.n)[:n_drawn]]
        half = np.array([half_width(column, whole.n) for column in drawn.T])
        hits += np.abs(drawn.mean(axis=0) - truth) <= half
    return hits / n_times


def chosen(whole):
    """Trustworthiness, continuity, Q_NX and MRRE at k = 10 and at about n/10, and the means over k."""
    at = [int(np.searchsorted(whole.ks, k)) for k in (10, 150)]
    values = row_values(whole)
    names = ("trustworthiness", "continuity", "q_nx", "mrre_false")
    columns = [values[name][:, at] for name in names]
    k_max = Curves.of(whole).k_max
    return np.column_stack([*columns, *row_means(whole, k_max).values()])


def test_intervals_hold_the_truth_about_95_times_of_100(whole):
    n_times = 600
    shares = shares_covered(whole, 1000, n_times, chosen)
    error = math.sqrt(0.95 * 0.05 / n_times)
    assert (shares > 0.95 - 4 * error).all(), shares
    assert (shares < 0.95 + 4 * error).all(), shares


def test_the_test_of_coverage_can_fail(whole, monkeypatch):
    from isentropic.quality import inputs as intervals

    honest = intervals.mean_interval
    monkeypatch.setattr(sampling, "mean_interval", lambda values, n: (honest(values, n)[0], values.mean()))
    assert (shares_covered(whole, 200, 200, chosen) < 0.85).all()


def flat_top(n):
    """Eight columns of noise, two of them shown: near its maximum, LCMC hardly varies."""
    X = np.random.default_rng(3).normal(size=(n, 8))
    return X, X[:, :2]


def torn_sheet(n):
    random = np.random.default_rng(4)
    X = np.column_stack([random.uniform(size=n), random.uniform(size=n), 0.02 * random.normal(size=n)])
    return X, X[:, :2] * np.where(X[:, :1] > 0.5, 3.0, -1.0) + 0.03 * random.normal(size=(n, 2))


def groups(n):
    random = np.random.default_rng(5)
    X = 4 * random.normal(size=(6, 6))[random.integers(0, 6, n)] + random.normal(size=(n, 6))
    return X, X[:, :2] + X[:, 2:4]


def summaries_covered(sides, n_drawn, n_times=200):
    """How often the intervals of numbers for all k hold the value of all rows."""
    grid = interval_grid(sides[0].n, (10,))
    truth = Curves.of(rank_sums(*sides, grid, n_jobs=1))
    hits = {kind.name: 0 for kind in kinds("area")}
    random = np.random.default_rng(1)
    for _ in range(n_times):
        part = rank_sums(*sides, grid, random.permutation(sides[0].n)[:n_drawn], n_jobs=1)
        for name, measure in _summaries(part, Curves.of(part)).items():
            hits[name] += measure.low <= getattr(truth, name) <= measure.high
    return {name: count / n_times for name, count in hits.items()}


@pytest.mark.parametrize("n_drawn", [50, 150])
@pytest.mark.parametrize("made", [flat_top, torn_sheet, groups])
def test_intervals_of_what_sums_up_a_curve(made, n_drawn):
    """Those of q_local and q_global may be too wide, near a flat maximum of LCMC; none is too narrow."""
    shares = summaries_covered(both_sides(*made(600), n_jobs=1), n_drawn)
    assert all(share >= 0.90 for share in shares.values()), shares
    assert shares["rnx_auc"] <= 0.985


def test_a_border_that_is_held_misses_the_truth(monkeypatch):
    """So that the test above can fail: near a flat maximum, k moves more than anything else."""
    monkeypatch.setattr(assessment, "plausible_borders", lambda found, curves: np.array([curves.k_max]))
    shares = summaries_covered(both_sides(*flat_top(600), n_jobs=1), 150)
    assert max(shares["q_local"], shares["q_global"]) < 0.85


def test_borders_are_those_that_cannot_be_told_from_the_greatest(population):
    X, Z = (side[:400] for side in population)
    found = rank_sums(*both_sides(X, Z), np.arange(1, 400), np.arange(0, 400, 5))
    curves = Curves.of(found)
    lcmc = row_values(found)["lcmc"]
    best = lcmc[:, curves.k_max - 1]
    expected = [
        k for k in curves.k if best.mean() - lcmc[:, k - 1].mean() <= half_width(best - lcmc[:, k - 1], 400)
    ]
    borders = plausible_borders(found, curves)
    assert borders.tolist() == expected
    assert 1 < len(borders) < 200
    local, distant = curves.q_means(borders)
    for place, k in enumerate(borders):
        assert local[place] == pytest.approx(curves.q_nx[:k].mean())
        assert distant[place] == pytest.approx(curves.q_nx[k - 1 :].mean())
    note = _summaries(found, curves)["q_local"].note
    assert f"between {borders[0]} and {borders[-1]}" in note


def test_what_is_left_out_counts_of_a_finite_number_of_rows(whole):
    values = row_values(whole)["trustworthiness"][:, 5]
    assert half_width(values, 3000) == 0.0  # all rows
    few, many = half_width(values[:200], 3000), half_width(values[:200], 10**9)
    assert_allclose(few / many, math.sqrt(1 - 200 / 3000), rtol=1e-6)


def test_drawn_rows_through_the_whole_way(population, whole):
    X, Z = population
    truth = assess(X, Z, n_neighbors=10, measures="ranks")
    found = [assess(X, Z, n_neighbors=10, sample=800, random_state=s, measures="ranks") for s in range(8)]
    for name, measure in truth.measures.items():
        points = [one.measures[name] for one in found]
        assert sum(point.low <= measure.value <= point.high for point in points) >= 6, name
        assert measure.exact
        assert not points[0].exact
    for k in (3, 77, 1000):  # between the values of the grid as well
        value = truth.at(k)["continuity"].value
        points = [one.at(k)["continuity"] for one in found]
        assert sum(point.low <= value <= point.high for point in points) >= 6


# ---- which rows --------------------------------------------------------------------------------


def test_the_same_call_draws_the_same_rows(population):
    first, again, other = (
        assess(*population, sample=50, random_state=seed, measures="ranks") for seed in (None, None, 7)
    )
    assert first.to_json() == again.to_json()
    assert first.rows.tolist() != other.rows.tolist()
    assert (np.diff(first.rows) > 0).all()
    assert len(first.rows) == 50


def test_scores_belong_to_the_rows_named(population):
    X, Z = population
    options = {"n_neighbors": (5, 10), "measures": "ranks"}
    whole, part = (assess(X, Z, sample=sample, **options) for sample in (None, 60))
    assert_allclose(part.false_neighbors, whole.false_neighbors[part.rows], rtol=1e-12, atol=1e-14)
    assert_allclose(part.tears, whole.tears[part.rows], rtol=1e-12, atol=1e-14)
    assert_array_equal(part.near_neighbors, whole.near_neighbors[part.rows])
    assert whole.exact
    assert not part.exact


def test_auto_draws_as_many_rows_as_the_width_asks_for(population, monkeypatch):
    monkeypatch.setattr(sampling, "EXACT_ROWS", 1000)
    monkeypatch.setattr(sampling, "FIRST_ROWS", 100)
    monkeypatch.setattr(sampling, "WIDTH", 0.01)
    found = assess(*population, n_neighbors=10, measures="ranks")
    assert 100 < len(found.rows) < 3000
    for name in ("trustworthiness(10)", "continuity(10)"):
        measure = found.measures[name]
        assert measure.high - measure.low <= 0.01
    monkeypatch.setattr(sampling, "WIDTH", 0.5)
    assert len(assess(*population, n_neighbors=10, measures="ranks").rows) == 100
    monkeypatch.setattr(sampling, "WIDTH", 1e-9)  # not to be had from a sample
    assert assess(*population, n_neighbors=10, measures="ranks").exact


def test_auto_is_exact_for_few_rows(population):
    assert assess(*population, measures="ranks").method == "exact: all 3,000 rows against all others"


def test_sampled_sums_are_those_of_the_rows(population, whole):
    sides = both_sides(*population)
    found = sampled_rank_sums(*sides, (10,), 40, 3)
    assert_array_equal(found.terms, whole.terms[found.rows])


# ---- the mean over k of a row ------------------------------------------------------------------


def test_means_over_a_grid_are_those_of_the_lines_between():
    grid = np.array([1, 4, 10])
    values = np.array([2.0, 8.0, 2.0])
    every = np.interp(np.arange(1, 11), grid, values)
    weights = 1.0 / np.arange(1, 11)
    assert_allclose(
        values @ sampling._mean_weights(grid, np.arange(1, 11), weights), np.average(every, weights=weights)
    )
    assert sampling._mean_weights(np.array([1]), np.array([1]), np.ones(1)).tolist() == [1.0]


def test_the_grid_of_all_k_gives_the_exact_means(population):
    X, Z = population[0][:60], population[1][:60]
    found = rank_sums(*both_sides(X, Z), np.arange(1, 60))
    curves = Curves.of(found)
    means = row_means(found, curves.k_max)
    for name in ("rnx_auc", "q_local", "q_global"):
        assert_allclose(means[name].mean(), getattr(curves, name), rtol=1e-12)


def test_half_widths_of_curves_are_those_of_their_rows(whole):
    part = part_of(whole, np.arange(0, 3000, 10))
    widths = half_widths(part)
    at = 3
    assert widths["lcmc"][at] == pytest.approx(half_width(row_values(part)["q_nx"][:, at], 3000))
    assert len(widths["r_nx"]) == len(part.ks) - 1  # none for k = n - 1
