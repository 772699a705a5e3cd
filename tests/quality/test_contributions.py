"""What assess adds to the measures of ranks: everything is there, from all rows and from some."""

from collections import Counter

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isentropic import config_context
from isentropic.distances import metrics, sources
from isentropic.quality import assess, pairwise
from isentropic.quality.assessment import class_measures, contributions
from isentropic.quality.class_measures import kappa, knn_accuracy, silhouette
from isentropic.quality.distance_measures import (
    kendall_tau,
    kruskal_stress,
    neighborhood_stress,
    pearson_r,
    residual_variance,
    sammon_stress,
)
from isentropic.quality.inputs import both_sides
from isentropic.quality.ranks import rank_sums
from isentropic.quality.ranks.topology import konig_measure, retained_structure, topological_product


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 4)) * [3, 2, 1, 0.5]


@pytest.fixture
def Z(X, rng):
    return X[:, :2] + 0.2 * rng.normal(size=(60, 2))


@pytest.fixture
def y(X):
    return np.digitize(X[:, 0], [-2, 2])


def test_each_measure_is_that_of_its_function(X, Z, y):
    found = assess(X, Z, y, n_neighbors=7).measures
    expected = {
        "kendall_tau": kendall_tau(X, Z).value,
        "pearson_r": pearson_r(X, Z).value,
        "residual_variance": residual_variance(X, Z),
        "raw_stress": kruskal_stress(X, Z, kind="raw"),
        "normalized_stress": kruskal_stress(X, Z),
        "scaled_stress": kruskal_stress(X, Z, kind="scaled"),
        "sammon_stress": sammon_stress(X, Z),
        "neighborhood_stress": neighborhood_stress(X, Z, 7),
        "scaled_neighborhood_stress": neighborhood_stress(X, Z, 7, kind="scaled"),
        "topological_product": topological_product(X, Z),
        "konig_measure": konig_measure(X, Z),
        "retained_structure_error": retained_structure(X, Z).error,
        "silhouette": silhouette(Z, y),
        "knn_accuracy": knn_accuracy(Z, y, 7),
        "kappa": kappa(Z, y, 7),
    }
    for name, value in expected.items():
        assert found[name].exact, name
        assert found[name].value == pytest.approx(value, rel=1e-12), name


def test_sampled_rows_give_intervals_that_hold_the_value(X, Z, y):
    exact = assess(X, Z, y, n_neighbors=7).measures
    found = assess(X, Z, y, n_neighbors=7, sample=40, random_state=1).measures
    assert set(found) == set(exact)
    for contribute in contributions():
        for name in contribute(*both_sides(X, Z), y=y, n_neighbors=7):
            width = found[name].high - found[name].low
            assert found[name].low - width <= exact[name].value <= found[name].high + width, name


def test_short_memory_draws_pairs(X, Z):
    with config_context(memory_limit=2**22):
        found = assess(X, Z).measures
    assert not found["kendall_tau"].exact
    assert found["raw_stress"].exact
    assert found["kendall_tau"].low <= kendall_tau(X, Z).value <= found["kendall_tau"].high


def test_without_classes_there_is_nothing_to_say(X, Z):
    assert class_measures(*both_sides(X, Z)) == {}


def test_what_a_map_of_one_point_leaves_undefined_becomes_a_note(X, y):
    with pytest.warns(match="All rows of Z are equal"):
        found = assess(X, np.ones((60, 2)), y)
    told = (
        "Z must be rows at different distances, or kendall_tau, spearman_rho, pearson_r and residual_variance"
    )
    assert any(note.startswith(told) for note in found.notes)
    undefined = {"kendall_tau", "residual_variance", "topological_product", "scaled_stress"}
    assert not undefined & set(found.measures)
    assert found.measures["normalized_stress"].value == pytest.approx(1)


def test_targets_that_are_no_classes_become_a_note(X, Z):
    found = assess(X, Z, np.linspace(0, 1, 60))
    assert any("y must be classes as text or whole numbers" in note for note in found.notes)
    assert "kendall_tau" in found.measures


# ---- once --------------------------------------------------------------------------------------


def counting(monkeypatch, *places):
    """How often each of the functions is called from there on."""
    calls = Counter()
    for module, name in places:
        original = getattr(module, name)

        def counted(*args, name=name, original=original, **options):
            calls[name] += 1
            return original(*args, **options)

        monkeypatch.setattr(module, name, counted)
    return calls


def test_pairs_are_summed_once_and_rows_ordered_once(X, Z, y, monkeypatch):
    calls = counting(
        monkeypatch,
        (pairwise, "all_pair_sums"),
        (pairwise, "store_distances"),
        (rank_sums, "compare_points"),
        (rank_sums, "row_orders"),
    )
    assess(X, Z, y)
    assert calls == {"all_pair_sums": 1, "store_distances": 1, "compare_points": 1}


def test_a_matrix_is_checked_once(X, Z, monkeypatch):
    D = cdist(X, X)
    calls = counting(monkeypatch, (metrics, "asymmetry"), (sources._Checked, "_usable"))
    found = assess(D, Z, metric="precomputed")
    assert calls == {"asymmetry": 1}
    assert found.measures["kendall_tau"].value == pytest.approx(assess(X, Z).measures["kendall_tau"].value)
