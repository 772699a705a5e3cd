"""Correlations of distances: formulas, laws, agreement with scipy, intervals."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import pdist, squareform

from assertions import assert_grammar
from isentropic import config_context
from isentropic._core.errors import InvalidInputError, MemoryBudgetError
from isentropic._core.values import DistanceRows
from isentropic.distances.pairwise_blocks import BATCHES, sampled_pairs
from isentropic.quality import pairwise
from isentropic.quality.assessment import distance_measures
from isentropic.quality.distance_measures import kendall_tau, pearson_r, spearman_rho
from isentropic.quality.inputs import both_sides
from isentropic.quality.measures import OF_PAIRS, kinds
from isentropic.quality.pairwise import pair_measures
from naive import condensed, distances, naive_kendall_tau, naive_pearson_r, naive_spearman_rho

FUNCTIONS = (kendall_tau, spearman_rho, pearson_r)
every = pytest.mark.parametrize("function", FUNCTIONS)
NAIVE = {kendall_tau: naive_kendall_tau, spearman_rho: naive_spearman_rho, pearson_r: naive_pearson_r}
SCIPY = {kendall_tau: stats.kendalltau, spearman_rho: stats.spearmanr, pearson_r: stats.pearsonr}


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 4)) * [3, 2, 1, 0.5]


@pytest.fixture
def Z(X, rng):
    return X[:, :2] + 0.2 * rng.normal(size=(60, 2))


def lattice(rng, n):
    """Rows on a grid: most distances are tied."""
    return rng.integers(0, 4, size=(n, 2)).astype(float)


# ---- exact -------------------------------------------------------------------------------------


@every
def test_matches_the_formula(function, X, Z):
    d, z = condensed(distances(X[:12])), condensed(distances(Z[:12]))
    found = function(X[:12], Z[:12])
    assert found.value == pytest.approx(NAIVE[function](d, z), abs=1e-13)
    assert found.exact
    assert (found.best, found.better, found.range) == (1.0, "higher", (-1.0, 1.0))


def exact_squares(X):
    """Squared distances of all pairs, as fractions: nothing is rounded."""
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    return [
        sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True))
        for i in range(len(rows))
        for j in range(i + 1, len(rows))
    ]


def test_tau_counts_distances_as_they_are_computed(rng):
    """To the last bit: the order of those that rounding alone tells apart is not that of exact numbers."""
    X = rng.normal(size=(12, 4))
    X = np.vstack([X, X + 1e-16 * rng.normal(size=X.shape)])
    Z = X[:, :2]
    every = np.arange(len(X))
    computed = [condensed(side.rows(every)) for side in both_sides(X, Z)]
    found = kendall_tau(X, Z).value
    assert found == pytest.approx(naive_kendall_tau(*computed), abs=1e-15)
    exact = naive_kendall_tau(exact_squares(X), exact_squares(Z))
    assert 1e-6 < abs(found - exact) < 1e-2
    whole = np.round(64 * X)  # of which no distance is rounded to that of another
    assert kendall_tau(whole, whole[:, :2]).value == pytest.approx(
        naive_kendall_tau(exact_squares(whole), exact_squares(whole[:, :2])), abs=1e-15
    )


@every
@pytest.mark.parametrize("tied", [False, True])
def test_agrees_with_scipy(function, rng, tied):
    X = lattice(rng, 700) if tied else rng.normal(size=(700, 5))
    Z = lattice(rng, 700) if tied else X[:, :2]
    expected = SCIPY[function](pdist(X), pdist(Z)).statistic
    assert function(X, Z).value == pytest.approx(expected, abs=1e-12)


@every
def test_one_on_an_isometry_and_any_scale(function, X, rng):
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert function(X, X).value == pytest.approx(1.0, abs=1e-15)
    # far from the origin distances are rounded, and change their order here and there
    assert function(X, 1e-3 * X @ rotation + 5).value == pytest.approx(1.0, abs=1e-6)


@every
def test_rows_may_come_in_any_order(function, X, Z, rng):
    order = rng.permutation(60)
    assert function(X[order], Z[order]).value == pytest.approx(function(X, Z).value, abs=1e-13)
    assert function(X, Z[order]).value < 0.5  # and it notices when they do not match


@every
def test_both_sides_are_treated_alike(function, X, Z):
    assert function(X, Z).value == pytest.approx(function(Z, X).value, abs=1e-13)


@every
def test_distances_may_be_given(function, X, Z):
    D = squareform(pdist(X, "cityblock"))
    expected = SCIPY[function](pdist(X, "cityblock"), pdist(Z)).statistic
    rows = DistanceRows(60, lambda numbers: D[numbers], "blocks")
    for found in (
        function(X, Z, metric="cityblock"),
        function(D, Z, metric="precomputed"),
        function(rows, Z),
    ):
        assert found.value == pytest.approx(expected, abs=1e-12)


@every
@pytest.mark.parametrize("n_pairs", [None, 2000])
def test_threads_change_no_bit(function, X, Z, n_pairs):
    one, two = (function(X, Z, n_pairs=n_pairs, random_state=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one == two


# ---- sampled pairs -------------------------------------------------------------------------------

SMALL = BATCHES * 40


def side_without_pairs(X):
    D = distances(X)
    return DistanceRows(len(X), lambda numbers: D[numbers], "euclidean")


@pytest.mark.parametrize("single", [True, False])
def test_every_pair_is_equally_likely(rng, single):
    X = np.exp(np.arange(6))[:, None]  # every distance tells its pair
    sides = both_sides(X, X) if single else (side_without_pairs(X), side_without_pairs(X))
    drawn = sampled_pairs(*sides, 60_000, random_state=0)
    values, counts = np.unique(drawn.given.round(9), return_counts=True)
    assert len(values) == 15
    expected = drawn.n_pairs / 15
    spread = np.sqrt(expected)  # the partners of a row are drawn one by one, too
    assert np.abs(counts - expected).max() < 4 * spread
    np.testing.assert_array_equal(drawn.given, drawn.mapped)


@pytest.mark.parametrize("single", [True, False])
def test_intervals_cover_what_they_estimate(single):
    """Of 300 intervals 95% contain the value of all pairs: 3.5 standard errors are 4.4%."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4)) * [3, 2, 1, 0.5]
    Z = X[:, :2].copy()
    sides = both_sides(X, Z, n_jobs=1) if single else (side_without_pairs(X), side_without_pairs(Z))
    names = [kind.name for kind in kinds(*OF_PAIRS)]
    truth = pair_measures(names, *sides, n_pairs=None)
    hits = dict.fromkeys(names, 0)
    for seed in range(300):
        found = pair_measures(names, *sides, n_pairs=SMALL, random_state=seed, n_jobs=1)
        for name, measure in found.items():
            hits[name] += measure.low <= truth[name].value <= measure.high
    coverage = {name: count / 300 for name, count in hits.items()}
    assert min(coverage.values()) > 0.906, coverage
    assert min(coverage.values()) < 1.0, coverage  # nor do they contain everything
    assert np.mean(list(coverage.values())) == pytest.approx(0.95, abs=0.02), coverage


