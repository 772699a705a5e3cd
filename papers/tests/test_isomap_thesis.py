"""Source 002 is met: the tables that need no data folder, and one that does; the rules that it takes."""

from __future__ import annotations

import math
import os
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from isentropic import DisconnectedGraphWarning, Inflate, InvalidInputError, Isomap
from isentropic.experiments.runner import run
from isentropic.experiments.studies import tables_of
from isentropic.experiments.tasks import PUBLISHED, Cell, Task
from isentropic_papers.isomap.protocol import space_measures, table_rows


def published(name: str, *spaces: str) -> list[Task]:
    """The tasks of a table, or of some of its spaces, in the quick form."""
    (table,) = tables_of(f"002:{name}")
    tasks = [task for task in table.tasks(True) if task.protocol == PUBLISHED]
    return [task for task in tasks if not spaces or task.method in spaces]


def off(name: str, *spaces: str) -> dict[Cell, float]:
    """Cells of a table that are not as printed, by the quick form; all cells are measured."""
    (table,), tasks = tables_of(f"002:{name}"), published(name, *spaces)
    ours = table.ours(run(tasks), PUBLISHED)
    methods = {task.method for task in tasks}
    assert set(ours) == {cell for cell in table.cells if cell.printed is not None and cell.method in methods}
    return {cell: value for cell, value in ours.items() if not abs(value - cell.printed) <= cell.tolerance}


@pytest.mark.parametrize("name", ["5.1", "5.2", "5.3"])
def test_tables_are_as_printed(name):
    assert not off(name)


def test_stress_of_5_3_is_that_of_all_pairs():
    """The other measure of the source would be off in every space."""
    (task,) = published("5.3", "ISOMAP R2")
    other = replace(task, arguments={**task.arguments, "stress": "neighborhood"})
    (found,) = run([other]).values()
    assert found.measures["Kruskal's stress"] == pytest.approx(0.33, abs=0.005)


@pytest.mark.data
@pytest.mark.skipif("ISENTROPIC_DATA" not in os.environ, reason="needs the data folder; set ISENTROPIC_DATA")
def test_tables_of_the_folder_are_as_printed():
    assert not off("5.8")
    assert not off("5.10", "ISOMAP R10")


@pytest.mark.data
@pytest.mark.skipif("ISENTROPIC_DATA" not in os.environ, reason="needs the data folder; set ISENTROPIC_DATA")
def test_what_differs_has_its_reason():
    (table,) = tables_of("002:5.9")
    found = off("5.9", "Original")
    assert {(cell.dataset, cell.method, cell.measure) for cell in found} <= set(table.reasons)
    assert found


def test_without_a_grid_there_is_no_score():
    found = space_measures("Iris", "PCA", 1, None, "global", [])
    assert set(found) == {"1-NN", "Data size", "Reduction time", "Kruskal's stress"}


def test_times_are_shown_and_not_compared():
    (table,) = tables_of("002:5.2")
    times = [cell for cell in table.cells if cell.measure.endswith("time")]
    assert len(times) == 8
    assert all(math.isinf(cell.tolerance) for cell in times)


def test_k_is_standardised_and_counts_in_whole_steps():
    X, y = table_rows("K")
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    assert y.dtype.kind == "i"
    assert (np.abs(X.sum(axis=1) - y) < 1).all()


# ---- parts at distance 0 ---------------------------------------------------------------------------


def test_parts_on_top_of_each_other_are_classical_scaling_with_zeros(rng_rows):
    """Oracle: dense shortest paths, 0 where there is none, the eigenvectors of the centred squares."""
    X, k = rng_rows, 3
    D = cdist(X, X)
    near = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)[:, :k]
    W = np.zeros_like(D)
    np.put_along_axis(W, near, np.take_along_axis(D, near, axis=1), axis=1)
    G = shortest_path(np.maximum(W, W.T), directed=False)
    assert np.isinf(G).any()
    G[np.isinf(G)] = 0.0
    H = np.eye(len(X)) - 1 / len(X)
    values, vectors = np.linalg.eigh(-0.5 * H @ G**2 @ H)
    expected = vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    with pytest.warns(DisconnectedGraphWarning):
        Z = Isomap(k, on_disconnected=Inflate(0.0)).fit_transform(X)
    np.testing.assert_allclose(cdist(Z, Z), cdist(expected, expected), atol=1e-8)


@pytest.fixture
def rng_rows():
    draws = np.random.default_rng(3)
    return np.concatenate([draws.normal(size=(20, 3)), draws.normal(size=(12, 3)) + 50.0])


def test_a_factor_below_zero_is_refused(rng_rows):
    with pytest.raises(InvalidInputError, match=r"factor must be a multiple .* from 0 on, got -1"):
        Isomap(3, on_disconnected=Inflate(-1.0)).fit(rng_rows)
