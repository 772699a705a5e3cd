"""Tasks of the entropic sources: names of works, batteries, and what a task of each kind is called with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .values import PERMUTED, PUBLISHED, RANDOM, Cell, Task

_WORKS = "isentropic.experiments.entropic_protocol"
LIBRARY = "(library)"  # marks a column of what the library itself computes, which no source prints
EIGHT = ("KNN", "SVM", "NB", "DT", "QDA", "MLP", "GPC", "RFC")
SIX = ("KNN", "SVM", "NB", "DT", "QDA", "RFC")  # those that are fast enough for a null of many maps
THREE = ("KNN", "SVM", "QDA")


def library_cells(cells: Iterable[Cell], methods: Sequence[str]) -> tuple[Cell, ...]:
    """The same cells for the library's own computation, with nothing printed."""
    return tuple(
        replace(cell, method=f"{cell.method} {LIBRARY}", printed=None)
        for cell in cells
        if cell.method in methods
    )


def silhouette_task(
    source: str,
    table: str,
    dataset: str,
    file: str,
    method: str,
    named: str,
    parameters: Sequence[float | None],
    *,
    classifiers: Sequence[str] = (),
    library: bool = False,
) -> Task:
    """Silhouettes of one method on one set, at each parameter; with classifiers also their accuracy."""
    arguments: dict[str, Any] = {"source": file, "method": named, "parameters": list(parameters)}
    arguments |= {"classifiers": list(classifiers)} if classifiers else {}
    arguments |= {"library": True} if library else {}
    method = f"{method} {LIBRARY}" if library else method
    return Task(source, table, dataset, method, PUBLISHED, f"{_WORKS}:silhouettes", arguments, (file,))


def classified_tasks(
    source: str,
    table: str,
    dataset: str,
    method: str,
    arguments: Mapping[str, Any],
    battery: str,
    classifiers: Sequence[str],
    *,
    apart: Sequence[str] = (),
) -> list[Task]:
    """Accuracies of one method on one set; slow classifiers ``apart``, so that the others need not wait."""
    groups = [[one for one in classifiers if one not in apart], *([one] for one in apart)]
    return [
        Task(source, table, dataset, method, PUBLISHED, f"{_WORKS}:classified",
             {**arguments, "battery": battery, "classifiers": group}, (arguments["source"],))
        for group in groups
    ]  # fmt: skip


def permuted_task(table: str, dataset: str, method: str, arguments: Mapping[str, Any]) -> Task:
    """The null of a method that learns from classes: its own protocol, with labels at random."""
    data = (arguments["source"],)
    return Task("000", table, dataset, method, PERMUTED, f"{_WORKS}:permuted", arguments, data)


def random_task(table: str, dataset: str, method: str, arguments: Mapping[str, Any]) -> Task:
    """The null of a parameter chosen on the test half: as many random projections, chosen likewise."""
    data = (arguments["source"],)
    return Task("000", table, dataset, method, RANDOM, f"{_WORKS}:random_projections", arguments, data)
