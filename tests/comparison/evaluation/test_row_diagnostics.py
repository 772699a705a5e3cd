"""What is said of single rows: kept in a Run, in JSON, and where maps agree."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from isentropic import Run, compare
from isentropic._core.errors import DeadlineError, FileFormatError
from isentropic.comparison import verdict
from isentropic.comparison.evaluation.row_diagnostics import with_jumps
from isentropic.comparison.page_data import agreed_neighbors
from isentropic.quality import row_tests
from naive_trust import naive_shared


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    turn = rng.uniform(0, 2 * np.pi, 160)
    return np.column_stack([np.cos(turn), np.sin(turn), 1.5 * rng.random(160)])


@pytest.fixture(scope="module")
def runs(X):
    chosen = {"pca": {}, "t-sne": {"init": "random"}, "mine": lambda X: X[:, :2]}
    return compare(X, methods=chosen, preset="quick", n_seeds=2)


def test_every_map_has_its_rows_tested(X, runs):
    for run in runs:
        found = row_tests(X, run.embedding, rows=run.quality.rows)
        np.testing.assert_array_equal(run.row_diagnostics.p, found.p)
        assert run.row_diagnostics.by_chance == found.by_chance
        assert run.row_diagnostics.doubtful_share == len(found.doubtful) / len(X)


@pytest.fixture(scope="module")
def alone(X):
    """Each method in a comparison of its own, in which its map is the one that is shown."""
    chosen = {"pca": {}, "t-sne": {"init": "random"}, "mine": lambda X: X[:, :2]}
    return [compare(X, methods={name: given}, preset="quick")[0] for name, given in chosen.items()]


def test_a_map_that_is_shown_is_walked_if_it_can_place_rows(alone):
    pca, sne, mine = (run.row_diagnostics for run in alone)
    assert len(pca.walked) == len(pca.jumps) == len(sne.walked) == 100
    assert pca.jumping_share == 0.0
    assert sne.jumping_share > 0.0  # a closed band that it must tear
    assert mine.walked is mine.jumps is mine.jumping_share is None


def test_only_the_shown_map_is_walked_unless_the_preset_is_thorough(X, tmp_path):
    methods = {"pca": {}, "isomap": {}}
    first = compare(X, methods=methods, preset="quick", folder=tmp_path)
    shown = verdict(first).shown
    assert [run.row_diagnostics.walked is not None for run in first] == [i == shown for i in range(2)]
    again = compare(X, methods=methods, preset="quick", folder=tmp_path)  # read back
    np.testing.assert_array_equal(again[shown].row_diagnostics.jumps, first[shown].row_diagnostics.jumps)
    other = "isomap" if shown == 0 else "pca"  # now that one is shown, and its model is fitted again
    (run,) = compare(X, methods=[other], preset="quick", folder=tmp_path)
    (fresh,) = compare(X, methods=[other], preset="quick")
    np.testing.assert_array_equal(run.row_diagnostics.jumps, fresh.row_diagnostics.jumps)
    every = compare(X[:60], methods=methods, preset="thorough", tune=False)
    assert all(run.row_diagnostics.walked is not None for run in every)


def test_maps_that_draw_say_what_changes_with_the_seed(runs):
    pca, sne, _ = (run.row_diagnostics for run in runs)
    assert pca.unsteady is None
    assert len(runs[1].repeats) == 1
    assert 0.0 < sne.unsteady.mean() < 1.0


def test_a_place_that_fails_leaves_the_map():
    class Broken:
        def fit_transform(self, X, y=None):
            return X[:, :2]

        def transform(self, X):
            raise KeyError("no")

        def get_params(self, deep=True):
            return {}

        def set_params(self):
            return self

    table = np.random.default_rng(1).normal(size=(40, 3))
    (run,) = compare(table, methods={"broken": Broken()}, preset="quick")
    assert not run.failed
    assert run.row_diagnostics.jumps is None
    assert "Whether the map jumps was not measured: KeyError: 'no'" in run.warnings


def test_a_run_keeps_it_as_text(runs):
    for run in runs:
        back = Run.from_json(run.to_json()).row_diagnostics
        for name in ("p", "walked", "jumps", "unsteady"):
            np.testing.assert_array_equal(getattr(back, name), getattr(run.row_diagnostics, name))
        assert back.by_chance == run.row_diagnostics.by_chance


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("p", [0.5]),
        ("jumps", [1.0]),
        ("jumps", None),
        ("walked", [10**6] * 100),
        ("unsteady", [0.0]),
        ("p", None),
    ],
)
def test_damaged_text_is_refused(runs, field, value):
    data = json.loads(runs[1].to_json())
    data["row_diagnostics"][field] = value
    with pytest.raises(FileFormatError, match=r"format isentropic\.run/1, but it"):
        Run.from_json(json.dumps(data))


def test_a_walk_that_fails_is_a_warning_unless_the_time_is_over(X, runs):
    def place(rows):
        raise error

    error = ValueError("lost")
    told = with_jumps(runs[0], place, X, 10, 0, 1).warnings[-1]
    assert told == "Whether the map jumps was not measured: ValueError: lost"
    error = DeadlineError("over")
    with pytest.raises(DeadlineError):
        with_jumps(runs[0], place, X, 10, 0, 1)


def test_neighbours_on_which_trusted_maps_agree(X, runs):
    judged = verdict(runs)
    ratings = tuple(replace(rating, usable=i != 1) for i, rating in enumerate(judged.ratings))
    found = agreed_neighbors(runs, replace(judged, ratings=ratings))
    shares, pairs = naive_shared([runs[0].embedding, runs[2].embedding], 10)
    np.testing.assert_allclose(found.shares, shares)
    assert found.pairs.tolist() == pairs
    alone = tuple(replace(rating, usable=i == 1) for i, rating in enumerate(judged.ratings))
    assert agreed_neighbors(runs, replace(judged, ratings=alone)) is None
