"""An experiment of one's own: every method on every table of a folder, by the honest protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .._errors import FileFormatError, IsentropicError, require
from ..datasets.files import SUFFIXES, kind_of_file, table_name
from .honest_work import RAW, usual_target
from .printed import measured
from .rankings import FEWEST_BLOCKS, FEWEST_METHODS, complete
from .values import HONEST, PERMUTED, Cell, Outcome, PublishedTable, Task

OWN = "experiment"
SCORE = "score"  # accuracy, kappa, or R^2 where the target is a number
PROTOCOLS = (HONEST, PERMUTED)
_WORKS = "isentropic.experiments.honest_work"


def tables_in(folder: str | Path) -> tuple[Path, ...]:
    """Files of a folder that hold a table, by name; a single file is one too."""
    path = Path(folder)
    if path.is_file():
        return (path,)
    if not path.is_dir():
        raise FileFormatError(f"{path} must be a folder of tables, or one table, got nothing of this name.")
    found = tuple(sorted(one for one in path.iterdir() if one.is_file() and kind_of_file(one) is not None))
    if not found:
        raise FileFormatError(f"{path} must hold tables ({', '.join(SUFFIXES)}), got none.")
    return found


def own_experiment(
    paths: Sequence[Path],
    methods: Mapping[str, Mapping[str, Any]],
    *,
    target: str | None = None,
    protocol: str = HONEST,
    classifiers: Sequence[str] | None = None,
    n_repeats: int = 10,
    seed: int = 0,
) -> PublishedTable:
    """Tables by methods, each judged on rows that it did not see; with "permuted" its null beside it.

    ``methods`` are names of the registry with parameters, which are then not chosen. The standardised rows
    themselves are always judged too: a map is worth what it adds to them.
    """
    require(len(methods) > 0, "methods", "at least one", methods)
    names = [table_name(path) for path in paths]
    labels = [name if names.count(name) == 1 else path.name for name, path in zip(names, paths, strict=True)]
    every = {**{name: dict(params) for name, params in methods.items()}, RAW: {}}
    given: dict[str, Any] = {"n_repeats": n_repeats, "seed": seed}
    given |= {} if classifiers is None else {"classifiers": list(classifiers)}
    targets = {label: target or _target(path) for label, path in zip(labels, paths, strict=True)}

    def task(path: Path, label: str, method: str, kind: str) -> Task:
        arguments = {"source": str(path.absolute()), "method": method, "params": every[method], **given}
        arguments |= {} if targets[label] is None else {"target": targets[label]}
        if kind == PERMUTED:
            arguments.pop("n_repeats")  # one split for each permutation
        data = (str(path.absolute()),)
        return Task(OWN, "", label, method, kind, f"{_WORKS}:{kind}", arguments, data)

    kinds = (HONEST, PERMUTED) if protocol == PERMUTED else (HONEST,)
    tasks = tuple(
        task(path, label, method, kind)
        for path, label in zip(paths, labels, strict=True)
        for method in every
        for kind in kinds
    )
    cells = tuple(Cell(label, method, SCORE) for label in labels for method in every)
    return PublishedTable(
        source=OWN,
        name="",
        title=f"{len(every)} methods on {len(paths)} tables",
        cells=cells,
        tasks=lambda quick: tasks,
        ours=measured(cells, {SCORE: "mean"}),
        note=_NOTE,
        facts=partial(_facts, targets, tuple(every)),
    )


def _target(path: Path) -> str | None:
    """The column that is taken for the target; None where the file says, or cannot be read."""
    try:
        return usual_target(str(path))
    except IsentropicError:
        return None


def _facts(
    targets: Mapping[str, str | None], methods: Sequence[str], outcomes: Mapping[Task, Outcome]
) -> tuple[str, ...]:
    """What is told apart, and why there is no ranking."""
    told = [f"{label} {name}" for label, name in targets.items() if name is not None]
    said = [f"Targets: {', '.join(told)}."] if told else []
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for task, outcome in outcomes.items():
        if task.protocol == HONEST and "mean" in outcome.measures:
            rows.setdefault((task.dataset, SCORE), {})[task.method] = outcome.measures["mean"]
    ranked, blocks, _ = complete(rows)
    if len(blocks) < FEWEST_BLOCKS or len(ranked) < FEWEST_METHODS:
        said.append(
            f"Nothing is ranked: that takes {FEWEST_METHODS} methods, raw included, and {FEWEST_BLOCKS} "
            f"tables on which each has a score; here are {len(ranked)} and {len(blocks)}."
        )
    elif len(ranked) < len(methods):
        rare = ", ".join(name for name in methods if name not in ranked)
        said.append(f"Not ranked, for a score on less than half of the tables: {rare}.")
    return tuple(said)


_NOTE = """The score is the mean accuracy of the classifiers, or R² of k-NN where the target is a number, on
the half of the rows that was held out: scale, parameters and map come from the other half, and the rows that
are judged are placed without their labels. *raw* is the standardised rows without a map."""
