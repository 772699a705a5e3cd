"""The honest twin of source 002: what is judged is not seen before."""

from __future__ import annotations

import numpy as np
import pytest

from isentropic.experiments.studies import tables_of
from isentropic.experiments.tasks import HONEST
from isentropic_papers.isomap import honest as isomap_honest

GRID = [{"kernel": ["linear"], "C": [1.0]}, {"kernel": ["rbf"], "C": [1.0, 10.0]}]


@pytest.fixture
def rows(monkeypatch):
    """Tables that the work is given in place of its own."""

    def give(X, y):
        monkeypatch.setattr(isomap_honest, "table_rows", lambda dataset: (X, y))

    return give


def test_labels_at_random_are_chance(rows):
    draws = np.random.default_rng(0)
    rows(draws.normal(size=(120, 5)), draws.permutation(np.repeat([0, 1], 60)))
    for space in (None, 2):
        found = isomap_honest.honest_space("any", "ISOMAP", space, 10, GRID, n_repeats=6)
        for name in ("1-NN", "Score"):
            assert found[f"{name} low"] < 0.5 < found[f"{name} high"]


def test_groups_apart_are_told_apart(rows):
    draws = np.random.default_rng(1)
    X, y = draws.normal(size=(90, 5)), np.repeat([0, 1, 2], 30)
    X[:, :2] += 12.0 * y[:, None]
    rows(X * 1000.0, y)  # units do not matter: columns are scaled by the training rows
    found = isomap_honest.honest_space("any", "PCA", 2, None, GRID, n_repeats=2)
    assert found["1-NN"] > 0.95
    assert found["Score"] > 0.95
    assert 0.0 < found["Kruskal's stress"] < 1.0


def test_the_space_itself_has_no_stress(rows):
    draws = np.random.default_rng(2)
    rows(draws.normal(size=(60, 3)), np.repeat([0, 1], 30))
    found = isomap_honest.honest_space("any", "PCA", None, None, GRID, n_repeats=2)
    assert "Kruskal's stress" not in found


def test_numbers_are_judged_by_their_variance(rows):
    t = np.linspace(0.0, 1.0, 100)
    rows(np.column_stack([t, t**2, -t]), t)
    found = isomap_honest.honest_space("Swiss Roll", "PCA", 1, None, GRID, n_repeats=2)
    assert found["1-NN"] > 0.98
    assert found["Score"] > 0.9


def test_every_space_has_an_honest_task_in_the_full_form():
    (table,) = tables_of("002:5.7")
    spaces = {task.method for task in table.tasks(False)}
    assert {task.method for task in table.tasks(False) if task.protocol == HONEST} == spaces
    assert not [task for task in table.tasks(True) if task.protocol == HONEST]
