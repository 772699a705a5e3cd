"""Source 002, ISOMAP and PCA on ten tables (2016): Tables 5.1 to 5.12."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from isentropic.experiments.tasks import HONEST, PUBLISHED, Cell, PublishedTable, Task, measured

from ..printed import Printed, Reasons, as_printed, errata, note, printed, records
from .protocol import SOURCES

SOURCE = "002"
_WORK = "isentropic_papers.isomap.protocol:space_measures"
_HONEST = "isentropic_papers.isomap.honest:honest_space"
_HONEST_GRID = [{"kernel": ["linear"], "C": [1.0, 10.0]}, {"kernel": ["rbf"], "C": [1.0, 10.0, 100.0]}]
_LARGE = ("Digits", "Leukemia", "WDBC", "Diabetes")  # without the honest tasks in the quick form
_COSTS, _GAMMAS = [1.0, 10.0, 100.0, 1000.0], [0.001, 0.01, 0.1, 1.0, 10.0]
_CURVED = [{"kernel": ["rbf", "sigmoid"], "C": _COSTS, "gamma": _GAMMAS}]
_G0 = [{"kernel": ["linear"], "C": _COSTS}, *_CURVED]
_ROLL = [{"kernel": ["rbf"], "C": _COSTS[:3], "gamma": [0.01, 0.1]}]
_OFFSETS = [0.0, 0.1, 1.0, 10.0]
_TIMES = ("GridSearch time", "Reduction time")

Grid = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Study:
    """One table of the source: what it reduces, and how it measures."""

    table: str
    reduction: str
    grid: Grid
    n_neighbors: int | None = None
    stress: str = "neighborhood"  # or "global": two measures under one name in the source


_STUDIES = (
    _Study("5.1", "PCA", _G0, stress="global"),
    _Study("5.2", "PCA", _G0, stress="global"),
    _Study("5.3", "ISOMAP", _G0, 30, stress="global"),
    _Study("5.4", "PCA", [{"kernel": ["linear"], "C": _COSTS[:3]}, *_ROLL], stress="global"),
    _Study("5.5", "ISOMAP", _ROLL, 7),
    _Study("5.6", "PCA", _G0, stress="global"),
    _Study(
        "5.7",
        "ISOMAP",
        [
            {"kernel": ["linear"], "C": _COSTS[:2]},
            {"kernel": ["rbf", "sigmoid"], "C": _COSTS[:3], "gamma": [0.01, 0.1, 1.0]},
        ],
        4,
    ),
    _Study("5.8", "ISOMAP", _G0, 30),
    _Study("5.9", "ISOMAP", _G0, 300),
    _Study(
        "5.10",
        "ISOMAP",
        [
            {"kernel": ["linear"], "C": _COSTS},
            {"kernel": ["poly"], "degree": [2, 3, 4], "coef0": _OFFSETS},
            {"kernel": ["rbf"]},
            {"kernel": ["sigmoid"], "coef0": _OFFSETS},
        ],
        5,
    ),
    _Study(
        "5.11",
        "ISOMAP",
        [
            {"kernel": ["linear"], "C": _COSTS[:2]},
            {"kernel": ["rbf", "sigmoid"], "C": _COSTS, "gamma": _GAMMAS[1:]},
        ],
        4,
    ),
    _Study("5.12", "ISOMAP", [{"kernel": ["linear"], "C": [1.0]}, *_CURVED], 20),
)

_TIES = "Ties: whole numbers have many equal distances, and the order of a sort decides"
_REASONS: dict[str, Reasons] = {
    "5.7": {
        ("Digits", "ISOMAP R2", "1-NN"): f"{_TIES}: .922 to .928 by seven ways to sort.",
        ("Digits", "ISOMAP R1", "1-NN"): f"{_TIES}: .469 to .508 by seven ways to sort.",
    },
    "5.9": {
        ("Dermatology", "Original", "1-NN"): f"{_TIES} the class of 4 of 74 test rows.",
        ("Dermatology", "ISOMAP R20", "1-NN"): f"{_TIES} the class of some test rows, it is presumed.",
    },
}


def tables() -> tuple[PublishedTable, ...]:
    """The tables of chapter 5, and Table 5.12 of the authors' repository."""
    return tuple(map(_table, _STUDIES))


def _table(study: _Study) -> PublishedTable:
    rows = printed(f"002_table{study.table.replace('.', '_')}")
    pairs = [(_cell(row), row) for row in rows]
    cells = tuple(cell for cell, _ in pairs)
    spaces = tuple(dict.fromkeys(row.parameter for row in rows))
    dataset = rows[0].dataset
    times = {("", "", name): "Seconds of another machine: shown, not compared." for name in _TIMES}
    return PublishedTable(
        source=SOURCE,
        name=study.table,
        title=f"{dataset}, {study.reduction}",
        cells=cells,
        tasks=partial(_tasks, study, dataset, spaces),
        ours=measured(cells),
        reasons=times | errata(pairs) | _REASONS.get(study.table, {}),
        note=note("002"),
    )


def _cell(row: Printed) -> Cell:
    method = row.parameter if row.parameter == "Original" else f"{row.method} {row.parameter}"
    is_size, is_time = row.metric == "Data size", row.metric in _TIMES
    digits = row.decimals if is_size or is_time else max(2, row.decimals)  # 1 stands for 1.00
    tolerance = math.inf if is_time else as_printed(digits)
    return Cell(row.dataset, method, row.metric, row.value, row.parameter, digits, tolerance)


def _tasks(study: _Study, dataset: str, spaces: tuple[str, ...], quick: bool) -> tuple[Task, ...]:
    """One of each space; the quick form has the printed best parameters in place of the grid."""
    best = {(row["table"], row["parameter"]): _printed_grid(row) for row in records("002_best_parameters")}
    data = (SOURCES[dataset],) if dataset in SOURCES else ()
    found = []
    for space in spaces:
        is_original = space == "Original"
        arguments: dict[str, Any] = {
            "dataset": dataset,
            "reduction": study.reduction,
            "n_components": None if is_original else int(space.removeprefix("R")),
            "n_neighbors": study.n_neighbors,
            "stress": study.stress,
            "grid": _quick_grid(best, study.table, space) if quick else study.grid,
        }
        method = space if is_original else f"{study.reduction} {space}"
        found.append(Task(SOURCE, study.table, dataset, method, PUBLISHED, _WORK, arguments, data))
        if quick and dataset in _LARGE:
            continue
        arguments = {name: value for name, value in arguments.items() if name != "stress"}
        arguments |= {"grid": _HONEST_GRID, "n_repeats": 5}
        found.append(Task(SOURCE, study.table, dataset, method, HONEST, _HONEST, arguments, data))
    return tuple(found)


def _quick_grid(best: dict[tuple[str, str], Grid], table: str, space: str) -> Grid:
    """The printed best parameters; none where a linear SVM on raw columns takes minutes."""
    return [] if table == "5.11" and space != "Original" else best[table, space]


def _printed_grid(row: dict[str, str]) -> Grid:
    numbers = {name: [float(row[name])] for name in ("C", "gamma", "coef0") if row[name]}
    degree = {"degree": [int(row["degree"])]} if row["degree"] else {}
    return [{"kernel": [row["kernel"]], **numbers, **degree}]
