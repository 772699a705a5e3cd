"""Stresses: formulas, laws, the published ones, and distances for the Shepard diagram."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

from assertions import assert_grammar
from isentropic._core.errors import InvalidInputError
from isentropic._core.values import DistanceRows
from isentropic.quality.assessment import distance_measures, topology_measures
from isentropic.quality.distance_measures import (
    kruskal_stress,
    neighborhood_stress,
    residual_variance,
    sammon_stress,
    shepard_pairs,
)
from isentropic.quality.inputs import both_sides
from isentropic.quality.ranks.topology import sampled_places
from naive import (
    condensed,
    distances,
    naive_neighborhood_stress,
    naive_neighbors,
    naive_residual_variance,
    naive_sammon_stress,
    naive_stress,
)

KINDS = ("normalized", "scaled", "raw")


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 4)) * [3, 2, 1, 0.5]


@pytest.fixture
def Z(X, rng):
    return 1.7 * X[:, :2] + 0.2 * rng.normal(size=(40, 2))


# ---- all pairs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_kruskal_matches_the_formula(X, Z, kind):
    expected = naive_stress(condensed(distances(X)), condensed(distances(Z)), kind)
    assert kruskal_stress(X, Z, kind=kind) == pytest.approx(expected, rel=1e-12)


def test_sammon_and_residual_variance_match_the_formulas(X, Z):
    d, z = condensed(distances(X)), condensed(distances(Z))
    assert sammon_stress(X, Z) == pytest.approx(naive_sammon_stress(d, z), rel=1e-12)
    assert residual_variance(X, Z) == pytest.approx(naive_residual_variance(distances(X), Z), rel=1e-11)


def test_sammon_leaves_out_equal_rows_and_says_so(X, Z):
    X[5] = X[3]
    expected = naive_sammon_stress(condensed(distances(X)), condensed(distances(Z)))
    assert sammon_stress(X, Z) == pytest.approx(expected, rel=1e-12)
    assert (
        distance_measures(*both_sides(X, Z))["sammon_stress"].note
        == "1 of 780 pairs left out, whose rows are equal in X"
    )


def test_zero_on_an_isometry(X, rng):
    moved = X @ np.linalg.qr(rng.normal(size=(4, 4)))[0] + 7
    for kind in KINDS:
        assert kruskal_stress(X, X, kind=kind) == 0
        assert kruskal_stress(X, moved, kind=kind) == pytest.approx(0, abs=1e-12)
    assert sammon_stress(X, moved) == pytest.approx(0, abs=1e-20)
    assert residual_variance(X, moved) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 3.0, 1e150])
def test_the_scale_of_the_map_matters_only_to_some(X, Z, scale):
    assert kruskal_stress(X, scale * Z, kind="scaled") == pytest.approx(
        kruskal_stress(X, Z, kind="scaled"), rel=1e-9
    )
    assert residual_variance(X, scale * Z) == pytest.approx(residual_variance(X, Z), rel=1e-9)
    assert kruskal_stress(X, scale * Z) != pytest.approx(kruskal_stress(X, Z), rel=1e-3)


def test_a_scaled_copy_is_perfect_once_scaled(X):
    """Sums of squares alone would leave 1e-8."""
    assert kruskal_stress(X, 37 * X, kind="scaled") < 1e-14
    assert neighborhood_stress(X, 37 * X, 5, kind="scaled") < 1e-14


def test_no_scale_is_better_than_the_best(X, Z):
    best = kruskal_stress(X, Z, kind="scaled")
    assert best <= min(kruskal_stress(X, scale * Z) for scale in np.linspace(0.1, 2, 20)) + 1e-12
    assert best < kruskal_stress(X, Z)


def test_published_stress_of_iris(tmp_path):
    """Principal components of Iris in 3, 2 and 1 dimensions: .01, .04, .11 (BSc thesis, Table 5.2)."""
    X = load_iris().data
    found = [kruskal_stress(X, PCA(d).fit_transform(X)) for d in (3, 2, 1)]
    assert np.round(found, 2).tolist() == [0.01, 0.04, 0.11]


def test_blocks_do_not_matter(X, Z, monkeypatch):
    whole = kruskal_stress(X, Z), residual_variance(X, Z)
    monkeypatch.setattr("isentropic.distances.sources.rows_per_block", lambda n: 7)
    assert kruskal_stress(X, Z) == pytest.approx(whole[0], rel=1e-14)
    assert residual_variance(X, Z) == pytest.approx(whole[1], rel=1e-12)


def test_threads_change_no_bit(X, Z):
    for kind in KINDS:
        assert kruskal_stress(X, Z, kind=kind, n_jobs=1) == kruskal_stress(X, Z, kind=kind, n_jobs=2)
    one, two = (neighborhood_stress(X, Z, n_random=3, random_state=0, n_jobs=n) for n in (1, 2))
    assert one == two


# ---- neighbourhoods ----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 5, 39])
def test_neighborhood_stress_matches_the_formula(X, Z, k):
    D, DZ = distances(X), distances(Z)
    expected = naive_neighborhood_stress(D, DZ, naive_neighbors(D, k)[0])
    assert neighborhood_stress(X, Z, k) == pytest.approx(expected, rel=1e-12)
    scale = sum(D[i, j] * DZ[i, j] for i, near in enumerate(naive_neighbors(D, k)[0]) for j in near)
    scale /= sum(DZ[i, j] ** 2 for i, near in enumerate(naive_neighbors(D, k)[0]) for j in near)
    expected = naive_neighborhood_stress(D, scale * DZ, naive_neighbors(D, k)[0])
    assert neighborhood_stress(X, Z, k, kind="scaled") == pytest.approx(expected, rel=1e-12)


def test_all_neighbours_give_the_stress_of_all_pairs(X, Z):
    assert neighborhood_stress(X, Z, 39) == pytest.approx(kruskal_stress(X, Z), rel=1e-12)


def test_random_rows_join_the_neighbours_once(X, Z):
    D, DZ = distances(X), distances(Z)
    order = naive_neighbors(D, 39)[0]
    lists = []
    for near, places in zip(order, sampled_places(40, 39, 4, 30, np.random.RandomState(0)), strict=True):
        drawn = places[places >= 0]
        assert len(set(drawn.tolist())) == len(drawn) > 11
        assert drawn.min() >= 4
        lists.append([*near[:4], *near[drawn]])
    expected = naive_neighborhood_stress(D, DZ, lists)
    assert neighborhood_stress(X, Z, 4, n_random=30, random_state=0) == pytest.approx(expected, rel=1e-12)


def test_random_rows_follow_the_seed(X, Z):
    one, again, other = (neighborhood_stress(X, Z, 3, n_random=2, random_state=s) for s in (0, 0, 1))
    assert one == again != other


def test_intervals_of_sampled_rows_cover():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3)) * [3, 2, 1]
    sides = both_sides(X, X[:, :2], n_jobs=1)
    truth = topology_measures(*sides, n_neighbors=5, n_jobs=1)
    hits = dict.fromkeys(truth, 0)
    for _ in range(200):
        rows = rng.choice(1000, 200, replace=False)
        for name, found in topology_measures(*sides, rows, n_neighbors=5, n_jobs=1).items():
            hits[name] += found.low <= truth[name].value <= found.high
    coverage = {name: count / 200 for name, count in hits.items()}
    assert len(coverage) == 5
    # squared distances have heavy tails: in the long run these intervals contain 92 to 95%
    assert all(0.87 < each < 0.995 for each in coverage.values()), coverage


def test_sampling_every_row_leaves_nothing_to_chance(X, Z):
    sides = both_sides(X, Z)
    found = topology_measures(*sides, np.arange(40))["neighborhood_stress"]
    assert found.low == pytest.approx(found.high)
    assert found.value == neighborhood_stress(X, Z)
    assert found.note == "10 neighbours"


# ---- the Shepard diagram -----------------------------------------------------------------------


def test_few_pairs_are_all_there(X, Z):
    pairs = shepard_pairs(X, Z, n_pairs=780)
    np.testing.assert_allclose(pairs.given, pdist(X), rtol=1e-13)
    np.testing.assert_allclose(pairs.mapped, pdist(Z), rtol=1e-13)


def test_many_pairs_are_drawn(X, Z):
    pairs = shepard_pairs(X, Z, n_pairs=700, random_state=1)
    assert 700 <= len(pairs.given) == len(pairs.mapped) < 780
    known = dict(zip(pdist(X).round(9), pdist(Z).round(9), strict=True))
    assert all(known[d] == z for d, z in zip(pairs.given.round(9), pairs.mapped.round(9), strict=True))


# ---- what has no answer ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:All rows of X are equal")
def test_equal_rows_have_no_stress():
    same = np.ones((5, 2))
    for function in (kruskal_stress, sammon_stress, residual_variance, neighborhood_stress):
        options = {"n_neighbors": 2} if function is neighborhood_stress else {}
        with pytest.raises(InvalidInputError, match=r"^X must be rows"):
            function(same, np.arange(10.0).reshape(5, 2) ** 2, **options)


@pytest.mark.filterwarnings("ignore:All rows of Z are equal")
def test_a_map_of_one_point_loses_everything(X):
    assert kruskal_stress(X, np.ones((40, 2))) == pytest.approx(1)
    with pytest.raises(InvalidInputError, match=r"^Z must be rows at different distances"):
        residual_variance(X, np.ones((40, 2)))


def test_two_rows_have_a_stress_one_has_none():
    assert kruskal_stress([[0.0], [2.0]], [[0.0], [1.0]]) == 0.5
    with pytest.raises(InvalidInputError, match=r"^X must be a table of at least 2 rows, got 1"):
        kruskal_stress([[0.0]], [[0.0]])


@pytest.mark.parametrize("k", [0, 40, -1, 2.5, True])
def test_neighbours_out_of_range(X, k):
    with pytest.raises(InvalidInputError) as caught:
        neighborhood_stress(X, X, k)
    assert_grammar(caught.value, "n_neighbors", k)


def test_other_words_are_refused(X):
    with pytest.raises(InvalidInputError, match="Did you mean 'normalized'"):
        kruskal_stress(X, X, kind="normalised")
    with pytest.raises(InvalidInputError, match=r"^kind must be one of normalized, scaled"):
        neighborhood_stress(X, X, kind="raw")
    with pytest.raises(InvalidInputError, match=r"^n_random must be"):
        neighborhood_stress(X, X, n_random=-1)


def test_distances_may_be_given(X, Z):
    D = squareform(pdist(X, "chebyshev"))
    rows = DistanceRows(40, lambda numbers: D[numbers], "max")
    for function in (kruskal_stress, sammon_stress, residual_variance, neighborhood_stress):
        expected = function(X, Z, metric="chebyshev")
        assert function(D, Z, metric="precomputed") == pytest.approx(expected, rel=1e-12)
        assert function(rows, Z) == pytest.approx(expected, rel=1e-12)
