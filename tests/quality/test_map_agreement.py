"""Two maps of the same rows: which neighbourhoods they share, and how far rows moved."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import procrustes

from isentropic._core.errors import InvalidInputError
from isentropic.quality import map_agreement


@pytest.fixture
def maps(rng):
    Z = rng.normal(size=(150, 2))
    return Z, Z + 0.2 * rng.normal(size=Z.shape)


def test_shares_are_counted_as_sets_are(maps):
    k = 7
    near = [np.argsort(np.linalg.norm(Z[:, None] - Z, axis=2), axis=1)[:, 1 : k + 1] for Z in maps]
    expected = [len(set(a) & set(b)) / k for a, b in zip(*near, strict=True)]
    np.testing.assert_allclose(map_agreement(*maps, n_neighbors=k).shares, expected)


def test_what_moved_agrees_with_scipy(maps):
    """Squares of what remains are scipy's disparity, in units of the first map's size."""
    first, second = maps
    found = map_agreement(first, second)
    size = np.linalg.norm(first - first.mean(axis=0))
    remains = found.moved * np.ptp(first, axis=0).max() / size
    assert (remains**2).sum() == pytest.approx(procrustes(first, second)[2])
    assert found.correlation**2 == pytest.approx(1.0 - procrustes(first, second)[2])


def test_a_group_that_moved_together_agrees_and_one_that_was_scattered_does_not(rng):
    """What is asked is who is whose neighbour, not who is where."""
    first = np.concatenate([rng.normal(size=(40, 2)) + corner for corner in ([0, 0], [9, 0], [0, 9])])
    second = first.copy()
    second[:40] += [30.0, 40.0]  # as one
    second[40:80] = rng.normal(size=(40, 2)) + np.array([9, 0])  # the same place, other neighbours
    groups = np.repeat(["moved", "scattered", "kept"], 40)
    found = map_agreement(first, second, n_neighbors=8)
    changed = found.by_group(groups)
    assert changed[0].name == "scattered"
    assert changed[0].share < 0.5
    assert {group.name: group.share for group in changed[1:]} == {"moved": 1.0, "kept": 1.0}
    assert {group.n_rows for group in changed} == {40}


def test_it_does_not_matter_which_map_comes_first_or_who_counts(maps):
    first, second = maps
    np.testing.assert_array_equal(map_agreement(first, second).shares, map_agreement(second, first).shares)
    np.testing.assert_array_equal(
        map_agreement(first, second, n_jobs=1).shares, map_agreement(first, second, n_jobs=2).shares
    )


def test_maps_of_other_dimensions(maps, rng):
    first = maps[0]
    flat = np.column_stack([first, np.zeros(len(first))])
    assert map_agreement(first, flat).mean == 1.0
    assert map_agreement(flat, first).moved.max() < 1e-9


def test_one_point_and_all_rows():
    same = np.zeros((5, 2))
    found = map_agreement(same, same, n_neighbors=4)
    assert found.mean == 1.0
    assert np.isfinite(found.moved).all()


@pytest.mark.parametrize(("size", "other"), [(1000, 0), (0, -1000), (-1000, 1000)])
def test_agreement_has_no_unit(maps, size, other):
    first, second = maps
    expected, found = (
        map_agreement(first, second),
        map_agreement(np.ldexp(first, size), np.ldexp(second, other)),
    )
    assert_array_equal(found.shares, expected.shares)
    assert_allclose(found.moved, expected.moved, rtol=1e-9)
    assert found.correlation == pytest.approx(expected.correlation, abs=1e-12)


@pytest.mark.parametrize("place", [0.1, 1e-310, 1e30, -1.7e308])
def test_a_map_of_one_place_agrees_with_none_but_its_like(place):
    """Its mean may be rounded, which is no spread."""
    one, other = np.full((7, 2), place), np.random.default_rng(0).normal(size=(7, 2))
    for maps, correlation in (
        ((one, other), 0.0),
        ((other, one), 0.0),
        ((one, 3 * other[:1] + 0 * one), 1.0),
    ):
        found = map_agreement(*maps, n_neighbors=2)
        assert found.correlation == correlation
        assert np.isfinite(found.moved).all()


@pytest.mark.parametrize(
    ("first", "second", "k", "message"),
    [
        (np.zeros((5, 2)), np.zeros((4, 2)), 2, "second must be a map of the same 5 rows, got '?4 rows"),
        (np.zeros((5, 2)), np.zeros((5, 2)), 5, "n_neighbors must be from 1 to 4"),
        (np.zeros(5), np.zeros((5, 2)), 2, "first must be a table with rows and columns"),
        (np.full((5, 2), np.nan), np.zeros((5, 2)), 2, "first must be finite everywhere"),
        (np.zeros((2, 2)), np.zeros((2, 2)), 1, "at least 3 rows"),
    ],
)
def test_bad_maps(first, second, k, message):
    with pytest.raises(InvalidInputError, match=message):
        map_agreement(first, second, n_neighbors=k)


def test_groups_of_other_rows(maps):
    with pytest.raises(InvalidInputError, match="groups must be one for each of 150 rows"):
        map_agreement(*maps).by_group(["a", "b"])
