"""A selection against the nearest rows in the data: who was left out, who is a stranger."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isentropic._core.errors import InvalidInputError
from isentropic.quality import check_selection, corrected_selection


def plain_check(lists, inside):
    """Row by row, with sets."""
    chosen = {i for i, flag in enumerate(inside) if flag}
    count = {i: len(chosen & set(near)) for i, near in enumerate(lists)}
    k = len(lists[0])
    left_out = {i for i in count if i not in chosen and 2 * count[i] > k}
    strangers = {i for i in chosen if 2 * count[i] < k}
    return sum(count[i] for i in chosen) / (k * len(chosen)), left_out, strangers


def plain_correction(lists, inside, order):
    """One row at a time, in a given order: who was left out joins until nobody is, then strangers leave."""
    inside = list(inside)
    for joining in (True, False):
        moved = True
        while moved and any(inside):
            _, left_out, strangers = plain_check(lists, inside)
            moved = next((i for i in order if i in (left_out if joining else strangers)), None) is not None
            if moved:
                inside[next(i for i in order if i in (left_out if joining else strangers))] = joining
    return np.flatnonzero(inside)


@st.composite
def graphs(draw):
    n, k = draw(st.integers(4, 24)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lists = np.array([rng.choice(np.delete(np.arange(n), i), k, replace=False) for i in range(n)])
    inside = rng.random(n) < draw(st.floats(0.1, 0.9))
    inside[rng.integers(n)] = True
    return lists, inside, rng.permutation(n)


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_it_agrees_with_sets_and_with_one_row_at_a_time(made):
    lists, inside, order = made
    kept, left_out, strangers = plain_check(lists, inside)
    found = check_selection(lists, inside)
    assert found.inside == pytest.approx(kept)
    assert (set(found.left_out), set(found.strangers)) == (left_out, strangers)
    np.testing.assert_array_equal(corrected_selection(lists, inside), plain_correction(lists, inside, order))


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_a_corrected_selection_is_settled(made):
    lists, inside, _ = made
    corrected = corrected_selection(lists, inside)
    if len(corrected):
        found = check_selection(lists, corrected)
        assert len(found.left_out) == len(found.strangers) == 0
        np.testing.assert_array_equal(corrected_selection(lists, corrected), corrected)


def clustered_lists(seed, sizes=(200, 200, 200), k=10):
    """Every row has its neighbours anywhere in its own cluster: the hardest case for half of one."""
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes])
    return np.array(
        [
            start + rng.choice(np.delete(np.arange(size), i), k, replace=False)
            for start, size in zip(starts, sizes, strict=False)
            for i in range(size)
        ]
    )


def test_half_of_a_group_becomes_the_whole_group_and_strangers_leave():
    for seed in range(10):
        rng = np.random.default_rng(100 + seed)
        lists = clustered_lists(seed)
        half = rng.choice(200, 100, replace=False)
        strangers = 200 + rng.choice(400, 30, replace=False)
        rows = np.concatenate([half, strangers])
        assert set(strangers) <= set(check_selection(lists, rows).strangers)
        np.testing.assert_array_equal(corrected_selection(lists, rows), np.arange(200))


def test_chance_is_what_rows_drawn_at_random_have():
    lists = clustered_lists(0)
    rng = np.random.default_rng(0)
    drawn = [check_selection(lists, rng.choice(600, 150, replace=False)) for _ in range(200)]
    assert np.mean([one.inside for one in drawn]) == pytest.approx(drawn[0].chance, abs=0.01)


def test_exactly_half_of_the_neighbours_is_neither():
    lists = np.array([[1, 2], [0, 3], [3, 0], [2, 1]])
    found = check_selection(lists, [0, 1])
    assert (found.inside, len(found.left_out), len(found.strangers)) == (0.5, 0, 0)


def test_flags_and_positions_say_the_same():
    lists, flags = clustered_lists(1), np.arange(600) % 7 < 2
    by_flags, by_rows = (corrected_selection(lists, rows) for rows in (flags, np.flatnonzero(flags)))
    np.testing.assert_array_equal(by_flags, by_rows)


@pytest.mark.parametrize(
    ("neighbors", "rows", "message"),
    [
        (np.zeros((3, 2)), [0], r"neighbors must be positions of rows \(n, k\)"),
        (np.array([[1], [3]]), [0], "neighbors must be positions of 2 rows, got '1 to 3'"),
        (np.array([[1], [0]]), np.zeros(2, dtype=bool), "rows must be at least one row, got 'none'"),
        (np.array([[1], [0]]), [2], "rows must be positions from 0 to 1, got 2 to 2"),
    ],
)
def test_bad_selections(neighbors, rows, message):
    with pytest.raises(InvalidInputError, match=message):
        check_selection(neighbors, rows)
