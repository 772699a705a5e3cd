"""Parameters chosen by the quality of the map; Isomap over several neighbourhoods at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic import Isomap, Knn, Radius, Selected, compare, quality
from isentropic._core.errors import InvalidInputError
from isentropic.selection import CRITERIA, Selection, as_grid, geometric, neighbor_grid, select

# ---- Parameters chosen by the quality of the map: grids, criteria, failures, determinism ---------


def scaled(X, noise=0.0, columns=2):
    """The first columns and noise: a method of two parameters."""
    return X[:, :columns] + noise * np.random.default_rng(1).normal(size=(len(X), columns))


# ---- what is tried -----------------------------------------------------------------------------


def test_a_grid_is_the_product_in_a_fixed_order():
    assert as_grid({"a": [1, 2], "b": ["x"]}) == ({"a": 1, "b": "x"}, {"a": 2, "b": "x"})
    assert as_grid({"a": np.array([1, 2])}) == ({"a": 1}, {"a": 2})
    assert type(as_grid({"a": np.array([1, 2])})[0]["a"]) is int


@pytest.mark.parametrize("grid", [{}, [], {"a": []}, {"a": "xyz"}, {"a": 3}, [3]])
def test_a_grid_that_is_none(grid):
    if grid == {}:
        assert as_grid(grid) == ({},)  # the defaults alone
        return
    with pytest.raises(InvalidInputError, match="grid"):
        as_grid(grid)


@pytest.mark.parametrize(("low", "high", "count"), [(0, 5, 3), (5, 4, 3), (1, 2, 0), (1.0, np.inf, 3)])
def test_a_range_that_is_none(low, high, count):
    with pytest.raises(InvalidInputError):
        geometric(low, high, count)


def test_geometric_ranges_have_the_ends_and_equal_ratios():
    values = geometric(0.5, 8.0, 5)
    np.testing.assert_allclose(values, [0.5, 1, 2, 4, 8])
    assert geometric(3, 5, 10) == (3, 4, 5)
    assert geometric(4, 16, 1) == (8,)


@pytest.mark.parametrize("n", [4, 12, 150, 1797, 10**6])
@pytest.mark.parametrize("default", [None, 10, 20])
def test_numbers_of_neighbours_fit_the_rows(n, default):
    values = neighbor_grid(n, 6, default)
    assert list(values) == sorted(set(values))
    assert values[0] >= 1
    assert max(values) <= max(2, n // 4)
    assert len(values) <= 6
    if default is not None and n >= 150:
        assert default in values


# ---- what is chosen ----------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_least_noise_wins_by_every_criterion(rng, criterion):
    X = rng.normal(size=(80, 2))
    selection = select(scaled, X, {"noise": [1.0, 0.0, 3.0]}, criterion=criterion)
    assert selection.params == {"noise": 0.0}
    assert selection.best == 1
    scores = [trial.score for trial in selection.trials]
    assert selection.score == (max if selection.better == "higher" else min)(scores)
    assert [trial.params["noise"] for trial in selection.trials] == [1.0, 0.0, 3.0]


def test_scores_are_those_of_the_quality_package(roll):
    X = roll[:200]
    grid = {"n_neighbors": [8, 15]}
    for criterion, score in {
        "rnx_auc": lambda Z: quality.rnx_auc(X, Z),
        "trustworthiness": lambda Z: quality.trustworthiness(X, Z, n_neighbors=7),
        "continuity": lambda Z: quality.continuity(X, Z, n_neighbors=7),
        "kendall_tau": lambda Z: quality.kendall_tau(X, Z).value,
        "residual_variance": lambda Z: quality.residual_variance(X, Z),
    }.items():
        selection = select(Isomap(), X, grid, criterion=criterion, n_neighbors=7)
        for trial in selection.trials:
            expected = score(Isomap(**trial.params).fit_transform(X))
            assert trial.score == pytest.approx(expected, abs=1e-12), criterion


def test_the_first_of_equal_scores_is_chosen(rng):
    selection = select(scaled, rng.normal(size=(30, 3)), {"noise": [0.0, 0.0, 0.0]})
    assert selection.best == 0


def test_labels_change_nothing(roll):
    X, y = roll[:100], np.arange(100) % 3
    grid = {"n_neighbors": [6, 12]}
    scores = [[t.score for t in select(Isomap(), X, grid, y=labels).trials] for labels in (None, y, y[::-1])]
    assert scores[0] == scores[1] == scores[2]


def test_any_number_of_workers_gives_the_same_bits(roll):
    grid = {"n_neighbors": [5, 8, 12, 20]}
    found = [
        [trial.score for trial in select(Isomap(), roll[:250], grid, n_jobs=n_jobs).trials]
        for n_jobs in (1, 2, None)
    ]
    assert found[0] == found[1] == found[2]


def test_sampled_rows_estimate_the_same(roll):
    grid = {"n_neighbors": [6, 40]}
    exact, drawn = (select(Isomap(), roll, grid, sample=sample) for sample in (None, 300))
    assert exact.params == drawn.params
    assert exact.score == pytest.approx(drawn.score, abs=0.05)
    assert exact.score != drawn.score


def test_distances_are_read_as_such(roll):
    X = roll[:120]
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    grid = {"n_neighbors": [6, 12]}
    by_distance = select(Isomap(metric="precomputed"), D, grid)
    for a, b in zip(by_distance.trials, select(Isomap(), X, grid).trials, strict=True):
        assert a.score == pytest.approx(b.score, abs=1e-9)


def test_progress_is_told_trial_by_trial(rng):
    seen = []
    select(
        scaled,
        rng.normal(size=(20, 2)),
        {"noise": [0.0, 1.0]},
        on_trial=lambda trial, done, total: seen.append((trial.params["noise"], done, total)),
    )
    assert seen == [(0.0, 1, 2), (1.0, 2, 2)]


# ---- failures ----------------------------------------------------------------------------------


def test_a_failed_set_has_its_reason_and_the_others_go_on(rng):
    selection = select(scaled, rng.normal(size=(30, 3)), [{"noise": "much"}, {"noise": 0.1}])
    assert selection.best == 1
    assert selection.trials[0].score is None
    assert "TypeError" in selection.trials[0].reason or "UFunc" in selection.trials[0].reason
    assert isinstance(selection, Selection)


def test_if_all_fail_the_first_reason_is_told(rng):
    with pytest.raises(InvalidInputError, match=r"No set of parameters gave a map\. With .*'columns': -1"):
        select(scaled, rng.normal(size=(30, 3)), {"columns": [-1]})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"criterion": "rnx"}, "Did you mean 'rnx_auc'"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"sample": "all"}, "sample"),
        ({"sample": 10**6}, "sample"),
        ({"estimator": 3}, "estimator"),
    ],
)
def test_what_is_refused(rng, change, text):
    call = {"estimator": scaled, "X": rng.normal(size=(30, 3)), "grid": {"noise": [0.0]}, **change}
    with pytest.raises(InvalidInputError, match=text):
        select(**call)


def test_two_rows_leave_nothing_to_choose():
    with pytest.raises(InvalidInputError, match="at least 3 rows"):
        select(scaled, np.eye(2), {"noise": [0.0]})


# ---- ISOMAP over several neighbourhoods in a selection: together, as each would be alone ---------


VALUES = [6, 20, 8]


class Alone(Isomap):
    """A class of its own may fit otherwise: each set is fitted by itself."""


@pytest.fixture
def rows(roll):
    return roll[:200]


@pytest.fixture
def fits(monkeypatch):
    """The numbers of neighbours that were fitted alone."""
    found, fit = [], Isomap.fit
    monkeypatch.setattr(
        Isomap, "fit", lambda self, X, y=None: found.append(self.n_neighbors) or fit(self, X, y)
    )
    return found


def sets_of(name, values):
    return [{name: value} for value in values]


@pytest.mark.parametrize(
    "given", [VALUES, [Knn(9), Knn(7)], [Radius(9.0), Radius(6.0), Radius(7.0)]], ids=str
)
def test_maps_are_those_of_fits_in_the_order_of_the_sets(rows, given):
    name = "n_neighbors" if given is VALUES else "neighbors"
    sets = sets_of(name, given)
    found = dict(Isomap(n_components=3)._maps_over(rows, sets, None))
    assert sorted(found) == list(range(len(given)))
    for place, params in enumerate(sets):
        Z = Isomap(n_components=3, **params).fit(rows).embedding_
        assert_allclose(found[place], Z, atol=1e-8 * np.abs(Z).max())


@pytest.mark.parametrize("criterion", ["rnx_auc", "kendall_tau"])
def test_scores_and_choice_are_those_of_separate_fits(rows, fits, criterion):
    together = select(Isomap(), rows, {"n_neighbors": VALUES}, criterion=criterion)
    assert fits == []
    alone = select(Alone(), rows, {"n_neighbors": VALUES}, criterion=criterion)
    assert sorted(fits) == sorted(VALUES)
    assert_allclose([t.score for t in together.trials], [t.score for t in alone.trials], atol=1e-8)
    assert [t.params for t in together.trials] == sets_of("n_neighbors", VALUES)
    assert together.params == alone.params


def test_selected_fits_once(rows, fits):
    selected = Selected(Isomap(), {"n_neighbors": VALUES}).fit(rows)
    assert len(fits) == 1
    assert_array_equal(selected.embedding_, Isomap(**selected.best_params_).fit(rows).embedding_)


def test_threads_change_nothing(rows):
    one, two = (select(Isomap(), rows, {"n_neighbors": VALUES}, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert [t.score for t in one.trials] == [t.score for t in two.trials]


@pytest.mark.parametrize(
    ("options", "sets"),
    [
        ({"conformal": True}, sets_of("n_neighbors", VALUES)),
        ({"positive": True}, sets_of("n_neighbors", VALUES)),
        ({"n_landmarks": 20}, sets_of("n_neighbors", VALUES)),
        ({"on_disconnected": "largest"}, sets_of("n_neighbors", VALUES)),
        ({"neighbors": Radius(6.0)}, sets_of("n_neighbors", VALUES)),
        ({}, [{"n_neighbors": 6}, {"n_components": 1}]),
        ({}, [{"n_neighbors": 6, "n_components": 1}, {"n_neighbors": 8, "n_components": 1}]),
        ({}, sets_of("n_neighbors", [6, 500])),
        ({}, sets_of("n_neighbors", [6, 6])),
        ({}, sets_of("neighbors", [Knn(6, approximate=True), Knn(8, approximate=True)])),
    ],
    ids=str,
)
def test_what_only_a_fit_does_is_left_to_it(rows, options, sets):
    assert Isomap(**options)._maps_over(rows, sets, None) is None


def test_a_set_that_fails_spoils_no_other(rows, fits):
    found = select(Isomap(), rows, {"n_neighbors": [6, 0, 8]})
    assert [t.score is None for t in found.trials] == [False, True, False]
    assert "n_neighbors" in found.trials[1].reason
    parts = np.concatenate([rows[:100], rows[:100] + 900.0])
    fits.clear()
    found = select(Isomap(on_disconnected="raise"), parts, {"n_neighbors": [6, 120]})
    assert "DisconnectedGraphError" in found.trials[0].reason
    assert found.params == {"n_neighbors": 120}
    assert sorted(fits) == [6, 120]  # each alone, once the path had failed


def test_a_comparison_tries_them_together(rows, monkeypatch):
    asked = []
    shared = Isomap._maps_over
    monkeypatch.setattr(
        Isomap, "_maps_over", lambda self, *given: asked.append(given) or shared(self, *given)
    )
    (run,) = compare(rows, methods=["isomap"], preset="standard")
    ((_, sets, _),) = asked
    assert [dict(trial.params) for trial in run.trials] == list(sets)
    alone = select(Alone(), rows, list(sets))
    assert_allclose([trial.score for trial in run.trials], [t.score for t in alone.trials], atol=1e-8)
