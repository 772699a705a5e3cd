"""Every measure of few rows, and of tables with one place or two: as the plain twins say, or undefined."""

import numpy as np
import pytest

from isentropic._core.errors import InvalidInputError, UndefinedMeasureError
from isentropic.quality import assess
from isentropic.quality.assessment import distance_measures, topology_measures
from isentropic.quality.class_measures import kappa, knn_accuracy, silhouette
from isentropic.quality.distance_measures import (
    kendall_tau,
    kruskal_stress,
    neighborhood_stress,
    pearson_r,
    residual_variance,
    sammon_stress,
    spearman_rho,
)
from isentropic.quality.inputs import both_sides
from isentropic.quality.ranks.topology import konig_measure, retained_structure, topological_product
from naive import (
    condensed,
    distances,
    naive_kappa,
    naive_kendall_tau,
    naive_konig_measure,
    naive_local_and_global,
    naive_neighborhood_stress,
    naive_neighbors,
    naive_pearson_r,
    naive_rank_matrix,
    naive_rank_measures,
    naive_rnx_auc,
    naive_sammon_stress,
    naive_silhouettes,
    naive_spearman_rho,
    naive_stress,
    naive_topological_product,
    naive_votes,
)
from naive_near import naive_near_share

pytestmark = pytest.mark.filterwarnings("ignore:All rows of")

TABLES = {
    "free": lambda random, n, m: random.normal(size=(n, m)),
    "whole numbers": lambda random, n, m: random.integers(0, 3, size=(n, m)).astype(float),
    "two places": lambda random, n, m: np.repeat([[0.0], [2.0]], [n - n // 2, n // 2], axis=0) * np.ones(m),
    "one place": lambda random, n, m: np.full((n, m), 3.0),
}


# ---- what the twins say ------------------------------------------------------------------------


def over_pairs(D, E):
    d, z = condensed(D), condensed(E)
    varied = len(set(d.tolist())) > 1 and len(set(z.tolist())) > 1
    found = dict.fromkeys(("kendall_tau", "spearman_rho", "pearson_r", "residual_variance"))
    if varied:
        r = naive_pearson_r(d, z)
        found = {
            "kendall_tau": naive_kendall_tau(d, z),
            "spearman_rho": naive_spearman_rho(d, z),
            "pearson_r": r,
            "residual_variance": 1 - r * r,
        }
    return {
        **found,
        "raw_stress": naive_stress(d, z, "raw"),
        "normalized_stress": naive_stress(d, z, "normalized") if d.any() else None,
        "scaled_stress": naive_stress(d, z, "scaled") if d.any() and z.any() else None,
        "sammon_stress": naive_sammon_stress(d, z) if d.any() else None,
    }


def over_neighbors(D, E, k):
    n, near = len(D), naive_neighbors(D, k)[0]
    d = np.array([D[i, j] for i in range(n) for j in near[i]])
    z = np.array([E[i, j] for i in range(n) for j in near[i]])
    product, skipped = naive_topological_product(D, E)
    return {
        "neighborhood_stress": naive_neighborhood_stress(D, E, near) if d.any() else None,
        "scaled_neighborhood_stress": naive_stress(d, z, "scaled") if d.any() and z.any() else None,
        "topological_product": product if skipped < n * (n - 1) else None,
        "konig_measure": naive_konig_measure(D, E, 4, 10),
        "retained_structure_error": np.abs(naive_rank_matrix(D) - naive_rank_matrix(E)).sum(),
    }


def over_ranks(D, E, k):
    R, r = naive_rank_matrix(D), naive_rank_matrix(E)
    shown = {f"{name}({k})": value for name, value in naive_rank_measures(R, r, k).items() if name != "q_nx"}
    _, q_local, q_global = naive_local_and_global(R, r)
    if k < len(D) - 1:
        shown[f"near_neighbors({k})"] = naive_near_share(D, E, k)[2]
    areas = {"rnx_auc": naive_rnx_auc(R, r), "rnx_local": naive_rnx_auc(R, r, k)}
    return {**shown, **areas, "q_local": q_local, "q_global": q_global}


def over_classes(E, y, k):
    votes = naive_votes(E, y, k)
    return {
        "silhouette": naive_silhouettes(E, y).mean() if len(set(y)) < len(y) else None,
        "knn_accuracy": np.mean(np.array(votes) == y),
        "kappa": naive_kappa(y, votes),
    }


def assert_as_the_twins(found, twins):
    """Each measure has the twin's value; it is missing, and a note names it, where the twin has none."""
    lacking = sorted(set(found.measures) - set(twins))
    assert not lacking, f"{lacking}: add a plain twin to one of the functions over_* of this file"
    for name, value in twins.items():
        if value is None:
            assert name not in found.measures, name
            assert any(name in note for note in found.notes), name
        else:
            left = 1e-8 if name.startswith("scaled") else 1e-12  # the root of what squares leave of 0
            assert found.measures[name].value == pytest.approx(value, rel=1e-10, abs=left), name


@pytest.mark.parametrize("mapped", TABLES)
@pytest.mark.parametrize("given", TABLES)
@pytest.mark.parametrize("n", range(3, 9))
def test_every_measure_is_that_of_its_twin(n, given, mapped):
    random = np.random.default_rng(n)
    X, Z = TABLES[given](random, n, 3), TABLES[mapped](random, n, 2)
    D, E, y = distances(X), distances(Z), [i % 2 for i in range(n)]
    for k in {1, n // 2, n - 1}:
        twins = {
            **over_ranks(D, E, k),
            **over_pairs(D, E),
            **over_neighbors(D, E, k),
            **over_classes(E, y, k),
        }
        assert_as_the_twins(assess(X, Z, y, n_neighbors=k, n_jobs=1), twins)


def test_the_comparison_with_twins_can_fail():
    X = np.arange(5.0)[:, None] ** 2
    found = assess(X, X)
    twins = {name: measure.value for name, measure in found.measures.items()}
    assert_as_the_twins(found, twins)
    for wrong in ({"konig_measure": 0.5}, {"scaled_stress": None}, {"of nothing": 1.0}):
        with pytest.raises((AssertionError, KeyError)):
            assert_as_the_twins(found, {**twins, **wrong})


# ---- two rows ----------------------------------------------------------------------------------


def test_two_rows_have_a_stress_and_neighbours_but_no_order():
    X, Z, y = np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]]), ["a", "b"]
    d, z = np.array([2.0]), np.array([1.0])
    for kind in ("normalized", "scaled", "raw"):
        assert kruskal_stress(X, Z, kind=kind) == naive_stress(d, z, kind)
    assert sammon_stress(X, Z) == naive_sammon_stress(d, z)
    assert knn_accuracy(Z, y, 1) == 0
    assert kappa(Z, y, 1) == -1
    with pytest.raises(InvalidInputError, match="at most 1 classes"):
        silhouette(Z, y)
    needing_three = (kendall_tau, spearman_rho, pearson_r, residual_variance, neighborhood_stress,
                     konig_measure, topological_product, retained_structure, assess)  # fmt: skip
    for function in needing_three:
        with pytest.raises(InvalidInputError, match="at least 3 rows, got 2"):
            function(X, Z)


