"""Curves and scores against plain sums over pairs, and against scikit-learn and zadu."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from isentropic import quality
from isentropic.quality import assess
from isentropic.quality.inputs import both_sides
from isentropic.quality.measures import kinds
from isentropic.quality.ranks.rank_curves import row_values
from isentropic.quality.ranks.rank_sums import rank_sums
from naive import (
    condensed,
    distances,
    naive_local_and_global,
    naive_rank_matrix,
    naive_rank_measures,
    naive_rank_terms,
    naive_rank_weight,
    naive_rnx_auc,
)

NEAR = ("near_neighbors", "near_share", "near_chance")  # which test_near_neighbors.py has
CURVES = [kind.name for kind in kinds("curve") if kind.name not in NEAR]


def ranks(X, Z):
    return naive_rank_matrix(distances(X)), naive_rank_matrix(distances(Z))


def assert_curves_match(curves, R, r, *, rtol=1e-12):
    n = len(R)
    for k in range(1, n):
        expected = naive_rank_measures(R, r, k)
        for name in CURVES:
            curve = getattr(curves, name)
            if k <= len(curve):
                assert name in expected, f"{name}: add a plain twin to naive_rank_measures of tests/naive.py"
                assert_allclose(curve[k - 1], expected[name], rtol=rtol, atol=1e-13, err_msg=f"{name}({k})")


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(40, 4))
    return X, X[:, :2] + 0.3 * rng.normal(size=(40, 2))


# ---- against plain sums ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 4, 7, 12])
@pytest.mark.parametrize("decimals", [0, 12])  # with many ties, and without
def test_every_curve_at_every_k(rng, n, decimals):
    X, Z = rng.normal(size=(n, 3)).round(decimals), rng.normal(size=(n, 2)).round(decimals)
    found = assess(X, Z, measures="ranks")
    assert_curves_match(found.curves, *ranks(X, Z))


def test_every_curve_says_what_each_row_contributes(pair):
    """Where rows are sampled, its interval comes from there."""
    ks = np.arange(1, len(pair[0]))
    found = row_values(rank_sums(*both_sides(*pair), ks))
    curves = assess(*pair, measures="ranks").curves
    lacking = sorted({kind.name for kind in kinds("curve")} - set(found))
    assert not lacking, f"{lacking}: add a line to row_values of quality/ranks/rank_curves.py"
    for name, values in found.items():
        assert_allclose(values.mean(axis=0), getattr(curves, name), rtol=1e-12, atol=1e-13, err_msg=name)


def test_the_comparison_of_curves_can_fail(pair):
    X, Z = pair
    with pytest.raises(AssertionError, match=r"continuity\(1\)|trustworthiness\(1\)"):
        assert_curves_match(assess(Z, X, measures="ranks").curves, *ranks(X, Z))


def test_summaries_of_the_curves(pair):
    X, Z = pair
    R, r = ranks(X, Z)
    curves = assess(X, Z, measures="ranks").curves
    k_max, local, rest = naive_local_and_global(R, r)
    assert curves.k_max == k_max
    assert_allclose([curves.q_local, curves.q_global], [local, rest], rtol=1e-12)
    assert_allclose(curves.rnx_auc, naive_rnx_auc(R, r), rtol=1e-12)
    assert_allclose(quality.rnx_auc(X, Z), curves.rnx_auc, rtol=0)


def test_scores_of_every_row(pair):
    X, Z = pair
    found = assess(X, Z, n_neighbors=(3, 8), measures="ranks")
    R, r = ranks(X, Z)
    for c, k in enumerate((3, 8)):
        expected = 2 * len(X) / naive_rank_weight(len(X), k) * naive_rank_terms(R, r, k)
        assert_allclose(found.false_neighbors[:, c], expected[:, 0], atol=1e-14)
        assert_allclose(found.tears[:, c], expected[:, 1], atol=1e-14)
    assert_allclose(quality.false_neighbors(X, Z, n_neighbors=8), found.false_neighbors[:, 1], rtol=0)
    assert_allclose(quality.tears(X, Z, n_neighbors=[8, 3]), found.tears[:, ::-1], rtol=0)


@pytest.mark.parametrize("k", [1, 5, 20, 39])
def test_each_function_is_a_point_of_its_curve(pair, k):
    expected = naive_rank_measures(*ranks(*pair), k)
    for name in ("trustworthiness", "continuity", "lcmc"):
        assert_allclose(getattr(quality, name)(*pair, n_neighbors=k), expected[name], rtol=1e-12)
    wanted = (expected["mrre_false"], expected["mrre_missing"])
    assert_allclose(quality.mrre(*pair, n_neighbors=k), wanted, rtol=1e-12)
    if k < 39:
        assert_allclose(quality.rnx_curve(*pair)[k - 1], expected["r_nx"], rtol=1e-12)


def test_several_neighbourhoods_come_in_the_order_asked_for(pair):
    found = quality.continuity(*pair, n_neighbors=[9, 2, 9])
    one = [quality.continuity(*pair, n_neighbors=k) for k in (9, 2, 9)]
    assert found.tolist() == one
    false, missing = quality.mrre(*pair, n_neighbors=[4, 2])
    assert (false[1], missing[1]) == quality.mrre(*pair, n_neighbors=2)


# ---- where the distances come from -------------------------------------------------------------


def farthest_coordinate(x, y):
    return np.abs(x - y).max()


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", farthest_coordinate])
def test_any_metric(pair, metric):
    X, Z = pair
    name = "chebyshev" if callable(metric) else metric
    R, r = naive_rank_matrix(distances(X, metric=name)), naive_rank_matrix(distances(Z))
    found = assess(X, Z, metric=metric, measures="ranks")
    assert found.metric == ("farthest_coordinate" if callable(metric) else metric)
    assert_curves_match(found.curves, R, r)


def test_a_matrix_condensed_distances_and_rows_are_the_same_data(pair):
    X, Z = pair
    D = distances(X)
    expected = assess(X, Z, measures="ranks").curves
    for given in (D, D.astype(np.float32).astype(float), condensed(D)):
        found = assess(given, Z, metric="precomputed", measures="ranks").curves
        assert_allclose(found.trustworthiness, expected.trustworthiness, rtol=1e-12)
    rows = quality.distance_rows(D, "precomputed"), quality.distance_rows(Z)
    assert_allclose(assess(*rows, measures="ranks").curves.continuity, expected.continuity, rtol=1e-12)


def test_geodesics(roll):
    from isentropic import geodesics, neighbor_graph

    G = geodesics.all_pairs(neighbor_graph(roll, 10))
    angle = np.hypot(roll[:, 0], roll[:, 2])
    length = 0.5 * (angle * np.hypot(1, angle) + np.arcsinh(angle))  # along the spiral
    unrolled = np.column_stack([length, roll[:, 1]])
    on_the_roll = quality.trustworthiness(G, unrolled, n_neighbors=100, metric="precomputed")
    straight = quality.trustworthiness(roll, unrolled, n_neighbors=100)
    assert straight < 0.98 < 0.99 < on_the_roll


# ---- against other packages --------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 5, 30, 149])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_trustworthiness_is_that_of_scikit_learn(rng, k, metric):
    X = rng.normal(size=(300, 8))
    Z = X[:, :2] + rng.normal(size=(300, 2))
    expected = sklearn_trustworthiness(X, Z, n_neighbors=k, metric=metric)
    assert_allclose(quality.trustworthiness(X, Z, n_neighbors=k, metric=metric), expected, rtol=1e-12)
    if metric == "euclidean":  # continuity is trustworthiness of the way back
        back = sklearn_trustworthiness(Z, X, n_neighbors=k)
        assert_allclose(quality.continuity(X, Z, n_neighbors=k), back, rtol=1e-12)


@pytest.mark.parametrize("k", [5, 20, 40])
def test_trustworthiness_continuity_mrre_and_lcmc_are_those_of_zadu(rng, k):
    pytest.importorskip("zadu")
    from zadu.measures import (
        local_continuity_meta_criteria,
        mean_relative_rank_error,
        trustworthiness_continuity,
    )

    X = rng.normal(size=(120, 5))
    Z = X[:, :2] + 0.2 * rng.normal(size=(120, 2))
    found = assess(X, Z, n_neighbors=k, measures="ranks").at(k)
    peers = (trustworthiness_continuity, mean_relative_rank_error, local_continuity_meta_criteria)
    expected = {name: value for peer in peers for name, value in peer.measure(X, Z, k=k).items()}
    assert set(expected) == {"trustworthiness", "continuity", "mrre_false", "mrre_missing", "lcmc"}
    for name, value in expected.items():
        assert_allclose(found[name].value, value, atol=1e-9, err_msg=name)
