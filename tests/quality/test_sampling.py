"""Sampled rows: which are drawn, and whether the intervals hold what they promise."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic.quality import assess, sampling
from isentropic.quality.curves import Curves, row_values
from isentropic.quality.distances import both_sides
from isentropic.quality.passes import RankSums, rank_sums
from isentropic.quality.sampling import half_width, half_widths, interval_grid, row_means, sampled_rank_sums


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
    from isentropic.quality import drawn

    honest = drawn.mean_interval
    monkeypatch.setattr(sampling, "mean_interval", lambda values, n: (honest(values, n)[0], values.mean()))
    assert (shares_covered(whole, 200, 200, chosen) < 0.85).all()


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
        values = [measure.value] * 8
        if name == "q_local":  # of the neighbourhoods that each note names
            values = [truth.curves.q_nx[: one.curves.k_max].mean() for one in found]
        elif name == "q_global":
            values = [truth.curves.q_nx[one.curves.k_max - 1 :].mean() for one in found]
        points = [one.measures[name] for one in found]
        assert sum(point.low <= value <= point.high for point, value in zip(points, values, strict=True)) >= 6
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
