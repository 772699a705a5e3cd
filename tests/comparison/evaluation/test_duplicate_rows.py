"""Identical rows are mapped and scored once; every row of the table still finds its place."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isentropic import compare, datasets
from isentropic.comparison import maps_frame
from isentropic.comparison.evaluation.duplicate_rows import DuplicateRows
from isentropic.comparison.evaluation.runs import Run
from isentropic.comparison.method_comparison import preset_with, run_comparison

METHODS = ["pca", "t-sne"]


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    return random.normal(size=(80, 2)) @ random.normal(size=(2, 4)) + 0.3 * random.normal(size=(80, 4))


@pytest.fixture(scope="module")
def once(rows):
    return run_comparison(rows, None, METHODS, preset_with("quick"))


@pytest.fixture(scope="module")
def copied(rows):
    """Thirty per cent more rows, all of them copies, the first row three times."""
    order = np.concatenate([np.arange(80), np.arange(23), [0]])
    return run_comparison(rows[order], None, METHODS, preset_with("quick"))


def test_copies_of_rows_change_no_score_and_no_place(once, copied):
    for one, other in zip(once.runs, copied.runs, strict=True):
        assert_array_equal(one.embedding, other.embedding)
        assert one.quality.measures == other.quality.measures
        assert (one.relation, one.without, one.baseline) == (other.relation, other.without, other.baseline)
    assert once.verdict.headline == copied.verdict.headline


def test_a_comparison_says_which_rows_are_copies(once, copied):
    assert once.copies is None
    assert once.row_of is None
    assert once.rows is None
    assert copied.copies.tolist() == [3] + [2] * 22 + [1] * 57
    assert_array_equal(copied.rows, np.arange(80))
    assert_array_equal(copied.row_of, np.concatenate([np.arange(80), np.arange(23), [0]]))
    assert copied.notes == ("104 rows are 80 different ones: identical rows are mapped and scored once.",)
    back = Run.from_json(copied.runs[0].to_json())
    assert_array_equal(back.copies, copied.copies)


def test_every_copy_has_the_place_of_its_first(rows):
    order = np.concatenate([np.arange(80), np.arange(23)])
    table = datasets.load(pd.DataFrame(rows[order]).add_prefix("x"))
    runs = compare(table.X, None, ["pca"], preset="quick")
    frame = maps_frame(table, runs)
    assert len(frame) == 103
    assert_array_equal(frame["pca_0"].to_numpy(), runs[0].embedding[order, 0])
    assert_array_equal(frame["pca_0"][80:].to_numpy(), frame["pca_0"][:23].to_numpy())


def test_the_class_of_copies_is_that_of_most_of_them():
    X = np.array([[1.0], [2], [1], [3], [1], [4], [3]])
    found = DuplicateRows.of(X, np.array([0, 1, 1, 0, 1, 1, -1]))
    assert_array_equal(found.rows, [1, 2, 3, 5])  # 1 stands in row 2, the first of the class that most have
    assert_array_equal(found.row_of, [1, 0, 1, 2, 1, 3, 2])
    assert_array_equal(found.counts, [1, 3, 2, 1])


def test_missing_values_and_signs_of_zero_are_equal_cells():
    holes = np.array([[np.nan, 0.0], [np.nan, -0.0], [1, 2], [3, 4], [5, 6]])
    holes[1, 0] = -np.nan
    assert_array_equal(DuplicateRows.of(holes).row_of, [0, 0, 1, 2, 3])
    assert DuplicateRows.of(np.arange(10.0)[:, None]) is None
    assert DuplicateRows.of(np.ones((10, 2))) is None  # there would be nothing left to compare


def test_a_sample_is_drawn_from_the_different_rows(rows):
    X = np.vstack([rows, rows, rows[:40]])
    found = run_comparison(X, None, ["pca"], preset_with("quick"), most_rows=50)
    assert found.sampled
    assert len(found.rows) == len(np.unique(X[found.rows], axis=0)) == 50
    assert_array_equal(found.copies, np.where(found.rows < 40, 3, 2))
    if found.full_run is not None:
        assert len(found.full_run.embedding) == 80
        assert found.full_run.rows is None
        assert_array_equal(found.full_run.copies, [3] * 40 + [2] * 40)
    assert_array_equal(found.runs[0].rows, found.rows)
    local = found.in_distinct_rows()
    assert_array_equal(local.runs[0].rows, found.row_of[found.rows])