# ---- what is undefined -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["kruskal", "neighborhood"])
def test_no_scale_of_a_map_of_one_point_is_best(kind, rng):
    """s z is 0 for every s: what would be scaled is not there, so the stress after scaling is undefined."""
    X, one_place = rng.normal(size=(20, 3)), np.ones((20, 2))
    function = kruskal_stress if kind == "kruskal" else neighborhood_stress
    assert function(X, one_place) == pytest.approx(1.0)
    with pytest.raises(UndefinedMeasureError, match=r"^Z must be rows of which some differ, or scaled_"):
        function(X, one_place, kind="scaled")


def test_what_is_defined_stays_where_its_neighbour_is_not(rng):
    X, one_place = rng.normal(size=(20, 3)), np.ones((20, 2))
    with pytest.raises(UndefinedMeasureError) as caught:
        distance_measures(*both_sides(X, one_place))
    assert [line.split(",")[0] for line in str(caught.value).splitlines()] == [
        "Z must be rows at different distances",
        "Z must be rows of which some differ",
    ]
    assert set(caught.value.defined) == {"raw_stress", "normalized_stress", "sammon_stress"}
    with pytest.raises(UndefinedMeasureError) as caught:
        topology_measures(*both_sides(X, one_place))
    assert set(caught.value.defined) == {"neighborhood_stress", "konig_measure", "retained_structure_error"}


def test_distances_that_differ_by_rounding_have_no_order():
    """The corners of a simplex are equally far apart: the order of what rounding makes of that is chance."""
    corners = np.eye(5) / 3 + 0.1
    found = assess(corners, np.random.default_rng(0).normal(size=(5, 2)), n_neighbors=2)
    assert not {"kendall_tau", "spearman_rho", "pearson_r", "residual_variance"} & set(found.measures)


def test_konig_says_how_many_neighbours_few_rows_leave(rng):
    X = rng.normal(size=(8, 3))
    for n, note in ((3, "k1 = 2, k2 = 2"), (5, "k1 = 4, k2 = 4"), (8, "k1 = 4, k2 = 7")):
        found = assess(X[:n], X[:n]).measures["konig_measure"]
        assert found.value == 1.0  # a perfect map is perfect, of few rows too
        assert found.note == f"{note}, all there are among {n} rows"
    assert assess(np.vstack([X, X]), np.vstack([X, X])).measures["konig_measure"].note == ""