def test_more_pairs_give_narrower_intervals(X, Z):
    widths = [
        found.high - found.low
        for found in (kendall_tau(X, Z, n_pairs=n, random_state=0) for n in (SMALL, 16 * SMALL))
    ]
    assert 2.5 < widths[0] / widths[1] < 6


def test_the_seed_decides(X, Z):
    one, again, other = (kendall_tau(X, Z, n_pairs=SMALL, random_state=seed) for seed in (0, 0, 1))
    assert one == again
    assert one.value != other.value
    assert one.note == f"from {SMALL:,} sampled pairs"


def test_auto_is_exact_while_rows_and_memory_allow(X, Z, monkeypatch):
    assert kendall_tau(X, Z).exact
    with config_context(memory_limit=2**20):
        assert not kendall_tau(X, Z, random_state=0).exact
        assert pearson_r(X, Z).exact  # needs no memory
    monkeypatch.setattr(pairwise, "EXACT_ROWS", 59)
    assert not pearson_r(X, Z, random_state=0).exact


def test_auto_draws_until_the_interval_is_narrow(X, Z, monkeypatch):
    monkeypatch.setattr(pairwise, "EXACT_ROWS", 10)
    found = kendall_tau(X, Z, random_state=0)
    assert found.high - found.low <= 0.01
    assert "1,048,576" in found.note
    monkeypatch.setattr(pairwise, "ENOUGH", SMALL)
    grown = kendall_tau(X, Z, random_state=0)
    assert grown.high - grown.low <= 0.01
    assert f"{SMALL:,} " not in grown.note


def test_sampled_rows_draw_pairs(X, Z):
    found, exact = (
        distance_measures(*both_sides(X, Z), rows, random_state=0) for rows in (np.arange(10), None)
    )
    assert len(found) == len(exact) == 8
    for name, measure in found.items():
        assert exact[name].exact
        assert measure.low <= measure.value <= measure.high
        slack = 2 * (measure.high - measure.low)
        assert abs(measure.value - exact[name].value) <= slack, name


# ---- what has no answer ------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    ("X", "Z", "problem"),
    [
        (np.zeros((5, 2)), np.eye(5), "X must be rows at different distances"),
        (np.arange(10.0).reshape(5, 2) ** 2, np.ones((5, 2)), "Z must be rows at different distances"),
        (np.eye(3), np.arange(6.0).reshape(3, 2) ** 2, "X must be rows at different distances"),
        (np.zeros((4, 2)), np.zeros((5, 2)), "Z must be"),
        (np.zeros((2, 2)), np.zeros((2, 2)), "X must be"),
        (np.zeros((1, 2)), np.zeros((1, 2)), "X must be"),
        (np.full((4, 2), np.nan), np.zeros((4, 2)), "X"),
        (np.zeros((4, 2)), np.full((4, 2), np.nan), "Z"),
    ],
)
@pytest.mark.filterwarnings("ignore:All rows of")
def test_degenerate_tables_are_refused(function, X, Z, problem):
    with pytest.raises(InvalidInputError, match=problem):
        function(X, Z)


@pytest.mark.parametrize("n_pairs", [0, 3, -1, True, 2.5, "all"])
def test_a_number_of_pairs_or_auto(X, Z, n_pairs):
    with pytest.raises(InvalidInputError) as caught:
        kendall_tau(X, Z, n_pairs=n_pairs)
    assert_grammar(caught.value, "n_pairs", n_pairs)


def test_exact_order_needs_memory_and_says_how_much(X, Z):
    with config_context(memory_limit=2**20), pytest.raises(MemoryBudgetError, match="n_pairs=1_000_000"):
        kendall_tau(X, Z, n_pairs=None)


def test_too_many_rows_for_all_pairs():
    many = DistanceRows(70_000, lambda numbers: np.ones((len(numbers), 70_000)), "far")
    with pytest.raises(InvalidInputError, match=r"n_pairs must be given for more than 65,536 rows"):
        kendall_tau(many, many, n_pairs=None)
