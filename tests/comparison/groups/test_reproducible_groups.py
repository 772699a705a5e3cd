"""Groups that disjoint halves of the rows show again are real; clouds, curves and copies have none."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import HDBSCAN

from isentropic import PCA, datasets, registry
from isentropic._core.errors import InvalidInputError
from isentropic.comparison import collect_page_data, compare, test_groups, verdict
from isentropic.comparison.explain.explanation import Difference, Explanation
from isentropic.comparison.groups.cluster_tree import ClusterTree, accept_clusters, cluster_tree, jaccard
from isentropic.comparison.groups.column_groups import _Levels, _says_the_same
from isentropic.comparison.groups.reproducible_groups import (
    _is_curve,
    group_names,
    group_test_of_run,
)
from isentropic.distances import is_gower


def embed(X):
    """A map of which the test can fit another one."""
    return PCA().fit_transform(X)


def planted(seed, n=160, apart=6.0, m=4, k=2):
    """Round groups in m columns, and whose each row is."""
    rng = np.random.default_rng(seed)
    own = rng.permutation(np.arange(n) % k)
    return rng.normal(size=(n, m)) + apart / np.sqrt(2) * np.eye(m)[own], own


def answered(X, **options):
    return test_groups(X, embed(X), embed, **options)


# ---- the tree ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_chosen_clusters_are_those_of_scikit_learn(seed):
    Z = embed(planted(seed, n=240, apart=5.0, k=3)[0])
    found = cluster_tree(Z, 5).clusters
    labels = HDBSCAN(min_cluster_size=8, min_samples=12, copy=True).fit_predict(Z)
    assert labels.max() >= 1
    assert found.shape[1] == labels.max() + 1
    for label in range(labels.max() + 1):  # the same up to rows that equal distances leave to chance
        assert jaccard(found, (labels == label)[:, None]).max() > 0.95


def test_children_are_disjoint_parts_of_their_parent():
    Z = embed(planted(0, n=240, apart=5.0, k=3)[0])
    tree = cluster_tree(Z, 5)
    assert (tree.parents >= 0).sum() >= 4
    for cluster, parent in enumerate(tree.parents):
        assert parent < cluster
        if parent >= 0:
            assert not (tree.members[:, cluster] & ~tree.members[:, parent]).any()
        for other in range(cluster):
            if tree.parents[other] == parent:
                assert not (tree.members[:, cluster] & tree.members[:, other]).any()
    assert (tree.clusters.sum(axis=1) <= 1).all()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_clusters_have_no_unit(scale):
    Z = embed(planted(0)[0])
    np.testing.assert_array_equal(cluster_tree(Z * scale, 5).members, cluster_tree(Z, 5).members)


def test_one_place_has_no_clusters_of_its_own():
    assert cluster_tree(np.zeros((40, 2)), 30).members.shape == (40, 0)


# ---- the halves --------------------------------------------------------------------------------


def test_jaccard_is_that_of_the_worse_side():
    flags = np.random.default_rng(0).random((2, 30, 4)) < 0.4
    for i, first in enumerate(flags[0].T):
        for j, second in enumerate(flags[1].T):
            sides = [(a & b).sum() / (a | b).sum() for a, b in ((first, second), (~first, ~second))]
            assert jaccard(*flags)[i, j] == pytest.approx(min(sides))


def test_a_branch_is_a_group_unless_two_inside_it_are():
    parents = np.array([-1, -1, 0, 0, 1, 1])
    tree = ClusterTree(np.zeros((9, 6), bool), parents, np.zeros(6, bool))
    chosen = np.array([0.0, 0.8, 0.9, 0.75, 0.72, 0.1])
    branches = np.array([0.95, 0.79, 0.7, 0.7, 0.7, 0.7])
    assert accept_clusters(tree, chosen, branches) == {2: 0.9, 3: 0.75, 1: 0.8}
    assert accept_clusters(tree, np.zeros(6), branches) == {0: 0.95}
    assert accept_clusters(tree, np.zeros(6), np.full(6, 0.79)) == {}
    assert accept_clusters(tree, chosen, branches, on_curve=True) == {2: 0.9}


@pytest.mark.parametrize("k", [2, 3])
def test_planted_groups_are_found_again(k):
    for seed in range(4):
        X, own = planted(seed, k=k, n=180)
        found = answered(X)
        assert found.answer == "groups"
        assert len(found.groups) == k
        for group in found.groups:
            assert np.bincount(own[group.rows]).max() > 0.95 * len(group.rows)
            assert 0.65 <= group.reproducibility <= 1.0
            assert group.made_by == ()


@pytest.mark.parametrize("kind", ["normal", "uniform", "lognormal", "ring"])
def test_noise_has_no_groups(kind):
    false = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        turn = rng.uniform(0, 2 * np.pi, 200)
        X = {
            "normal": rng.normal(size=(200, 5)),
            "uniform": rng.uniform(size=(200, 2)),
            "lognormal": rng.lognormal(size=(200, 5)),
            "ring": np.column_stack([np.cos(turn), np.sin(turn)]) + 0.05 * rng.normal(size=(200, 2)),
        }[kind]
        false += answered(X).answer != "none"
    assert false <= 1


def test_a_map_that_tears_a_cloud_shows_no_groups():
    X = np.random.default_rng(0).normal(size=(200, 4))
    Z = embed(X) + 20.0 * (np.random.default_rng(1).random((200, 1)) < 0.5)
    assert test_groups(X, Z, embed).answer == "none"


def test_copies_of_rows_are_no_groups():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X = np.repeat(X, 15, axis=0)
    assert answered(X).answer == "none"
    planted_X, own = planted(0)
    copied = np.concatenate([planted_X, planted_X[:60]])
    found = answered(copied)
    assert found.answer == "groups"
    for group in found.groups:
        np.testing.assert_array_equal(
            np.isin(np.arange(60), group.rows), np.isin(np.arange(160, 220), group.rows)
        )
    assert sum(len(group.rows) for group in found.groups) > 210
    assert len(own) == 160


def test_threads_and_the_order_of_rows_change_nothing():
    X, _ = planted(3, apart=5.0)
    found, alone = answered(X), answered(X, n_jobs=1)
    order = np.random.default_rng(0).permutation(len(X))
    moved = answered(X[order])
    assert json.dumps(found.to_json()) == json.dumps(alone.to_json())
    np.testing.assert_array_equal(moved.groups.labels, found.groups.labels[order])
    assert [g.stability for g in moved.groups] == [g.stability for g in found.groups]


def test_of_many_rows_a_sample_is_tested_and_all_are_named(monkeypatch):
    monkeypatch.setattr("isentropic.comparison.groups.reproducible_groups._MOST_ROWS", 120)
    sizes = []

    def counted(X):
        sizes.append(len(X))
        return embed(X)

    X, own = planted(0, n=500)
    found = test_groups(X, embed(X), counted)
    assert sizes == [60] * 8
    assert len(found.groups) == 2
    assert sum(len(group.rows) for group in found.groups) > 450
    assert all(np.bincount(own[group.rows]).max() > 0.95 * len(group.rows) for group in found.groups)


def test_a_map_of_one_coordinate_is_tested():
    X, _ = planted(0, apart=8.0)
    line = PCA(n_components=1)
    assert test_groups(X, line.fit_transform(X), line.fit_transform).answer == "groups"


# ---- what cannot be tested ---------------------------------------------------------------------


def test_what_is_not_tested_says_why():
    X, _ = planted(0, n=29, apart=9.0)
    found = answered(X)
    assert (found.answer, found.reason) == ("not tested", "Not tested below 30 rows.")
    copies = np.tile(X, (3, 1))
    assert answered(copies).reason == "Not tested below 30 distinct rows."
    assert "distance matrix" in test_groups(np.eye(40), np.eye(40)[:, :2], embed, metric="precomputed").reason

    def refuses(X):
        raise InvalidInputError("X must have more rows.")

    X, _ = planted(0)
    found = test_groups(X, embed(X), refuses)
    assert (found.answer, len(found.groups), found.n_splits) == ("not tested", 0, 0)
    assert found.reason.endswith("by themselves: X must have more rows.")


def test_bad_input_says_what_to_give():
    X, _ = planted(0)
    with pytest.raises(InvalidInputError, match="Z must be a map of the 160 rows of X, got 150"):
        test_groups(X, embed(X)[:150], embed)
    with pytest.raises(InvalidInputError, match="n_splits must be"):
        answered(X, n_splits=0)


# ---- columns -----------------------------------------------------------------------------------


def test_a_group_that_one_column_makes_is_named_so():
    rng = np.random.default_rng(0)
    flag = rng.random(200) < 0.4
    X = np.column_stack([rng.normal(size=(200, 3)), 8.0 * flag])
    found = answered(X)
    assert [group.made_by for group in found.groups] == [("column 3",), ("column 3",)]
    assert found.made_by == ("column 3",)
    # a column that says the same is no other one
    twin = np.column_stack([X, 8.0 * flag * rng.uniform(0.9, 1.1, size=200)])
    assert answered(twin).made_by == ("column 3",)
    # where other columns show the group together, no column makes it alone
    X[:, :3] += 2.8 * flag[:, None]
    assert len(answered(X).groups) == 2
    assert answered(X).made_by == ()


def test_groups_that_two_columns_make_together_are_named_so():
    rng = np.random.default_rng(1)
    flag, amount = rng.random(300) < 0.5, np.where(rng.random(300) < 0.5, rng.uniform(8.0, 9.0, 300), 0.0)
    X = np.column_stack([rng.normal(size=(300, 3)), 8.0 * flag, amount])
    found = answered(X)
    assert len(found.groups) == 4
    assert {group.made_by for group in found.groups} == {("column 3", "column 4")}
    assert found.made_by == ("column 3", "column 4")


@pytest.mark.parametrize("seed", range(4))
def test_groups_of_a_table_of_few_values_are_groups(seed):
    """Combined levels tell any group in the rows that they are learnt from: held-out rows decide."""
    rng = np.random.default_rng(seed)
    centers = 4.0 * rng.normal(size=(3, 6))
    X = np.round((centers[np.arange(240) % 3] + rng.normal(size=(240, 6))) / 2.0)
    found = answered(X)
    assert len(found.groups) > 1
    assert found.made_by == ()


def test_columns_of_many_rare_levels_do_not_say_the_same(rng):
    weights = 1.0 / np.arange(1, 31)
    one, other = (rng.choice(30, 500, p=weights / weights.sum()) for _ in range(2))
    assert not _says_the_same(_Levels("a", one, slice(0, 1)), _Levels("b", other, slice(1, 2)))
    assert _says_the_same(_Levels("a", one, slice(0, 1)), _Levels("b", one // 2, slice(1, 2)))


def test_one_coordinate_is_a_curve(rng):
    assert _is_curve(rng.uniform(size=(200, 1)), 1)


@pytest.mark.parametrize("seed", range(5))
def test_round_clumps_are_no_curve_and_rings_are(seed):
    rng = np.random.default_rng(seed)
    clumps = rng.normal(size=(400, 2)) + 12.0 * rng.integers(0, 2, size=(400, 2))
    angle = rng.uniform(0.0, 2.0 * np.pi, 400)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0 + 0.05 * rng.normal(size=(400, 1)))
    assert not _is_curve(clumps, 1)
    assert _is_curve(ring, 1)
    assert not _is_curve(rng.uniform(size=(400, 2)), 1)


def test_mixed_tables_with_missing_values_are_tested_by_their_metric():
    rng = np.random.default_rng(0)
    own = rng.permutation(np.arange(120) % 2)
    frame = pd.DataFrame(rng.normal(size=(120, 3)) + 5.0 * own[:, None], columns=["a", "b", "c"])
    frame["d"] = np.where(own == 1, "up", "down")
    frame.iloc[3, 0] = np.nan
    table = datasets.load(frame, missing="keep", metric="gower")
    assert is_gower(table.metric)

    def by_gower(X):
        return registry.make("classical-mds", metric=table.metric).fit_transform(X)

    found = test_groups(table.X, by_gower(table.X), by_gower, table=table, metric=table.metric)
    assert [len(group.rows) for group in found.groups] == [60, 60]
    assert [group.made_by for group in found.groups] == [(), ()]
    assert all("up" in group.name or "down" in group.name for group in found.groups)


def difference(column, auc, level=""):
    lift = 2.0 if level else None
    return Difference(column, level, auc, lift, 0.0, 1.0, 1e-9, 0.9, 0.1)


def test_names_have_at_most_two_columns():
    def told(*differences):
        return Explanation(differences, 50, 50, 3, 3, 0.01)

    gentoo = told(
        difference("species", 0.99, "Gentoo"), difference("flipper", 0.98), difference("mass", 0.97)
    )
    adelie = told(difference("species", 0.1, "Gentoo"), difference("flipper", 0.05))
    weak, yes = told(difference("mass", 0.65)), told(difference("private", 0.9, "Yes"))
    names = group_names([gentoo, adelie, weak, yes, None, adelie])
    assert names[0] == "Gentoo, high flipper"
    assert names[1] == "low flipper, not Gentoo (1)"
    assert names[2:] == ["group 3", "private Yes", "group 5", "low flipper, not Gentoo (2)"]


# ---- comparisons -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared():
    X, _ = planted(1, n=120, apart=10.0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    table = datasets.load(frame)
    return table, compare(table.X, None, ["pca"], preset="quick")


def test_the_page_has_the_groups_that_were_tested(compared):
    table, runs = compared
    drawn = collect_page_data(table, runs, verdict(runs))
    assert drawn.group_test.answer == "groups"
    assert drawn.groups is drawn.group_test.groups
    again = group_test_of_run(table, runs[0], embed=PCA().fit_transform)
    assert json.dumps(again.to_json()) == json.dumps(drawn.group_test.to_json())


def test_a_map_that_saw_the_classes_or_has_no_name_is_not_tested(compared):
    table, runs = compared
    assert "fitted with the classes" in group_test_of_run(table, replace(runs[0], saw_classes=True)).reason
    unknown = group_test_of_run(table, replace(runs[0], method="mine"))
    assert (unknown.answer, len(unknown.groups)) == ("not tested", 0)
    assert "mine is no method of the registry" in unknown.reason
