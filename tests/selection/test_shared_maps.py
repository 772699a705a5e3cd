"""ISOMAP over several neighbourhoods in a selection: together, as each would be alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic import Isomap, Knn, Radius, Selected, compare
from isentropic.selection import select

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
