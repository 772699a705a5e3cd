"""The tables of the thesis on SDD: every cell has its work, and a small part of them is run."""

import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_iris

from isentropic import METHODS, make
from isentropic.experiments.tasks import HONEST, PUBLISHED, Outcome
from isentropic_papers.trustworthy.maps import tau_of_map
from isentropic_papers.trustworthy.thesis import tables

TABLES = {table.name: table for table in tables()}
RESTATED = {"random-start-mds", "mean-weight-eigenmaps", "dissimilar-eigenmaps"}


def test_all_tables_are_there_with_every_printed_number():
    assert list(TABLES) == ["4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "6.1", "6.2"]
    sizes = [len(table.cells) for table in TABLES.values()]
    assert sizes == [18, 18, 18, 18, 32, 16, 12, 12]
    blank = [cell for table in TABLES.values() for cell in table.cells if cell.printed is None]
    assert [(cell.dataset, cell.method) for cell in blank] == [("MNIST", "MSDD 1+2")]


@pytest.mark.parametrize("name", TABLES)
def test_every_tau_has_one_task_of_the_published_protocol(name):
    table = TABLES[name]
    tasks = [task for task in table.tasks(False) if task.protocol == PUBLISHED]
    wanted = {(cell.dataset, cell.method) for cell in table.cells if cell.measure == "tau"}
    wanted -= {("Swiss Roll", "LLE")}  # takes a quarter of an hour; its reason says so
    assert {(task.dataset, task.method) for task in tasks} == wanted
    assert len(tasks) == len(wanted)
    outcomes = {task: Outcome({"tau": 0.5, "time": 1.0}) for task in tasks}
    left = {cell.method for cell in table.cells} - {cell.method for cell in table.ours(outcomes, PUBLISHED)}
    assert left == ({"LLE"} if name == "4.3" else set())
    for task in table.tasks(False):
        json.dumps(dict(task.arguments))
        assert task.arguments["method"] in {*METHODS, *RESTATED}
    assert set(table.tasks(True)) <= set(table.tasks(False))


def test_a_degree_of_zero_is_left_out_of_a_set():
    """And every set is one that its method takes: of one degree it is SDD."""
    tasks = {task.method: task.arguments for task in TABLES["4.5"].tasks(False) if task.protocol == PUBLISHED}
    sets = {name: (given["method"], given["parameters"]) for name, given in tasks.items()}
    assert sets["MSDD 0+1"] == ("sdd", {"degree": 1})
    assert sets["MSDD 9+10+11"] == ("multi-sdd", {"degrees": [9, 10, 11]})
    few = load_iris().data[::10]
    for method, parameters in sets.values():
        assert make(method, **parameters).fit_transform(few).shape == (15, 2)


def test_seconds_are_never_compared():
    times = [cell for table in TABLES.values() for cell in table.cells if cell.measure == "time"]
    assert {cell.tolerance for cell in times} == {math.inf}


def test_reasons_name_cells_that_are_there():
    for table in TABLES.values():
        for dataset, method, measure in table.reasons:
            assert dataset in {"", *(cell.dataset for cell in table.cells)}
            assert method in {"", *(cell.method for cell in table.cells)}
            assert measure in {"", "tau", "time"}


@pytest.mark.parametrize("method", ["SDD", "MDS", "PCA", "Isomap", "t-SNE"])
def test_taus_of_iris_are_those_printed(method):
    table = TABLES["4.1"]
    (cell,) = (cell for cell in table.cells if cell.method == method and cell.measure == "tau")
    (task,) = (task for task in table.tasks(True) if task.method == method and task.protocol == PUBLISHED)
    found = table.ours({task: Outcome(tau_of_map(**task.arguments))}, PUBLISHED)
    assert found[cell] == pytest.approx(cell.printed, abs=cell.tolerance)


@pytest.mark.parametrize(("method", "metric"), [("Isomap", "dis_1"), ("Isomap", "dis_2"), ("LE", "dis_1")])
def test_supervised_taus_of_breast_cancer_are_those_printed(method, metric):
    table = TABLES["6.1"]
    name = f"{method} {metric}"
    (cell,) = (cell for cell in table.cells if cell.method == name)
    (task,) = (task for task in table.tasks(True) if task.method == name)
    assert tau_of_map(**task.arguments)["tau"] == pytest.approx(cell.printed, abs=cell.tolerance)


def test_a_converged_mds_takes_most_of_the_lead_of_sdd():
    table = TABLES["4.1"]
    printed = {cell.method: cell.printed for cell in table.cells if cell.measure == "tau"}
    (task,) = (task for task in table.tasks(True) if task.method == "MDS" and task.protocol == HONEST)
    converged = tau_of_map(**task.arguments)["tau"]
    assert converged > printed["PCA"] > printed["MDS"]
    assert printed["SDD"] - converged < 0.4 * (printed["SDD"] - printed["MDS"])


def test_the_lead_and_the_seeds_are_told():
    table = TABLES["4.1"]
    planted = {("SDD", PUBLISHED): {"tau": 0.967}, ("MDS", HONEST): {"tau": 0.964}}
    planted |= {("Umap", PUBLISHED): {"tau": 0.6, "tau low": 0.5, "tau high": 0.7}}
    planted |= {("Trimap", PUBLISHED): {"tau": 0.6, "tau low": 0.59, "tau high": 0.61}}
    outcomes = {
        task: Outcome(planted[task.method, task.protocol])
        for task in table.tasks(False)
        if (task.method, task.protocol) in planted
    }
    best, lead, seeds = table.facts(outcomes)
    assert (
        best
        == "Iris, the highest tau: SDD (.9673) as printed, of 9 methods; SDD (.9670) run again, of 3 methods."
    )
    assert "leads MDS by .0104 in tau as printed, and by .0030" in lead
    assert "Umap .500 to .700, printed .577 (within)" in seeds
    assert "Trimap .590 to .610, printed .824 (outside)" in seeds
    assert table.facts({}) == ()
    assert TABLES["4.5"].facts is None


def test_seeds_of_a_method_that_draws_have_a_range():
    found = tau_of_map("Iris", "umap", {"n_neighbors": 60, "n_epochs": 20}, seeds=2)
    assert found["tau low"] < found["tau"] < found["tau high"]
    assert np.isclose(found["tau"], (found["tau low"] + found["tau high"]) / 2)
