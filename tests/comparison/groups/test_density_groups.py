"""Groups in a map: planted ones are found and explained, and a cloud has none."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic import find_groups
from isentropic._core.errors import InvalidInputError
from isentropic.comparison.groups.density_groups import _hills
from naive_trust import naive_hills


def planted(seed, sizes=(120, 90, 60), apart=7.0):
    """A map of round groups in a row, their rows shuffled; whose they are."""
    rng = np.random.default_rng(seed)
    own = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.normal(size=(len(own), 2)) + np.column_stack([apart * own, own % 2]), own


def test_planted_groups_are_found():
    for seed in range(5):
        Z, own = planted(seed)
        groups = find_groups(Z)
        assert [round(len(group.rows), -1) for group in groups] == [120, 90, 60]
        assert (groups.labels == own).mean() > 0.97
        assert all(group.stability > 0.9 for group in groups)
        assert [group.name for group in groups] == ["group 1", "group 2", "group 3"]


@pytest.mark.parametrize("n", [200, 500])
def test_a_cloud_has_no_groups(n):
    clouds = [np.random.default_rng(seed).normal(size=(n, 2)) for seed in range(20)]
    assert sum(len(find_groups(Z)) > 0 for Z in clouds) <= 1


def test_a_curve_and_an_even_square_have_no_groups():
    rng = np.random.default_rng(0)
    turn = rng.uniform(0, 2 * np.pi, 300)
    assert len(find_groups(np.column_stack([np.cos(turn), np.sin(turn)]))) == 0
    assert len(find_groups(rng.uniform(size=(600, 2)))) == 0


def test_an_even_line_with_some_width_has_no_groups_and_a_broken_one_has_two():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        line = np.column_stack([rng.uniform(size=1500), rng.normal(scale=1e-3, size=1500)])
        assert len(find_groups(line)) == 0
        assert len(find_groups(line[np.abs(line[:, 0] - 0.4) > 0.02])) == 2


def test_the_hills_are_those_of_the_plain_twin():
    for seed in range(4):
        Z, _ = planted(seed, sizes=(60, 40, 30), apart=4.0)
        Z *= (1.0, 1e-3 if seed == 3 else 1.0)  # the last on a line
        Z = np.concatenate([Z, Z[:20]])  # equal rows are one place
        ours, plain = _hills(Z, 10, None), naive_hills(Z, 10)
        assert len(np.unique(plain)) > 1
        np.testing.assert_array_equal(ours[:, None] == ours, plain[:, None] == plain)
        np.testing.assert_array_equal(ours < 0, plain < 0)


def test_the_columns_of_a_group_are_named():
    Z, own = planted(1)
    table = np.random.default_rng(2).normal(size=(len(Z), 12))
    table[own == 2, 5] += 3.0
    group = find_groups(Z, table)[2]
    assert group.explanation.columns == ("column 5",)
    assert group.lines[0].startswith("column 5 is higher: AUC ")
    assert (group.explanation.n_rows, group.explanation.n_against) == (len(group.rows), 270 - len(group.rows))


def test_outliers_are_no_group_and_leave_the_rest_one_cloud():
    rng = np.random.default_rng(3)
    Z = np.concatenate([rng.normal(size=(300, 2)), [[40.0, 40.0]] * 4])
    assert len(find_groups(Z)) == 0


def test_nodes_of_a_lattice_are_places_of_many_rows():
    """What a self-organising map gives: rows on few nodes, two blocks of which are full."""
    rng = np.random.default_rng(4)
    node = rng.integers(0, 5, size=(600, 2)) + 9 * rng.integers(0, 2, size=(600, 1))
    groups = find_groups(node)
    assert len(groups) == 2
    assert sorted(len(group.rows) for group in groups) == sorted(np.bincount(node[:, 0] > 6).tolist())


def test_row_order_threads_scale_and_place_change_nothing():
    Z, _ = planted(5)
    groups = find_groups(Z, random_state=1)
    moved = find_groups(8.0 * Z + 16.0, random_state=1, n_jobs=1)
    np.testing.assert_array_equal(groups.labels, moved.labels)
    assert [group.stability for group in groups] == [group.stability for group in moved]
    order = np.random.default_rng(0).permutation(len(Z))
    np.testing.assert_array_equal(find_groups(Z[order]).labels, groups.labels[order])


def test_as_json():
    Z, _ = planted(6)
    groups = find_groups(Z, Z)
    told = json.loads(json.dumps(groups.to_json(), allow_nan=False))
    assert [group["n"] for group in told["groups"]] == [len(group.rows) for group in groups]
    assert told["groups"][0]["rows"] == groups[0].rows.tolist()
    assert told["groups"][0]["explanation"]["format"] == "isentropic.explanation/1"


def test_few_rows_and_one_place_have_no_groups():
    for Z in (np.zeros((50, 2)), np.eye(4), np.random.default_rng(0).normal(size=(12, 1))):
        assert len(find_groups(Z)) == 0


@pytest.mark.parametrize("exponent", [-1000, -500, 500, 1000])
def test_groups_have_no_unit(exponent):
    Z, _ = planted(0)
    assert_array_equal(find_groups(np.ldexp(Z, exponent)).labels, find_groups(Z).labels)


def test_bad_input_says_what_to_give():
    Z, _ = planted(0)
    for given, said in (
        ((Z[:, 0],), "Z must be a table with rows and columns"),
        ((np.where(Z > 9, np.nan, Z),), "Z must be finite"),
        (([["a", "b"]] * 30,), "Z must be an array of real numbers"),
        ((Z, Z[:9]), "table must be a table of the 270 rows of Z, got 9"),
    ):
        with pytest.raises(InvalidInputError, match=said):
            find_groups(*given)
    with pytest.raises(InvalidInputError, match="least_stability must be from 0 to 1"):
        find_groups(Z, least_stability=2)
