"""Tasks of the entropic sources: names of works, batteries, and what a task of each kind is called with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from isentropic.experiments.classifiers import EIGHT
from isentropic.experiments.protocols import SIX
from isentropic.experiments.tasks import HONEST, PERMUTED, PUBLISHED, RANDOM, ROUNDED, Cell, Task

_WORKS = "isentropic_papers.entropic.protocol"
_ROUNDED_WORK = "isentropic_papers.entropic.rounding:rounded"
DRAWN = ("MLP", "RFC")  # classifiers that draw, without a seed in the sources
UNDRAWN = tuple(name for name in EIGHT if name not in DRAWN)
_DRAWS, _QUICK_DRAWS = 24, 8  # of what rounding does
LIBRARY = "(library)"  # marks a column of what the library itself computes, which no source prints
THREE = ("KNN", "SVM", "QDA")
RAW = "raw rows"  # a column of no map at all: what every map is held against
_HONEST_WORK = "isentropic.experiments.own_tables:honest"
_REPEATS, _QUICK_REPEATS = 10, 3
_QUICK_JUDGES = ("KNN", "SVM", "NB")
# A method of the sources: its name in the registry and what is fixed. The rest the training rows choose.
_REGISTERED: dict[str, tuple[str, dict[str, Any]]] = {
    "PCA": ("pca", {}), "KPCA": ("kernel-pca", {}), "ISOMAP": ("isomap", {}), "LLE": ("lle", {}),
    "LE": ("laplacian-eigenmaps", {}), "LPP": ("lpp", {}), "PNN-LPP": ("pnn-lpp", {}), "UMAP": ("umap", {}),
    "t-SNE": ("t-sne", {}), "LDA": ("lda", {}), "SGt-SNE": ("sgt-sne", {}), "SEt-SNE": ("set-sne", {}),
    "ISOMAP-KL": ("entropic-isomap", {}), "K-ISO-F": ("kde-isomap", {"bandwidth": 0.1}),
    "K-ISO-SIL": ("kde-isomap", {"bandwidth": "silverman"}),
    "K-ISO-SC": ("kde-isomap", {"bandwidth": "scott"}), RAW: ("raw", {}),
}  # fmt: skip


def library_cells(cells: Iterable[Cell], methods: Sequence[str]) -> tuple[Cell, ...]:
    """The same cells for the library's own computation, with nothing printed."""
    return tuple(
        replace(cell, method=f"{cell.method} {LIBRARY}", printed=None)
        for cell in cells
        if cell.method in methods
    )


def raw_cells(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """A column of the rows themselves, beside the maps; no source prints it."""
    return tuple(dict.fromkeys(replace(cell, method=RAW, printed=None) for cell in cells))


def honest_task(
    source: str,
    table: str,
    dataset: str,
    method: str,
    file: str,
    named: str,
    quick: bool,
    classifiers: Sequence[str],
    **protocol: Any,
) -> Task:
    """The same method where everything is learnt from one half of the rows and judged on the other."""
    name, params = _REGISTERED[named]
    some = [one for one in classifiers if one in (_QUICK_JUDGES if quick else SIX)]
    repeats = _QUICK_REPEATS if quick else _REPEATS
    arguments: dict[str, Any] = {"source": file, "method": name, "classifiers": some, "n_repeats": repeats}
    arguments |= ({"params": params} if params else {}) | protocol
    return Task(source, table, dataset, method, HONEST, _HONEST_WORK, arguments, (file,))


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


def rounded_task(
    source: str,
    table: str,
    dataset: str,
    method: str,
    file: str,
    of: str,
    quick: bool,
    arguments: Mapping[str, Any],
) -> Task:
    """What rounding alone may do to the numbers of one method on one set, ``of`` either kind of work."""
    draws = _QUICK_DRAWS if quick else _DRAWS
    given = {"source": file, "of": of, "n_draws": draws, **arguments}
    return Task(source, table, dataset, method, ROUNDED, _ROUNDED_WORK, given, (file,))
